"""box_iou_quadri, nms_quadri and poly_nms: quadrilaterals, rows of x and y of four corners."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pymluops.oracle import polygons
from pymluops.oracle.refusals import Refusals
from pymluops.oracle.ways import Way

#: mmcv's rule holds for boxes that differ from rectangles, and from each other, by more than this
#: part of a side.
SAME_SIDE = 1e-3


def _points(row: np.ndarray, origin: np.ndarray) -> list[polygons.Point]:
    """Corners in float64, from an origin."""
    return [(float(x) - float(origin[0]), float(y) - float(origin[1])) for x, y in row[:8].reshape(4, 2)]


def overlap(first: np.ndarray, second: np.ndarray, of_first: bool = False) -> Any:
    """Common area of two rows by that of both together, or of the first one."""
    real = first.dtype.type
    if not (np.isfinite(first[:8]).all() and np.isfinite(second[:8]).all()):
        return real(0)
    boxes = [_points(row, first) for row in (first, second)]
    areas = [abs(polygons.area(box)) for box in boxes]
    if not min(areas):
        return real(0)
    if np.array_equal(first[:8], second[:8]):
        return real(1)
    common = min(polygons.common_area_of_quadrilaterals(*boxes), *areas)
    return real(common / (areas[0] if of_first else areas[0] + (areas[1] - common)))


# ---- mmcv's rule ---------------------------------------------------------------------------------


def _cross(a: np.ndarray, b: np.ndarray) -> Any:
    return a[0] * b[1] - b[0] * a[1]


def _is_rectangle(box: np.ndarray) -> bool:
    a, b = box[1] - box[0], box[3] - box[0]
    lengths = np.hypot(*a), np.hypot(*b)
    skew = np.hypot(*(box[2] - box[1] - b))
    return bool(skew <= SAME_SIDE * max(lengths) and abs(a @ b) <= SAME_SIDE * lengths[0] * lengths[1])


def _nearly_coincide(one: np.ndarray, other: np.ndarray) -> bool:
    least = min(np.hypot(*(one[(i + 1) % 4] - one[i])) for i in range(4))
    walks = [np.roll(walk, i, 0) for walk in (other, other[::-1]) for i in range(4)]
    return min(np.hypot(*(walk - one).T).max() for walk in walks) <= SAME_SIDE * least


def _mmcv_points(one: np.ndarray, other: np.ndarray) -> list[polygons.Point]:
    """Where edges cross, and the corners between the lines across the ends of edges 0 and 3 of the other box."""
    points = []
    edges = [np.roll(box, -1, 0) - box for box in (one, other)]
    for corner, edge in zip(one, edges[0], strict=True):
        for other_corner, other_edge in zip(other, edges[1], strict=True):
            determinant, offset = _cross(other_edge, edge), other_corner - corner
            if not determinant:
                continue
            along, other_along = _cross(other_edge, offset) / determinant, _cross(edge, offset) / determinant
            if 0 <= along <= 1 and 0 <= other_along <= 1:
                points.append(tuple((corner + edge * along).tolist()))
    for corners, box in ((one, other), (other, one)):
        first, last = box[1] - box[0], box[3] - box[0]
        for corner in corners:
            offset = corner - box[0]
            if 0 <= offset @ first <= first @ first and 0 <= offset @ last <= last @ last:
                points.append(tuple(corner.tolist()))
    return points


def overlap_by_mmcv(first: np.ndarray, second: np.ndarray, of_first: bool = False) -> Any:
    """As `overlap`, but with mmcv's rule for boxes that are no rectangles and do not nearly coincide."""
    real = first.dtype.type
    if not (np.isfinite(first[:8]).all() and np.isfinite(second[:8]).all()):
        return real(0)
    boxes = [np.array(_points(row, first)) for row in (first, second)]
    if (_is_rectangle(boxes[0]) and _is_rectangle(boxes[1])) or _nearly_coincide(*boxes):
        return overlap(first, second, of_first)
    areas = [abs(_cross(b - a, c - a)) / 2 + abs(_cross(c - a, d - a)) / 2 for a, b, c, d in boxes]
    if not min(areas):
        return real(0)
    points = _mmcv_points(*boxes)
    common = abs(polygons.area(polygons.hull(points))) if len(points) > 2 else 0.0
    return real(common / (areas[0] if of_first else areas[0] + areas[1] - common))


def pairs(first: np.ndarray, second: np.ndarray, mode: int = 0) -> np.ndarray:
    """[N, M]."""
    value = overlap_by_mmcv if mode >= 2 else overlap
    values = [[value(a, b, mode % 2 == 1) for b in second] for a in first]
    return np.array(values, first.dtype).reshape(len(first), len(second))


