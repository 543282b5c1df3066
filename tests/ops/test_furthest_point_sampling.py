"""furthest_point_sampling: plain, by a matrix, and stacked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import furthest_point_sampling as oracle
from support.arrays import any_bits, canary, is_canary
from support.c_calls import BAD_PARAM, SUCCESS, Raw, Tensor
from support.clouds import KINDS, cloud
from support.comparison import assert_same_values
from support.interrupts import interrupted
from support.selection import examples

DTYPES = ("float16", "float32")
both_dtypes = pytest.mark.parametrize("dtype", DTYPES)


def assert_same(found: Any, wanted: tuple[np.ndarray, np.ndarray]) -> None:
    np.testing.assert_array_equal(found.idx, wanted[1])
    assert_same_values(found.distances, wanted[0])


@both_dtypes
@examples(150)
@given(
    batch=st.integers(1, 3),
    points=st.integers(1, 300),
    number=st.integers(0, 40),
    coarse=st.booleans(),
    most=st.sampled_from([np.inf, 1e10, 0.5, 0.0]),
    norm=st.sampled_from([-1.0, 0.0, 1e-3, 1.0]),
    seed=st.integers(0, 2**32 - 1),
)
def test_small_clouds(
    dtype: str, batch: int, points: int, number: int, coarse: bool, most: float, norm: float, seed: int
) -> None:
    xyz = np.random.default_rng(seed).normal(size=(batch, points, 3))
    xyz = (np.round(xyz) if coarse else xyz).astype(dtype)
    found = pymluops.furthest_point_sampling(xyz, number, most, norm)
    assert_same(found, oracle.of_batches(oracle.sample, xyz, number, most, norm))


@examples(60)
@given(seed=st.integers(0, 2**32 - 1), points=st.integers(1, 60))
def test_any_bits(seed: int, points: int) -> None:
    for dtype in (np.float16, np.float32):
        xyz = any_bits(np.random.default_rng(seed), (2, points, 3), dtype)
        assert_same(pymluops.furthest_point_sampling(xyz, 20), oracle.of_batches(oracle.sample, xyz, 20))


@both_dtypes
@pytest.mark.parametrize("kind", KINDS)
def test_many_points(kind: str, dtype: str) -> None:
    xyz = cloud(kind, 3000, dtype)[None]
    assert_same(pymluops.furthest_point_sampling(xyz, 400), oracle.of_batches(oracle.sample, xyz, 400))


@both_dtypes
def test_an_exact_case(dtype: str) -> None:
    xyz = np.array([[[0, 0, 0], [1, 0, 0], [9, 0, 0], [5, 0, 0], [-4, 0, 0]]], dtype)
    found = pymluops.furthest_point_sampling(xyz, 4)
    assert found.idx.tolist() == [[0, 2, 3, 4]]  # 3 and 4 are at the distance 4, and the first of them is picked
    assert found.distances.tolist() == [[0, 1, 0, 0, 16]]


@both_dtypes
def test_more_picks_than_points_repeat_the_first(dtype: str) -> None:
    xyz = np.array([[[0, 0, 0], [1, 0, 0], [3, 0, 0]]], dtype)
    assert pymluops.furthest_point_sampling(xyz, 6).idx.tolist() == [[0, 2, 1, 0, 0, 0]]
    assert pymluops.furthest_point_sampling(xyz, 6, min_squared_norm=1e-3).idx.tolist() == [[0, 2, 1, 1, 1, 1]]
    assert pymluops.furthest_point_sampling(np.full_like(xyz, np.nan), 3).idx.tolist() == [[0, 0, 0]]


@both_dtypes
def test_points_that_are_nowhere_are_not_picked(dtype: str) -> None:
    xyz = np.array([[[np.nan, 0, 0], [1, 0, 0], [np.inf, 0, 0], [3, 0, 0], [0, -np.inf, 0], [9, 0, 0]]], dtype)
    found = pymluops.furthest_point_sampling(xyz, 4)
    assert found.idx.tolist() == [[0, 1, 5, 3]]
    assert np.isinf(found.distances[0, [0, 2, 4]]).all()


@both_dtypes
@examples(80)
@given(
    batch=st.integers(1, 3),
    points=st.integers(1, 60),
    number=st.integers(0, 30),
    special=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_by_a_matrix(dtype: str, batch: int, points: int, number: int, special: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.integers(0, 30, (batch, points, points)).astype(dtype)
    if special:
        odd = rng.choice([np.nan, np.inf, -np.inf, -1, -0.0], matrix.shape)
        matrix = np.where(rng.random(matrix.shape) < 0.2, odd, matrix).astype(dtype)
    found = pymluops.furthest_point_sampling_with_dist(matrix, number, 1e10)
    assert_same(found, oracle.of_batches(oracle.sample_by_matrix, matrix, number, 1e10))


@both_dtypes
@pytest.mark.parametrize("points", [511, 512, 1025, 1300])
def test_the_first_of_equal_distances_in_any_block(dtype: str, points: int) -> None:
    rng = np.random.default_rng(points)
    matrix = rng.integers(2, 5, (1, points, points)).astype(dtype)
    matrix[0, :, : points - 3] = np.minimum(matrix[0, :, : points - 3], 3)
    found = pymluops.furthest_point_sampling_with_dist(matrix, 40, 1e10)
    assert_same(found, oracle.of_batches(oracle.sample_by_matrix, matrix, 40, 1e10))
    matrix[...] = 1
    assert pymluops.furthest_point_sampling_with_dist(matrix, 3).idx.tolist() == [[0, 0, 0]]


@both_dtypes
@examples(80)
@given(
    counts=st.lists(st.integers(0, 40), min_size=1, max_size=4).filter(any),
    seed=st.integers(0, 2**32 - 1),
)
def test_stacked(dtype: str, counts: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    xyz = np.round(rng.normal(size=(sum(counts), 3)), 1).astype(dtype)
    numbers = rng.integers(0, 50, len(counts)).astype(np.int32)
    given_counts, total = (np.array(counts, np.int32), numbers), int(numbers.sum())
    found = pymluops.stack_furthest_point_sampling(xyz, *given_counts, total)
    assert_same(found, oracle.sample_stack(xyz, *given_counts, total))


@pytest.mark.parametrize(
    ("counts", "numbers"),
    [
        ([3, 4], [1, 1]),
        ([-1, 9], [1, 1]),
        ([3, 5], [1, 2]),
        ([3, 5], [-1, 3]),
        ([0, 8], [1, 3]),
        ([2**31 - 1, 9], [3, 3]),
    ],
)
def test_counts_that_do_not_fit(counts: list[int], numbers: list[int]) -> None:
    xyz = cloud("even", 8, "float32")
    given_counts = np.array(counts, np.int32), np.array(numbers, np.int32)
    found = pymluops.stack_furthest_point_sampling(xyz, *given_counts, 4, validate=False)
    assert_same(found, oracle.sample_stack(xyz, *given_counts, 4))


@pytest.mark.parametrize(
    ("most", "norm", "argument"),
    [(-1.0, -1.0, "max_squared_distance"), (np.nan, -1.0, "max_squared_distance"), (1.0, np.nan, "min_squared_norm")],
)
def test_refused_numbers(raw: Raw, most: float, norm: float, argument: str) -> None:
    arrays = np.ones((1, 4, 3), np.float32), canary((1, 4), "float32"), canary((1, 2), "int32")
    xyz, dist2, idx = map(Tensor, arrays)
    assert raw.status("mluopsExtFurthestPointSampling", xyz, most, norm, dist2, idx) == BAD_PARAM
    assert f": {argument}: expected" in raw.reason()
    assert is_canary(arrays[1]) and is_canary(arrays[2])
    with pytest.raises(pymluops.BadParamError, match=argument):
        pymluops.furthest_point_sampling(arrays[0], 2, most, norm)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("dist", np.ones((1, 4, 3), np.float32)),
        ("dist", np.ones((4, 4), np.float32)),
        ("dist", np.ones((1, 4, 4), np.int32)),
        ("dist", np.ones((1, 0, 0), np.float32)),
        ("dist", np.ones((2, 4, 4), np.float32)),
        ("min_dist", np.ones((1, 5), np.float32)),
        ("min_dist", np.ones((1, 4), np.float64)),
        ("idx", np.ones((2, 3), np.int32)),
        ("idx", np.ones((1, 3), np.int64)),
    ],
)
def test_refused_tensors(raw: Raw, name: str, array: np.ndarray) -> None:
    arrays = {
        "dist": np.ones((1, 4, 4), np.float32),
        "min_dist": canary((1, 4), "float32"),
        "idx": canary((1, 3), "int32"),
    }
    arrays[name] = array
    dist, min_dist, idx = map(Tensor, arrays.values())
    assert raw.status("mluopsExtFurthestPointSamplingWithDist", dist, 1.0, min_dist, idx) == BAD_PARAM
    for output in {"min_dist", "idx"} - {name}:
        assert is_canary(arrays[output])


def test_the_c_function_writes_the_same(raw: Raw) -> None:
    arrays = cloud("even", 40, "float32")[None], canary((1, 40), "float32"), canary((1, 9), "int32")
    xyz, dist2, idx = map(Tensor, arrays)
    assert raw.status("mluopsExtFurthestPointSampling", xyz, np.inf, -1.0, dist2, idx) == SUCCESS, raw.reason()
    wanted = pymluops.furthest_point_sampling(arrays[0], 9)
    assert_same_values(arrays[1], wanted.distances)
    np.testing.assert_array_equal(arrays[2], wanted.idx)


def test_any_number_of_threads_picks_the_same() -> None:
    before = pymluops.get_num_threads()
    xyz, found = cloud("spheres", 6000, "float32").reshape(3, 2000, 3), []
    try:
        for threads in (1, 2, 5):
            pymluops.set_num_threads(threads)
            found.append([array.tobytes() for array in pymluops.furthest_point_sampling(xyz, 90)])
    finally:
        pymluops.set_num_threads(before)
    assert found[0] == found[1] == found[2]


def test_an_interrupted_call_ends_soon_and_the_next_one_is_right() -> None:
    xyz = np.random.default_rng(1).random((1, 300_000, 3), np.float32)
    assert interrupted(lambda: pymluops.furthest_point_sampling(xyz, 100_000)) > 0
    some = xyz[:, :2000].copy()
    assert_same(pymluops.furthest_point_sampling(some, 50), oracle.of_batches(oracle.sample, some, 50))
