"""Comparisons of results with a reference."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import pymluops
from pymluops.bang.judging import Tolerance
from pymluops.bang.judging.tolerance import deviation
from pymluops.bang.testing import assert_close

X = np.linspace(-3, 3, 301)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "bfloat16", "complex64"])
def test_what_is_rounded_is_right_and_what_is_not_is_found(dtype: str) -> None:
    element = np.dtype(ml_dtypes.bfloat16) if dtype == "bfloat16" else np.dtype(dtype)
    got = X.astype(element)
    assert deviation(got, X, Tolerance()) is None
    assert deviation(got, got, Tolerance(rtol=0, atol=0)) is None
    got[7] += element.type(0.25)
    found = deviation(got, X, Tolerance())
    assert found is not None
    assert (found.count, found.index) == (1, (7,))
    assert found.largest == pytest.approx(0.25, rel=0.1)
    assert found.reasons == "1 of 301 elements is too far off"


def test_integers_are_exact() -> None:
    got = np.arange(12, dtype=np.int32).reshape(3, 4)
    assert deviation(got, np.arange(12).reshape(3, 4), Tolerance()) is None
    found = deviation(got, got + (got == 6), Tolerance())
    assert found is not None
    assert (found.index, found.got, found.expected, found.largest) == ((1, 2), "6", "7", 1)


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_integers_of_64_bits_are_exact(dtype: str) -> None:
    wanted = np.full(4, 2**60 + 1, dtype)
    assert deviation(wanted.copy(), wanted, Tolerance()) is None
    for tolerance in (Tolerance(), Tolerance(diff1=0), Tolerance(atol=0.5)):
        found = deviation(wanted - np.dtype(dtype).type(1), wanted, tolerance)
        assert found is not None
        assert (found.count, found.largest) == (4, 1)
    with pytest.raises(AssertionError):
        assert_close(wanted - np.dtype(dtype).type(1), wanted, diff1=0)


def test_nan_and_infinities_have_to_be_in_the_same_places() -> None:
    wanted = np.float32([1, np.nan, np.inf, -np.inf, 2])
    assert deviation(wanted.copy(), wanted, Tolerance()) is None
    for i, value in ((0, np.nan), (1, 1), (2, -np.inf), (3, 5), (4, np.inf)):
        got = wanted.copy()
        got[i] = value
        for tolerance in (Tolerance(), Tolerance(atol=1e30), Tolerance(diff1=1e30)):
            found = deviation(got, wanted, tolerance)
            assert found is not None
            assert (found.index, found.count, found.largest) == ((i,), 1, np.inf)


@pytest.mark.parametrize(
    ("tolerance", "is_right"),
    [
        (Tolerance(diff1=1e-2), True), (Tolerance(diff1=1e-4), False), (Tolerance(diff2=1e-2), True),
        (Tolerance(diff2=1e-4), False), (Tolerance(diff3=0.11), True), (Tolerance(diff3=0.05), False),
        (Tolerance(diff3_2=0.11), True), (Tolerance(diff3_2=0.05), False), (Tolerance(atol=0.11), True),
        (Tolerance(atol=0.05), False), (Tolerance(rtol=0.11), True), (Tolerance(rtol=0.05), False),
        (Tolerance(rtol=0.05, atol=0.06), True), (Tolerance(scaled=0.02), True), (Tolerance(scaled=0.01), False),
        (Tolerance(diff1=1e-2, atol=0.05), False), (Tolerance(diff1=1e-4, atol=0.11), False),
    ],
)  # fmt: skip
def test_what_is_given_has_to_hold(tolerance: Tolerance, is_right: bool) -> None:
    wanted = np.ones(100, np.float32)
    wanted[50] = 8
    got = wanted.copy()
    got[33] += np.float32(0.1)
    found = deviation(got, wanted, tolerance)
    assert (found is None) is is_right
    assert found is None or found.index == (33,)


def test_errors_of_one_sign() -> None:
    wanted = np.arange(1000, dtype=np.float32)
    step = np.float32(0.01)
    assert deviation(wanted + step, wanted, Tolerance(diff1=1, diff4=True)) is not None
    signs = np.where(np.arange(1000) % 2, step, -step)
    assert deviation(wanted + signs, wanted, Tolerance(diff1=1, diff4=True)) is None


def test_arrays_without_elements() -> None:
    assert deviation(np.empty((0, 3), np.float32), np.empty((0, 3)), Tolerance()) is None


def test_a_tolerance_is_a_number_from_0() -> None:
    with pytest.raises(pymluops.BadParamError, match="Tolerance: atol: expected a number from 0, got -1"):
        Tolerance(atol=-1)
    with pytest.raises(TypeError, match="Tolerance: rtol: expected a number from 0, got 'small'"):
        Tolerance(rtol="small")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"Tolerance: diff4: expected True or False, got 0\.5"):
        Tolerance(diff4=0.5)  # type: ignore[arg-type]
