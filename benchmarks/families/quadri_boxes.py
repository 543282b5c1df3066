"""box_iou_quadri, nms_quadri and poly_nms: overlaps of rectangles that are given by their corners."""

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
    if case.operator == "box_iou_quadri":
        outputs = {"out": ((len(boxes), len(boxes)), np.dtype(np.float32))}
        return Problem(case, {"boxes": boxes}, outputs, lambda out: _overlaps(boxes, out), check)
    scored = np.column_stack([boxes, scores])

    def run(_out: Arrays) -> Arrays:
        if case.operator == "poly_nms":
            return {"kept": pymluops.poly_nms(scored, facts["threshold"])}
        return {"kept": pymluops.nms_quadri(boxes, scores, facts["threshold"])}

    kept = run({})["kept"]
    return Problem(case, {"boxes": boxes, "scores": scores}, {}, run, check, written=kept.nbytes)


def _overlaps(boxes: Array, out: Arrays) -> Arrays:
    pymluops.box_iou_quadri(boxes, boxes, out=out["out"])
    return out


def candidates(rng: np.random.Generator, count: int, each: int) -> tuple[Array, Array]:
    """Return rectangles [count, 8] and scores, as a detector gives them before suppression."""
    places = max(1, count // each)
    place = rng.integers(0, places, count)
    centres = rng.uniform(0, 8 * places**0.5, (places, 2))[place] + rng.normal(0, 0.15, (count, 2))
    sizes = rng.uniform(2, 5, (places, 2))[place]
    angles = rng.uniform(-3, 3, places)[place] + rng.normal(0, 0.1, count)
    along = np.stack([np.cos(angles), np.sin(angles)], 1) * sizes[:, :1] / 2
    across = np.stack([-np.sin(angles), np.cos(angles)], 1) * sizes[:, 1:] / 2
    corners = [centres - along - across, centres + along - across, centres + along + across, centres - along + across]
    return np.concatenate(corners, 1).astype(np.float32), rng.random(count, np.float32)


def check(expected: Arrays, found: Arrays) -> None:
    """Compare the parts, which are between 0 and 1, or which boxes are kept."""
    if "out" in expected:
        worst = float(np.abs(expected["out"] - found["out"]).max(initial=0))
        if not worst < 2e-3:
            raise WrongResultError(f"out: differs by {worst:.2g}")
        return
    one, other = set(expected["kept"].tolist()), set(found["kept"].tolist())
    if len(one ^ other) > _OTHERS * max(len(one), 1 / _OTHERS):
        raise WrongResultError(f"kept: {len(one ^ other)} of {len(one)} boxes are kept by one way alone")


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the number of boxes."""
    return {"": {"boxes": max(2, round(elements / 9)), "each": 10, "threshold": 0.3}}


def tiny() -> list[TinyCall]:
    """Return a call on three boxes."""
    boxes, scores = candidates(np.random.default_rng(7), 3, 2)
    return [TinyCall("nms_quadri", "op(x, s, 0.5)", {"x": boxes, "s": scores}, limit=8000.0)]


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors, which returns the boxes too."""
    boxes, scores = candidates(np.random.default_rng(0), 3, 2)
    boxes_t, scores_t = tensor(boxes), tensor(scores)
    return TensorCall(
        "nms_quadri", lambda: pymluops.nms_quadri(boxes, scores, 0.5), lambda: ops.nms_quadri(boxes_t, scores_t, 0.5)
    )
