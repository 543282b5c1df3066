"""boxes3d: overlaps of upright boxes in space from above and of volumes, and suppression by them, in float64."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pymluops.oracle import rotated_rectangles
from pymluops.oracle.refusals import Refusals
from pymluops.oracle.ways import Way

#: The columns that make the rectangle seen from above.
_BASE = [0, 1, 3, 4, 6]


def overlap_bev(first: np.ndarray, second: np.ndarray) -> float:
    """Common area of two boxes, seen from above."""
    return rotated_rectangles.common_area(first[_BASE].astype(np.float64), second[_BASE].astype(np.float64))


def iou_bev(first: np.ndarray, second: np.ndarray) -> float:
    """Common area by that of both boxes together."""
    return float(rotated_rectangles.overlap(first[_BASE].astype(np.float64), second[_BASE].astype(np.float64)))


def _common_length(center: float, length: float, other_center: float, other_length: float) -> float:
    return max(min((length + other_length) / 2 - abs(center - other_center), length, other_length), 0.0)


def iou_3d(first: np.ndarray, second: np.ndarray) -> float:
    """Common volume by that of both boxes together."""
    a, b = first.astype(np.float64), second.astype(np.float64)
    if not (np.isfinite(a).all() and np.isfinite(b).all() and a[5] > 0 and b[5] > 0):
        return 0.0
    common = overlap_bev(a, b) * _common_length(a[2], a[5], b[2], b[5])
    if not common:
        return 0.0
    volumes = [abs(float(box[3:6].prod())) for box in (a, b)]
    return common / (volumes[0] + (volumes[1] - common))


def iou_straight(first: np.ndarray, second: np.ndarray) -> float:
    """Common area by that of both boxes together, without their headings."""
    straight = [row[_BASE].astype(np.float64) * [1, 1, 1, 1, 0] for row in (first, second)]
    if not all(math.isfinite(row[i]) for row in (first, second) for i in (0, 1, 3, 4)):
        return 0.0
    return float(rotated_rectangles.overlap(*(np.nan_to_num(row) for row in straight)))


VALUES: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "boxes_overlap_bev": overlap_bev,
    "boxes_iou_bev": iou_bev,
    "boxes_iou3d": iou_3d,
}
OVERLAPS = {"nms3d": iou_bev, "nms3d_normal": iou_straight}


def pairs(name: str, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """[N, M] in float64."""
    return np.array([[VALUES[name](a, b) for b in second] for a in first]).reshape(len(first), len(second))


def suppression(name: str, boxes: np.ndarray, scores: np.ndarray, threshold: float) -> list[int]:
    """The numbers of the kept boxes."""
    left = [i for i in np.argsort(-scores, kind="stable") if scores[i] > -np.inf]
    kept: list[int] = []
    while left:
        best = left[0]
        kept.append(int(best))
        left = [i for i in left[1:] if not OVERLAPS[name](boxes[best], boxes[i]) > threshold]
    return kept


def random_boxes(rng: np.random.Generator, count: int, spread: float = 4.0) -> np.ndarray:
    """Boxes of the sizes of cars, close to each other; some are the same, touch, or have no size."""
    boxes = np.column_stack([
        rng.normal(0, spread, (count, 2)), rng.normal(0, 1, count), rng.uniform(0.3, 5, (count, 3)),
        rng.uniform(-4, 4, count),
    ])  # fmt: skip
    kind = rng.random(count)
    boxes[kind < 0.1] = np.round(boxes[kind < 0.1])
    again = (kind > 0.9) & (np.arange(count) > 0)
    boxes[again] = boxes[rng.integers(0, max(count, 1), again.sum())]
    return boxes


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let boxes overlap, all pairs be compared, and some scores be equal."""
    for name in (name for name in ("boxes", "boxes_a", "boxes_b") if name in arguments):
        arguments[name][...] = random_boxes(rng, len(arguments[name]))
    if "scores" in arguments:
        arguments["scores"][...] = np.round(rng.uniform(0, 1, len(arguments["scores"])), 1)
    else:
        arguments["aligned"] = False


def in_double(name: str, *given: Any) -> Any:
    """The results for float64 boxes."""
    if name in VALUES:
        return pairs(name, given[0], given[1])
    boxes, scores, threshold = given
    kept = suppression(name, boxes, scores, threshold)
    out = np.zeros(len(boxes), np.int32)
    out[: len(kept)] = kept
    return out, np.array([len(kept)], np.int32)


def _spread(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let about ten boxes lie around each place."""
    boxes, scores = arguments["boxes"], arguments["scores"]
    boxes[...] = random_boxes(rng, len(boxes), len(boxes) ** 0.5)
    scores[...] = rng.uniform(0, 1, len(scores))


def ways(size: int) -> Iterator[Way]:
    """Many boxes against few; many boxes, most of which are kept, and few places with many boxes."""
    for name in VALUES:
        yield Way(name, "pairs", {"N": 10 * size, "M": 100}, change=prepare)
    for name in OVERLAPS:
        scalars = {"iou_threshold": 0.5}
        yield Way(name, "spread", {"N": 15 * size}, scalars, change=_spread)
        yield Way(name, "crowded", {"N": 4 * size}, scalars, change=prepare)


_PAIRS = Refusals(order="handle objects ranks shapes packed types indexable empty data overlap")
_SUPPRESSION = Refusals(order="handle objects ranks shapes packed types indexable numbers aligned empty data overlap")
REFUSALS = {
    "mluopsExtBoxesOverlapBev": _PAIRS,
    "mluopsExtBoxesIouBev": _PAIRS,
    "mluopsExtBoxesIou3d": _PAIRS,
    "mluopsExtNms3d": _SUPPRESSION,
    "mluopsExtNms3dNormal": _SUPPRESSION,
}