def suppression(boxes: np.ndarray, scores: np.ndarray, threshold: float) -> list[int]:
    """The numbers that nms_quadri keeps."""
    left = [i for i in np.argsort(-scores, kind="stable") if scores[i] > -np.inf]
    kept: list[int] = []
    while left:
        kept.append(int(left[0]))
        left = [i for i in left[1:] if not overlap(boxes[kept[-1]], boxes[i]) > threshold]
    return kept


def poly_suppression(boxes: np.ndarray, threshold: float) -> list[int]:
    """The numbers that poly_nms keeps."""
    scores = np.where(np.isnan(boxes[:, 8]), np.inf, boxes[:, 8].astype(np.float64))
    ranks = np.where(np.isnan(boxes[:, 8]), 1, 0)
    left = sorted(range(len(boxes)), key=lambda i: (-ranks[i], -scores[i], i))
    kept: list[int] = []
    while left:
        best = left.pop(0)
        kept.append(best)
        left = [
            i
            for i in left
            if (ranks[i], scores[i]) == (ranks[best], scores[best])
            or not overlap(boxes[best].astype(np.float64), boxes[i].astype(np.float64)) > threshold
        ]
    return kept


def random_quadrilaterals(
    rng: np.random.Generator, count: int, spread: float = 4.0, convex: bool = False
) -> np.ndarray:
    """Quadrilaterals close to each other, some of them rectangles or the same.

    They are simple: each quarter turn about a centre has a corner.
    """
    centres = rng.normal(0, spread, (count, 1, 2))
    angles = (np.arange(4) + rng.random((count, 4))) * np.pi / 2
    lengths = np.full((count, 4), 1.0) if convex else rng.uniform(0.3, 1, (count, 4))
    regular = rng.random(count) < 0.4
    angles[regular] = angles[regular, :1] + np.array([0, 0.6, np.pi, np.pi + 0.6])
    lengths[regular] = 1
    lengths = lengths * rng.uniform(0.5, 4, (count, 1))
    boxes = centres + np.stack([np.cos(angles), np.sin(angles)], -1) * lengths[..., None]
    again = (rng.random(count) > 0.85) & (np.arange(count) > 0)
    boxes[again] = boxes[rng.integers(0, max(count, 1), again.sum())]
    return boxes.reshape(count, 8)


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let boxes overlap, all pairs be compared, and some scores be equal."""
    for name in (name for name in ("boxes", "bbox1", "bbox2") if name in arguments):
        arguments[name][:, :8] = random_quadrilaterals(rng, len(arguments[name]), 2.0)
    if "boxes" not in arguments:
        arguments["aligned"] = False
        return
    scores = arguments["scores"] if "scores" in arguments else arguments["boxes"][:, 8]
    scores[...] = np.round(rng.uniform(0, 1, len(scores)), 1)


def in_double(name: str, *given: Any) -> Any:
    """The results for float64 boxes."""
    if name == "box_iou_quadri":
        return pairs(given[0], given[1], given[2])
    kept = suppression(*given) if name == "nms_quadri" else poly_suppression(*given)
    out = np.zeros(len(given[0]), np.int32)
    out[: len(kept)] = kept
    return out, np.array([len(kept)], np.int32)


def _spread(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let about ten boxes lie around each place."""
    prepare(arguments, rng)
    boxes = arguments["boxes"]
    boxes[:, :8] = random_quadrilaterals(rng, len(boxes), len(boxes) ** 0.5)


def ways(size: int) -> Iterator[Way]:
    """Many boxes against few; many boxes, most of which are kept."""
    yield Way("box_iou_quadri", "pairs", {"N": 10 * size, "M": 100}, change=prepare)
    for name in ("nms_quadri", "poly_nms"):
        yield Way(name, "spread", {"N": 10 * size}, {"iou_threshold": 0.5}, change=_spread)


REFUSALS = {
    "mluopsExtBoxIouQuadri": Refusals(
        order="handle objects scalars ranks shapes packed types indexable empty data overlap"
    ),
    "mluopsExtNmsQuadri": Refusals(
        order="handle objects ranks shapes packed types indexable numbers aligned empty data overlap"
    ),
    "mluOpPolyNms": Refusals(
        order="handle objects numbers aligned types layouts ranks shapes packed indexable empty data workspace overlap",
        layouts={"boxes": ("ARRAY",)},
        needs_workspace=False,
    ),
    "mluOpGetPolyNmsWorkspaceSize": Refusals(order="handle objects pointer ranks shapes"),
}
