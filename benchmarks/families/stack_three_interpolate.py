"""stack_three_interpolate: weighted sums of three rows, and their gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Arrays, Problem, TensorCall, TinyCall, close, generator

#: Of the largest value. Sums of many terms in another order differ by rounding; float16 is rounded
#: once.
_TOLERANCE = {"float32": 2e-5, "float16": 2e-3}


def build(case: Case) -> Problem:
    """Make features or a gradient, and for each point three rows drawn evenly with weights that sum to 1."""
    facts, rng = case.parameters, generator(case)
    channels, points, features = (facts[name] for name in ("channels", "points", "features"))
    forward = case.operator.endswith("forward")
    indices = rng.integers(0, features, (points, 3), dtype=np.int32)
    weights = rng.random((points, 3), np.float32) + np.float32(0.1)
    weights = (weights / weights.sum(axis=1, keepdims=True)).astype(case.dtype)
    rows = (features, channels), (points, channels)
    source, target = rows if forward else rows[::-1]
    array = rng.standard_normal(source, np.float32).astype(case.dtype)

    def run(out: Arrays) -> Arrays:
        if forward:
            pymluops.stack_three_interpolate_forward(array, indices, weights, out=out["out"])
        else:
            pymluops.stack_three_interpolate_backward(array, indices, weights, features, out=out["out"])
        return out

    def check(expected: Arrays, found: Arrays) -> None:
        close("out", expected["out"], found["out"], _TOLERANCE[case.dtype])

    inputs = {"features" if forward else "grad_output": array, "indices": indices, "weights": weights}
    return Problem(case, inputs, {"out": (target, array.dtype)}, run, check)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the channels to 64, then the number of points."""
    channels = min(64, max(1, elements // 40))
    points = max(4, round(elements / (1.25 * channels + 6)))
    return {"": {"channels": channels, "points": points, "features": max(3, points // 4)}}


def tiny() -> list[TinyCall]:
    """Return a call of each operator on a few elements."""
    rng = np.random.default_rng(7)
    features, gradient = rng.random((4, 2), np.float32), rng.random((3, 2), np.float32)
    neighbours = {"i": rng.integers(0, 4, (3, 3), np.int32), "w": rng.random((3, 3), np.float32)}
    return [
        TinyCall("stack_three_interpolate_forward", "op(x, i, w, out=o)",
                 {"x": features, **neighbours, "o": np.empty_like(gradient)}),
        TinyCall("stack_three_interpolate_backward", "op(x, i, w, 4, out=o)",
                 {"x": gradient, **neighbours, "o": np.empty_like(features)}),
    ]  # fmt: skip


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors."""
    rng = np.random.default_rng(0)
    features, weights = rng.random((4, 2), np.float32), rng.random((1, 3), np.float32)
    near = np.array([[0, 1, 2]], np.int32)
    features_t, near_t, weights_t = tensor(features), tensor(near), tensor(weights)
    return TensorCall(
        "stack_three_interpolate",
        lambda: pymluops.stack_three_interpolate_forward(features, near, weights),
        lambda: ops.stack_three_interpolate(features_t, near_t, weights_t),
    )
