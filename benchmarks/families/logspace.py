"""logspace: powers of a base."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Arrays, Problem, TinyCall, close

#: First and last exponent.
RANGE = (-5, 5)


def build(case: Case) -> Problem:
    """Take as many steps from 1e-5 to 1e5."""
    steps = case.parameters["steps"]
    function: Any = pymluops.logspace

    def run(out: Arrays) -> Arrays:
        function(*RANGE, steps, out=out["out"])
        return out

    def check(expected: Arrays, found: Arrays) -> None:
        close("out", expected["out"], found["out"], 1e-4)

    return Problem(case, {}, {"out": ((steps,), np.dtype(np.float32))}, run, check)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the number of steps."""
    return {"": {"steps": elements}}


def tiny() -> list[TinyCall]:
    """Return a call with four steps."""
    return [TinyCall("logspace", "op(-5, 5, 4, out=o)", {"o": np.zeros(4, np.float32)})]
