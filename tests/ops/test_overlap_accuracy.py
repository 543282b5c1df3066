"""Overlaps of boxes that nearly coincide, touch, are thin or lie far from the origin, against rational arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import pymluops
from pymluops.ops._described import described
from pymluops.ops._double import double_of

Rational = tuple[Fraction, Fraction]

#: Pairs of each set; all with --thorough.
FEW, MANY = 40, 1000


def _usual(rng: np.random.Generator, count: int, centers: float = 50.0) -> np.ndarray:
    return np.column_stack([
        rng.uniform(-centers, centers, (count, 2)), 10 ** rng.uniform(-1, 2, (count, 2)), rng.uniform(-4, 4, count)
    ])  # fmt: skip


def _uniform(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    return _usual(rng, count, 20), _usual(rng, count, 20)


def _near(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Boxes apart by one rounding of float32 to a hundredth."""
    one = _usual(rng, count)
    return one, one * (1 + 10 ** rng.uniform(-7, -2, (count, 1)) * rng.uniform(-1, 1, (count, 5)))


def _one_rounding(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    one = _usual(rng, count).astype(np.float32)
    other = one.copy()
    changed = rng.random(one.shape) < 0.4
    other[changed] = np.nextafter(one, rng.choice(np.float32([-np.inf, np.inf]), one.shape))[changed]
    return one, other


def _lattice(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Squares and rectangles that share edges and corners."""
    boxes = [
        np.column_stack([
            rng.integers(0, 5, (count, 2)) * 2, rng.integers(1, 3, (count, 2)) * 2,
            rng.integers(-8, 9, count) * (math.pi / 4),
        ])
        for _ in range(2)
    ]  # fmt: skip
    return boxes[0], boxes[1]


def _thin(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Sides of 1 to 1e5, nearly parallel."""
    one = _usual(rng, count)
    one[:, 3] = one[:, 2] * 10 ** rng.uniform(-5, -3, count)
    other = one.copy()
    other[:, 4] += rng.choice([0, 1e-6, 1e-4], count) * rng.uniform(-1, 1, count)
    other[:, :2] += one[:, 3:4] * rng.uniform(-0.3, 0.3, (count, 2))
    return one, other


def _far(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    one = _usual(rng, count)
    one[:, :2] += 10 ** rng.uniform(3, 6, (count, 1))
    other = one + rng.uniform(-0.3, 0.3, (count, 5)) * np.column_stack([one[:, 2:4], one[:, 2:4], np.ones(count)])
    return one, other


def _nested(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """A box in a corner of another one."""
    one = _usual(rng, count, 0)
    other = one.copy()
    other[:, 2:4] *= rng.choice([0.5, 0.25, 1], (count, 2))
    offset = (one[:, 2:4] - other[:, 2:4]) / 2
    cosine, sine = np.cos(one[:, 4]), np.sin(one[:, 4])
    other[:, 0] += offset[:, 0] * cosine - offset[:, 1] * sine
    other[:, 1] += offset[:, 0] * sine + offset[:, 1] * cosine
    return one, other


def _scales(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Tiny and huge boxes, and some without an area."""
    one, other = _near(rng, count)
    scale = 10.0 ** rng.integers(-30, 30, (count, 1))
    for boxes in (one, other):
        boxes[:, :4] *= scale
    one[: count // 8, 2] = 0
    return one, other


SETS: dict[str, Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]] = {
    "uniform": _uniform, "near": _near, "one rounding": _one_rounding, "lattice": _lattice, "thin": _thin,
    "far": _far, "nested": _nested, "scales": _scales,
}  # fmt: skip
SAMPLES = [pytest.param(FEW, id="few"), pytest.param(MANY, id="many", marks=pytest.mark.thorough)]


def _turn(a: Rational, b: Rational, c: Rational) -> Fraction:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _corners(box: np.ndarray) -> list[Rational]:
    x, y, width, height = (Fraction(float(value)) for value in box[:4])
    cosine, sine = (Fraction(function(float(box[4]))) / 2 for function in (math.cos, math.sin))
    return [
        (x + u * width * cosine - v * height * sine, y + u * width * sine + v * height * cosine)
        for u, v in ((-1, -1), (1, -1), (1, 1), (-1, 1))
    ]


def _area(polygon: list[Rational]) -> Fraction:
    return abs(sum((a[0] * b[1] - a[1] * b[0] for a, b in pairwise([*polygon, polygon[0]])), Fraction()) / 2)


def _intersection(polygon: list[Rational], cutter: list[Rational]) -> Fraction:
    """The exact area that a polygon and a convex one, counter-clockwise, have in common."""
    for a, b in pairwise([*cutter, cutter[0]]):
        rest: list[Rational] = []
        for p, q in pairwise([*polygon, polygon[0]]):
            side_p, side_q = _turn(a, b, p), _turn(a, b, q)
            if side_p >= 0:
                rest.append(p)
            if (side_p >= 0) != (side_q >= 0):
                share = side_p / (side_p - side_q)
                rest.append((p[0] + (q[0] - p[0]) * share, p[1] + (q[1] - p[1]) * share))
        if not rest:
            return Fraction()
        polygon = rest
    return _area(polygon)


def _exact(one: np.ndarray, other: np.ndarray) -> tuple[Fraction, Fraction, Fraction]:
    """The common area and those of both boxes."""
    corners = _corners(one), _corners(other)
    return _intersection(*corners), _area(corners[0]), _area(corners[1])


def _iou(common: Fraction, first: Fraction, second: Fraction) -> float:
    return float(common / (first + second - common)) if first and second else 0.0


def _exact_ious(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.array([_iou(*_exact(a, b)) for a, b in zip(one, other, strict=True)])


def _pairs(name: str, count: int, dtype: type = np.float32) -> tuple[np.ndarray, np.ndarray]:
    one, other = SETS[name](np.random.default_rng(len(name)), count)
    return one.astype(dtype), other.astype(dtype)


@pytest.mark.parametrize("count", SAMPLES)
@pytest.mark.parametrize("name", SETS)
def test_ious_of_rotated_boxes_are_right_to_the_last_digits(name: str, count: int) -> None:
    one, other = _pairs(name, count)
    wanted = _exact_ious(one, other)
    found = pymluops.box_iou_rotated(one, other, aligned=True)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-7)
    assert found.tobytes() == pymluops.box_iou_rotated(other, one, aligned=True).tobytes()
    both = np.concatenate([one, other])
    same = pymluops.box_iou_rotated(both, both, aligned=True)
    assert (same == (both[:, 2:4] != 0).all(1)).all()


@pytest.mark.parametrize("name", SETS)
def test_ious_of_rotated_boxes_in_float64(name: str) -> None:
    one, other = _pairs(name, FEW, np.float64)
    found = double_of(described("box_iou_rotated"))(None, (one, other, None), (0, False))
    np.testing.assert_allclose(np.diagonal(found), _exact_ious(one, other), rtol=0, atol=1e-9)
    assert (found <= 1).all()
    swapped = double_of(described("box_iou_rotated"))(None, (other, one, None), (0, False))
    np.testing.assert_array_equal(swapped.T, found)


@pytest.mark.parametrize("name", SETS)
def test_ious_over_the_first_box(name: str) -> None:
    one, other = _pairs(name, FEW)
    wanted = [float(e[0] / e[1]) if e[1] and e[2] else 0.0 for e in map(_exact, one, other)]
    np.testing.assert_allclose(pymluops.box_iou_rotated(one, other, "iof", True), wanted, rtol=0, atol=1e-7)


@pytest.mark.parametrize("name", SETS)
def test_boxes_seen_from_above(name: str) -> None:
    one, other = _pairs(name, FEW)
    spaces = [
        np.column_stack([box[:, :2], np.zeros(FEW), box[:, 2:4], np.ones(FEW), box[:, 4]]) for box in (one, other)
    ]
    a, b = (np.ascontiguousarray(space, np.float32) for space in spaces)
    wanted = _exact_ious(one, other)
    np.testing.assert_allclose(pymluops.boxes_iou_bev(a, b, True), wanted, rtol=0, atol=1e-7)
    np.testing.assert_allclose(pymluops.boxes_iou3d(a, b, True), wanted, rtol=0, atol=1e-7)
    b[:, 2] = 0.5  # half of the height
    halves = [_iou(common / 2, first, second) for common, first, second in map(_exact, one, other)]
    np.testing.assert_allclose(pymluops.boxes_iou3d(a, b, True), halves, rtol=0, atol=1e-7)
    if name != "scales":
        areas = [float(_exact(*pair)[0]) for pair in zip(one, other, strict=True)]
        np.testing.assert_allclose(pymluops.boxes_overlap_bev(a, b, True), areas, rtol=1e-6, atol=1e-9)


def _quadrilaterals(boxes: np.ndarray) -> np.ndarray:
    return np.array([[float(value) for corner in _corners(box) for value in corner] for box in boxes], np.float32)


def _exact_quadrilaterals(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    ious = []
    for a, b in zip(one, other, strict=True):
        corners = [[(Fraction(float(x)), Fraction(float(y))) for x, y in row.reshape(4, 2)] for row in (a, b)]
        ious.append(_iou(_intersection(*corners), *map(_area, corners)))
    return np.array(ious)


@pytest.mark.parametrize("mode", ["iou", "mmcv_iou"])
@pytest.mark.parametrize("name", sorted(set(SETS) - {"thin", "scales", "far"}))
def test_ious_of_quadrilaterals(name: str, mode: str) -> None:
    one, other = (_quadrilaterals(boxes) for boxes in _pairs(name, FEW))
    wanted = _exact_quadrilaterals(one, other)
    found = pymluops.box_iou_quadri(one, other, mode, True)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6)
    if mode == "iou":
        assert found.tobytes() == pymluops.box_iou_quadri(other, one, mode, True).tobytes()
    assert (pymluops.box_iou_quadri(one, one, mode, True) == 1).all()


@pytest.mark.parametrize("name", sorted(set(SETS) - {"thin", "scales"}))
def test_ious_of_hulls(name: str) -> None:
    one, other = (_quadrilaterals(boxes) for boxes in _pairs(name, FEW))
    points = np.concatenate([one, one, one[:, :2]], 1)
    convex = np.array([pymluops.convex_iou(a[None], b[None]).item() for a, b in zip(points, other, strict=True)])
    wanted = _exact_quadrilaterals(one, other)
    usable = np.array([_is_convex(row) for row in one]) & np.array([_is_convex(row) for row in other])
    assert usable.mean() > 0.5
    np.testing.assert_allclose(convex[usable], wanted[usable], rtol=0, atol=1e-6)
    # The hull of both is at least as large as both together.
    gious = pymluops.convex_giou(points, other).gious
    assert (gious[usable] <= convex[usable] + 1e-6).all()
    close = usable & (wanted > 0.999)
    np.testing.assert_allclose(gious[close], wanted[close], rtol=0, atol=2e-3)


def _is_convex(row: np.ndarray) -> bool:
    corners = [(Fraction(float(x)), Fraction(float(y))) for x, y in row.reshape(4, 2)]
    return all(_turn(corners[i - 2], corners[i - 1], corners[i]) > 0 for i in range(4))


def test_suppression_leaves_one_of_two_boxes_that_nearly_coincide() -> None:
    rng = np.random.default_rng(9)
    count = 400
    one = _usual(rng, count, 0.4)
    one[:, :2] += np.stack([np.arange(count) % 20, np.arange(count) // 20], 1) * 300
    for jitter in (0, 6e-8, 1e-6, 1e-5):
        other = one.astype(np.float32) * (1 + jitter * rng.uniform(-1, 1, one.shape)) if jitter else one
        other[:, :2] = one[:, :2] + jitter * rng.uniform(-1, 1, (count, 2)) * one[:, 2:4]
        boxes = np.concatenate([one, other]).astype(np.float32)
        scores = np.concatenate([np.linspace(0.9, 0.5, count), np.linspace(0.899, 0.499, count)]).astype(np.float32)
        space = np.column_stack([boxes[:, :2], np.zeros(2 * count), boxes[:, 2:4], np.ones(2 * count), boxes[:, 4]])
        quadrilaterals = _quadrilaterals(boxes)
        kept = {
            "nms_rotated": pymluops.nms_rotated(boxes, scores, 0.5),
            "nms3d": pymluops.nms3d(space.astype(np.float32), scores, 0.5),
            "nms3d_normal": pymluops.nms3d_normal(space.astype(np.float32), scores, 0.5),
            "nms_quadri": pymluops.nms_quadri(quadrilaterals, scores, 0.5),
            "poly_nms": pymluops.poly_nms(np.column_stack([quadrilaterals, scores]), 0.5),
        }
        assert {name: len(indices) for name, indices in kept.items()} == dict.fromkeys(kept, count)


def test_no_point_between_two_polygons_is_in_both_or_in_none() -> None:
    """Two polygons share an edge; each of many points beside it, or one rounding from it, lies in just one."""
    rng = np.random.default_rng(10)
    for _ in range(50):
        a, b = rng.normal(size=(2, 2)).astype(np.float32) * 10
        across = np.float32([-(b - a)[1], (b - a)[0]])
        sides = [np.stack([a, b, b + side * across, a + side * across]).reshape(1, 8) for side in (1, -1)]
        share = rng.uniform(0.05, 0.95, (300, 1))
        points = (a + share * (b - a)).astype(np.float32)
        points = np.nextafter(points, rng.choice(np.float32([-np.inf, np.inf]), points.shape))
        held = [pymluops.points_in_polygons(points, polygon.astype(np.float32))[:, 0] for polygon in sides]
        lines = [_turn(*[(Fraction(float(x)), Fraction(float(y))) for x, y in (a, b, p)]) for p in points]
        beside = np.array([line != 0 for line in lines])
        left = np.array([line > 0 for line in lines])
        np.testing.assert_array_equal(held[0][beside], left[beside])
        np.testing.assert_array_equal(held[1][beside], ~left[beside])


def test_rectangles_of_the_least_area_far_from_the_origin() -> None:
    rng = np.random.default_rng(11)
    points = rng.integers(-64, 64, (50, 9, 2)).astype(np.float32)
    near = pymluops.min_area_polygons(points.reshape(50, 18)).astype(np.float64)
    far = pymluops.min_area_polygons((points + np.float32(2**17)).reshape(50, 18)).astype(np.float64)
    np.testing.assert_allclose(far - 2**17, near, rtol=0, atol=0.02)  # half the distance of floats there is 0.008
