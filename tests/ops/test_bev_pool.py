"""bev_pool forward and backward."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import bev_pool as oracle
from support.arrays import canary
from support.comparison import assert_same_bits
from support.selection import examples

#: Intervals beyond the rows and cells beyond the grid do not count then; `test_counts_of_rows.py`
#: sees them refused.
_forward = partial(pymluops.bev_pool_forward, validate=False)
_backward = partial(pymluops.bev_pool_backward, validate=False)

SHAPES = st.fixed_dictionaries(
    {
        "grid": st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 5), st.integers(1, 5)),
        "rows": st.integers(1, 60),
        "channels": st.integers(1, 40),
        "intervals": st.integers(1, 30),
        "seed": st.integers(0, 2**32 - 1),
    }
)


def _places(s: dict[str, Any], rng: np.random.Generator) -> list[np.ndarray]:
    """Geometry, lengths and starts, of which some do not count."""
    batches, depth, height, width = s["grid"]
    columns = [rng.integers(-1, size + 1, s["rows"]) for size in (height, width, depth, batches)]
    lengths, starts = rng.integers(-1, 6, s["intervals"]), rng.integers(-1, s["rows"] + 1, s["intervals"])
    return [array.astype(np.int32) for array in (np.stack(columns, 1), lengths, starts)]


@examples(150)
@given(s=SHAPES)
def test_sums_have_the_bits_of_additions_in_order(s: dict[str, Any]) -> None:
    rng = np.random.default_rng(s["seed"])
    features, places = rng.normal(size=(s["rows"], s["channels"])).astype(np.float32), _places(s, rng)
    found = _forward(features, *places, s["grid"])
    assert_same_bits(found, oracle.forward(features, *places, s["grid"]))
    grad = rng.normal(size=found.shape).astype(np.float32)
    assert_same_bits(_backward(grad, *places), oracle.backward(grad, *places))


@examples(40)
@given(s=SHAPES)
def test_the_directions_are_adjoint(s: dict[str, Any]) -> None:
    rng = np.random.default_rng(s["seed"])
    features, places = rng.integers(-9, 9, (s["rows"], s["channels"])).astype(np.float32), _places(s, rng)
    pooled = _forward(features, *places, s["grid"])
    grad = rng.integers(-9, 9, pooled.shape).astype(np.float32)
    spread = _backward(grad, *places)
    assert (pooled * grad).sum(dtype=np.float64) == (features * spread).sum(dtype=np.float64)


@pytest.mark.parametrize("channels", [16, 71, 600])
def test_gradients_beyond_the_caches(channels: int) -> None:
    rng = np.random.default_rng(channels)
    rows = 36 * 2**20 // (4 * channels)
    starts = np.flatnonzero(rng.random(rows) < 0.3).astype(np.int32)
    lengths = np.diff(starts, append=rows).astype(np.int32)
    lengths[rng.random(len(lengths)) < 0.1] -= 1  # gaps, and intervals of none
    geometry = np.zeros((rows, 4), np.int32)
    geometry[:, 1] = rng.integers(-1, 50, rows)
    grad = rng.normal(size=(1, 1, 1, 50, channels)).astype(np.float32)
    grad[0, 0, 0, :, 0] = -0.0
    expected = np.zeros((rows, channels), np.float32)
    for start, length in zip(starts, lengths, strict=True):
        if geometry[start, 1] >= 0:
            expected[start : start + length] = grad[0, 0, 0, geometry[start, 1]] + np.float32(0)
    assert_same_bits(_backward(grad, geometry, lengths, starts), expected)


def test_extreme_values_and_numbers() -> None:
    features = np.array([[np.nan, -0.0], [np.inf, -0.0], [-np.inf, 1.0]], np.float32)
    geometry = np.array([[0, 0, 0, 0], [0, 1, 0, 0], [2**31 - 1, -(2**31), 0, 0]], np.int32)
    huge, least = 2**31 - 1, -(2**31)
    lengths = np.array([1, 1, 1, huge, least, 3, 0], np.int32)
    starts = np.array([0, 1, 2, huge, least, 1, 0], np.int32)
    out = canary((1, 1, 1, 2, 2), np.float32)
    found = _forward(features, geometry, lengths, starts, (1, 1, 1, 2), out=out)
    assert found is out
    assert_same_bits(found.reshape(2, 2), np.array([[np.nan, 0.0], [np.inf, 0.0]], np.float32))
    grad = _backward(found, geometry, lengths, starts)
    assert not grad[2].any()


def test_larger_sizes() -> None:
    """Bands of several threads, cells of several intervals, and many channels."""
    rng = np.random.default_rng(0)
    for rows, channels, grid, count in ((20_000, 16, (2, 1, 40, 50), 4000), (30, 40_000, (1, 1, 2, 3), 12)):
        s = {"grid": grid, "rows": rows, "intervals": count}
        features, places = rng.normal(size=(rows, channels)).astype(np.float32), _places(s, rng)
        found = _forward(features, *places, grid)
        assert_same_bits(found, oracle.forward(features, *places, grid))
        assert_same_bits(_backward(found, *places), oracle.backward(found, *places))


@pytest.mark.parametrize("last", ["ascending", "not ascending"])
def test_intervals_that_follow_each_other(last: str) -> None:
    """As in a model, with rows between them, a cell beyond the grid, and negative zeros."""
    rng = np.random.default_rng(2)
    lengths = rng.integers(1, 9, 1500).astype(np.int32)
    starts = (np.cumsum(lengths + 2) - lengths).astype(np.int32)
    geometry = np.stack([rng.integers(-1, 20, 20_000), *np.zeros((3, 20_000), int)], 1).astype(np.int32)
    if last != "ascending":
        starts[-1] = starts[700] + 1
    grad = rng.normal(size=(1, 1, 20, 1, 24)).astype(np.float32)
    grad[:, :, ::3] = -0.0
    found = _backward(grad, geometry, lengths, starts)
    assert_same_bits(found, oracle.backward(grad, geometry, lengths, starts))
    features = rng.normal(size=(20_000, 24)).astype(np.float32)
    pooled = _forward(features, geometry, lengths, starts, (1, 1, 20, 1))
    assert_same_bits(pooled, oracle.forward(features, geometry, lengths, starts, (1, 1, 20, 1)))


def test_the_same_bits_with_any_number_of_threads() -> None:
    rng = np.random.default_rng(1)
    s = {"grid": (1, 2, 30, 20), "rows": 9000, "intervals": 3000}
    features, places = rng.normal(size=(9000, 9)).astype(np.float32), _places(s, rng)
    before, found = pymluops.get_num_threads(), []
    try:
        for threads in (1, 2, 5):
            pymluops.set_num_threads(threads)
            pooled = _forward(features, *places, s["grid"])
            found.append((pooled, _backward(pooled, *places)))
    finally:
        pymluops.set_num_threads(before)
    for pair in found[1:]:
        for one, other in zip(found[0], pair, strict=True):
            assert_same_bits(one, other)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"features": np.zeros((2, 3), np.int32)}, "features"),
        ({"features": np.zeros((3, 3), np.float32)}, "geometry"),
        ({"geometry": np.zeros((2, 3), np.int32)}, "geometry"),
        ({"geometry": np.zeros((2, 4), np.int64)}, "geometry"),
        ({"interval_lengths": np.zeros((0,), np.int32)}, "interval_lengths"),
        ({"interval_starts": np.zeros(2, np.int32)}, "interval_starts"),
        ({"grid_size": (1, 1, 1)}, "grid_size"),
        ({"grid_size": (1, 1, 0, 1)}, "grid_size"),
    ],
)
def test_refusals(change: dict[str, Any], told: str) -> None:
    good = {
        "features": np.zeros((2, 3), np.float32),
        "geometry": np.zeros((2, 4), np.int32),
        "interval_lengths": np.ones(1, np.int32),
        "interval_starts": np.zeros(1, np.int32),
        "grid_size": (1, 1, 1, 1),
    }
    _forward(**good)
    with pytest.raises(ValueError, match=f"^bev_pool_forward: {told}: expected"):
        _forward(**(good | change))
