"""Fourier transforms by their definition, in complex128, and what mluOpExecFFT makes of strides and lengths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pymluops.oracle.refusals import Refusals
from pymluops.oracle.ways import Way

#: C functions without a description: tests/ops has their refusals and values. (mluOpExecFFT takes
#: no tensor descriptors.)
SUMS = ("fft_forward", "fft_inverse", "fft_real_forward", "fft_real_inverse")

#: Lengths, and those of half spectra, in random calls.
SIZES = {"N": (2, 3, 4, 5, 6, 7), "frequencies": (2, 3, 4)}


def waves(n: int, sign: int, rows: int | None = None) -> np.ndarray:
    """exp(sign 2 pi i j k / n) for the first `rows` k and all j."""
    numbers = np.arange(n)
    circle = np.exp(sign * 2j * np.pi * numbers / n)
    return circle[np.outer(numbers[:rows], numbers) % n]


def fitted(values: np.ndarray, axis: int, n: int) -> np.ndarray:
    """The first n values along a dim, zeros appended."""
    values = np.take(values, range(min(n, values.shape[axis])), axis)
    missing = [(0, n - values.shape[axis] if dim == axis % values.ndim else 0) for dim in range(values.ndim)]
    return np.pad(values, missing)


def along(values: np.ndarray, axis: int, matrix: np.ndarray) -> np.ndarray:
    """Multiply every signal along a dim by a matrix."""
    with np.errstate(all="ignore"):
        return np.moveaxis(np.moveaxis(values, axis, -1) @ matrix.T, -1, axis)


def complex_to_complex(values: np.ndarray, axis: int, n: int, sign: int) -> np.ndarray:
    return along(fitted(values.astype(np.complex128), axis, n), axis, waves(n, sign))


def real_to_complex(values: np.ndarray, axis: int, n: int) -> np.ndarray:
    return along(fitted(values.astype(np.complex128), axis, n), axis, waves(n, -1, n // 2 + 1))


def weights(n: int, weight: float) -> np.ndarray:
    """Of the frequencies of half a spectrum: those that stand for two have `weight`."""
    alone = (np.arange(n // 2 + 1) * 2 % n) == 0
    return np.where(alone, 1.0, weight)


def complex_to_real(values: np.ndarray, axis: int, n: int, weight: float = 2.0) -> np.ndarray:
    matrix = waves(n, 1, n // 2 + 1).T * weights(n, weight)
    return along(fitted(values.astype(np.complex128), axis, n // 2 + 1), axis, matrix).real


def transform(
    values: np.ndarray, n: Sequence[int], kind: str, direction: int = 0, scale: float = 1.0, batched: bool = True
) -> np.ndarray:
    """What mluOpExecFFT gives; `kind` is c2c, r2c or c2r, and the batch comes first."""
    first = 1 if batched else 0
    sign = 1 if direction else -1
    last = first + len(n) - 1
    if kind == "c2r":
        for i in range(len(n) - 1):
            values = complex_to_complex(values, first + i, n[i], 1)
        return complex_to_real(values, last, n[-1]) * scale
    if kind == "r2c":
        values, sign = real_to_complex(values, last, n[-1]), -1
    else:
        values = complex_to_complex(values, last, n[-1], sign)
    for i in range(len(n) - 1):
        values = complex_to_complex(values, first + i, n[i], sign)
    return values * scale


# ---- Functions along the middle dim --------------------------------------------------------------


def as_complex(pairs: np.ndarray) -> np.ndarray:
    values = pairs.astype(np.float64)
    return values[..., 0] + 1j * values[..., 1]


def as_pairs(values: np.ndarray) -> np.ndarray:
    return np.stack((values.real, values.imag), -1)


def fft_forward(pairs: np.ndarray, scale: float) -> np.ndarray:
    return as_pairs(complex_to_complex(as_complex(pairs), 1, pairs.shape[1], -1) * scale)


def fft_inverse(pairs: np.ndarray, scale: float) -> np.ndarray:
    return as_pairs(complex_to_complex(as_complex(pairs), 1, pairs.shape[1], 1) * scale)


def fft_real_forward(values: np.ndarray, frequencies: int, weight: float, scale: float) -> np.ndarray:
    n = values.shape[1]
    assert frequencies == n // 2 + 1
    found = real_to_complex(values, 1, n) * weights(n, weight)[:, None] * scale
    return as_pairs(found)


def fft_real_inverse(pairs: np.ndarray, n: int, weight: float, scale: float) -> np.ndarray:
    return complex_to_real(as_complex(pairs), 1, n, weight) * scale


def in_double(name: str, *given: Any) -> Any:
    """The results of an operator for float64 arrays and the scalars of the description."""
    return globals()[name](*given)


def ways(size: int) -> Iterator[Way]:
    """Signals in the lanes of vectors, long ones alone, and lengths with large primes."""
    for name in SUMS:
        real = name.startswith("fft_real")
        for way, sizes in {
            "many": {"A": size + 3, "N": 30, "C": 1},
            "side by side": {"A": 2, "N": 12, "C": size + 9},
            "odd": {"A": 9, "N": 45, "C": 1},
            "long": {"A": 1, "N": 64 * (size + 1), "C": 1},
            "prime": {"A": 1, "N": 67, "C": 1},
            "many primes": {"A": 17, "N": 71, "C": 1},
        }.items():
            given = {**sizes, **({"frequencies": sizes["N"] // 2 + 1} if real else {})}
            yield Way(name, way, given)


REFUSALS = {f"mluopsExtFft{way}": Refusals() for way in ("Forward", "Inverse", "RealForward", "RealInverse")}
