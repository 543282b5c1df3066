"""roi_point_pool3d: the first points in boxes with their features."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Array, Arrays, Problem, TensorCall, TinyCall, WrongResultError, generator

#: The most boxes, as a part of all, with other points: one lies at a face but for rounding.
_OTHERS = 0.02


def build(case: Case) -> Problem:
    """Draw points in a cube, and boxes in it that hold from a few of them to more than wanted."""
    facts, rng = case.parameters, generator(case)
    batch, count, number = facts["batch"], facts["points"], facts["boxes"]
    points = rng.uniform(-10, 10, (batch, count, 3)).astype(case.dtype)
    features = rng.standard_normal((batch, count, facts["channels"]), np.float32).astype(case.dtype)
    boxes = rng.uniform([-10, -10, -10, 1, 1, 1, -3], [10, 10, 10, 12, 12, 12, 3], (batch, number, 7)).astype(
        case.dtype
    )
    sizes = (batch, count, number, facts["channels"], facts["samples"])

    def run(out: Arrays) -> Arrays:
        given: dict[str, Any] = {**out}
        pymluops.roi_point_pool3d(points, features, boxes, *sizes, **given)
        return out

    outputs = {
        "pooled_features": ((batch, number, facts["samples"], 3 + facts["channels"]), points.dtype),
        "pooled_empty_flag": ((batch, number), np.dtype(np.int32)),
    }
    return Problem(case, {"points": points, "features": features, "boxes": boxes}, outputs, run, check)


def check(expected: Arrays, found: Arrays) -> None:
    """Compare the rows of each box."""
    same: Array = (expected["pooled_features"] == found["pooled_features"]).all(axis=(2, 3))
    same &= expected["pooled_empty_flag"] == found["pooled_empty_flag"]
    if (~same).mean() > _OTHERS:
        raise WrongResultError(f"pooled_features: {np.count_nonzero(~same)} of {same.size} boxes have other points")


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the number of boxes, with 32 samples of 8 channels, and the points."""
    boxes = max(1, elements // 700)
    return {"": {"batch": 1, "points": max(8, elements // 30), "boxes": boxes, "channels": 8, "samples": 32}}


def tiny() -> list[TinyCall]:
    """Return a call on two points and a box."""
    points, features = np.array([[[0, 0, 1], [5, 0, 0]]], np.float32), np.ones((1, 2, 1), np.float32)
    boxes = np.array([[[0, 0, 0, 2, 2, 2, 0]]], np.float32)
    pooled, empty = pymluops.roi_point_pool3d(points, features, boxes, 1, 2, 1, 1, 2)
    arrays = {"x": points, "f": features, "b": boxes, "o": pooled, "e": empty}
    return [
        TinyCall(
            "roi_point_pool3d",
            "op(x, f, b, 1, 2, 1, 1, 2, pooled_features=o, pooled_empty_flag=e)",
            arrays,
            limit=3000.0,
        )
    ]


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors as mmcv would give them."""
    points, features = np.ones((1, 3, 3), np.float32), np.ones((1, 3, 2), np.float32)
    boxes = np.ones((1, 2, 7), np.float32)
    tensors = tuple(map(tensor, (points, features, boxes)))
    return TensorCall(
        "roipoint_pool3d",
        lambda: pymluops.roi_point_pool3d(points, features, boxes, 1, 3, 2, 2, 4),
        lambda: ops.roipoint_pool3d(*tensors, 4),
    )
