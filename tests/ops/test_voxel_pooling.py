"""voxel_pooling forward and backward."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.ops._described import described
from pymluops.ops._double import double_of
from pymluops.oracle import voxel_pooling as oracle
from support.arrays import any_bits
from support.comparison import assert_same_bits, assert_same_values
from support.selection import examples

SHAPES = st.fixed_dictionaries(
    {
        "batch": st.integers(1, 3),
        "points": st.integers(1, 30) | st.integers(900, 1100),
        "channels": st.integers(1, 20),
        "voxels": st.tuples(st.integers(1, 9), st.integers(1, 12), st.integers(1, 3)),
        "odd": st.booleans(),
        "seed": st.integers(0, 2**32 - 1),
    }
)


def problem(s: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    rng = np.random.default_rng(s["seed"])
    geom = np.floor(rng.uniform(-0.3, 1.3, (s["batch"], s["points"], 3)) * s["voxels"]).astype(np.int32)
    geom[rng.random(geom.shape) < 0.01] = rng.choice([2**31 - 1, -(2**31)])
    shape = (s["batch"], s["points"], s["channels"])
    features = any_bits(rng, shape, np.float32) if s["odd"] else rng.normal(size=shape).astype(np.float32)
    return geom, features, rng


def pool(geom: np.ndarray, features: np.ndarray, voxels: tuple[int, int, int]) -> tuple[Any, Any]:
    return pymluops.voxel_pooling_forward(geom, features, *features.shape, voxels)


@examples(120)
@given(s=SHAPES)
def test_sums_in_order(s: dict[str, Any]) -> None:
    geom, features, rng = problem(s)
    sums, memo = pool(geom, features, s["voxels"])
    wanted = oracle.forward(geom, features, s["voxels"])
    assert_same_values(sums, wanted[0])
    assert_same_bits(memo, wanted[1])
    grad = rng.normal(size=sums.shape).astype(np.float32)
    if s["odd"]:
        memo = np.where(rng.random(memo.shape) < 0.2, rng.integers(-2, 12, memo.shape), memo).astype(np.int32)
    for kind in ("float32", "float16", "float64"):
        known, given_grad = described("voxel_pooling_backward"), grad.astype(kind)
        operator = double_of(known) if kind == "float64" else known
        assert_same_bits(operator(None, (given_grad, memo, None)), oracle.backward(given_grad, memo))


def test_sums_in_double_and_the_adjoint() -> None:
    rng = np.random.default_rng(2)
    geom = rng.integers(-1, 4, (2, 50, 3)).astype(np.int32)
    features = rng.normal(size=(2, 50, 3))
    sums, memo = double_of(described("voxel_pooling_forward"))(None, (geom, features, None, None), (2, 50, 3, 3, 4, 2))
    assert_same_bits(sums, oracle.forward(geom, features, (3, 4, 2))[0])
    grad = rng.normal(size=sums.shape)
    back = double_of(described("voxel_pooling_backward"))(None, (grad, memo, None))
    assert (sums * grad).sum() == pytest.approx((features * back).sum(), rel=1e-12)


def test_all_points_in_one_pixel_and_none() -> None:
    geom, features = np.zeros((1, 5000, 3), np.int32), np.full((1, 5000, 4), 0.1, np.float32)
    sums, _ = pool(geom, features, (2, 2, 1))
    assert_same_bits(sums, oracle.forward(geom, features, (2, 2, 1))[0])
    sums, memo = pool(geom - 1, features, (2, 2, 1))
    assert not sums.any() and (memo == -1).all()


def test_any_number_of_threads_gives_the_same() -> None:
    s = {"batch": 2, "points": 20000, "channels": 8, "voxels": (16, 16, 1), "odd": False, "seed": 3}
    geom, features, _ = problem(s)
    before, found = pymluops.get_num_threads(), []
    try:
        for threads in (1, 2, 5):
            pymluops.set_num_threads(threads)
            found.append(pool(geom, features, s["voxels"]))
    finally:
        pymluops.set_num_threads(before)
    for sums, memo in found[1:]:
        assert_same_bits(sums, found[0][0])
        assert_same_bits(memo, found[0][1])


@pytest.mark.parametrize("voxels", [(0, 2, 2), (2, 2), (2, 2, 2, 2), (2, 2, -1), 2, (2.5, 2, 2)])
def test_refused_numbers_of_cells(voxels: Any) -> None:
    geom, features = np.zeros((1, 2, 3), np.int32), np.ones((1, 2, 1), np.float32)
    with pytest.raises(pymluops.BadParamError, match="voxel_num"):
        pool(geom, features, voxels)
