"""diff_iou_rotated_sort_vertices: corners of polygons in the order of a walk around them."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Array, Arrays, Problem, TinyCall, WrongResultError, generator


def build(case: Case) -> Problem:
    """Draw up to eight vertices of each polygon around the origin."""
    facts, rng = case.parameters, generator(case)
    vertices, mask, count = polygons(rng, facts["batch"], facts["polygons"])

    def run(out: Arrays) -> Arrays:
        pymluops.diff_iou_rotated_sort_vertices_forward(vertices, mask, count, out=out["out"])
        return out

    outputs = {"out": ((*count.shape, 9), np.dtype(np.int32))}
    return Problem(case, {"vertices": vertices, "mask": mask, "num_valid": count}, outputs, run, check)


def polygons(rng: np.random.Generator, batch: int, count: int) -> tuple[Array, Array, Array]:
    """Return vertices, mask and numbers of vertices, which lie at angles that differ."""
    vertices = rng.normal(size=(batch, count, 24, 2)).astype(np.float32)
    mask = rng.permuted(np.arange(24) < rng.integers(3, 9, (batch, count, 1)), axis=-1)
    return vertices, mask, mask.sum(-1, dtype=np.int32)


def check(expected: Arrays, found: Arrays) -> None:
    """Compare the orders; angles that are nearly equal may be rounded to equal ones."""
    others = (expected["out"] != found["out"]).any(-1)
    if others.mean() > 1e-3:
        raise WrongResultError(f"out: {np.count_nonzero(others)} of {others.size} polygons have another order")


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the number of polygons."""
    return {"": {"batch": 2, "polygons": max(1, round(elements / 82 / 2))}}


def tiny() -> list[TinyCall]:
    """Return a call on one polygon."""
    vertices, mask, count = polygons(np.random.default_rng(7), 1, 1)
    arrays = {"x": vertices, "m": mask, "n": count, "o": np.zeros((1, 1, 9), np.int32)}
    return [TinyCall("diff_iou_rotated_sort_vertices_forward", "op(x, m, n, out=o)", arrays, limit=4000.0)]
