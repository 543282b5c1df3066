"""boxes3d: overlaps of upright boxes in space from above and of volumes, and suppression by them.

The values are those of the formulas in float64, with angles by atan2.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pymluops.oracle.refusals import Refusals
from pymluops.oracle.ways import Way

_MARGIN = 1e-2


def _corners(box: np.ndarray) -> np.ndarray:
    """[4, 2], from the centre."""
    along = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * box[3:5] / 2
    cosine, sine = math.cos(box[6]), math.sin(box[6])
    return along @ np.array([[cosine, sine], [-sine, cosine]])


def _holds(box: np.ndarray, point: np.ndarray) -> bool:
    """Whether a point, from the centre, lies in a box or within the margin around it."""
    cosine, sine = math.cos(box[6]), math.sin(box[6])
    along_x, along_y = point[0] * cosine + point[1] * sine, point[1] * cosine - point[0] * sine
    return bool(abs(along_x) < box[3] / 2 + _MARGIN and abs(along_y) < box[4] / 2 + _MARGIN)


def _cross(a: np.ndarray, b: np.ndarray) -> float:
    return float(a[0] * b[1] - a[1] * b[0])


def _crossing(a: np.ndarray, next_a: np.ndarray, b: np.ndarray, next_b: np.ndarray) -> np.ndarray | None:
    """Where two segments cross, each with its ends on both sides of the other."""
    sides = _cross(next_a - a, b - a), _cross(next_a - a, next_b - a)
    others = _cross(next_b - b, a - b), _cross(next_b - b, next_a - b)
    if sides[0] * sides[1] < 0 and others[0] * others[1] < 0:
        return b + (next_b - b) * (sides[0] / (sides[0] - sides[1]))
    return None


def overlap_bev(first: np.ndarray, second: np.ndarray) -> float:
    """Common area of two boxes, seen from above."""
    a, b = first.astype(np.float64), second.astype(np.float64)
    if not (np.isfinite(a[[0, 1, 3, 4, 6]]).all() and np.isfinite(b[[0, 1, 3, 4, 6]]).all()):
        return 0.0
    apart = b[:2] - a[:2]
    corners_a, corners_b = _corners(a), _corners(b) + apart
    points: list[np.ndarray] = []
    for i in range(4):
        for j in range(4):
            found = _crossing(corners_a[i], corners_a[(i + 1) % 4], corners_b[j], corners_b[(j + 1) % 4])
            points += [] if found is None else [found]
    for i in range(4):
        points += [corners_b[i]] if _holds(a, corners_b[i]) else []
        points += [corners_a[i]] if _holds(b, corners_a[i] - apart) else []
    if len(points) < 3:
        return 0.0
    mean = sum(points[1:], points[0]) / len(points)
    points.sort(key=lambda point: math.atan2(point[1] - mean[1], point[0] - mean[0]))
    fans = itertools.pairwise(points[1:])
    return abs(sum(_cross(one - points[0], other - points[0]) for one, other in fans)) / 2


def iou_bev(first: np.ndarray, second: np.ndarray) -> float:
    """Common area by that of both boxes together."""
    with np.errstate(all="ignore"):
        common = overlap_bev(first, second)
        areas = [float(box[3]) * float(box[4]) for box in (first, second)]
        result = common / max(areas[0] + areas[1] - common, 1e-8)
    return 0.0 if math.isnan(result) else result


def iou_3d(first: np.ndarray, second: np.ndarray) -> float:
    """Common volume by that of both boxes together."""
    a, b = first.astype(np.float64), second.astype(np.float64)
    with np.errstate(all="ignore"):
        height = min(a[2] + a[5] / 2, b[2] + b[5] / 2) - max(a[2] - a[5] / 2, b[2] - b[5] / 2)
        common = overlap_bev(a, b) * height if 0 < height < math.inf else 0.0
        result = common / max(a[3:6].prod() + b[3:6].prod() - common, 1e-6)
    return 0.0 if math.isnan(result) else float(result)


def iou_straight(first: np.ndarray, second: np.ndarray) -> float:
    """Common area by that of both boxes together, without their headings."""
    a, b = first.astype(np.float64), second.astype(np.float64)
    if not (np.isfinite(a[[0, 1, 3, 4]]).all() and np.isfinite(b[[0, 1, 3, 4]]).all()):
        return 0.0
    low = np.maximum(a[:2] - a[3:5] / 2, b[:2] - b[3:5] / 2)
    high = np.minimum(a[:2] + a[3:5] / 2, b[:2] + b[3:5] / 2)
    common = float(np.maximum(high - low, 0).prod())
    return float(common / max(a[3] * a[4] + b[3] * b[4] - common, 1e-8))


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
