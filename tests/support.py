"""What the tests share: comparisons, the error measures, canaries, random values and child processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

TESTS = Path(__file__).resolve().parent
#: What an output holds before a call that must not write it.
CANARY = 0xA5


def facts(name: str) -> Any:
    """A file of tests/data."""
    return json.loads((TESTS / "data" / name).read_text(encoding="utf-8"))


# ---- comparisons -----------------------------------------------------------------------------------------------------


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


# ---- values ----------------------------------------------------------------------------------------------------------


def canary(shape: Any, dtype: Any) -> np.ndarray:
    """An array filled with a pattern that no operator writes by chance."""
    array = np.empty(shape, dtype)
    array.reshape(-1).view(np.uint8)[...] = CANARY
    return array


def is_canary(array: np.ndarray) -> bool:
    """Whether no byte of it was written since :func:`canary`."""
    return bool((np.ascontiguousarray(array).reshape(-1).view(np.uint8) == CANARY).all())


def any_bits(rng: np.random.Generator, shape: Any, dtype: Any) -> np.ndarray:
    """Floats of random bit patterns: NaN with payloads, Inf, denormals and -0 among them."""
    dtype = np.dtype(dtype)
    raw = rng.integers(0, 1 << (8 * dtype.itemsize), shape, np.uint64).astype(f"u{dtype.itemsize}")
    values = raw.view(dtype)
    specials = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, np.finfo(dtype).smallest_subnormal], dtype)
    return np.where(rng.random(shape) < 0.3, specials[rng.integers(0, len(specials), shape)], values)


# ---- child processes -------------------------------------------------------------------------------------------------


def run_python(code: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs Python code in a process of its own, in which `support` and `oracle` can be imported too."""
    # -P: the checkout has a folder named like the package, which must not hide the installed one.
    command = [sys.executable, "-P", "-c", code, *arguments]
    env = {**os.environ, "PYTHONPATH": str(TESTS), **environment}
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)


def python_output(code: str, *arguments: str, **environment: str) -> str:
    """Standard output of :func:`run_python`, which must succeed."""
    done = run_python(code, *arguments, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
