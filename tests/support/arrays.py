"""Arrays to call operators with: canaries, which no call may have touched, and floats of random bits."""

from __future__ import annotations

from typing import Any

import numpy as np

#: What an output holds before a call that must not write it.
CANARY = 0xA5


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
