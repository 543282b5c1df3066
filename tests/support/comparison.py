"""Comparisons of arrays, and the error measures."""

from __future__ import annotations

from typing import Any

import numpy as np


def bits(array: np.ndarray) -> np.ndarray:
    """The array as unsigned integers of the same width, so that NaN equals itself and -0 differs from 0."""
    return np.ascontiguousarray(array).view(f"u{array.itemsize}")


def assert_same_bits(got: np.ndarray, expected: np.ndarray) -> None:
    """Same dtype, same shape, same bits."""
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(bits(got), bits(expected))


def assert_same_values(got: np.ndarray, expected: np.ndarray) -> None:
    """Same dtype and shape; same bits, but any NaN equals any: sign and payload of a computed NaN are free."""
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    nan = np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(got), nan)
    np.testing.assert_array_equal(bits(got)[~nan], bits(expected)[~nan])


def diff1(measured: np.ndarray, baseline: np.ndarray) -> float:
    """Sum of absolute errors over the sum of absolute values."""
    m, b = measured.astype(np.float64), baseline.astype(np.float64)
    return float(np.abs(m - b).sum() / (np.abs(b).sum() + 1e-9))


def diff2(measured: np.ndarray, baseline: np.ndarray) -> float:
    """Root of squared errors over squared values."""
    m, b = measured.astype(np.float64), baseline.astype(np.float64)
    return float(np.sqrt(np.square(m - b).sum() / (np.square(b).sum() + 1e-9)))


def tolerance(dtype: Any) -> float:
    """Largest diff1 and diff2 of results that are sums."""
    return 1e-3 if np.dtype(dtype) == np.float16 else 1e-5


def assert_close(got: np.ndarray, baseline: np.ndarray) -> None:
    """diff1 and diff2 of finite results within the tolerance of their dtype."""
    assert got.shape == baseline.shape
    assert np.isfinite(got).all()
    assert np.isfinite(baseline).all()
    errors = diff1(got, baseline), diff2(got, baseline)
    assert max(errors) <= tolerance(got.dtype), errors
