"""Areas that polygons in a plane have in common, by cutting one along the edges of the other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

#: x and y.
Point = tuple[float, float]


def turn(origin: Point, a: Point, b: Point) -> float:
    """Twice the area of a triangle, negative if it is clockwise."""
    return (a[0] - origin[0]) * (b[1] - origin[1]) - (a[1] - origin[1]) * (b[0] - origin[0])


def area(polygon: Sequence[Point]) -> float:
    """The area of a polygon, negative if it is clockwise."""
    return sum(turn(polygon[0], a, b) for a, b in pairwise(polygon[1:])) / 2


def _square(a: Point, b: Point) -> float:
    return (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1])


def hull(points: Sequence[Point]) -> list[Point]:
    """Corners of the convex hull, counter-clockwise from the lowest one; a point twice if all points are that one."""
    start = min(points, key=lambda point: (point[1], point[0]))
    found = [start]
    while len(found) <= len(points):
        here, best = found[-1], None
        for point in points:
            if point == here:
                continue
            side = -1 if best is None else turn(here, best, point)
            if side < 0 or (side == 0 and _square(here, point) > _square(here, best or here)):
                best = point
        if best is None or best == start:
            break
        found.append(best)
    return found if len(found) > 1 else [start, start]


def _cut(polygon: Sequence[Point], a: Point, b: Point) -> list[Point]:
    """The part of a polygon on the left of the line from a to b."""
    cut: list[Point] = []
    for p, q in pairwise([*polygon, *polygon[:1]]):
        side_p, side_q = turn(a, b, p), turn(a, b, q)
        if side_p >= 0:
            cut.append(p)
        if (side_p >= 0) != (side_q >= 0):
            share = side_p / (side_p - side_q)
            cut.append((p[0] + (q[0] - p[0]) * share, p[1] + (q[1] - p[1]) * share))
    return cut


def common_area(polygon: Sequence[Point], cutter: Sequence[Point]) -> float:
    """The area that a polygon has in common with a convex one, whichever their directions."""
    cutter = cutter if area(cutter) > 0 else cutter[::-1]
    rest = list(polygon)
    for a, b in pairwise([*cutter, cutter[0]]):
        rest = _cut(rest, a, b)
    return abs(area(rest)) if rest else 0.0


def triangles(quadrilateral: Sequence[Point]) -> list[list[Point]]:
    """Two triangles that make up a simple quadrilateral, without those that have no area."""
    a, b, c, d = quadrilateral
    beside = turn(a, c, b) * turn(a, c, d) > 0  # b and d are on one side: the other diagonal lies inside
    halves = [[a, b, d], [b, c, d]] if beside else [[a, b, c], [a, c, d]]
    return [half for half in halves if area(half)]


def common_area_of_quadrilaterals(one: Sequence[Point], other: Sequence[Point]) -> float:
    """The area that two simple quadrilaterals have in common."""
    return sum(common_area(half, cutter) for half in triangles(one) for cutter in triangles(other))
