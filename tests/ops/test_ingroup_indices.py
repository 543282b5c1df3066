"""ingroup_indices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import ingroup_indices as oracle
from support.comparison import assert_same_bits
from support.selection import examples

_INT32 = st.integers(-(2**31), 2**31 - 1)


@examples(150)
@given(groups=st.one_of(st.lists(st.integers(-3, 9), min_size=1, max_size=200), st.lists(_INT32, min_size=1)))
def test_counts(groups: list[int]) -> None:
    values = np.array(groups, np.int32)
    assert_same_bits(pymluops.ingroup_indices(values), oracle.ingroup_indices(values))


@pytest.mark.parametrize("spread", [1, 7, 40_000_003])
@pytest.mark.parametrize("kinds", [1, 50, 10**9])
def test_larger_sizes(kinds: int, spread: int) -> None:
    rng = np.random.default_rng(2)
    drawn = rng.integers(0, kinds, 200_000) * spread % 2**32 - 2**31
    values = drawn.astype(np.int32)
    assert_same_bits(pymluops.ingroup_indices(values), oracle.ingroup_indices(values))


def test_values_that_a_hash_could_confuse() -> None:
    """Multiples of powers of two, and both ends of the type."""
    steps = [np.arange(5000, dtype=np.int64) * step for step in (1, 2**10, 2**16, 2**18)]
    ends = np.array([2**31 - 1, -(2**31), 0, -1] * 100, np.int64)
    values = np.concatenate([*steps, ends]).astype(np.int32)
    values = np.concatenate([values, values[::-1]])
    assert_same_bits(pymluops.ingroup_indices(values), oracle.ingroup_indices(values))


def test_refusals() -> None:
    for values in (np.zeros(3, np.int64), np.zeros(3, np.float32), np.zeros((3, 1), np.int32), np.zeros(0, np.int32)):
        with pytest.raises(ValueError, match=r"^ingroup_indices: groups: expected"):
            pymluops.ingroup_indices(values)
    values = np.zeros(4, np.int32)
    with pytest.raises(ValueError, match=r"^ingroup_indices: "):
        pymluops.ingroup_indices(values, out=values)
