"""furthest_point_sampling: points that are far from each other, by coordinates and by a matrix of distances."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Arrays, Problem, TensorCall, TinyCall, WrongResultError, close, generator


def build(case: Case) -> Problem:
    """Draw points evenly in a cube; the stacked operator has batches of one size here."""
    facts, rng = case.parameters, generator(case)
    batch, points, samples = (facts[name] for name in ("batch", "points", "samples"))
    xyz = rng.random((batch, points, 3), np.float32).astype(case.dtype)
    counts, numbers = np.full(batch, points, np.int32), np.full(batch, samples, np.int32)
    inputs = {"xyz": xyz}
    if case.operator == "furthest_point_sampling_with_dist":
        inputs = {"dist": np.square(xyz[:, :, None] - xyz[:, None]).sum(-1, dtype=xyz.dtype)}

    def run(out: Arrays) -> Arrays:
        if case.operator == "furthest_point_sampling":
            pymluops.furthest_point_sampling(xyz, samples, dist2=out["dist2"], idx=out["idx"])
        elif case.operator == "furthest_point_sampling_with_dist":
            pymluops.furthest_point_sampling_with_dist(inputs["dist"], samples, min_dist=out["dist2"], idx=out["idx"])
        else:
            dist2, idx = out["dist2"].reshape(-1), out["idx"].reshape(-1)
            flat, total = xyz.reshape(-1, 3), batch * samples
            pymluops.stack_furthest_point_sampling(flat, counts, numbers, total, dist2=dist2, idx=idx)
            out["idx"] -= np.arange(0, batch * points, points, dtype=np.int32)[:, None]
        return out

    outputs = {"dist2": ((batch, points), xyz.dtype), "idx": ((batch, samples), np.dtype(np.int32))}
    return Problem(case, inputs, outputs, run, check)


def check(expected: Arrays, found: Arrays) -> None:
    """Compare the picks, which follow from each other: the first other one makes the rest differ; then distances."""
    if (expected["idx"] != found["idx"]).any():
        raise WrongResultError(f"idx: differs from pick {int(np.argwhere(expected['idx'] != found['idx'])[0, 1])} on")
    close("dist2", expected["dist2"], found["dist2"], 1e-3)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the number of points to 16384, a quarter of them picks, then the batch."""
    points = min(16384, max(4, elements // 5))
    return {"": {"batch": max(1, round(elements / (5 * points))), "points": points, "samples": max(1, points // 4)}}


def tiny() -> list[TinyCall]:
    """Return a call of each operator on four points."""
    cloud = np.random.default_rng(7).random((1, 4, 3), np.float32)
    outputs = {"d": np.empty((1, 4), np.float32), "o": np.zeros((1, 2), np.int32)}
    matrix = np.square(cloud[:, :, None] - cloud[:, None]).sum(-1)
    counts = {"c": np.array([4], np.int32), "n": np.array([2], np.int32)}
    flat = {key: array[0].copy() for key, array in outputs.items()}
    infinite = {"i": float("inf")}
    return [
        TinyCall("furthest_point_sampling", "op(x, 2, i, -1.0, dist2=d, idx=o)", {"x": cloud, **outputs}, infinite),
        TinyCall("furthest_point_sampling_with_dist", "op(x, 2, i, min_dist=d, idx=o)",
                 {"x": matrix, **outputs}, infinite),
        TinyCall("stack_furthest_point_sampling", "op(x, c, n, 2, i, dist2=d, idx=o)",
                 {"x": cloud[0].copy(), **counts, **flat}, infinite),
    ]  # fmt: skip


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors as mmcv would give them."""
    points = np.random.default_rng(0).random((1, 4, 3), np.float32)
    points_t = tensor(points)
    return TensorCall(
        "furthest_point_sample",
        lambda: pymluops.furthest_point_sampling(points, 2),
        lambda: ops.furthest_point_sample(points_t, 2),
    )
