"""``polyiou`` of the DOTA devkit: the overlap of two quadrilaterals."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TypeAlias

from pymluops.dropins._declarations import Row
from pymluops.mmcv._tensors import refuse

__all__ = ["VectorDouble", "iou_poly"]

DROP_IN = ""
MODULES = ()
LAST_NAMES = ("polyiou",)
ROWS = (Row("iou_poly VectorDouble", "Python", "simple quadrilaterals of either direction, also concave ones"),)
CHANGES = ()

#: Numbers, as the compiled module takes them.
VectorDouble: TypeAlias = list[float]

_Point: TypeAlias = tuple[float, float]
_Polygon: TypeAlias = list[_Point]


def _area(polygon: _Polygon) -> float:
    """Return the area, negative if the corners turn clockwise; from the first corner, so that far ones lose nothing."""
    (x, y), *others = polygon
    sides = itertools.pairwise(others)
    return sum((a[0] - x) * (b[1] - y) - (b[0] - x) * (a[1] - y) for a, b in sides) / 2


def _side(a: _Point, b: _Point, point: _Point) -> float:
    return (b[0] - a[0]) * (point[1] - a[1]) - (b[1] - a[1]) * (point[0] - a[0])


def _cut(polygon: _Polygon, a: _Point, b: _Point) -> _Polygon:
    """Return what lies on the left of the line from a to b."""
    found: _Polygon = []
    for p, q in zip(polygon, [*polygon[1:], *polygon[:1]], strict=True):
        here, there = _side(a, b, p), _side(a, b, q)
        if here >= 0:
            found.append(p)
        if (here > 0 > there) or (here < 0 < there):
            part = here / (here - there)
            found.append((p[0] + part * (q[0] - p[0]), p[1] + part * (q[1] - p[1])))
    return found


def _triangles(polygon: _Polygon) -> list[tuple[float, _Polygon]]:
    """Return triangles, counterclockwise, whose sum with their signs is the polygon."""
    found: list[tuple[float, _Polygon]] = []
    for b, c in itertools.pairwise(polygon[1:]):
        area = _area([polygon[0], b, c])
        if area:
            found.append((1.0, [polygon[0], b, c]) if area > 0 else (-1.0, [polygon[0], c, b]))
    return found


def _common(one: _Polygon, other: _Polygon) -> float:
    total = 0.0
    for sign, triangle in _triangles(one):
        for other_sign, cutter in _triangles(other):
            part = triangle
            for a, b in zip(cutter, [*cutter[1:], cutter[0]], strict=True):
                part = _cut(part, a, b) if part else part
            total += sign * other_sign * (_area(part) if len(part) > 2 else 0.0)
    return abs(total)


def iou_poly(p: Sequence[float], q: Sequence[float]) -> float:
    """Return the quotient of common and joint area of quadrilaterals x1, y1, ..., x4, y4; 0 without an area."""
    both: list[_Polygon] = []
    for argument, given in (("p", p), ("q", q)):
        numbers = [float(number) for number in given]
        if len(numbers) != 8 or not all(map(math.isfinite, numbers)):
            raise refuse("iou_poly", argument, "8 finite numbers", numbers)
        both.append(list(zip(numbers[::2], numbers[1::2], strict=True)))
    areas = [abs(_area(polygon)) for polygon in both]
    common = min(_common(*both), *areas)
    whole = areas[0] + areas[1] - common
    return common / whole if whole > 0 else 0.0
