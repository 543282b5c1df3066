"""``pymluops cache``."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pymluops._cache.store import Store
from pymluops.cli import main

NAME = "kernel-0123456789abcdef0123456789abcdef.so"

Program = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("PYMLUOPS_CACHE_DIR", str(folder))
    monkeypatch.setenv("PYMLUOPS_CACHE_MIB", "12")
    with Store(folder).writer() as writer:
        writer.put(NAME, bytes(3 << 20), {})
    return folder


@pytest.fixture
def program(capfd: pytest.CaptureFixture[str]) -> Program:
    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(["cache", *arguments])
        return (code, *capfd.readouterr())

    return run


def test_info_says_what_there_is(program: Program, cache: Path) -> None:
    (cache / "neuware-0123456789abcdef").mkdir()
    (cache / "tmp-0000").mkdir()
    code, out, err = program("info")
    assert (code, err) == (0, "")
    lines = {line.split()[0]: " ".join(line.split()[1:]) for line in out.splitlines()}
    assert lines["folder"] == str(cache)
    assert lines["entries"] == "1, 3.0 of 12 MiB; all were used within a day"
    assert lines["toolkits"] == "1 for NEUWARE_HOME"


def test_info_as_json(program: Program, cache: Path) -> None:
    code, out, _ = program("info", "--json")
    found = json.loads(out)
    assert (code, found["folder"], found["limit"], found["entries"]) == (0, str(cache), 12 << 20, 1)
    assert 3 << 20 < found["size"] < (3 << 20) + 200
    assert found["last_used"] == pytest.approx((cache / NAME).stat().st_mtime)


def test_info_says_when_entries_were_used(program: Program, cache: Path) -> None:
    os.utime(cache / NAME, (os.stat(cache / NAME).st_mtime - 9.5 * 86400,) * 2)
    assert "all were used within 10 days" in program("info")[1]


def test_clear_empties_it(program: Program, cache: Path) -> None:
    assert program("clear") == (0, f"{cache}: removed 1 entry, 3.0 MiB\n", "")
    assert not list(cache.iterdir())
    assert program("clear") == (0, f"{cache}: removed 0 entries, 0.0 MiB\n", "")


def test_clear_says_what_stays(program: Program, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "unlink", refuse)
    assert program("clear") == (1, "", f"pymluops cache clear: {cache}: 1 file cannot be removed\n")


@pytest.mark.parametrize("command", ["info", "clear"])
def test_a_folder_that_cannot_be_used_is_bad_input(program: Program, command: str, cache: Path) -> None:
    cache.chmod(0o777)
    problem = f"the cache is not used: other users may write to {cache}"
    assert program(command) == (2, "", f"pymluops cache {command}: {problem}\n")
    assert (cache / NAME).exists()
    cache.chmod(0o700)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((), "COMMAND"), (("empty",), "invalid choice: 'empty'"), (("info", "x"), "arguments: x")],
)
def test_bad_arguments(program: Program, arguments: tuple[str, ...], message: str) -> None:
    code, out, err = program(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err
