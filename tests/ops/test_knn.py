"""knn."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import knn as oracle
from support.arrays import any_bits, canary, is_canary
from support.c_calls import BAD_PARAM, SUCCESS, Raw, Tensor
from support.clouds import KINDS, cloud
from support.comparison import assert_same_values
from support.interrupts import interrupted
from support.processes import python_output
from support.selection import examples

DTYPES = ("float16", "float32")
both_dtypes = pytest.mark.parametrize("dtype", DTYPES)


def assert_nearest(points: np.ndarray, places: np.ndarray, k: int) -> None:
    found, wanted = pymluops.knn(points, places, k), oracle.nearest(points, places, k)
    assert_same_values(found.dist2, wanted[0])
    np.testing.assert_array_equal(found.idx, wanted[1])


@both_dtypes
@examples(150)
@given(
    batch=st.integers(1, 3),
    points=st.integers(0, 60) | st.integers(500, 1100),
    places=st.integers(1, 70),
    k=st.integers(1, 40),
    coarse=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_small_clouds(dtype: str, batch: int, points: int, places: int, k: int, coarse: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    xyz, new_xyz = (rng.normal(size=(batch, n, 3)) for n in (points, places))
    if coarse:  # many equal distances
        xyz, new_xyz = np.round(xyz), np.round(new_xyz)
    assert_nearest(xyz.astype(dtype), new_xyz.astype(dtype), k)


@examples(60)
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 20))
def test_any_bits(seed: int, k: int) -> None:
    for dtype in (np.float16, np.float32):
        rng = np.random.default_rng(seed)
        xyz, new_xyz = any_bits(rng, (1, 40, 3), dtype), any_bits(rng, (1, 9, 3), dtype)
        assert_nearest(xyz, new_xyz, k)


@pytest.mark.sampled("dtype")
@both_dtypes
@pytest.mark.parametrize("kind", KINDS)
def test_many_points(kind: str, dtype: str) -> None:
    """Among so many a tree is searched, which finds the same points in the same order."""
    points = cloud(kind, 6000, dtype)[None]
    places = np.concatenate([points[:, ::9], cloud("even", 300, dtype)[None], cloud("special", 40, dtype)[None]], 1)
    for k in (1, 3, 16):
        assert_nearest(points, places, k)
    assert_nearest(points, np.repeat(places[:, ::8], 8, 1), 70)


@both_dtypes
def test_an_exact_case(dtype: str) -> None:
    points = np.array([[[5, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 1], [np.nan, 0, 0], [np.inf, 0, 0]]], dtype)
    found = pymluops.knn(points, np.zeros((1, 1, 3), dtype), 6)
    assert found.dist2.tolist() == [[[1, 1, 4, 25, np.inf, np.inf]]]
    assert found.idx.tolist() == [[[1, 3, 2, 0, 0, 0]]]


@both_dtypes
def test_without_points_all_neighbours_are_missing(dtype: str) -> None:
    found = pymluops.knn(np.zeros((2, 0, 3), dtype), np.zeros((2, 4, 3), dtype), 3)
    assert np.isinf(found.dist2).all() and not found.idx.any()


def test_more_neighbours_than_points(raw: Raw) -> None:
    points = cloud("even", 50, "float32")[None]
    for k in (49, 50, 51, 400):
        assert_nearest(points, points[:, :7], k)


def test_mmcvs_shapes() -> None:
    points, places = cloud("even", 20, "float32").reshape(2, 10, 3), cloud("even", 10, "float32", 1).reshape(2, 5, 3)
    assert_nearest(points, places, 5)
    assert_nearest(points, points, 5)


def digests() -> list[str]:
    """Results for some points, in a form that goes through JSON."""
    points, found = cloud("spheres", 5000, "float32")[None], []
    for number, k in ((5000, 5), (5000, 20), (700, 14), (4000, 70)):
        found += [
            hashlib.sha256(array).hexdigest()
            for array in pymluops.knn(points[:, :number].copy(), points[:, ::4].copy(), k)
        ]
    return found


@pytest.mark.parametrize("level", ["x86-64", "x86-64-v3", "x86-64-v4"])
def test_any_instruction_level_finds_the_same(level: str) -> None:
    code = "import json; from ops.test_knn import digests; print(json.dumps(digests()))"
    assert json.loads(python_output(code, PYMLUOPS_INSTRUCTION_LEVEL=level)) == digests()


def test_any_number_of_threads_finds_the_same() -> None:
    before, found = pymluops.get_num_threads(), []
    try:
        for threads in (1, 2, 5):
            pymluops.set_num_threads(threads)
            found.append(digests())
    finally:
        pymluops.set_num_threads(before)
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("xyz", np.ones((2, 4, 2), np.float32)),
        ("xyz", np.ones((1, 4, 3), np.float32)),
        ("xyz", np.ones((4, 3), np.float32)),
        ("xyz", np.ones((2, 4, 3), np.int32)),
        ("new_xyz", np.ones((2, 3, 3), np.float64)),
        ("new_xyz", np.ones((2, 0, 3), np.float32)),
        ("new_xyz", np.ones((2, 3, 4), np.float32)),
        ("dist2", np.ones((2, 3, 5), np.float64)),
        ("dist2", np.ones((2, 3, 6), np.float32)),
        ("dist2", np.ones((2, 2, 5), np.float32)),
        ("idx", np.ones((2, 3, 5), np.int64)),
        ("idx", np.ones((2, 3, 4), np.int32)),
    ],
)
def test_refused_tensors(raw: Raw, name: str, array: np.ndarray) -> None:
    arrays = {
        "xyz": np.ones((2, 4, 3), np.float32),
        "new_xyz": np.ones((2, 3, 3), np.float32),
        "dist2": canary((2, 3, 5), "float32"),
        "idx": canary((2, 3, 5), "int32"),
    }
    arrays[name] = array
    assert raw.status("mluopsExtKnn", *map(Tensor, arrays.values())) == BAD_PARAM
    assert "mluopsExtKnn: " in raw.reason()
    for output in {"dist2", "idx"} - {name}:
        assert is_canary(arrays[output])


def test_the_c_function_writes_the_same(raw: Raw) -> None:
    points, places = cloud("even", 30, "float32")[None], cloud("even", 4, "float32", 1)[None]
    dist2, idx = canary((1, 4, 3), "float32"), canary((1, 4, 3), "int32")
    assert raw.status("mluopsExtKnn", *map(Tensor, (points, places, dist2, idx))) == SUCCESS, raw.reason()
    wanted = pymluops.knn(points, places, 3)
    assert_same_values(dist2, wanted.dist2)
    np.testing.assert_array_equal(idx, wanted.idx)


def test_an_interrupted_call_ends_soon_and_the_next_one_is_right() -> None:
    points = np.random.default_rng(1).random((1, 300_000, 3), np.float32)
    assert interrupted(lambda: pymluops.knn(points, points, 16)) > 0
    assert_nearest(points[:, :3000].copy(), points[:, :20].copy(), 16)
