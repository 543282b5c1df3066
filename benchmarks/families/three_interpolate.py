"""three_interpolate: weighted sums of three columns, and their gradient."""

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
    """Make features or a gradient, and for each point three features drawn evenly with weights that sum to 1."""
    facts, rng = case.parameters, generator(case)
    batch, channels, points, features = (facts[name] for name in ("batch", "channels", "points", "features"))
    forward = case.operator.endswith("forward")
    indices = rng.integers(0, features, (batch, points, 3), dtype=np.int32)
    weights = rng.random((batch, points, 3), np.float32) + np.float32(0.1)
    weights = (weights / weights.sum(axis=2, keepdims=True)).astype(case.dtype)
    columns = (batch, channels, features), (batch, channels, points)
    source, target = columns if forward else columns[::-1]
    array = rng.standard_normal(source, np.float32).astype(case.dtype)
    read = None
    if forward:  # a column that no point names need not be read
        named = sum(len(np.unique(indices[b])) for b in range(batch))
        read = indices.nbytes + weights.nbytes + named * channels * array.itemsize

    def run(out: Arrays) -> Arrays:
        if forward:
            pymluops.three_interpolate_forward(array, indices, weights, out=out["out"])
        else:
            pymluops.three_interpolate_backward(array, indices, weights, features, out=out["out"])
        return out

    def check(expected: Arrays, found: Arrays) -> None:
        close("out", expected["out"], found["out"], _TOLERANCE[case.dtype])

    inputs = {"features" if forward else "grad_output": array, "indices": indices, "weights": weights}
    return Problem(case, inputs, {"out": (target, array.dtype)}, run, check, read)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the number of points to 1024, then the channels to 64, then the batch."""
    points = min(1024, max(4, round(elements / 26)))
    features = max(3, points // 4)
    channels = min(64, max(1, round((elements - 6 * points) / (points + features))))
    one = channels * (points + features) + 6 * points
    batch = max(1, round(elements / one))
    return {"": {"batch": batch, "channels": channels, "points": points, "features": features}}


def tiny() -> list[TinyCall]:
    """Return a call of each operator on a few elements."""
    rng = np.random.default_rng(7)
    features, gradient = rng.random((1, 2, 4), np.float32), rng.random((1, 2, 3), np.float32)
    neighbours = {"i": rng.integers(0, 4, (1, 3, 3), np.int32), "w": rng.random((1, 3, 3), np.float32)}
    return [
        TinyCall("three_interpolate_forward", "op(x, i, w, out=o)",
                 {"x": features, **neighbours, "o": np.empty_like(gradient)}),
        TinyCall("three_interpolate_backward", "op(x, i, w, 4, out=o)",
                 {"x": gradient, **neighbours, "o": np.empty_like(features)}),
    ]  # fmt: skip


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors as mmcv would give them."""
    rng = np.random.default_rng(0)
    features, weights = rng.random((1, 2, 4), np.float32), rng.random((1, 1, 3), np.float32)
    near = np.array([[[0, 1, 2]]], np.int32)
    features_t, near_t, weights_t = tensor(features), tensor(near), tensor(weights)
    return TensorCall(
        "three_interpolate",
        lambda: pymluops.three_interpolate_forward(features, near, weights),
        lambda: ops.three_interpolate(features_t, near_t, weights_t),
    )
