"""Rectangles (x, y, width, height, angle) in a plane, and how much two of them overlap.

Everything is computed in the type of the boxes, step by step, but sines and cosines, which are
rounded from those in float64.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

#: x and y.
Point = tuple[Any, Any]


def _minus(a: Point, b: Point) -> Point:
    return a[0] - b[0], a[1] - b[1]


def _cross(a: Point, b: Point) -> Any:
    return a[0] * b[1] - b[0] * a[1]


def _dot(a: Point, b: Point) -> Any:
    return a[0] * b[0] + a[1] * b[1]


class _Rectangle:
    def __init__(self, row: np.ndarray) -> None:
        real = row.dtype.type
        self.x, self.y, width, height, angle = row
        self.area = width * height
        self.is_finite = bool(np.isfinite(row).all())
        if not self.is_finite:
            return
        cosine, sine = (real(function(float(angle))) / real(2) for function in (math.cos, math.sin))
        self.along_width = cosine * width, sine * width  # half a side
        self.along_height = cosine * height, sine * height
        self.reach = (
            abs(self.along_width[0]) + abs(self.along_height[1]),
            abs(self.along_width[1]) + abs(self.along_height[0]),
        )

    def corners(self, origin: Point) -> list[Point]:
        x, y = self.x - origin[0], self.y - origin[1]
        (cw, sw), (ch, sh) = self.along_width, self.along_height
        first, second = (x - sh - cw, y + ch - sw), (x + sh - cw, y - ch - sw)
        two = type(x)(2)
        return [first, second, (two * x - first[0], two * y - first[1]), (two * x - second[0], two * y - second[1])]


def _candidates(a: _Rectangle, b: _Rectangle) -> list[Point]:
    """Where edges cross, then the corners that lie in the other rectangle."""
    real = type(a.x)
    middle = (a.x + b.x) / real(2), (a.y + b.y) / real(2)
    corners = a.corners(middle), b.corners(middle)
    edges = [[_minus(box[(i + 1) % 4], box[i]) for i in range(4)] for box in corners]
    found: list[Point] = []
    for corner, edge in zip(corners[0], edges[0], strict=True):
        for other_corner, other_edge in zip(corners[1], edges[1], strict=True):
            determinant = _cross(other_edge, edge)
            if abs(determinant) <= real(1e-14):
                continue
            apart = _minus(other_corner, corner)
            along, other_along = _cross(other_edge, apart) / determinant, _cross(edge, apart) / determinant
            if 0 <= along <= 1 and 0 <= other_along <= 1:
                found.append((corner[0] + edge[0] * along, corner[1] + edge[1] * along))
    for one, other in ((0, 1), (1, 0)):
        first, last = edges[other][0], edges[other][3]
        for corner in corners[one]:
            apart = _minus(corner, corners[other][0])
            if 0 <= _dot(apart, first) <= _dot(first, first) and 0 <= -_dot(apart, last) <= _dot(last, last):
                found.append(corner)
    return found


def _hull_area(points: list[Point]) -> Any:
    """The area of the convex hull, by sorting around the lowest point."""
    real = type(points[0][0])
    lowest = min(range(len(points)), key=lambda i: (points[i][1], points[i][0]))
    origin = points[lowest]
    points = [_minus(point, origin) for point in points]
    points[0], points[lowest] = points[lowest], points[0]
    for i in range(1, len(points) - 1):
        for j in range(i + 1, len(points)):
            turn = _cross(points[i], points[j])
            nearer = abs(turn) < real(1e-6) and _dot(points[i], points[i]) > _dot(points[j], points[j])
            if turn < real(-1e-6) or nearer:
                points[i], points[j] = points[j], points[i]
    apart = [i for i in range(1, len(points)) if _dot(points[i], points[i]) > real(1e-8)]
    if not apart:
        return real(0)
    hull = [points[0], points[apart[0]]]
    for point in points[apart[0] + 1 :]:
        while len(hull) > 1 and _cross(_minus(point, hull[-2]), _minus(hull[-1], hull[-2])) >= 0:
            hull.pop()
        hull.append(point)
    area = real(0)
    for one, other in itertools.pairwise(hull[1:]):
        area += abs(_cross(_minus(one, hull[0]), _minus(other, hull[0])))
    return area / real(2)


def overlap(first: np.ndarray, second: np.ndarray, of_first: bool = False) -> Any:
    """Common area of two rows by that of both together, or of the first one."""
    real = first.dtype.type
    with np.errstate(all="ignore"):
        a, b = _Rectangle(first), _Rectangle(second)
        if not (a.is_finite and b.is_finite) or a.area < real(1e-14) or b.area < real(1e-14):
            return real(0)
        # The upright rectangles around them are apart.
        if abs(a.x - b.x) > a.reach[0] + b.reach[0] or abs(a.y - b.y) > a.reach[1] + b.reach[1]:
            return real(0)
        points = _candidates(a, b)
        common = _hull_area(points) if len(points) > 2 else real(0)
        result = common / (a.area if of_first else a.area + b.area - common)
    return real(0) if np.isnan(result) else result


def random_rectangles(rng: np.random.Generator, count: int, spread: float = 4.0) -> np.ndarray:
    """Rectangles of usual sizes, close to each other; some of them are the same, touch, or have no area."""
    boxes = np.column_stack([
        rng.normal(0, spread, (count, 2)), rng.uniform(0.2, 6, (count, 2)), rng.uniform(-4, 4, count)
    ])  # fmt: skip
    kind = rng.random(count)
    boxes[kind < 0.2] = np.round(boxes[kind < 0.2])
    again = (kind > 0.8) & (np.arange(count) > 0)
    boxes[again] = boxes[rng.integers(0, max(count, 1), again.sum())]
    return boxes
