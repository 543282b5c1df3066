"""points_in_boxes: the boxes that hold each point."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Array, Arrays, Problem, TensorCall, TinyCall, WrongResultError, generator
from benchmarks.scans import street

#: The most pairs, as a part of all, that may differ, since a point lies at a face but for rounding.
_OTHERS = 1e-4


def build(case: Case) -> Problem:
    """Make a scan, and boxes as large as cars that stand around points of it; z is the height of the centre."""
    facts, rng = case.parameters, generator(case)
    batch, count, number = facts["batch"], facts["points"], facts["boxes"]
    points = np.stack([street(rng, count, 3) for _ in range(batch)])
    boxes = cars(rng, points, number)
    shape = (batch, count, number) if case.operator.endswith("all") else (batch, count)

    def run(out: Arrays) -> Arrays:
        if case.operator == "points_in_boxes":
            pymluops.points_in_boxes(points, boxes, out=out["out"])
        else:
            getattr(pymluops, case.operator)(boxes, points, 1e-5, True, out=out["out"])
        return out

    inputs = {"points": points, "boxes": boxes}
    return Problem(case, inputs, {"out": (shape, np.dtype(np.int32))}, run, check)


def cars(rng: np.random.Generator, points: Array, number: int) -> Array:
    """Return boxes [B, number, 7] around some of the points [B, N, 3]."""
    places = np.stack([cloud[rng.integers(0, len(cloud), number)] for cloud in points])
    sizes = rng.uniform([3.5, 1.5, 1.4], [5, 2.2, 2.5], (*places.shape[:2], 3))
    return np.concatenate([places, sizes, rng.uniform(-np.pi, np.pi, (*places.shape[:2], 1))], 2).astype(np.float32)


def check(expected: Arrays, found: Arrays) -> None:
    """Compare all results."""
    others = np.count_nonzero(expected["out"] != found["out"])
    if others > _OTHERS * expected["out"].size:
        raise WrongResultError(f"out: {others} of {expected['out'].size} results are others")


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the number of points, with 20 boxes."""
    return {"": {"batch": 1, "points": max(8, elements // 4), "boxes": 20}}


def tiny() -> list[TinyCall]:
    """Return a call of each operator on two points and a box."""
    boxes, points = np.array([[[0, 0, 0, 2, 2, 2, 0]]], np.float32), np.array([[[0, 0, 0], [5, 0, 0]]], np.float32)
    arrays = {"b": boxes, "x": points}
    first, every = np.zeros((1, 2), np.int32), np.zeros((1, 2, 1), np.int32)
    return [
        TinyCall("points_in_boxes", "op(x, b, out=o)", {**arrays, "o": first}),
        TinyCall("points_in_boxes_part", "op(b, x, 0.0, False, out=o)", {**arrays, "o": first.copy()}),
        TinyCall("points_in_boxes_all", "op(b, x, 0.0, False, out=o)", {**arrays, "o": every}),
    ]


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors as mmcv would give them."""
    boxes, points = np.ones((1, 2, 7), np.float32), np.ones((1, 3, 3), np.float32)
    boxes_t, points_t = tensor(boxes), tensor(points)
    return TensorCall(
        "points_in_boxes_part",
        lambda: pymluops.points_in_boxes_part(boxes, points),
        lambda: ops.points_in_boxes_part(points_t, boxes_t),
    )
