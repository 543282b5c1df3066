"""box_iou_quadri, nms_quadri and poly_nms: quadrilaterals, rows of x and y of four corners."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pymluops.oracle import rotated_rectangles as rectangles
from pymluops.oracle.refusals import Refusals
from pymluops.oracle.ways import Way


def _cross(a: np.ndarray, b: np.ndarray) -> Any:
    return a[0] * b[1] - b[0] * a[1]


def overlap(first: np.ndarray, second: np.ndarray, of_first: bool = False) -> Any:
    """Common area of two rows, as mmcv computes it, by that of both together, or of the first one."""
    real = first.dtype.type
    with np.errstate(all="ignore"):
        boxes = first.reshape(4, 2), second.reshape(4, 2)
        areas = [_area(box) for box in boxes]
        if not all(np.isfinite(box).all() for box in boxes) or min(areas) < real(1e-14):
            return real(0)
        sums = [((box[0] + box[1]) + box[2]) + box[3] for box in boxes]
        middle = (sums[0] + sums[1]) / real(8)
        moved = [box - middle for box in boxes]
        points = _candidates(*moved)
        common = rectangles._hull_area(points) if len(points) > 2 else real(0)
        result = common / (areas[0] if of_first else areas[0] + areas[1] - common)
    return real(0) if np.isnan(result) else result


def _area(box: np.ndarray) -> Any:
    a, b, c = box[1] - box[0], box[2] - box[0], box[3] - box[0]
    return abs(_cross(a, b)) / box.dtype.type(2) + abs(_cross(b, c)) / box.dtype.type(2)


def _candidates(one: np.ndarray, other: np.ndarray) -> list[tuple[Any, Any]]:
    """Where edges cross, then the corners between the lines across the ends of edges 0 and 3 of the other box."""
    real = one.dtype.type
    edges = [[box[(i + 1) % 4] - box[i] for i in range(4)] for box in (one, other)]
    found = []
    for corner, edge in zip(one, edges[0], strict=True):
        for other_corner, other_edge in zip(other, edges[1], strict=True):
            determinant = _cross(other_edge, edge)
            if abs(determinant) <= real(1e-14):
                continue
            apart = other_corner - corner
            along, other_along = _cross(other_edge, apart) / determinant, _cross(edge, apart) / determinant
            if 0 <= along <= 1 and 0 <= other_along <= 1:
                found.append((corner[0] + edge[0] * along, corner[1] + edge[1] * along))
    for corners, box, of in ((one, other, 1), (other, one, 0)):
        first, last = edges[of][0], edges[of][3]
        for corner in corners:
            apart = corner - box[0]
            along, beside = _dot(apart, first), -_dot(apart, last)
            if 0 <= along <= _dot(first, first) and 0 <= beside <= _dot(last, last):
                found.append((corner[0], corner[1]))
    return found


def _dot(a: np.ndarray, b: np.ndarray) -> Any:
    return a[0] * b[0] + a[1] * b[1]


def pairs(first: np.ndarray, second: np.ndarray, of_first: bool = False) -> np.ndarray:
    """[N, M]."""
    values = [[overlap(a, b, of_first) for b in second] for a in first]
    return np.array(values, first.dtype).reshape(len(first), len(second))


def suppression(boxes: np.ndarray, scores: np.ndarray, threshold: float) -> list[int]:
    """The numbers that nms_quadri keeps."""
    left = [i for i in np.argsort(-scores, kind="stable") if scores[i] > -np.inf]
    kept: list[int] = []
    while left:
        kept.append(int(left[0]))
        left = [i for i in left[1:] if not overlap(boxes[kept[-1]], boxes[i]) > threshold]
    return kept


# ---- exact overlaps ------------------------------------------------------------------------------


def _inside_triangle(triangle: list[np.ndarray], polygon: list[np.ndarray]) -> list[np.ndarray]:
    """What a triangle, counter-clockwise, leaves of a polygon."""
    for i in range(3):
        a, b = triangle[i], triangle[(i + 1) % 3]
        sides = [_cross(b - a, p - a) for p in polygon]
        kept = []
        for k, (p, side) in enumerate(zip(polygon, sides, strict=True)):
            q, next_side = polygon[(k + 1) % len(polygon)], sides[(k + 1) % len(polygon)]
            if side >= 0:
                kept.append(p)
            if (side >= 0) != (next_side >= 0):
                kept.append(p + (q - p) * (side / (side - next_side)))
        polygon = kept
        if not polygon:
            break
    return polygon


def _signed_area(polygon: list[np.ndarray]) -> float:
    return sum(float(_cross(a, b)) for a, b in zip(polygon, [*polygon[1:], *polygon[:1]], strict=True)) / 2


def _triangles(box: np.ndarray) -> list[list[np.ndarray]]:
    """Two triangles, counter-clockwise, that make up a simple quadrilateral."""
    a, b, c, d = box
    same_side = _cross(c - a, b - a) * _cross(c - a, d - a) > 0
    found = [[a, b, d], [b, c, d]] if same_side else [[a, b, c], [a, c, d]]
    return [t if _signed_area(t) > 0 else t[::-1] for t in found]


def exact_overlap(first: np.ndarray, second: np.ndarray) -> float:
    """Intersection over union of simple quadrilaterals, in float64."""
    boxes = [row[:8].astype(np.float64).reshape(4, 2) for row in (first, second)]
    if not all(np.isfinite(box).all() for box in boxes):
        return 0.0
    common = 0.0
    for one in _triangles(boxes[0]):
        for other in _triangles(boxes[1]):
            if _signed_area(one) and _signed_area(other):
                common += abs(_signed_area(_inside_triangle(one, list(other))))
    areas = [abs(_signed_area(list(box))) for box in boxes]
    whole = areas[0] + areas[1] - common
    return common / whole if whole else float("nan")


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
            or not exact_overlap(boxes[best], boxes[i]) > threshold
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
        return pairs(given[0], given[1], given[2] == 1)
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
