"""pointwise: functions of each element, in float64."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from pymluops.oracle.ways import Way

#: Tensors of any shape and with strides, and results in place: no description has such arguments.
TESTED_APART = ("mluOpAbs", "mluOpSqrt", "mluOpSqrtBackward", "mluOpLog", "mluOpDiv", "mluOpLgamma")
#: Values that a device may round in its own way.
SUMS = ("sqrt_backward", "log", "lgamma")

_OPERATORS = ("abs", "sqrt", "sqrt_backward", "log", "div", "lgamma")


def absolute(x: np.ndarray) -> np.ndarray:
    """The absolute value; of complex numbers their size, of the least int32 that itself."""
    with np.errstate(all="ignore"):
        return np.hypot(x.real, x.imag) if x.dtype.kind == "c" else np.abs(x)


def sqrt_backward(y: np.ndarray, dy: np.ndarray) -> np.ndarray:
    """Half the gradient, times the reciprocal of the root."""
    with np.errstate(all="ignore"):
        return (0.5 * dy) * (1 / y)


def logarithm(x: np.ndarray, base: int) -> np.ndarray:
    """To the base e, 2 or 10, by the numbers 0, 1 and 2."""
    with np.errstate(all="ignore"):
        return (np.log, np.log2, np.log10)[base](x)


def _lgamma(value: float) -> float:
    if math.isnan(value):
        return value
    if math.isinf(value) or (value <= 0 and value == math.floor(value)):
        return math.inf
    return math.lgamma(value)


def lgamma(x: np.ndarray) -> np.ndarray:
    """The logarithm of the size of the gamma function; infinity at its poles."""
    return np.array([_lgamma(float(value)) for value in x.reshape(-1)], np.float64).reshape(x.shape)


def in_double(name: str, *given: Any) -> Any:
    """The results for float64 arrays and the scalars of the description."""
    with np.errstate(all="ignore"):
        if name == "abs":
            return absolute(given[0])
        if name == "sqrt":
            return np.sqrt(given[0])
        if name == "sqrt_backward":
            return sqrt_backward(*given)
        if name == "log":
            return logarithm(given[0], given[2])
        return given[0] / given[1] if name == "div" else lgamma(given[0])


def ways(size: int) -> Iterator[Way]:
    """Many elements. The programs that read them tell the data by the name of the descriptor."""
    for name in sorted({*_OPERATORS} - {"sqrt_backward"}):
        yield Way(name, "many", {"N": 1000 * size + 7})
