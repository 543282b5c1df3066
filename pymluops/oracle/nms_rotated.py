"""nms_rotated: boxes that no kept one with a higher score overlaps too much."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pymluops.oracle.refusals import Refusals
from pymluops.oracle.rotated_rectangles import overlap, random_rectangles
from pymluops.oracle.ways import Way

#: Values of symbols in arguments that are made.
SIZES = {"D": (5, 6)}


def nms_rotated(boxes: np.ndarray, scores: np.ndarray, threshold: float) -> list[int]:
    """The numbers of the kept boxes."""
    left = [i for i in np.argsort(-scores, kind="stable") if scores[i] > -np.inf]
    kept: list[int] = []
    while left:
        kept.append(int(left[0]))
        best = boxes[left[0], :5]
        left = [i for i in left[1:] if not overlap(best, boxes[i, :5]) > threshold]
    return kept


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let boxes overlap, and some scores be equal."""
    boxes, scores = arguments["boxes"], arguments["scores"]
    boxes[:, :5] = random_rectangles(rng, len(boxes))
    scores[...] = np.round(rng.uniform(0, 1, len(scores)), 1)


def in_double(_name: str, boxes: np.ndarray, scores: np.ndarray, threshold: float) -> tuple[np.ndarray, np.ndarray]:
    """The results for float64 boxes."""
    kept = nms_rotated(boxes, scores, threshold)
    out = np.zeros(len(boxes), np.int32)
    out[: len(kept)] = kept
    return out, np.array([len(kept)], np.int32)


def _spread(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let about ten boxes lie around each place."""
    boxes, scores = arguments["boxes"], arguments["scores"]
    boxes[:, :5] = random_rectangles(rng, len(boxes), len(boxes) ** 0.5)
    scores[...] = rng.uniform(0, 1, len(scores))


def ways(size: int) -> Iterator[Way]:
    """Many boxes, most of which are kept, and few places with many boxes."""
    scalars = {"iou_threshold": 0.5}
    yield Way("nms_rotated", "spread", {"N": 20 * size, "D": 5}, scalars, change=_spread)
    yield Way("nms_rotated", "crowded", {"N": 4 * size, "D": 6}, scalars, change=prepare)


_ORDER = "handle objects types ranks packed shapes indexable empty data numbers aligned workspace overlap"
REFUSALS = {
    "mluOpNmsRotated": Refusals(order=_ORDER, needs_workspace=False),
    "mluOpGetNmsRotatedWorkspaceSize": Refusals(order="handle objects pointer ranks"),
}
