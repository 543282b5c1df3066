"""generate_proposals_v2: the best boxes of a region proposal network."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Array, Arrays, Problem, TinyCall, WrongResultError, generator

#: The most boxes, as a part of all, that may be kept by one way alone: overlaps near the threshold
#: are rounded in other ways.
_OTHERS = 2e-2


def build(case: Case) -> Problem:
    """Draw scores and deltas for anchors of three sizes in each cell."""
    facts, rng = case.parameters, generator(case)
    inputs = arrays(rng, facts["side"], facts["anchors"])
    function: Any = pymluops.generate_proposals_v2

    def run(_out: Arrays) -> Arrays:
        rois, _, counts, _ = function(*inputs.values(), facts["before"], facts["after"], 0.7)
        return {"rois": rois[: counts[0]]}

    rows = run({})["rois"]
    return Problem(case, inputs, {}, run, check, written=rows.nbytes)


def arrays(rng: np.random.Generator, side: int, anchors: int) -> Arrays:
    """Return the arrays of one image of 16 * side pixels."""
    centres = np.stack(np.meshgrid(np.arange(side), np.arange(side)), -1)[:, :, None] * 16.0 + 8
    sizes = (32 * 2.0 ** np.arange(anchors))[:, None]
    boxes = np.concatenate([centres - sizes / 2, centres + sizes / 2], -1).astype(np.float32)
    return {
        "scores": rng.random((1, side, side, anchors), np.float32),
        "bbox_deltas": rng.normal(0, 0.2, (1, side, side, 4 * anchors)).astype(np.float32),
        "im_shape": np.full((1, 2), 16 * side, np.float32),
        "anchors": boxes,
        "variances": np.ones_like(boxes),
    }


def check(expected: Arrays, found: Arrays) -> None:
    """Compare which boxes are kept."""
    one, other = expected["rois"], found["rois"]
    alone = _without_partner(one, other) + _without_partner(other, one)
    if alone > _OTHERS * len(one):
        raise WrongResultError(f"rois: {alone} of {len(one)} boxes are kept by one way alone")


def _without_partner(boxes: Array, others: Array) -> int:
    """Count the boxes that are none of the others, within half a pixel."""
    near = [bool((np.abs(others - box).max(1) < 0.5).any()) for box in boxes]
    return near.count(False)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the map of three anchors a cell."""
    return {"": {"side": max(1, round((elements / 39) ** 0.5)), "anchors": 3, "before": 2000, "after": 300}}


def tiny() -> list[TinyCall]:
    """Return a call on one cell."""
    made = dict(zip("sdiav", arrays(np.random.default_rng(0), 1, 1).values(), strict=True))
    return [TinyCall("generate_proposals_v2", "op(s, d, i, a, v, 1, 1)", made, limit=12000.0)]
