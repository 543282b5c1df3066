"""nms_rotated: boxes that no kept one with a higher score overlaps too much."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Array, Arrays, Problem, TensorCall, TinyCall, WrongResultError, generator

#: The most boxes, as a part of all, that may be kept by one way alone: overlaps near the threshold
#: are rounded in other ways.
_OTHERS = 1e-3


def build(case: Case) -> Problem:
    """Draw boxes, `each` of them around every place, in a square that grows with the root of their number."""
    facts, rng = case.parameters, generator(case)
    boxes, scores = candidates(rng, facts["boxes"], facts["each"])

    def run(out: Arrays) -> Arrays:
        return {"kept": pymluops.nms_rotated(boxes, scores, facts["threshold"])}

    kept = run({})["kept"]
    return Problem(case, {"boxes": boxes, "scores": scores}, {}, run, check, written=kept.nbytes)


def candidates(rng: np.random.Generator, count: int, each: int) -> tuple[Array, Array]:
    """Return boxes [count, 5] and scores, as a detector gives them before suppression."""
    places = max(1, count // each)
    centres, sizes = rng.uniform(0, 8 * places**0.5, (places, 2)), rng.uniform(2, 5, (places, 2))
    angles, place = rng.uniform(-3, 3, places), rng.integers(0, places, count)
    boxes = np.column_stack([centres, sizes, angles])[place] + rng.normal(0, 0.15, (count, 5))
    return boxes.astype(np.float32), rng.random(count, np.float32)


def check(expected: Arrays, found: Arrays) -> None:
    """Compare which boxes are kept."""
    one, other = set(expected["kept"].tolist()), set(found["kept"].tolist())
    if len(one ^ other) > _OTHERS * max(len(one), 1 / _OTHERS):
        raise WrongResultError(f"kept: {len(one ^ other)} of {len(one)} boxes are kept by one way alone")


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the number of boxes."""
    return {"": {"boxes": max(2, round(elements / 6)), "each": 10, "threshold": 0.3}}


def tiny() -> list[TinyCall]:
    """Return a call on three boxes."""
    boxes, scores = candidates(np.random.default_rng(7), 3, 2)
    return [TinyCall("nms_rotated", "op(x, s, 0.5)", {"x": boxes, "s": scores}, limit=8000.0)]


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors, which returns the boxes too."""
    boxes, scores = candidates(np.random.default_rng(0), 3, 2)
    boxes_t, scores_t = tensor(boxes), tensor(scores)
    return TensorCall(
        "nms_rotated",
        lambda: pymluops.nms_rotated(boxes, scores, 0.5),
        lambda: ops.nms_rotated(boxes_t, scores_t, 0.5),
    )
