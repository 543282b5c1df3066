"""The comparisons accept what rounding explains and refuse what it does not."""

from __future__ import annotations

import numpy as np
import pytest

from pymluops.demo import checks
from pymluops.demo.reference import Borders, Sum

VALUES = np.array([[1.0, -2.5], [3.25, 0.0]], np.float32)


def one_sum(terms: int = 4) -> Sum:
    value = VALUES.astype(np.float64)
    return Sum(value, np.abs(value), np.full(value.shape, terms))


def test_exact() -> None:
    check = checks.check_exact(VALUES.copy(), VALUES)
    assert check.ok
    assert check.text() == "exact"
    assert checks.check_exact(np.array([np.nan]), np.array([np.nan])).ok


@pytest.mark.parametrize(
    ("actual", "problem"),
    [
        (VALUES + np.float32([[0, 0], [0, 1]]), "1 of 4 elements differs"),
        (VALUES * np.float32(-1) * np.float32(-1) - np.float32([[0, 0], [1, 0]]), "1 of 4 elements differs"),
        (np.where(VALUES == 0, np.float32(-0.0), VALUES), "1 of 4 elements differs"),
        (VALUES.astype(np.float64), "got [2, 2] float64, expected [2, 2] float32"),
        (VALUES.reshape(4), "got [4] float32, expected [2, 2] float32"),
    ],
)
def test_not_exact(actual: np.ndarray, problem: str) -> None:
    check = checks.check_exact(actual, VALUES)
    assert not check.ok
    assert check.text() == f"FAILED: {problem}"


def test_the_array_of_a_result_is_named() -> None:
    good, bad = np.array([1, 2]), np.array([1, 3])
    check = checks.check_all_exact((good, bad), (good, good), ("first", "second"))
    assert check.text() == "FAILED: second: 1 of 2 elements differs"


def test_sums() -> None:
    assert checks.check_sum(VALUES, one_sum()).exact
    near = VALUES.copy()
    near[1, 0] = np.nextafter(near[1, 0], np.float32(4))
    check = checks.check_sum(near, one_sum())
    assert check.ok
    assert not check.exact
    assert 0 < check.error <= check.allowed < 1e-5
    assert check.text() == f"error {check.error:.1e} <= {check.allowed:.1e}"

    wrong = VALUES + np.float32(1e-3)
    check = checks.check_sum(wrong, one_sum())
    assert not check.ok
    assert "FAILED: >" in check.text()
    assert not checks.check_sum(np.where(VALUES == 0, np.nan, VALUES), one_sum()).ok
    assert "got [4] float32" in checks.check_sum(VALUES.reshape(4), one_sum()).text()


def test_a_device_may_add_in_half() -> None:
    expected = one_sum()
    off = (VALUES + 2.0**-11 * expected.magnitude).astype(np.float16)
    assert checks.check_atomic_sum(off, expected).ok
    assert not checks.check_atomic_sum((VALUES + expected.magnitude).astype(np.float16), expected).ok


def test_a_sum_of_nothing_has_to_be_zero() -> None:
    empty = Sum(np.zeros(3), np.zeros(3), np.zeros(3, int))
    assert checks.check_sum(np.zeros(3, np.float32), empty).exact
    assert not checks.check_sum(np.full(3, 1e-30, np.float32), empty).ok


def test_products_below_the_normal_numbers_are_rounded_to_the_smallest_one() -> None:
    tiny = float(np.finfo(np.float32).smallest_subnormal)
    value = np.array([3.4 * tiny])
    assert checks.check_sum(np.array([5 * tiny], np.float32), Sum(value, value, np.array([3]))).ok
    assert not checks.check_sum(np.array([9 * tiny], np.float32), Sum(value, value, np.array([3]))).ok


def test_half_sums_may_be_rounded_once() -> None:
    value = np.array([1 + 2**-11 + 2**-30])
    expected = Sum(value, value, np.array([3]))
    assert checks.check_sum(np.array([1.0], np.float16), expected).ok
    assert not checks.check_sum(np.array([1 - 2**-10], np.float16), expected).ok


def test_borders() -> None:
    argmax = np.array([[0, 1], [2, 3]], np.int32)
    expected = Borders(VALUES, argmax)
    assert checks.check_borders((VALUES, argmax), expected).exact
    near = np.nextafter(VALUES, np.float32(9))
    near[1, 1] = 0
    assert checks.check_borders((near, argmax), expected).ok
    assert not checks.check_borders((near, argmax), expected).exact
    assert not checks.check_borders((VALUES + np.float32(1e-3), argmax), expected).ok
    assert "argmax_idx: 4 of 4" in checks.check_borders((VALUES, argmax + np.int32(1)), expected).text()
    assert "output: got" in checks.check_borders((VALUES.astype(np.float16), argmax), expected).text()
