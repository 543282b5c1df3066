"""points_in_polygons."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import points_in_polygons as oracle
from support.arrays import any_bits, canary, is_canary
from support.c_calls import BAD_PARAM, NOT_SUPPORTED, SUCCESS, Descriptor, Raw, Tensor
from support.comparison import assert_same_bits
from support.selection import examples


@examples(100)
@given(
    points=st.integers(0, 90),
    polygons=st.integers(0, 9) | st.integers(63, 70),
    grid=st.booleans(),
    special=st.sampled_from([0.0, 0.1]),
    seed=st.integers(0, 2**32 - 1),
)
def test_points_and_polygons(points: int, polygons: int, grid: bool, special: float, seed: int) -> None:
    """On a grid many points lie on borders and corners, and edges are level or of no length."""
    rng = np.random.default_rng(seed)
    places, corners = rng.uniform(-3, 3, (points, 2)), rng.uniform(-3, 3, (polygons, 8))
    if grid:
        places, corners = np.round(places), np.round(corners)
    places, corners = places.astype(np.float32), corners.astype(np.float32)
    for array in (places, corners):
        odd = rng.random(array.shape) < special
        array[odd] = any_bits(rng, array.shape, np.float32)[odd]
    assert_same_bits(pymluops.points_in_polygons(places, corners), oracle.inside(places, corners))


def test_values_that_mmcv_expects() -> None:
    points = np.float32([[300, 300], [400, 400], [100, 100], [300, 250], [100, 0]])
    polygons = np.float32([
        [200, 200, 400, 400, 500, 200, 400, 100], [400, 400, 500, 500, 600, 300, 500, 200],
        [300, 300, 600, 700, 700, 700, 700, 100],
    ])  # fmt: skip
    expected = [[0, 0, 0], [0, 0, 1], [0, 0, 0], [1, 0, 0], [0, 0, 0]]
    assert pymluops.points_in_polygons(points, polygons).tolist() == expected


def test_any_walk_around_a_square() -> None:
    corners = np.float32([[0, 0], [2, 0], [2, 2], [0, 2]])
    points = np.float32([[1, 1], [0.1, 1.9], [-1, 1], [3, 1], [1, -1], [1, 3]])
    for walk in (corners, corners[::-1]):
        for turn in range(4):
            polygon = np.roll(walk, turn, 0).reshape(1, 8)
            assert pymluops.points_in_polygons(points, polygon)[:, 0].tolist() == [1, 1, 0, 0, 0, 0]


def _status(raw: Raw, *tensors: Any) -> int:
    return raw.status("mluopsExtPointsInPolygons", *(Tensor(a) if isinstance(a, np.ndarray) else a for a in tensors))


#: What replaces one array, and the status.
REFUSED: list[tuple[int, Any, int]] = [
    (0, np.ones((3, 3), np.float32), BAD_PARAM),
    (0, np.ones((2, 2), np.float32), BAD_PARAM),
    (0, np.ones((3, 2), np.float16), BAD_PARAM),
    (0, np.ones((3, 4), np.float32)[:, ::2], NOT_SUPPORTED),
    (1, np.ones((2, 10), np.float32), BAD_PARAM),
    (1, np.ones((2, 4, 2), np.float32), BAD_PARAM),
    (1, np.ones((2, 8), np.float64), BAD_PARAM),
    (1, Descriptor((2, 8), "float32", pair=True), BAD_PARAM),
    (2, np.ones((3, 3), np.float32), BAD_PARAM),
    (2, np.ones((3, 2), np.int32), BAD_PARAM),
    (2, np.ones((3, 4), np.float32)[:, ::2], NOT_SUPPORTED),
]


@pytest.mark.parametrize(("place", "array", "wanted"), REFUSED)
def test_refused_tensors(raw: Raw, place: int, array: Any, wanted: int) -> None:
    arrays: list[Any] = [np.ones((3, 2), np.float32), np.ones((2, 8), np.float32), canary((3, 2), np.float32)]
    arrays[place] = array
    assert _status(raw, *arrays) == wanted
    assert "mluopsExtPointsInPolygons: " in raw.reason()
    assert place == 2 or is_canary(arrays[2])


def test_sizes_of_0_and_too_large_ones(raw: Raw) -> None:
    null = Descriptor((0, 2), "float32", pair=True), Descriptor((3, 8), "float32", pair=True)
    assert _status(raw, *null, Descriptor((0, 3), "float32", pair=True)) == SUCCESS
    shapes = (46341, 2), (46341, 8), (46341, 46341)
    assert _status(raw, *(Descriptor(shape, "float32", pair=True) for shape in shapes)) == NOT_SUPPORTED
    memory = np.ones((3, 2), np.float32)
    assert _status(raw, memory, np.ones((2, 8), np.float32), memory) == BAD_PARAM
