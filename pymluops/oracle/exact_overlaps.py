"""Overlaps of rotated boxes, and their derivatives on either side, in fractions: no comparison is rounded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

#: Sines and cosines are rounded to so many bits behind the point, those of angles of up to 50.
_BITS = 320

_Point = tuple[Fraction, Fraction]
_Box = Sequence[Fraction]


def _turn(angle: Fraction) -> _Point:
    """Cosine and sine by their series, in which no term exceeds 2 ** 72."""
    unit = 1 << (_BITS + 72)
    x = round(angle * unit)
    term, sums, place = unit, [unit, 0], 0
    while term:
        place += 1
        term = term * x // (unit * place)
        sums[place % 2] += term if place % 4 < 2 else -term
    return Fraction(sums[0], unit), Fraction(sums[1], unit)


def corners(box: _Box) -> list[_Point]:
    """The corners of a box (x, y, width, height, angle) in counter-clockwise order."""
    x, y, width, height, angle = box
    cosine, sine = _turn(angle)
    ends = [(width / 2 * i, height / 2 * j) for i, j in ((1, 1), (-1, 1), (-1, -1), (1, -1))]
    return [(x + u * cosine - v * sine, y + u * sine + v * cosine) for u, v in ends]


def _cut(polygon: list[_Point], a: _Point, b: _Point) -> list[_Point]:
    """The part of a convex polygon on the left of the line from a to b, or on it."""
    sides = [(b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]) for x, y in polygon]
    found = []
    for i, (p, side) in enumerate(zip(polygon, sides, strict=True)):
        before, side_before = polygon[i - 1], sides[i - 1]
        if side * side_before < 0:
            t = side_before / (side_before - side)
            found.append((before[0] + t * (p[0] - before[0]), before[1] + t * (p[1] - before[1])))
        if side >= 0:
            found.append(p)
    return found


def _common_area(one: _Box, other: _Box) -> Fraction:
    polygon, frame = corners(one), corners(other)
    for i in range(4):
        polygon = _cut(polygon, frame[i - 1], frame[i])
    return sum((polygon[i - 1][0] * y - polygon[i - 1][1] * x for i, (x, y) in enumerate(polygon)), Fraction(0)) / 2


def _part(common: Fraction, one: Fraction, other: Fraction) -> Fraction:
    return common / (one + other - common) if one and other else Fraction(0)


def iou(one: _Box, other: _Box) -> Fraction:
    """Intersection over union of boxes (x, y, width, height, angle); 0 if a box has no area."""
    sizes = one[2] * one[3], other[2] * other[3]
    return _part(_common_area(one, other) if all(sizes) else Fraction(0), *sizes)


def iou_upright(one: _Box, other: _Box) -> Fraction:
    """Intersection over union of boxes (x, y, z, dx, dy, dz, heading); 0 if a box has no volume."""
    flat = [[box[i] for i in (0, 1, 3, 4, 6)] for box in (one, other)]
    sizes = [box[3] * box[4] * box[5] for box in (one, other)]
    height = min(box[2] + box[5] / 2 for box in (one, other)) - max(box[2] - box[5] / 2 for box in (one, other))
    common = _common_area(*flat) * height if height > 0 and all(sizes) else Fraction(0)
    return _part(common, *sizes)


def exact(box: Sequence[float]) -> list[Fraction]:
    """The numbers of a box as they are."""
    return [Fraction(number) for number in box]


def slopes(
    overlap: Callable[[_Box, _Box], Fraction], one: _Box, other: _Box, column: int, step: Fraction
) -> tuple[float, float]:
    """How the overlap changes below and above a number of `one`, as quotients of differences."""
    values = []
    for change in (-step, Fraction(0), step):
        moved = list(one)
        moved[column] += change
        values.append(overlap(moved, other))
    return float((values[1] - values[0]) / step), float((values[2] - values[1]) / step)
