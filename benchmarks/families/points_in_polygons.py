"""points_in_polygons: which points lie in which polygons of four corners."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Arrays, Problem, TensorCall, TinyCall, generator, same_bits


def build(case: Case) -> Problem:
    """Draw points in a square, and corners of convex polygons around places in it."""
    facts, rng = case.parameters, generator(case)
    points = rng.random((facts["points"], 2), np.float32)
    angles = np.sort(rng.uniform(0, 2 * np.pi, (facts["polygons"], 4)), 1)
    corners = np.stack([np.cos(angles), np.sin(angles)], -1) * rng.uniform(0.02, 0.2, (len(angles), 1, 1))
    polygons = (corners + rng.random((len(angles), 1, 2))).reshape(-1, 8).astype(np.float32)

    def run(out: Arrays) -> Arrays:
        pymluops.points_in_polygons(points, polygons, out=out["out"])
        return out

    outputs = {"out": ((len(points), len(polygons)), np.dtype(np.float32))}
    return Problem(case, {"points": points, "polygons": polygons}, outputs, run, same_bits)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the points to 64 polygons each."""
    polygons = min(64, max(1, round(elements**0.5)))
    return {"": {"points": max(1, round(elements / (polygons + 2))), "polygons": polygons}}


def tiny() -> list[TinyCall]:
    """Return a call on three points."""
    rng = np.random.default_rng(7)
    arrays = {"x": rng.random((3, 2), np.float32), "p": rng.random((2, 8), np.float32)}
    return [TinyCall("points_in_polygons", "op(x, p, out=o)", {**arrays, "o": np.zeros((3, 2), np.float32)})]


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors."""
    rng = np.random.default_rng(0)
    points, polygons = rng.random((3, 2), np.float32), rng.random((2, 8), np.float32)
    points_t, polygons_t = tensor(points), tensor(polygons)
    return TensorCall(
        "points_in_polygons",
        lambda: pymluops.points_in_polygons(points, polygons),
        lambda: ops.points_in_polygons(points_t, polygons_t),
    )
