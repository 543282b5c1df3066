"""The steps of batch normalisation: values, accuracy, values that are not finite, numbers of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import sync_batch_norm as oracle
from support.arrays import any_bits
from support.comparison import assert_same_bits
from support.selection import examples

SHAPES = st.one_of(
    st.tuples(st.integers(1, 5), st.integers(1, 9), st.integers(1, 70)),
    st.tuples(st.integers(1, 200), st.integers(1, 40), st.integers(1, 3)),
)
DTYPES = st.sampled_from(["float32", "float16"])
EPS = 1e-3


def make(shape: tuple[int, ...], dtype: str, seed: int) -> dict[str, np.ndarray]:
    """Values and gradients, and numbers of channels."""
    rng, channels = np.random.default_rng(seed), shape[1]
    made = {"x": rng.normal(3, 2, shape).astype(dtype), "dy": rng.normal(size=shape).astype(dtype)}
    for name in ("mean", "filter", "bias", "mean_dy", "mean_dy_xmu"):
        made[name] = rng.normal(size=channels).astype(np.float32)
    made["invstd"] = rng.uniform(0.5, 2, channels).astype(np.float32)
    return made


def near(found: Any, expected: np.ndarray, tolerance: float) -> None:
    scale = max(1.0, float(np.abs(expected).max(initial=0)))
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=0, atol=tolerance * scale)


def every_step(t: dict[str, np.ndarray]) -> list[np.ndarray]:
    """The results of all functions of values."""
    stats = pymluops.sync_batch_norm_stats(t["x"], EPS)
    first = t["mean"], t["invstd"]
    found = [*stats, pymluops.sync_batch_norm_elemt(t["x"], *first, t["filter"], t["bias"])]
    found += pymluops.sync_batch_norm_backward_reduce(t["dy"], t["x"], *first)
    means = t["mean_dy"], t["mean_dy_xmu"]
    return [*found, pymluops.sync_batch_norm_backward_elemt(t["dy"], t["x"], *first, t["filter"], *means)]


@examples(80)
@given(shape=SHAPES, dtype=DTYPES, seed=st.integers(0, 2**32 - 1))
def test_values_are_those_of_the_formula(shape: tuple[int, ...], dtype: str, seed: int) -> None:
    t = make(shape, dtype, seed)
    first = t["mean"], t["invstd"]
    stats = pymluops.sync_batch_norm_stats(t["x"], EPS)
    for found, expected in zip(stats, oracle.stats(t["x"], EPS), strict=True):
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected, rtol=2e-6, atol=1e-6)
    rounding = {"float32": 2e-6, "float16": 1e-3}[dtype]
    for channels in ((), (t["filter"],), (None, t["bias"]), (t["filter"], t["bias"])):
        found = pymluops.sync_batch_norm_elemt(t["x"], *first, *channels)
        assert found.dtype == dtype
        near(found, oracle.elemt(t["x"], *first, *channels), rounding)
    sums = pymluops.sync_batch_norm_backward_reduce(t["dy"], t["x"], *first)
    for found, expected in zip(sums, oracle.backward_reduce(t["dy"], t["x"], *first), strict=True):
        assert found.dtype == np.float32
        near(found, expected, 1e-6 * shape[0] * shape[2])
    for filters in (None, t["filter"]):
        arrays = t["dy"], t["x"], *first, filters, t["mean_dy"], t["mean_dy_xmu"]
        near(pymluops.sync_batch_norm_backward_elemt(*arrays), oracle.backward_elemt(*arrays), rounding * 4)
        count = np.array([5, 7, 1], np.int32)
        near(
            pymluops.sync_batch_norm_backward_elemt_v2(*arrays, count),
            oracle.backward_elemt_v2(*arrays, count),
            rounding * 4,
        )


@examples(40)
@given(devices=st.integers(1, 6), channels=st.integers(1, 40), seed=st.integers(0, 2**32 - 1))
def test_statistics_of_parts_are_those_of_the_whole(devices: int, channels: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.integers(2, 30, devices)
    parts = [rng.normal(rng.normal(0, 30), 2, (n, channels, 1)).astype(np.float32) for n in counts]
    found = [pymluops.sync_batch_norm_stats(part, EPS) for part in parts]
    arrays = np.stack([one.mean for one in found]), np.stack([one.invstd for one in found]), counts.astype(np.float32)
    joined = pymluops.sync_batch_norm_gather_stats_with_counts(*arrays, EPS)
    for one, expected in zip(joined, oracle.gather(*arrays, np.float64(EPS)), strict=True):
        np.testing.assert_allclose(one, expected, rtol=1e-6, atol=1e-6)
    whole = np.concatenate(parts)
    mean, invstd = oracle.stats(whole, EPS)
    np.testing.assert_allclose(joined.mean, mean, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(joined.invstd, invstd, rtol=1e-4)
    np.testing.assert_allclose(joined.var, whole.var((0, 2), ddof=1, dtype=np.float64), rtol=1e-4)


@pytest.mark.parametrize("shape", [(3, 2, 40000), (40000, 2, 3), (100, 3, 400)])
def test_a_variance_far_from_zero_keeps_its_digits(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    x = (30000 + rng.normal(0, 0.5, shape)).astype(np.float32)
    x[0, :, 0] = -30000  # the first value, from which distances are taken, lies far from the others
    for values in (x, x[1:] if len(x) > 3 else x[:, :, 1:].copy()):
        found = pymluops.sync_batch_norm_stats(values, 1e-5)
        for one, expected in zip(found, oracle.stats(values, 1e-5), strict=True):
            # A block that begins with such a value may lose up to 2**-14 of its variance.
            np.testing.assert_allclose(one, expected, rtol=1e-6 if values is not x else 8e-6)


def test_equal_values_have_no_variance() -> None:
    for shape in ((5, 3, 40), (70, 5, 1)):
        found = pymluops.sync_batch_norm_stats(np.full(shape, 0.1, np.float32), 1e-5)
        assert (found.mean == np.float32(0.1)).all()
        assert (found.invstd == np.float32(1 / np.sqrt(1e-5))).all()


def test_a_single_value_has_no_unbiased_variance() -> None:
    one = np.ones((1, 2), np.float32)
    found = pymluops.sync_batch_norm_gather_stats_with_counts(one * 3, one, one[0, :1], 1.0)
    assert found.mean.tolist() == [3, 3]
    assert found.invstd.tolist() == [1, 1]
    assert np.isnan(found.var).all()
    # Some devices without values count for nothing.
    means, counts = np.array([[3, 3], [9, 9]], np.float32), np.array([2, 0], np.float32)
    found = pymluops.sync_batch_norm_gather_stats_with_counts(means, one.repeat(2, 0), counts, 1.0)
    assert found.mean.tolist() == [3, 3]
    assert found.var.tolist() == [0, 0]


@pytest.mark.parametrize("shape", [(2, 4, 37), (40, 4, 2), (3, 4, 16)])
def test_values_that_are_not_finite_stay_in_their_channel(shape: tuple[int, ...]) -> None:
    t = make(shape, "float32", 3)
    clean = every_step(t)
    for place in ((0, 1, 0), (shape[0] - 1, 1, shape[2] - 1)):
        for value in (np.nan, np.inf):
            x = t["x"].copy()
            x[place] = value
            for number, (one, expected) in enumerate(zip(every_step({**t, "x": x}), clean, strict=True)):
                others = [0, 2, 3]
                kept = one[:, others] if one.ndim == 3 else one[others]
                assert_same_bits(kept, expected[:, others] if one.ndim == 3 else expected[others])
                if one.ndim == 3:  # all values but one
                    assert np.isfinite(one[:, 1]).sum() == one[:, 1].size - 1
                elif number not in (4, 5):  # sums of the gradient alone
                    assert not np.isfinite(one[1])
    stats = pymluops.sync_batch_norm_stats(np.array([[[np.inf, 1]], [[2, 3]]], np.float32))
    assert stats.mean[0] == np.inf
    assert np.isnan(stats.invstd[0])


@examples(20)
@given(shape=SHAPES, seed=st.integers(0, 2**32 - 1))
def test_any_bits_do_no_harm(shape: tuple[int, ...], seed: int) -> None:
    rng = np.random.default_rng(seed)
    t = {name: any_bits(rng, array.shape, array.dtype) for name, array in make(shape, "float32", seed).items()}
    for one, other in zip(every_step(t), every_step(t), strict=True):
        assert_same_bits(one, other)


def test_counts_may_have_any_bits() -> None:
    t = make((2, 3, 4), "float32", 1)
    arrays = t["dy"], t["x"], t["mean"], t["invstd"], None, t["mean_dy"], t["mean_dy_xmu"]
    for counts in ([2**31 - 1] * 3, [-(2**31)] * 3, [0], [1, -1]):
        count = np.array(counts, np.int32)
        expected = oracle.backward_elemt_v2(*arrays, count)
        np.testing.assert_allclose(pymluops.sync_batch_norm_backward_elemt_v2(*arrays, count), expected, rtol=1e-4)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("shape", [(9, 70, 49), (2, 3, 90001), (3000, 9, 1), (200, 600, 5), (1, 2000, 16)])
def test_threads_change_nothing(shape: tuple[int, ...], dtype: str) -> None:
    t = make(shape, dtype, 2)
    before, results = pymluops.get_num_threads(), []
    try:
        for threads in (1, 2, 5):
            pymluops.set_num_threads(threads)
            results.append(every_step(t))
    finally:
        pymluops.set_num_threads(before)
    for one in results[1:]:
        for array, first in zip(one, results[0], strict=True):
            assert_same_bits(array, first)
    for found, expected in zip(results[0], oracle.stats(t["x"], EPS), strict=False):
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
