"""The random numbers of test cases: those of GNU libstdc++, bit for bit.

The generator is ``x <- 16807 * x mod (2**31 - 1)``. A block of numbers is made at once: the number
k steps ahead is ``16807**k * x``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, cast

import cffi
import numpy as np

__all__ = ["DEFAULT_SEED", "gaussian", "uniform"]

#: The seed of a case that states none.
DEFAULT_SEED = 23
_MODULUS, _FACTOR = 2147483647, 16807
_RANGE = _MODULUS - 1
_BLOCK = 1 << 16


def _powers(count: int) -> np.ndarray:
    """Return factor**1 to factor**count modulo the modulus."""
    powers = np.array([_FACTOR], np.uint64)
    while len(powers) < count:
        powers = np.concatenate([powers, powers * powers[-1] % np.uint64(_MODULUS)])
    return powers[:count]


_POWERS = _powers(_BLOCK)


class _Engine:
    """The generator."""

    def __init__(self, seed: int) -> None:
        self.state = seed % (1 << 64) % _MODULUS or 1  # a negative seed becomes an unsigned one first

    def draw(self, count: int) -> np.ndarray:
        """Return the next numbers, from 1 to 2**31 - 2; at most a block of them."""
        block: np.ndarray = _POWERS[:count] * np.uint64(self.state) % np.uint64(_MODULUS)
        self.state = int(block[-1])
        return block

    def reals(self, count: int, real: Any) -> np.ndarray:
        """Return numbers in [0, 1): one draw each in float32, two in float64."""
        found = np.empty(count, real)
        draws = 1 if real is np.float32 else 2
        for first in range(0, count, _BLOCK // draws):
            part = found[first : first + _BLOCK // draws]
            numbers = self.draw(draws * len(part)) - np.uint64(1)
            if draws == 1:
                part[:] = numbers.astype(np.float32) / np.float32(2147483648.0)
            else:
                low, high = numbers.astype(np.float64).reshape(-1, 2).T
                part[:] = (low + high * float(_RANGE)) / (float(_RANGE) * float(_RANGE))
        return np.asarray(np.minimum(found, np.nextafter(real(1), real(0)), out=found))


@cache
def _logf() -> Callable[[float], float]:
    """Return the logarithm of the C library for float."""
    ffi = cffi.FFI()
    ffi.cdef("float logf(float);")
    library: Any = ffi.dlopen("libm.so.6")
    return cast("Callable[[float], float]", library.logf)


def _logarithm(values: np.ndarray) -> np.ndarray:
    """Return logarithms as C++ has them; those of NumPy may differ in the last bit."""
    function = _logf() if values.dtype == np.float32 else math.log
    return np.fromiter(map(function, values.tolist()), values.dtype, len(values))


def uniform(seed: int, lower: float, upper: float, count: int, real: Any = np.float32) -> np.ndarray:
    """Return numbers of a uniform distribution.

    Parameters
    ----------
    seed : int
        Of the generator.
    lower, upper : float
        Bounds; `upper` is never produced. Equal ones give a constant; a span may be negative.
    count : int
        How many.
    real : type
        ``numpy.float32`` or ``numpy.float64``.

    Returns
    -------
    numpy.ndarray
        Of the type `real`.
    """
    low, high = real(lower), real(upper)
    if low == high:
        return np.full(count, low, real)
    high = np.nextafter(high, real(-np.inf))
    found = _Engine(seed).reals(count, real)
    found *= high - low
    found += low
    return found


def gaussian(seed: int, mu: float, sigma: float, count: int, real: Any = np.float32) -> np.ndarray:
    """Return numbers of a normal distribution, made by the polar method.

    Parameters
    ----------
    seed : int
        Of the generator.
    mu, sigma : float
        Mean and standard deviation.
    count : int
        How many.
    real : type
        ``numpy.float32`` or ``numpy.float64``.

    Returns
    -------
    numpy.ndarray
        Of the type `real`.
    """
    engine, parts, made = _Engine(seed), [np.zeros(0, real)], 0
    while made < count:
        pairs = engine.reals(2 * max(count - made, 16), real).reshape(-1, 2) * real(2) - real(1)
        x, y = pairs[:, 0], pairs[:, 1]
        square = x * x + y * y
        kept = (square <= 1) & (square != 0)
        x, y, square = x[kept], y[kept], square[kept]
        factor = np.sqrt(real(-2) * _logarithm(square) / square)
        found = np.stack([y * factor, x * factor], 1).reshape(-1)
        parts.append(found)
        made += len(found)
    return np.asarray(np.concatenate(parts)[:count] * real(sigma) + real(mu))
