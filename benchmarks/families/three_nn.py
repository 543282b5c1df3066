"""three_nn: the three nearest known points of each unknown point."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Array, Arrays, Problem, TensorCall, TinyCall, WrongResultError, close, generator

#: Of the largest distance; another order of the sums rounds otherwise.
_TOLERANCE = {"float32": 1e-6, "float16": 1e-3}


def build(case: Case) -> Problem:
    """Draw both sets of points evenly in a cube."""
    facts, rng = case.parameters, generator(case)
    batch, unknowns, points = (facts[name] for name in ("batch", "unknown", "known"))
    unknown = rng.random((batch, unknowns, 3), np.float32).astype(case.dtype)
    known = rng.random((batch, points, 3), np.float32).astype(case.dtype)

    counts, numbers = np.full(batch, points, np.int32), np.full(batch, unknowns, np.int32)

    def run_stack(out: Arrays) -> Arrays:
        """Look in batches that are stacked, of one size here."""
        dist2, idx = out["dist2"].reshape(-1, 3), out["idx"].reshape(-1, 3)
        pymluops.stack_three_nn(unknown.reshape(-1, 3), numbers, known.reshape(-1, 3), counts, dist2=dist2, idx=idx)
        out["idx"] -= np.arange(0, batch * points, points, dtype=np.int32)[:, None, None]
        return out

    def run(out: Arrays) -> Arrays:
        pymluops.three_nn_forward(unknown, known, dist2=out["dist2"], idx=out["idx"])
        return out

    def check(expected: Arrays, found: Arrays) -> None:
        close("dist2", expected["dist2"], found["dist2"], _TOLERANCE[case.dtype])
        _near("idx", unknown, known, found["idx"], expected["dist2"], _TOLERANCE[case.dtype])

    outputs = {"dist2": (unknown.shape, unknown.dtype), "idx": (unknown.shape, np.dtype(np.int32))}
    way = run_stack if case.operator == "stack_three_nn" else run
    return Problem(case, {"unknown": unknown, "known": known}, outputs, way, check)


def _near(name: str, unknown: Array, known: Array, idx: Array, dist2: Array, tolerance: float) -> None:
    """Check that the points named are at the distances; of those at the same distance any will do."""
    if (idx < 0).any() or (idx >= known.shape[1]).any():
        raise WrongResultError(f"{name}: not all values are indices")
    for b in range(len(idx)):
        if (np.diff(np.sort(idx[b], axis=1), axis=1) == 0).any():
            raise WrongResultError(f"{name}: a point is named twice")
        apart = known[b][idx[b]].astype(np.float32) - unknown[b][:, None].astype(np.float32)
        close(name, dist2[b], np.square(apart).sum(axis=2), tolerance)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow both sets to 4096 and 1024 points, then the batch."""
    points = min(4096, max(4, round(elements / 9.75)))
    batch = max(1, round(elements / (9.75 * points)))
    return {"": {"batch": batch, "unknown": points, "known": max(3, points // 4)}}


def tiny() -> list[TinyCall]:
    """Return a call of each operator on three points."""
    cloud = np.random.default_rng(7).random((1, 3, 3), np.float32)
    arrays = {"x": cloud, "p": cloud.copy(), "d": np.empty_like(cloud), "o": np.zeros((1, 3, 3), np.int32)}
    stacked = {key: array[0].copy() for key, array in arrays.items()} | {"c": np.array([3], np.int32)}
    return [
        TinyCall("three_nn_forward", "op(x, p, dist2=d, idx=o)", arrays),
        TinyCall("stack_three_nn", "op(x, c, p, c, dist2=d, idx=o)", stacked),
    ]


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors as mmcv would give them."""
    rng = np.random.default_rng(0)
    centres, points = rng.random((1, 2, 3), np.float32), rng.random((1, 4, 3), np.float32)
    centres_t, points_t = tensor(centres), tensor(points)
    return TensorCall(
        "three_nn", lambda: pymluops.three_nn_forward(centres, points), lambda: ops.three_nn(centres_t, points_t)
    )
