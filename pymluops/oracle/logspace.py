"""logspace: powers of a base with evenly spaced exponents, in float64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

#: One result whose size is that of no input: the description has no sizes to vary.
TESTED_APART = ("mluOpLogspace",)


def in_type(value: float, dtype: Any) -> float:
    """An exponent in the type of the result; cut off and within the range for int32."""
    if np.dtype(dtype) != np.int32:
        with np.errstate(over="ignore"):
            return float(np.dtype(dtype).type(np.float32(value)))
    if math.isnan(value):
        return 0.0
    return float(math.trunc(min(max(value, -(2.0**31)), 2.0**31 - 1)))


def power(base: float, exponent: float) -> float:
    """C's pow, by its table of special values."""
    if exponent == 0 or base == 1:
        return 1.0
    if math.isnan(base) or math.isnan(exponent):
        return math.nan
    if math.isinf(exponent):
        size = abs(base)
        return 1.0 if size == 1 else (math.inf if (size > 1) == (exponent > 0) else 0.0)
    whole = exponent == math.floor(exponent)
    odd = whole and math.fmod(exponent, 2) != 0
    sign = -1.0 if odd and math.copysign(1, base) < 0 else 1.0
    if base == 0 or math.isinf(base):
        return sign * (math.inf if (base == 0) == (exponent < 0) else 0.0)
    if base < 0 and not whole:
        return math.nan
    try:
        return sign * math.pow(abs(base), exponent)
    except OverflowError:
        return sign * math.inf


def rounded(values: np.ndarray, dtype: Any) -> np.ndarray:
    """Float64 to float32, and from there to the type; int32 is cut off, saturates and has 0 for NaN."""
    with np.errstate(all="ignore"):
        single = values.astype(np.float32)
        if np.dtype(dtype) != np.int32:
            return single.astype(dtype)
        whole = np.trunc(single.astype(np.float64))
        return np.nan_to_num(np.clip(whole, -(2**31), 2**31 - 1)).astype(np.int32)


def exponents(start: float, end: float, steps: int, dtype: Any = np.float32) -> list[float]:
    """The first half counted from the start, the second from the end."""
    if steps == 1:
        return [float(start)]
    first, last = in_type(start, dtype), in_type(end, dtype)
    if steps == 0:
        return []
    step = (last - first) / (steps - 1)
    return [
        first + step * i if i < steps // 2 else last - step * (steps - 1 - i)
        for i in range(steps)
    ]  # fmt: skip


def logspace(start: float, end: float, steps: int, base: float = 10.0, dtype: Any = np.float32) -> np.ndarray:
    """All values in the type of the result; numbers are taken as floats first."""
    first, last, of = (float(np.float32(number)) for number in (start, end, base))
    # Bases below 0, 0 and infinity are raised as powf does, with exponents of single precision.
    alone = not (of > 0 and math.isfinite(of) and math.isfinite(first) and math.isfinite(last))
    found = exponents(first, last, steps, dtype)
    if alone:
        found = [float(np.float32(exponent)) for exponent in found]
    return rounded(np.array([power(of, exponent) for exponent in found], np.float64), dtype)
