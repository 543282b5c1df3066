"""nms, soft_nms and nms_match: boxes that no kept one with a higher score overlaps too much."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Array, Arrays, Problem, TensorCall, TinyCall, WrongResultError, generator

#: Operators without cases: the kernel of the vendor's function is that of `nms2d`.
SAME_KERNEL = ("nms",)
#: The most boxes, as a part of all, of which ways may differ: overlaps near the threshold are
#: rounded in other ways.
_OTHERS = 1e-3


def build(case: Case) -> Problem:
    """Draw boxes, `each` of them around every place, in a square that grows with the root of their number."""
    facts, rng = case.parameters, generator(case)
    boxes, scores = candidates(rng, facts["boxes"], facts["each"])
    run = _RUNS[case.operator](boxes, scores, facts["threshold"])
    (found,) = run({}).values()
    return Problem(case, {"boxes": boxes, "scores": scores}, {}, run, check, written=found.nbytes)


def _nms(boxes: Array, scores: Array, threshold: float) -> Callable[[Arrays], Arrays]:
    return lambda _out: {"found": pymluops.nms2d(boxes, scores, threshold)}


def _soft_nms(boxes: Array, scores: Array, threshold: float) -> Callable[[Arrays], Arrays]:
    return lambda _out: {"found": pymluops.soft_nms(boxes, scores, threshold)[1]}


def _nms_match(boxes: Array, scores: Array, threshold: float) -> Callable[[Arrays], Arrays]:
    dets = np.column_stack([boxes, scores])
    return lambda _out: {"matches": pymluops.nms_match(dets, threshold)[0]}


_RUNS = {"nms2d": _nms, "soft_nms": _soft_nms, "nms_match": _nms_match}


def candidates(rng: np.random.Generator, count: int, each: int) -> tuple[Array, Array]:
    """Return boxes [count, 4] and scores, as a detector gives them before suppression."""
    places = max(1, count // each)
    centres, sizes = rng.uniform(0, 8 * places**0.5, (places, 2)), rng.uniform(2, 5, (places, 2))
    place = rng.integers(0, places, count)
    boxes = np.concatenate([centres - sizes / 2, centres + sizes / 2], 1)[place] + rng.normal(0, 0.15, (count, 4))
    return boxes.astype(np.float32), rng.random(count, np.float32)


def check(expected: Arrays, found: Arrays) -> None:
    """Compare which boxes are found, or for each one which it belongs to."""
    (name, one), (_, other) = *expected.items(), *found.items()
    if name == "matches":
        different = 2 * int(np.count_nonzero(one != other))
    else:
        different = len(set(one.tolist()) ^ set(other.tolist()))
    if different > _OTHERS * max(len(one), 1 / _OTHERS):
        raise WrongResultError(f"{name}: {different} of {len(one)} are so by one way alone")


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the number of boxes."""
    return {"": {"boxes": max(2, round(elements / 5)), "each": 10, "threshold": 0.3}}


def tiny() -> list[TinyCall]:
    """Return a call on three boxes."""
    boxes, scores = candidates(np.random.default_rng(7), 3, 2)
    arrays = {"x": boxes, "s": scores}
    return [TinyCall("nms2d", "op(x, s, 0.5)", arrays, limit=8000.0)]


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors, which returns the boxes too."""
    boxes, scores = candidates(np.random.default_rng(0), 3, 2)
    boxes_t, scores_t = tensor(boxes), tensor(scores)
    return TensorCall("nms", lambda: pymluops.nms2d(boxes, scores, 0.5), lambda: ops.nms(boxes_t, scores_t, 0.5))
