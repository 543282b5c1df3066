"""convex_iou, convex_giou and min_area_polygons."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.ops._described import described
from pymluops.ops._double import double_of
from pymluops.oracle import point_sets as oracle
from support.arrays import any_bits
from support.selection import examples

FIRST = [[1, 1], [2, 2], [1, 2], [2, 1], [1, 3], [3, 1], [2, 3], [3, 2], [1.5, 1.5]]
SETS = np.stack([np.ravel(FIRST), np.ravel(FIRST) + 0.5]).astype(np.float32)
QUADRILATERALS = np.float32([[1, 1, 1, 2, 2, 2, 2, 1], [1, 1, 1, 3, 3, 3, 3, 1]])

drawn = given(
    count=st.integers(1, 12),
    others=st.integers(1, 9),
    spread=st.sampled_from([0.0, 1.0, 3.0, 100.0]),
    seed=st.integers(0, 2**32 - 1),
)


def test_values_that_mmcv_expects() -> None:
    found = pymluops.convex_iou(SETS, QUADRILATERALS)
    np.testing.assert_allclose(found, [[0.2857, 0.8750], [0.0588, 0.4286]], atol=1e-4)
    gious, gradients = pymluops.convex_giou(SETS, QUADRILATERALS)
    np.testing.assert_allclose(gious, [0.2857, 0.3831], atol=1e-4)
    wanted = np.zeros((2, 9, 2))
    wanted[0, [0, 4, 5, 6, 7]] = [
        [0.0204, 0.0408], [0.0612, -0.0408], [-0.0408, 0.0816], [-0.0408, -0.0816], [-0.0816, -0.0408]
    ]  # fmt: skip
    wanted[1, [0, 4, 5, 6, 7]] = [
        [-0.1848, -0.1848], [-0.1076, -0.0801], [-0.0801, -0.1076], [-0.0367, -0.0734], [-0.0734, -0.0367]
    ]  # fmt: skip
    np.testing.assert_allclose(gradients.reshape(2, 9, 2), wanted, atol=1e-4)
    sets = SETS[:1].repeat(2, 0)
    sets[1, 2:4] = 8
    rectangles = [[3, 1, 1, 1, 1, 3, 3, 3], [8, 8, 2.3243, 0.0541, 0.0541, 1.6757, 5.7297, 9.6216]]
    np.testing.assert_allclose(pymluops.min_area_polygons(sets), rectangles, atol=1e-4)


@examples(60)
@drawn
def test_ious(count: int, others: int, spread: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    sets = oracle.random_points(rng, count, spread).astype(np.float32)
    polygons = oracle.random_corners(rng, others, spread).astype(np.float32)
    found = pymluops.convex_iou(sets, polygons)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, oracle.ious(sets, polygons), rtol=1e-6, atol=1e-7)


@examples(60)
@drawn
def test_gious(count: int, others: int, spread: float, seed: int) -> None:
    rng = np.random.default_rng([seed, others])
    sets = oracle.random_points(rng, count, spread).astype(np.float32)
    polygons = oracle.random_corners(rng, count, spread).astype(np.float32)
    for found, wanted in zip(pymluops.convex_giou(sets, polygons), oracle.gious(sets, polygons), strict=True):
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


@examples(60)
@drawn
def test_rectangles(count: int, others: int, spread: float, seed: int) -> None:
    rng = np.random.default_rng([seed, others])
    sets = oracle.random_points(rng, count, spread).astype(np.float32)
    found = pymluops.min_area_polygons(sets)
    np.testing.assert_allclose(found, oracle.rectangles(sets), rtol=1e-6, atol=1e-6 * max(spread, 1))


@pytest.mark.thorough
def test_gradients_are_those_of_small_differences() -> None:
    """Where no edge lies on another one."""
    rng = np.random.default_rng(5)
    sets, turned = rng.normal(size=(40, 9, 2)), np.linspace(0, 2 * np.pi, 5)[:-1] + rng.uniform(0, 1, (40, 4))
    polygons = np.stack([np.cos(turned), np.sin(turned)], -1).reshape(40, 8).astype(np.float32)
    step = 2.0**-9
    values = sets.reshape(40, 18).astype(np.float32)
    found = pymluops.convex_giou(values, polygons).gradients
    wanted = np.zeros((40, 18))
    for k in range(18):
        sides = []
        for sign in (-1, 1):
            moved = values.astype(np.float64)
            moved[:, k] += sign * step
            sides.append([oracle.giou(points, other)[0] for points, other in zip(moved, polygons, strict=True)])
        wanted[:, k] = (np.array(sides[1]) - np.array(sides[0])) / (2 * step)
    near = np.abs(found - wanted).max(1) < 1e-3  # but for rows in which a step changes the hull
    assert near.sum() >= 34
    assert np.abs(found).max(1).min() > 1e-3


@pytest.mark.parametrize("jitter", [0, 1e-9, 1e-7, 1e-5, 1e-3])
def test_gradients_are_bounded_where_polygons_nearly_coincide(jitter: float) -> None:
    rng = np.random.default_rng(12)
    polygons = oracle.random_corners(rng, 300)
    points = np.concatenate([polygons, polygons, polygons[:, :2]], 1)
    points = points + jitter * rng.uniform(-1, 1, (300, 18))
    found = double_of(described("convex_giou"))(None, (points, polygons, None, None), ())
    extents = np.ptp(points.reshape(300, 9, 2), 1).max(1)
    areas = np.array([abs(oracle.area(oracle.hull([tuple(p) for p in row.reshape(9, 2)]))) for row in points])
    # The gradient by a corner is no larger than a few times what the edges of a hull allow.
    assert (np.abs(found[1]).max(1) * areas / extents).max() < 8
    value, gradient = pymluops.convex_giou(points.astype(np.float32), polygons.astype(np.float32))
    assert np.isfinite(gradient).all()
    assert (value <= 1).all()


def test_odd_sets() -> None:
    square = np.float32([0, 0, 4, 0, 4, 2, 0, 2])
    points = np.concatenate([square, np.ones(10, np.float32)])
    line, one = np.arange(18, dtype=np.float32), np.ones(18, np.float32)
    sets = np.stack([points, line, one])
    empty = np.float32([[0, 0, 1, 1, 2, 2, 3, 3]])
    assert pymluops.convex_iou(sets, square[None]).ravel().tolist() == [1.0, 0.0, 0.0]
    found = pymluops.convex_iou(sets, empty)
    assert found[0].item() == 0
    assert np.isnan(found[1:]).all()
    assert pymluops.min_area_polygons(sets)[2].tolist() == [1.0] * 8
    gious, gradients = pymluops.convex_giou(sets, square[None].repeat(3, 0))
    np.testing.assert_allclose(gious[[0, 2]], [1, 0], atol=1e-6)
    assert not gradients[2, 2:].any()  # of points that are the same the first one has it all


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_rows_that_are_not_finite(value: float) -> None:
    for places in ((0,), (17,), range(18)):
        sets, polygons = SETS.copy(), QUADRILATERALS.copy()
        sets[0, list(places)] = value
        polygons[1, places[-1] % 8] = value
        found = pymluops.convex_iou(sets, polygons)
        assert np.isnan(found).tolist() == [[True, True], [False, True]]
        gious, gradients = pymluops.convex_giou(sets, polygons)
        assert np.isnan(gious).all()
        assert not gradients.any()
        rectangles = pymluops.min_area_polygons(sets)
        assert not rectangles[0].any()
        assert rectangles[1].any()


def test_any_bits_and_large_numbers() -> None:
    rng = np.random.default_rng(2)
    sets, polygons = any_bits(rng, (200, 18), np.float32), any_bits(rng, (200, 8), np.float32)
    large = [(rng.choice([-1, 1, 0.5], one.shape) * 3e38).astype(np.float32) for one in (sets, polygons)]
    for arrays in ((sets, polygons), large):
        assert pymluops.convex_iou(*arrays).shape == (200, 200)
        assert pymluops.convex_giou(*arrays).gradients.shape == (200, 18)
        assert pymluops.min_area_polygons(arrays[0]).shape == (200, 8)
    huge = np.float32([[-3e38, -3e38, 3e38, 3e38, -3e38, 3e38, 3e38, -3e38, *[0] * 10]])
    corners = pymluops.min_area_polygons(huge).reshape(4, 2)
    np.testing.assert_array_equal(corners, np.float32([[3e38, -3e38], [-3e38, -3e38], [-3e38, 3e38], [3e38, 3e38]]))


def test_any_number_of_threads() -> None:
    rng = np.random.default_rng(3)
    sets, polygons = (draw(rng, 300).astype(np.float32) for draw in (oracle.random_points, oracle.random_corners))
    before = pymluops.get_num_threads()
    results = []
    try:
        for threads in (1, 3):
            pymluops.set_num_threads(threads)
            rows = pymluops.convex_giou(sets, polygons)
            results.append([pymluops.convex_iou(sets, polygons), *rows, pymluops.min_area_polygons(sets)])
    finally:
        pymluops.set_num_threads(before)
    for one, other in zip(*results, strict=True):
        assert one.tobytes() == other.tobytes()


def test_empty_and_refused() -> None:
    assert pymluops.convex_iou(SETS[:0], QUADRILATERALS).shape == (0, 2)
    assert pymluops.convex_iou(SETS, QUADRILATERALS[:0]).shape == (2, 0)
    assert pymluops.convex_giou(SETS[:0], QUADRILATERALS[:0]).gradients.shape == (0, 18)
    assert pymluops.min_area_polygons(SETS[:0]).shape == (0, 8)
    with pytest.raises(pymluops.BadParamError, match="convex_iou: pointsets: "):
        pymluops.convex_iou(SETS[:, :16].copy(), QUADRILATERALS)
    with pytest.raises(pymluops.BadParamError, match="convex_iou: polygons: "):
        pymluops.convex_iou(SETS, QUADRILATERALS.astype(np.float64))
    with pytest.raises(pymluops.BadParamError, match="convex_giou: polygons: "):
        pymluops.convex_giou(SETS, QUADRILATERALS[:1].copy())
    with pytest.raises(pymluops.BadParamError, match="min_area_polygons: out: "):
        pymluops.min_area_polygons(SETS, out=np.zeros((2, 7), np.float32))
