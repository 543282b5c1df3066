"""three_nn: the three nearest known points of each unknown point."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Arrays, Problem, TinyCall, generator, same_bits


def build(case: Case) -> Problem:
    """Draw both sets of points evenly in a cube."""
    facts, rng = case.parameters, generator(case)
    batch, unknowns, points = (facts[name] for name in ("batch", "unknown", "known"))
    unknown = rng.random((batch, unknowns, 3), np.float32).astype(case.dtype)
    known = rng.random((batch, points, 3), np.float32).astype(case.dtype)

    def run(out: Arrays) -> Arrays:
        pymluops.three_nn_forward(unknown, known, dist2=out["dist2"], idx=out["idx"])
        return out

    outputs = {"dist2": (unknown.shape, unknown.dtype), "idx": (unknown.shape, np.dtype(np.int32))}
    written = unknown.nbytes + 4 * unknown.size
    return Problem(
        case, {"unknown": unknown, "known": known}, outputs, unknown.nbytes + known.nbytes, written, run, same_bits
    )


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow both sets to 4096 and 1024 points, then the batch."""
    points = min(4096, max(4, round(elements / 9.75)))
    batch = max(1, round(elements / (9.75 * points)))
    return {"": {"batch": batch, "unknown": points, "known": max(3, points // 4)}}


def tiny() -> list[TinyCall]:
    """Return a call on three points."""
    cloud = np.random.default_rng(7).random((1, 3, 3), np.float32)
    arrays = {"x": cloud, "p": cloud.copy(), "d": np.empty_like(cloud), "o": np.zeros((1, 3, 3), np.int32)}
    return [TinyCall("three_nn_forward", "op(x, p, dist2=d, idx=o)", arrays)]
