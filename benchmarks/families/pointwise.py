"""pointwise: functions of each element, on arrays in a cache and in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Arrays, Problem, TinyCall, close, generator

#: Names of the arrays that an operator reads.
INPUTS = dict.fromkeys(("abs", "sqrt", "log", "lgamma"), ("x",)) | {
    "sqrt_backward": ("y", "diff_y"),
    "div": ("x", "y"),
}


def build(case: Case) -> Problem:
    """Draw positive numbers of common size; those of abs have both signs."""
    rng, count = generator(case), case.parameters["elements"]
    inputs: dict[str, Any] = {}
    for name in INPUTS[case.operator]:
        values = rng.standard_normal(count, np.float32) if case.operator == "abs" else rng.random(count, np.float32) * 9
        inputs[name] = (values + np.float32(0 if case.operator == "abs" else 0.1)).astype(case.dtype)
    function: Any = getattr(pymluops, case.operator)

    def run(out: Arrays) -> Arrays:
        function(*inputs.values(), out=out["out"])
        return out

    def check(expected: Arrays, found: Arrays) -> None:
        close("out", expected["out"], found["out"], 1e-2 if case.dtype == "float16" else 1e-5)

    return Problem(case, inputs, {"out": ((count,), np.dtype(case.dtype))}, run, check)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the arrays."""
    return {"": {"elements": max(1, elements // 2)}}


def tiny() -> list[TinyCall]:
    """Return calls on four elements."""
    arrays = {name: np.arange(1, 5, dtype=np.float32) for name in "xyo"}
    return [TinyCall(name, f"op({'x, y' if len(read) == 2 else 'x'}, out=o)", arrays) for name, read in INPUTS.items()]
