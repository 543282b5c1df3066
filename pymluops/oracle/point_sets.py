"""convex_iou, convex_giou and min_area_polygons: rows of x and y of nine points, and of four corners."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from pymluops.oracle import polygons
from pymluops.oracle.polygons import hull
from pymluops.oracle.refusals import Refusals
from pymluops.oracle.ways import Way

#: Coordinates that differ by less count as the same, and areas below it as none.
EPSILON = 1e-8

Point = tuple[Any, Any]


def _cross(origin: Sequence[Any], a: Sequence[Any], b: Sequence[Any]) -> Any:
    return (a[0] - origin[0]) * (b[1] - origin[1]) - (a[1] - origin[1]) * (b[0] - origin[0])


def _around(points: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    return pairwise([*points, points[0]])


def area(points: Sequence[Point]) -> Any:
    """The area of a polygon, negative if it is clockwise."""
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in _around(points)) / 2


# ---- the area that a hull and a quadrilateral have in common, and its gradient -------------------


def _sign(value: float) -> int:
    return int(value > EPSILON) - int(value < -EPSILON)


def _same(a: Sequence[float], b: Sequence[float]) -> bool:
    return not _sign(a[0] - b[0]) and not _sign(a[1] - b[1])


class _Moved:
    """A point, and its derivatives [2, 4] by x and y of the two ends of an edge."""

    def __init__(self, place: Point, by: np.ndarray) -> None:
        self.place, self.by = place, by

    def side(self, u: Point, v: Point) -> tuple[float, np.ndarray]:
        """On which side of the line from u to v it is, and the derivatives of that."""
        along = v[0] - u[0], v[1] - u[1]
        return _cross(u, v, self.place), along[0] * self.by[1] - along[1] * self.by[0]


def _crossing(p: _Moved, q: _Moved, sides: Sequence[tuple[float, np.ndarray]]) -> _Moved:
    (side_p, by_p), (side_q, by_q) = sides
    apart = side_q - side_p
    if abs(apart) <= EPSILON:
        return p
    x, y = ((p.place[i] * side_q - q.place[i] * side_p) / apart for i in range(2))
    place = (x, y)
    by = (
        p.by * side_q + np.outer(p.place, by_q) - q.by * side_p - np.outer(q.place, by_p) - np.outer(place, by_q - by_p)
    )
    return _Moved(place, by / apart)


def _cut(polygon: list[_Moved], u: Point, v: Point) -> list[_Moved]:
    """What is on the left of the line from u to v, without points that repeat the one before."""
    cut: list[_Moved] = []
    for p, q in _around(polygon):
        sides = p.side(u, v), q.side(u, v)
        if _sign(sides[0][0]) > 0:
            cut.append(p)
        if _sign(sides[0][0]) != _sign(sides[1][0]):
            cut.append(_crossing(p, q, sides))
    kept = [one for i, one in enumerate(cut) if i == 0 or not _same(one.place, cut[i - 1].place)]
    while len(kept) > 1 and _same(kept[-1].place, kept[0].place):
        kept.pop()
    return kept


def _share(a: Point, b: Point, c: Point, d: Point) -> np.ndarray:
    """The gradient of the signed common area of the triangles from the origin over two edges by a and b, [2, 2]."""
    origin = (0.0, 0.0)
    signs = _sign(_cross(origin, a, b)), _sign(_cross(origin, c, d))
    if 0 in signs:
        return np.zeros((2, 2))
    ends = [_Moved(a, np.eye(2, 4)), _Moved(b, np.eye(2, 4, 2))]
    if signs[0] < 0:
        ends.reverse()
    if signs[1] < 0:
        c, d = d, c
    polygon = [_Moved(origin, np.zeros((2, 4))), *ends]
    for u, v in ((origin, c), (c, d), (d, origin)):
        polygon = _cut(polygon, u, v) if polygon else []
    if not polygon:
        return np.zeros((2, 2))
    sign = signs[0] * signs[1]
    by = sum(
        p.by[0] * q.place[1] + p.place[0] * q.by[1] - q.by[0] * p.place[1] - q.place[0] * p.by[1]
        for p, q in _around(polygon)
    )
    return sign * np.asarray(by).reshape(2, 2) / 2


def _inside(a: Point, b: Point, half: Sequence[Point]) -> tuple[float, float]:
    """Where the part of the edge from a to b inside a convex polygon begins and ends, from 0 to 1."""
    begin, end = 0.0, 1.0
    for c, d in _around(half if polygons.area(half) > 0 else half[::-1]):
        side_a, side_b = _cross(c, d, a), _cross(c, d, b)
        if side_a < 0 and side_b < 0:
            return 0.0, 0.0
        if side_a < 0:
            begin = max(begin, side_a / (side_a - side_b))
        elif side_b < 0:
            end = min(end, side_a / (side_a - side_b))
    return begin, max(begin, end)


def _share_inside(a: Point, b: Point, quadrilateral: Sequence[Point]) -> np.ndarray:
    """The derivatives of the common area by a and b, [2, 2], as the edge moves inside a quadrilateral."""
    gradient, outward = np.zeros((2, 2)), np.array([b[1] - a[1], a[0] - b[0]])
    for half in polygons.triangles(quadrilateral):
        begin, end = _inside(a, b, half)
        to_end = (end**2 - begin**2) / 2
        gradient += np.outer([end - begin - to_end, to_end], outward)
    return gradient


def common(corners: Sequence[Point], quadrilateral: Sequence[Point]) -> np.ndarray:
    """The gradient of the area that a hull and a quadrilateral have in common, by the hull's corners.

    Where an edge touches the quadrilateral, the cuts decide, unless a gradient is larger than both
    edges of a corner.
    """
    others = list(quadrilateral)
    if area(others) < 0:
        others.reverse()
    inside, cuts = np.zeros((2, len(corners), 2))
    touching = False
    for i, (a, b) in enumerate(_around(corners)):
        ends = [i, (i + 1) % len(corners)]
        np.add.at(inside, ends, _share_inside(a, b, others))
        np.add.at(cuts, ends, sum((_share(a, b, c, d) for c, d in _around(others)), np.zeros((2, 2))))
        for c, d in _around(others):
            touching = touching or not all(map(_sign, (_cross(c, d, a), _cross(c, d, b), _cross(a, b, c))))
    edges = np.array([math.dist(a, b) for a, b in _around(corners)])
    bounded = (np.hypot(*cuts.T) <= (edges + np.roll(edges, 1)) * (1 + 1e-9)).all()
    return cuts if touching and bounded else inside


def _points(row: np.ndarray) -> list[Point]:
    return [(float(x), float(y)) for x, y in row.reshape(-1, 2)]


def _quotient(a: float, b: float) -> float:
    with np.errstate(all="ignore"):
        return float(np.float64(a) / np.float64(b))


def _shared(corners: Sequence[Point], others: Sequence[Point]) -> float:
    """The area that a hull and a quadrilateral have in common."""
    whole = min(abs(polygons.area(corners)), abs(polygons.area(others)))
    return min(sum(polygons.common_area(corners, half) for half in polygons.triangles(others)), whole)


def iou(points: np.ndarray, polygon: np.ndarray) -> float:
    """Intersection over union of the hull of points and a quadrilateral."""
    if not (np.isfinite(points).all() and np.isfinite(polygon).all()):
        return math.nan
    corners, others = hull(_points(points)), _points(polygon)
    shared = _shared(corners, others)
    return _quotient(shared, abs(polygons.area(corners)) + abs(polygons.area(others)) - shared)


def ious(pointsets: np.ndarray, quadrilaterals: np.ndarray) -> np.ndarray:
    """[N, K]."""
    values = [[iou(points, row) for row in quadrilaterals] for points in pointsets]
    return np.array(values, pointsets.dtype).reshape(len(pointsets), len(quadrilaterals))


def _area_gradient(corners: Sequence[Point], i: int) -> np.ndarray:
    before, after = corners[i - 1], corners[(i + 1) % len(corners)]
    return np.array([(after[1] - before[1]) / 2, (before[0] - after[0]) / 2])


def giou(points: np.ndarray, polygon: np.ndarray) -> tuple[float, np.ndarray]:
    """Generalised IoU of a row of each, and its gradient by the points, [18]."""
    gradient = np.zeros((9, 2))
    if not (np.isfinite(points).all() and np.isfinite(polygon).all()):
        return math.nan, gradient.ravel()
    given, others = _points(points), _points(polygon)
    corners = hull(given)
    shared, by_shared = _shared(corners, others), common(corners, others)
    union = abs(area(corners)) + abs(area(others)) - shared
    around = hull([*corners, *[other for other in others if not any(_same(other, one) for one in corners)]])
    whole, part = area(around), _quotient(shared, union)
    for i, corner in enumerate(corners):
        by_area = _area_gradient(corners, i)
        place = next((k for k, one in enumerate(around) if _same(one, corner)), None)
        by_whole = np.zeros(2) if place is None else _area_gradient(around, place)
        with np.errstate(all="ignore"):
            u, c = np.float64(union), np.float64(whole)
            value = (
                (u + shared) / (u * u) * by_shared[i]
                - part / u * by_area
                + (by_area - by_shared[i]) / c
                - u / (c * c) * by_whole
            )
        gradient[next(k for k, one in enumerate(given) if _same(one, corner))] = value
    return part - _quotient(whole - union, whole), gradient.ravel()


def gious(pointsets: np.ndarray, quadrilaterals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """[N] and [N, 18]."""
    rows = [giou(points, row) for points, row in zip(pointsets, quadrilaterals, strict=True)]
    values, gradients = [row[0] for row in rows], [row[1] for row in rows]
    return np.array(values, pointsets.dtype), np.array(gradients, pointsets.dtype).reshape(-1, 18)


# ---- rectangles of the smallest area -------------------------------------------------------------


def smallest_rectangle(points: np.ndarray) -> np.ndarray:
    """The corners, [8], of the rectangle of the least area around a row of points; zeros if they are not finite."""
    best, result = math.inf, np.zeros(8)
    if not np.isfinite(points).all():
        return result
    corners = np.array(hull(_points(points)))
    moved = corners - corners[0]
    for edge in np.roll(corners, -1, 0) - corners:
        direction = edge / np.hypot(*edge) if edge.any() else np.array([1.0, 0.0])
        while not (direction[0] > 0 and direction[1] >= 0):  # rotated by a right angle
            direction = np.array([direction[1], -direction[0]])
        across = np.array([-direction[1], direction[0]])
        u, v = moved @ direction, moved @ across
        size = np.ptp(u) * np.ptp(v)
        if not size < best * (1 - 1e-12):
            continue
        best = size
        ends = (u.max(), v.min()), (u.min(), v.min()), (u.min(), v.max()), (u.max(), v.max())
        result = np.ravel([corners[0] + s * direction + t * across for s, t in ends])
    return result


def rectangles(pointsets: np.ndarray) -> np.ndarray:
    """[N, 8]."""
    return np.array([smallest_rectangle(row) for row in pointsets], pointsets.dtype).reshape(-1, 8)


# ---- calls ---------------------------------------------------------------------------------------


def random_points(rng: np.random.Generator, count: int, spread: float = 2.0) -> np.ndarray:
    """Sets of nine points close to each other: scattered, on a grid, on a line, or all the same."""
    sets = rng.normal(size=(count, 9, 2))
    grid, line, same = ((low <= rng.random(count)) & (rng.random(count) < 0.3) for low in (0.0, 0.5, 0.8))
    sets[grid] = rng.integers(-2, 3, (grid.sum(), 9, 2)) / 2
    sets[line] = sets[line][:, :1] + rng.integers(-2, 3, (line.sum(), 9, 1)) * np.array([0.5, 0.25])
    sets[same] = sets[same][:, :1]
    sets = sets + np.round(rng.normal(0, spread, (count, 1, 2)) * 4) / 4
    return sets.reshape(count, 18)


def random_corners(rng: np.random.Generator, count: int, spread: float = 2.0) -> np.ndarray:
    """Quadrilaterals close to each other, of either direction: rectangles, general ones, some not convex."""
    angles = np.arange(4) * np.pi / 2 + rng.uniform(0, 1.5, (count, 4))  # no two further apart than half a turn
    lengths = rng.uniform(0.3, 1, (count, 4))
    regular = rng.random(count) < 0.4
    angles[regular] = np.array([0.3, 2.6, 3.5, 5.8])
    lengths[regular] = 1
    sizes = rng.uniform(0.5, 4, (count, 1))
    boxes = np.stack([np.cos(angles), np.sin(angles)], -1) * (lengths * sizes)[..., None]
    upright = rng.random(count) < 0.3
    ends = rng.integers(1, 5, (upright.sum(), 2)) / 2
    boxes[upright] = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * ends[:, None]
    boxes = boxes + np.round(rng.normal(0, spread, (count, 1, 2)) * 4) / 4
    turned = rng.random(count) < 0.5
    boxes[turned] = boxes[turned][:, ::-1]
    return boxes.reshape(count, 8)


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let points and quadrilaterals meet."""
    arguments["pointsets"][...] = random_points(rng, len(arguments["pointsets"]))
    if "polygons" in arguments:
        arguments["polygons"][...] = random_corners(rng, len(arguments["polygons"]))


def in_double(name: str, *given: Any) -> Any:
    """The results for float64 points."""
    if name == "min_area_polygons":
        return rectangles(*given)
    return ious(*given) if name == "convex_iou" else gious(*given)


def ways(size: int) -> Iterator[Way]:
    """Many sets of points."""
    yield Way("convex_iou", "pairs", {"N": 10 * size, "K": 100}, change=prepare)
    for name in ("convex_giou", "min_area_polygons"):
        yield Way(name, "rows", {"N": 50 * size}, change=prepare)


_ORDER = "handle objects ranks shapes packed types indexable empty data overlap"
REFUSALS = {
    "mluopsExtConvexIou": Refusals(order=_ORDER),
    "mluopsExtConvexGiou": Refusals(order=_ORDER),
    "mluopsExtMinAreaPolygons": Refusals(order=_ORDER),
}
