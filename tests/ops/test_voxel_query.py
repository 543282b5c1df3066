"""voxel_query."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import voxel_query as oracle
from support.comparison import assert_same_bits
from support.selection import examples

SHAPES = st.fixed_dictionaries(
    {
        "grid": st.tuples(st.integers(1, 2), st.integers(1, 3), st.integers(1, 6), st.integers(1, 6)),
        "points": st.integers(1, 40),
        "centres": st.integers(1, 20),
        "ranges": st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 9)),
        "radius": st.floats(0, 3),
        "nsample": st.integers(1, 12),
        "seed": st.integers(0, 2**32 - 1),
    }
)


def _case(s: dict[str, Any]) -> tuple[np.ndarray, ...]:
    rng, dtype = np.random.default_rng(s["seed"]), np.float32
    points = (rng.integers(0, 12, (s["points"], 3)) / 4).astype(dtype)  # equal distances, also that of the radius
    centres = (rng.integers(0, 12, (s["centres"], 3)) / 4).astype(dtype)
    cells = rng.integers(-3, s["points"] + 2, s["grid"]).astype(np.int32)
    columns = [rng.integers(-1, size + 1, s["centres"]) for size in s["grid"]]
    return centres, points, np.stack(columns, 1).astype(np.int32), cells


@examples(200)
@given(s=SHAPES)
def test_points_are_those_of_the_formula(s: dict[str, Any]) -> None:
    arrays = _case(s)
    for radius in (s["radius"], round(4 * s["radius"]) / 4):
        scalars = radius, s["ranges"], s["nsample"]
        assert_same_bits(pymluops.voxel_query(*arrays, *scalars), oracle.voxel_query(*arrays, *scalars))


def test_extreme_numbers() -> None:
    points = np.array([[0, 0, 0], [np.nan, 0, 0], [np.inf, 0, 0], [1, 1, 1]], np.float32)
    cells = np.array([0, 1, 2, 3], np.int32).reshape(1, 1, 1, 4)
    huge, least = 2**31 - 1, -(2**31)
    coords = np.array([[0, 0, 0, 1], [0, huge, least, 0], [huge, 0, 0, 0], [least, 0, 0, 0], [0, 0, 0, huge]], np.int32)
    centres = np.zeros((5, 3), np.float32)
    for radius, wanted in ((0.0, [0, 0, 0]), (2.0, [0, 3, 0]), (np.inf, [0, 2, 3])):
        found = pymluops.voxel_query(centres, points, coords, cells, radius, (huge, huge, huge), 3)
        assert found[0].tolist() == wanted
        assert found[2:4].tolist() == [[-1, 0, 0]] * 2
        assert_same_bits(found, oracle.voxel_query(centres, points, coords, cells, radius, (huge, huge, huge), 3))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"new_xyz": np.zeros((2, 3), np.float16)}, "new_xyz"),
        ({"xyz": np.zeros((3, 3), np.float64)}, "xyz"),
        ({"xyz": np.zeros((3, 2), np.float32)}, "xyz"),
        ({"new_coords": np.zeros((3, 4), np.int32)}, "new_coords"),
        ({"point_indices": np.zeros((1, 1, 1), np.int32)}, "point_indices"),
        ({"radius": -1.0}, "radius"),
        ({"radius": np.nan}, "radius"),
        ({"ranges": (1, 1)}, "ranges"),
        ({"ranges": (1, -1, 1)}, "ranges"),
        ({"nsample": 0}, "nsample"),
    ],
)
def test_refusals(change: dict[str, Any], told: str) -> None:
    good = {
        "new_xyz": np.zeros((2, 3), np.float32),
        "xyz": np.zeros((3, 3), np.float32),
        "new_coords": np.zeros((2, 4), np.int32),
        "point_indices": np.zeros((1, 1, 1, 1), np.int32),
        "radius": 1.0,
        "ranges": (1, 1, 1),
        "nsample": 2,
    }
    assert pymluops.voxel_query(**good).tolist() == [[0, 0]] * 2
    with pytest.raises(ValueError, match=f"^voxel_query: {told}: expected"):
        pymluops.voxel_query(**(good | change))
