"""Functions of each element: absolute value, square root and its gradient, logarithm, quotient, log of gamma."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pymluops import _arguments
from pymluops._core import Operator
from pymluops._hints import hint
from pymluops.enums import DataType
from pymluops.ops._schema import FLOATS, Scalar, Tensor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["abs", "div", "lgamma", "log", "sqrt", "sqrt_backward"]

_FLOAT32, _FLOAT16 = np.dtype(np.float32), np.dtype(np.float16)
_PREFER = Scalar("prefer", choices={"fast": 0, "high_precision": 1})
#: Logarithms by their bases, as numbers of mluOpLogBase_t.
BASES = {"e": 0, "2": 1, "10": 2}


def _input(name: str, dtype: Any = FLOATS, *, parameter: str = "", stretched: bool = False) -> Tensor:
    return Tensor(name, dtype, "N", any_size=True, any_dims=True, parameter=parameter, stretched=stretched)


def _output(parameter: str, dtype: Any) -> Tensor:
    return Tensor("out", dtype, "N", output=True, any_size=True, any_dims=True, parameter=parameter)


def _of_type(function: str, name: str, kind: DataType, result: DataType, *scalars: Scalar) -> Operator:
    return Operator(function, name, (_input("x", (kind,)), _output("y", (result,))), scalars)


_ABS = Operator("mluOpAbs", "abs", (_input("x"), _output("y", "x")))
#: By the type of the values, where these are no floats.
_OTHER_ABS = {
    "int32": _of_type("mluOpAbs", "abs", DataType.INT32, DataType.INT32),
    "complex64": _of_type("mluOpAbs", "abs", DataType.COMPLEX_FLOAT, DataType.FLOAT),
}
_SQRT = Operator("mluOpSqrt", "sqrt", (_input("x"), _output("y", "x")), (_PREFER,))
_OTHER_SQRT = {"int32": _of_type("mluOpSqrt", "sqrt", DataType.INT32, DataType.FLOAT, _PREFER)}
_SQRT_BACKWARD = Operator(
    "mluOpSqrtBackward",
    "sqrt_backward",
    (_input("y"), _input("diff_y", "y", parameter="dy"), _output("dx", "y")),
)
# The function takes 2 and 10 for the bases of these names, not for numbers of mluOpLogBase_t.
_LOG = Operator(
    "mluOpLog",
    "log",
    (_input("x"), _output("y", "x")),
    (_PREFER, Scalar("base", choices=BASES)),
)
_DIV = Operator("mluOpDiv", "div", (_input("x"), _input("y", "x", stretched=True), _output("z", "x")), (_PREFER,))
_LGAMMA = Operator("mluOpLgamma", "lgamma", (_input("x"), _output("y", "x")))
#: Types of NumPy that are no floats of these operators; some take some of them.
_OTHER_TYPES = {
    "float64", "complex64", "complex128", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "bool",
}  # fmt: skip


def _for_type(operator: Operator, others: Mapping[str, Operator], x: Any) -> Operator:
    """Return the operator for the type of `x`, or refuse another type of NumPy or torch by all that are known."""
    dtype = getattr(x, "dtype", None)
    if dtype is _FLOAT32 or dtype is _FLOAT16:  # the name of a type takes longer than a small call
        return operator
    name = str(dtype).rpartition(".")[2]
    if name in _OTHER_TYPES and name not in others:
        known = ["float32", "float16", *others]
        text = f"dtype {', '.join(known[:-1])} or {known[-1]}"
        raise _arguments.refusal(operator, "x", text, name + hint(x, "x", "dtype", known))
    return others.get(name, operator)


def abs(x: Array, *, out: Any = None, handle: Handle | None = None) -> Any:
    """Take the absolute value of each element.

    -2**31 as int32 stays what it is. The size of a complex number does not overflow on the way.

    Parameters
    ----------
    x : array, any shape, float32, float16, int32 or complex64
        Values.
    out : array or DeviceArray, optional
        Where to write, like `x`, or `x` itself; float32 for complex64.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array. NaN has no sign; an infinite part of a complex number gives infinity.

    Raises
    ------
    BadParamError
        If an argument is not as described.

    References
    ----------
    IEEE 754, abs; ISO C, hypot.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> pymluops.abs(np.array([[-1.5, 2], [0, -3]], np.float32)).tolist()
    [[1.5, 2.0], [0.0, 3.0]]
    >>> pymluops.abs(np.array([3 - 4j], np.complex64)).tolist()
    [5.0]
    """
    return _for_type(_ABS, _OTHER_ABS, x)(handle, (x, out))


def sqrt(x: Array, prefer: str = "fast", *, out: Any = None, handle: Handle | None = None) -> Any:
    """Take the square root of each element, rounded to nearest.

    Parameters
    ----------
    x : array, any shape, float32, float16 or int32
        Values; negative values give NaN.
    prefer : {"fast", "high_precision"}
        Without effect on our libraries.
    out : array or DeviceArray, optional
        Where to write, like `x`, or `x` itself; float32 for int32.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array. float16 is computed in float32 and rounded once.

    Raises
    ------
    BadParamError
        If an argument is not as described.

    References
    ----------
    IEEE 754, squareRoot.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> pymluops.sqrt(np.array([4, 2.25], np.float32)).tolist()
    [2.0, 1.5]
    """
    return _for_type(_SQRT, _OTHER_SQRT, x)(handle, (x, out), (prefer,))


def sqrt_backward(y: Array, diff_y: Array, *, out: Any = None, handle: Handle | None = None) -> Any:
    """Find the gradient of a square root from its result: ``(0.5 * diff_y) * (1 / y)``.

    Parameters
    ----------
    y : array, any shape, float32 or float16
        Square roots.
    diff_y : array, like `y`
        Gradient with respect to them.
    out : array or DeviceArray, optional
        Where to write, like `y`, or an input itself.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array like `y`; NaN where both are 0. float16 is computed in float32 and
        rounded once.

    Raises
    ------
    BadParamError
        If an argument is not as described.

    References
    ----------
    The derivative of the square root.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> y, diff_y = np.array([2, 4], np.float32), np.array([1, -8], np.float32)
    >>> pymluops.sqrt_backward(y, diff_y).tolist()
    [0.25, -1.0]
    """
    return _SQRT_BACKWARD(handle, (y, diff_y, out))


def log(x: Array, base: str | int = "e", prefer: str = "fast", *, out: Any = None, handle: Handle | None = None) -> Any:
    """Take the logarithm of each element.

    The error of the natural logarithm is below 0.9 units in the last place of float32. The others
    are computed in double, so that the error is that of rounding to float32, and those of powers of
    the bases 2 and 10 are exact. 0 gives minus infinity, and negative numbers give NaN.

    Parameters
    ----------
    x : array, any shape, float32 or float16
        Values.
    base : {"e", "2", "10", 2, 10}
        The base.
    prefer : {"fast", "high_precision"}
        Without effect on our libraries.
    out : array or DeviceArray, optional
        Where to write, like `x`, or `x` itself.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array like `x`. float16 is computed in float32 and rounded once.

    Raises
    ------
    BadParamError
        If an argument is not as described.

    References
    ----------
    fdlibm, e_log.c: the reduction of the argument.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> pymluops.log(np.array([8, 1, 0.5], np.float32), 2).tolist()
    [3.0, 0.0, -1.0]
    """
    known = isinstance(base, str) or (hasattr(type(base), "__index__") and not isinstance(base, bool))
    if not known or str(base) not in BASES:
        raise _arguments.refusal(_LOG, "base", "'e', 2 or 10", _arguments.shown(base), wrong_type=not known)
    return _LOG(handle, (x, out), (prefer, str(base)))


def div(x: Array, y: Array, prefer: str = "fast", *, out: Any = None, handle: Handle | None = None) -> Any:
    """Divide each element by another one.

    A divisor of 0 gives infinity, or NaN for 0.

    Parameters
    ----------
    x : array, any shape, float32 or float16
        Dividends.
    y : array, like `x`
        Divisors. Dims of 1, and those that are missing in front, are stretched to those of the
        other array.
    prefer : {"fast", "high_precision"}
        Without effect on our libraries.
    out : array or DeviceArray, optional
        Where to write, like `x`, in the common shape; an input of that shape itself is allowed.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array. Quotients are rounded to nearest; float16 is divided in float32.

    Raises
    ------
    BadParamError
        If an argument is not as described.

    References
    ----------
    IEEE 754, division.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> x, y = np.array([[1, 2], [3, 4]], np.float32), np.array([2, 4], np.float32)
    >>> pymluops.div(x, y).tolist()
    [[0.5, 0.5], [1.5, 1.0]]
    """
    return _DIV(handle, (x, y, out), (prefer,))


def lgamma(x: Array, *, out: Any = None, handle: Handle | None = None) -> Any:
    """Take the logarithm of the absolute value of the gamma function of each element.

    For float32 it is computed in double: by Stirling's series from 8 on, below by a polynomial
    between 1 and 2 that has the zeros as factors, and by reflection for negative values. The error
    is that of rounding to float32. 0, negative integers and infinities give infinity.

    Parameters
    ----------
    x : array, any shape, float32 or float16
        Values.
    out : array or DeviceArray, optional
        Where to write, like `x`, or `x` itself.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array like `x`. float16 is computed in float32 and rounded once.

    Raises
    ------
    BadParamError
        If an argument is not as described.

    References
    ----------
    Abramowitz, Stegun: Handbook of Mathematical Functions, 6.1.15, 6.1.17, 6.1.41.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> pymluops.lgamma(np.array([0, 1, 2, 4], np.float32))
    array([      inf, 0.       , 0.       , 1.7917595], dtype=float32)
    """
    return _LGAMMA(handle, (x, out))
