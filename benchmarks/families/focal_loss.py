"""Focal losses of sigmoids and softmaxes, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Array, Arrays, Problem, TensorCall, TinyCall, WrongResultError, generator

ALPHA, GAMMA = 0.25, 2.0
#: Operators without cases: their kernel is that of `sigmoid_focal_loss`.
SAME_KERNEL = ("focal_loss_sigmoid_forward", "focal_loss_sigmoid_backward")
_ERRORS = {"float32": 1e-5, "float16": 4e-3}


def build(case: Case) -> Problem:
    """Draw scores and classes, a tenth of which are none."""
    facts, rng = case.parameters, generator(case)
    shape = facts["rows"], facts["columns"]
    x = rng.normal(0, 2, shape).astype(case.dtype)
    target = rng.integers(0, shape[1], shape[0]).astype(np.int32)
    target[rng.random(shape[0]) < 0.1] = shape[1]
    of_softmax, backward = case.operator.startswith("softmax"), case.operator.endswith("backward")
    arrays: Arrays = {"input": x, "target": target}
    if backward:
        arrays = {"grad_output": rng.random(shape[:1] if of_softmax else shape).astype(case.dtype), **arrays}
    function: Any = getattr(pymluops, case.operator)
    numbers = (False, ALPHA, GAMMA) if of_softmax else (ALPHA, GAMMA)

    def run(out: Arrays) -> Arrays:
        function(*arrays.values(), *numbers, out=out["out"])
        return out

    outputs = {"out": (shape[:1] if of_softmax and not backward else shape, np.dtype(case.dtype))}
    return Problem(case, arrays, outputs, run, lambda expected, found: check(expected, found, case.dtype))


def check(expected: Arrays, found: Arrays, dtype: str) -> None:
    """Compare the values."""
    worst = float(np.abs(expected["out"].astype(np.float64) - found["out"]).max(initial=0))
    if not worst < _ERRORS[dtype] * max(1.0, float(np.abs(expected["out"]).max(initial=0))):
        raise WrongResultError(f"out: differs by {worst:.2g}")


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the number of rows of 80 columns."""
    return {"": {"rows": max(1, elements // 160), "columns": 80}}


def tiny() -> list[TinyCall]:
    """Return a call on three rows."""
    x, target = _rows()
    arrays = {"x": x, "t": target, "o": np.zeros_like(x)}
    return [TinyCall("sigmoid_focal_loss_forward", "op(x, t, 0.25, 2.0, out=o)", arrays, limit=8000.0)]


def _rows() -> tuple[Array, Array]:
    return np.random.default_rng(7).normal(size=(3, 4)).astype(np.float32), np.array([0, 3, 4], np.int32)


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors."""
    x, target = _rows()
    given = tensor(x), tensor(target)
    return TensorCall(
        "sigmoid_focal_loss",
        lambda: pymluops.sigmoid_focal_loss_forward(x, target),
        lambda: ops.sigmoid_focal_loss(*given, reduction="none"),
    )
