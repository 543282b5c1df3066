"""Colours on terminals, and nowhere else."""

from __future__ import annotations

import io

import pytest

from pymluops._colours import coloured

REPORT = "saxpy: 1 finding\n  a.mlu:3: error: race/x: error: of cores\n    next: sync\nb: passed"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_a_terminal_shows_severities_and_next_steps() -> None:
    shown = coloured(REPORT, Terminal())
    assert "3: \x1b[31merror\x1b[0m: race" in shown
    assert "\x1b[34mnext\x1b[0m: sync" in shown
    assert "b: \x1b[32mpassed\x1b[0m" in shown


def test_files_and_pipes_have_none() -> None:
    assert coloured(REPORT, io.StringIO()) == REPORT
    assert coloured(REPORT, None) == REPORT


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_the_environment_turns_them_off(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    assert coloured(REPORT, Terminal()) == REPORT


def test_an_empty_no_color_means_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "")
    assert coloured(REPORT, Terminal()) != REPORT
