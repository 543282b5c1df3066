"""knn: the k nearest points of each place."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Array, Arrays, Problem, TensorCall, TinyCall, WrongResultError, close, generator

#: Of the largest distance; another order of the sums rounds otherwise.
_TOLERANCE = {"float32": 1e-6, "float16": 1e-3}


def build(case: Case) -> Problem:
    """Draw points and places evenly in a cube."""
    facts, rng = case.parameters, generator(case)
    batch, points, places, k = (facts[name] for name in ("batch", "points", "places", "k"))
    xyz = rng.random((batch, points, 3), np.float32).astype(case.dtype)
    new_xyz = rng.random((batch, places, 3), np.float32).astype(case.dtype)

    def run(out: Arrays) -> Arrays:
        pymluops.knn(xyz, new_xyz, k, dist2=out["dist2"], idx=out["idx"])
        return out

    def check(expected: Arrays, found: Arrays) -> None:
        close("dist2", expected["dist2"], found["dist2"], _TOLERANCE[case.dtype])
        _near(xyz, new_xyz, found["idx"], expected["dist2"], _TOLERANCE[case.dtype])

    shape = (batch, places, k)
    outputs = {"dist2": (shape, xyz.dtype), "idx": (shape, np.dtype(np.int32))}
    return Problem(case, {"xyz": xyz, "new_xyz": new_xyz}, outputs, run, check)


def _near(xyz: Array, new_xyz: Array, idx: Array, dist2: Array, tolerance: float) -> None:
    """Check that the points named are at the distances; of those at the same distance any will do."""
    if (idx < 0).any() or (idx >= xyz.shape[1]).any():
        raise WrongResultError("idx: not all values are indices")
    for b in range(len(idx)):
        if (np.diff(np.sort(idx[b], axis=1), axis=1) == 0).any():
            raise WrongResultError("idx: a point is named twice")
        apart = xyz[b][idx[b]].astype(np.float32) - new_xyz[b][:, None].astype(np.float32)
        close("idx", dist2[b], np.square(apart).sum(axis=2), tolerance)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the number of points and places of one cloud to 4096, then the batch."""
    points = min(4096, max(8, elements // 22))
    batch = max(1, round(elements / (22 * points)))
    return {"": {"batch": batch, "points": points, "places": points, "k": 8}}


def tiny() -> list[TinyCall]:
    """Return a call on three points."""
    cloud = np.random.default_rng(7).random((1, 3, 3), np.float32)
    arrays = {"x": cloud, "p": cloud.copy(), "d": np.empty((1, 3, 2), np.float32), "o": np.zeros((1, 3, 2), np.int32)}
    return [TinyCall("knn", "op(x, p, 2, dist2=d, idx=o)", arrays)]


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors as mmcv would give them."""
    rng = np.random.default_rng(0)
    points, places = rng.random((1, 4, 3), np.float32), rng.random((1, 2, 3), np.float32)
    points_t, places_t = tensor(points), tensor(places)
    return TensorCall("knn", lambda: pymluops.knn(points, places, 2), lambda: ops.knn(2, points_t, places_t))
