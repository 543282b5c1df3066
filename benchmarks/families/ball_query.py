"""ball_query: the first points in a shell around each centre."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Arrays, Problem, TensorCall, TinyCall, WrongResultError, generator

#: The most centres, as a part of all, whose points may be others, since one lies at the radius but
#: for rounding.
_OTHER_POINTS = 1e-4


def build(case: Case) -> Problem:
    """Draw centres and points evenly in a cube; `radius` is in its edges."""
    facts, rng = case.parameters, generator(case)
    batch, centres, points, samples = (facts[name] for name in ("batch", "centres", "points", "samples"))
    new_xyz = rng.random((batch, centres, 3), np.float32).astype(case.dtype)
    xyz = rng.random((batch, points, 3), np.float32).astype(case.dtype)

    counts, numbers = np.full(batch, points, np.int32), np.full(batch, centres, np.int32)

    def run_stack(out: Arrays) -> Arrays:
        """Query batches that are stacked, of one size here."""
        idx, flat, flat_centres = out["out"].reshape(-1, samples), xyz.reshape(-1, 3), new_xyz.reshape(-1, 3)
        pymluops.stack_ball_query(flat_centres, numbers, flat, counts, facts["radius"], samples, out=idx)
        np.maximum(idx, 0, out=idx)  # -1 is no point
        return out

    def run(out: Arrays) -> Arrays:
        out["out"].fill(0)  # a centre without a point keeps what is there
        pymluops.ball_query(new_xyz, xyz, 0.0, facts["radius"], samples, out=out["out"])
        return out

    shape = (batch, centres, samples)
    outputs = {"out": (shape, np.dtype(np.int32))}
    way = run_stack if case.operator == "stack_ball_query" else run
    return Problem(case, {"new_xyz": new_xyz, "xyz": xyz}, outputs, way, check)


def check(expected: Arrays, found: Arrays) -> None:
    """Compare the points of each centre."""
    others = (expected["out"] != found["out"]).any(axis=2)
    if others.mean() > _OTHER_POINTS:
        raise WrongResultError(f"out: {np.count_nonzero(others)} of {others.size} centres have other points")


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the number of points and centres of one cloud to 4096, then the batch."""
    points = min(4096, max(4, elements // 22))
    batch = max(1, round(elements / (22 * points)))
    return {"": {"batch": batch, "centres": points, "points": points, "samples": 16, "radius": 0.2}}


def tiny() -> list[TinyCall]:
    """Return a call of each operator on three points."""
    cloud = np.random.default_rng(7).random((1, 3, 3), np.float32)
    arrays = {"x": cloud, "p": cloud.copy(), "o": np.zeros((1, 3, 2), np.int32)}
    stacked = {key: array[0].copy() for key, array in arrays.items()} | {"c": np.array([3], np.int32)}
    return [
        TinyCall("ball_query", "op(x, p, 0.0, 0.5, 2, out=o)", arrays),
        TinyCall("stack_ball_query", "op(x, c, p, c, 0.5, 2, out=o)", stacked),
    ]


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors as mmcv would give them."""
    rng = np.random.default_rng(0)
    centres, points = rng.random((1, 2, 3), np.float32), rng.random((1, 4, 3), np.float32)
    centres_t, points_t = tensor(centres), tensor(points)
    return TensorCall(
        "ball_query",
        lambda: pymluops.ball_query(centres, points, 0.0, 1.0, 2),
        lambda: ops.ball_query(0.0, 1.0, 2, points_t, centres_t),
    )
