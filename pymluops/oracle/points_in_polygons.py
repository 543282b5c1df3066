"""points_in_polygons: crossings of a ray to the right with the borders of polygons."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from pymluops.oracle.refusals import Refusals


def holds(point: np.ndarray, polygon: np.ndarray) -> bool:
    """Tell whether a polygon holds a point, without rounding; edges from the one that ends in the first corner on.

    A point or polygon that is not finite gives False.
    """
    if not (np.isfinite(point).all() and np.isfinite(polygon).all()):
        return False
    x, y = (Fraction(float(value)) for value in point)
    corners = [(Fraction(float(u)), Fraction(float(v))) for u, v in polygon.reshape(4, 2)]
    odd = False
    for (begin_x, begin_y), (end_x, end_y) in zip(corners[-1:] + corners[:-1], corners, strict=True):
        if (x, y) in ((end_x, end_y), (begin_x, begin_y)):
            break
        if (end_y < y <= begin_y) or (begin_y < y <= end_y):
            crossing = end_x + (y - end_y) * (begin_x - end_x) / (begin_y - end_y)
            if crossing == x:
                break
            odd ^= crossing > x
    return odd


def inside(points: np.ndarray, polygons: np.ndarray) -> np.ndarray:
    """[N, M], like the points."""
    values = [[holds(point, polygon) for polygon in polygons] for point in points]
    return np.array(values, points.dtype).reshape(len(points), len(polygons))


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let polygons be convex, around a part of the points."""
    count = len(arguments["polygons"])
    angles = np.sort(rng.uniform(0, 2 * np.pi, (count, 4)), 1)
    corners = np.stack([np.cos(angles), np.sin(angles)], -1) * rng.uniform(1, 4, (count, 1, 1))
    arguments["polygons"][...] = (corners + rng.normal(0, 1, (count, 1, 2))).reshape(count, 8)


def in_double(_name: str, points: np.ndarray, polygons: np.ndarray) -> np.ndarray:
    """The results for float64 points."""
    return inside(points, polygons)


REFUSALS = {
    "mluopsExtPointsInPolygons": Refusals(order="handle objects ranks shapes packed types indexable empty data overlap")
}
