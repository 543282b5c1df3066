"""Running the program inside the test process, and as a program of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from pymluops.cli import main


@dataclass(frozen=True)
class Answer:
    """What a run of the program left behind."""

    code: int
    out: str
    err: str

    def refused(self, *parts: str) -> None:
        """The run ended with code 2, printed nothing and said why in one line that holds all the parts."""
        assert self.code == 2, self
        assert self.out == ""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        for part in parts:
            assert part in lines[0], (part, lines[0])


@pytest.fixture
def program(capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Run the program in this process."""

    def run(*arguments: object) -> Answer:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Answer(code, captured.out, captured.err)

    return run


@pytest.fixture
def process(tmp_path: Path) -> Callable[..., Answer]:
    """Run the program as a process of its own, away from the source tree."""

    def run(*arguments: object, **options: object) -> Answer:
        command = [sys.executable, "-m", "pymluops", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120, **options)  # type: ignore[call-overload]
        return Answer(done.returncode, done.stdout, done.stderr)

    return run
