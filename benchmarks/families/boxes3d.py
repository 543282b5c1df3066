"""boxes3d: overlaps of upright boxes in space, and suppression by them."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Array, Arrays, Problem, TensorCall, TinyCall, WrongResultError, generator

_PAIRS = ("boxes_overlap_bev", "boxes_iou_bev", "boxes_iou3d")
_NMS = ("nms3d", "nms3d_normal")

#: The largest difference of an area as a part of the sizes of boxes: a corner just outside counts
#: as inside.
_MARGIN = 0.05
#: The most boxes, as a part of all, that may be kept by one way alone.
_OTHERS = 2e-3


def build(case: Case) -> Problem:
    """Draw boxes of the sizes of cars, `each` of them around every place."""
    facts, rng = case.parameters, generator(case)
    boxes, scores = candidates(rng, facts["boxes"], facts["each"])
    if case.operator in _PAIRS:
        return _of_pairs(case, boxes, candidates(rng, facts["boxes"], facts["each"])[0])

    def run(out: Arrays) -> Arrays:
        return {"kept": getattr(pymluops, case.operator)(boxes, scores, facts["threshold"])}

    kept = run({})["kept"]
    return Problem(case, {"boxes": boxes, "scores": scores}, {}, run, _same_boxes, written=kept.nbytes)


def _of_pairs(case: Case, first: Array, second: Array) -> Problem:
    def run(out: Arrays) -> Arrays:
        getattr(pymluops, case.operator)(first, second, out=out["out"])
        return out

    outputs = {"out": ((len(first), len(second)), np.dtype(np.float32))}
    return Problem(case, {"boxes_a": first, "boxes_b": second}, outputs, run, _same_values)


def candidates(rng: np.random.Generator, count: int, each: int) -> tuple[Array, Array]:
    """Return boxes [count, 7] and scores, as a detector gives them before suppression."""
    places = max(1, count // each)
    centres = np.column_stack([rng.uniform(0, 8 * places**0.5, (places, 2)), rng.normal(0, 0.5, places)])
    sizes, headings = rng.uniform(1.5, 4.5, (places, 3)), rng.uniform(-3, 3, places)
    place = rng.integers(0, places, count)
    boxes = np.column_stack([centres, sizes, headings])[place] + rng.normal(0, 0.1, (count, 7))
    return boxes.astype(np.float32), rng.random(count, np.float32)


def _same_values(expected: Arrays, found: Arrays) -> None:
    difference = np.abs(expected["out"] - found["out"])
    if not float(difference.max(initial=0)) < _MARGIN * max(1.0, float(expected["out"].max(initial=0))):
        raise WrongResultError(f"out: differs by {difference.max():.2g}")
    if (difference > 1e-3).mean() > 0.05:
        raise WrongResultError(f"out: {(difference > 1e-3).sum()} of {difference.size} values differ")


def _same_boxes(expected: Arrays, found: Arrays) -> None:
    one, other = set(expected["kept"].tolist()), set(found["kept"].tolist())
    if len(one ^ other) > _OTHERS * max(len(one), 1 / _OTHERS):
        raise WrongResultError(f"kept: {len(one ^ other)} of {len(one)} boxes are kept by one way alone")


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the number of boxes, whose pairs are the elements of a table."""
    return {"": {"boxes": max(2, round(elements**0.5)), "each": 4, "threshold": 0.3}}


def tiny() -> list[TinyCall]:
    """Return a call of each operator on three boxes."""
    boxes, scores = candidates(np.random.default_rng(7), 3, 2)
    table = np.zeros((3, 3), np.float32)
    pairs = {"x": boxes, "y": boxes.copy(), "o": table}
    return [
        *(TinyCall(name, "op(x, y, False, out=o)", pairs, limit=8000.0) for name in _PAIRS),
        *(TinyCall(name, "op(x, s, 0.5)", {"x": boxes, "s": scores}, limit=8000.0) for name in _NMS),
    ]


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors."""
    boxes, _ = candidates(np.random.default_rng(0), 2, 2)
    given = tensor(boxes)
    return TensorCall("boxes_iou3d", lambda: pymluops.boxes_iou3d(boxes, boxes), lambda: ops.boxes_iou3d(given, given))
