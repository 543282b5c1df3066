"""Test cases, and processes that run them, for the tests of `pymluops.gencase`."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pymluops import cli, gencase
from pymluops.gencase import _pool


def tin_shift(path: Path | None = None) -> gencase.Case:
    """Return a case that passes, and write it if there is a path."""
    x = np.arange(1, 25, dtype=np.float32).reshape(1, 2, 4, 3)
    case = gencase.Case.build(
        "tin_shift_forward", [("input", x), ("shifts", np.zeros((1, 2), np.int32))], [("output", x)]
    )
    case.outputs[0].set_values(x)
    if path is not None:
        case.write(path)
    return case


def stated(
    values: np.ndarray, criterion: tuple[str, float] = ("DIFF1", 3e-3), dtype: type[np.generic] = np.float32
) -> gencase.Case:
    """Return a case of abs whose output in the file is this; the input is [1, 2, ...] of the same size."""
    x = np.arange(1, values.size + 1).astype(dtype)
    case = gencase.Case.build("abs", [("x", x)], [("y", x)], criteria=[criterion])
    case.outputs[0].set_values(values.astype(dtype))
    return case


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    """Run the command, and return its exit code and what it printed."""
    code = cli.main(["case", *map(str, arguments)])
    out, err = capsys.readouterr()
    return code, out, err


def waited(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    for _ in range(1200):
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError("it does not become so")


def answering(monkeypatch: pytest.MonkeyPatch, line: str = "", before: str = "", behind: str = "") -> None:
    """Let workers run this: something for each case, before the first one, and after each."""
    program = f"""
import json, os, signal, sys, time
def say(**answer):
    print(json.dumps(answer), flush=True)
{before or "pass"}
say(ready=True)
for text in sys.stdin:
    path = json.loads(text)
    say(begun=True)
    say(operator="abs")
    {line or "pass"}
    say(result={{"path": path, "process": os.getpid(), "outcome": "passed", "message": ""}})
    {behind or "pass"}
"""
    monkeypatch.setattr(_pool, "_PROGRAM", program)
