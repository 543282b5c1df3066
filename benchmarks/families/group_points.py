"""gather_points, group_points and stack_group_points: features of points by their indices, and the gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Arrays, Problem, TensorCall, TinyCall, close, generator

#: Of the largest value; sums in another order differ by rounding, float16 is rounded once.
_TOLERANCE = {"float32": 2e-5, "float16": 2e-3}


def build(case: Case) -> Problem:
    """Make features or a gradient, and indices drawn evenly. Stacked batches are of one size here."""
    facts, rng = case.parameters, generator(case)
    batch, channels, points, groups, samples = (
        facts[name] for name in ("batch", "channels", "points", "groups", "samples")
    )
    forward, stacked = case.operator.endswith("forward"), case.operator.startswith("stack")
    picked: tuple[int, ...] = (groups * samples,) if case.operator.startswith("gather") else (groups, samples)
    idx = rng.integers(0, points, (batch, *picked), dtype=np.int32)
    shapes: tuple[tuple[int, ...], tuple[int, ...]] = (batch, channels, points), (batch, channels, *picked)
    if stacked:
        idx = idx.reshape(-1, samples)
        shapes = (batch * points, channels), (batch * groups, channels, samples)
    source, target = shapes if forward else shapes[::-1]
    array = rng.standard_normal(source, np.float32).astype(case.dtype)
    counts, numbers = np.full(batch, points, np.int32), np.full(batch, groups, np.int32)
    function = getattr(pymluops, case.operator)

    def run(out: Arrays) -> Arrays:
        if stacked and forward:
            function(array, counts, idx, numbers, out=out["out"])
        elif stacked:
            function(array, idx, numbers, counts, batch * points, out=out["out"])
        elif forward:
            function(array, idx, out=out["out"])
        else:
            function(array, idx, points, out=out["out"])
        return out

    def check(expected: Arrays, found: Arrays) -> None:
        close("out", expected["out"], found["out"], _TOLERANCE[case.dtype])

    inputs = {"features" if forward else "grad_output": array, "idx": idx}
    return Problem(case, inputs, {"out": (target, array.dtype)}, run, check)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the points to 1024 in 256 groups of 8, then the channels to 64, then the batch."""
    points = min(1024, max(4, elements // 8))
    groups = max(1, points // 4)
    one = points + groups * 8
    channels = min(64, max(1, round((elements - groups * 8) / one)))
    batch = max(1, round(elements / (channels * one + groups * 8)))
    return {"": {"batch": batch, "channels": channels, "points": points, "groups": groups, "samples": 8}}


def tiny() -> list[TinyCall]:
    """Return a call of each operator on a few elements."""
    rng = np.random.default_rng(7)
    features, picked = rng.random((1, 2, 4), np.float32), np.empty((1, 2, 3), np.float32)
    idx, grouped = rng.integers(0, 4, (1, 3), np.int32), np.empty((1, 2, 3, 1), np.float32)
    groups, rows = idx[..., None].copy(), features[0].T.copy()
    stacked, counts = np.empty((3, 2, 1), np.float32), {"c": np.array([4], np.int32), "n": np.array([3], np.int32)}
    return [
        TinyCall("gather_points_forward", "op(x, i, out=o)", {"x": features, "i": idx, "o": picked}),
        TinyCall("gather_points_backward", "op(x, i, 4, out=o)", {"x": picked, "i": idx, "o": features.copy()}),
        TinyCall("group_points_forward", "op(x, i, out=o)", {"x": features, "i": groups, "o": grouped}),
        TinyCall("group_points_backward", "op(x, i, 4, out=o)", {"x": grouped, "i": groups, "o": features.copy()}),
        TinyCall("stack_group_points_forward", "op(x, c, i, n, out=o)",
                 {"x": rows, "i": groups[0].copy(), "o": stacked, **counts}),
        TinyCall("stack_group_points_backward", "op(x, i, n, c, 4, out=o)",
                 {"x": stacked, "i": groups[0].copy(), "o": rows.copy(), **counts}),
    ]  # fmt: skip


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors as mmcv would give them."""
    rng = np.random.default_rng(0)
    features, idx = rng.random((1, 2, 4), np.float32), np.array([[[0, 1], [2, 3]]], np.int32)
    features_t, idx_t = tensor(features), tensor(idx)
    return TensorCall(
        "grouping_operation",
        lambda: pymluops.group_points_forward(features, idx),
        lambda: ops.grouping_operation(features_t, idx_t),
    )
