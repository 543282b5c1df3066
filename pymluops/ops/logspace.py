"""Powers of a base with evenly spaced exponents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pymluops._core import Operator
from pymluops.enums import DataType
from pymluops.ops._schema import Scalar, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle

__all__ = ["logspace"]

_LOGSPACE = Operator(
    "mluOpLogspace",
    "logspace",
    (
        Tensor(
            "out",
            (DataType.FLOAT, DataType.HALF, DataType.INT32),
            "steps",
            output=True,
            any_size=True,
            parameter="res",
        ),
    ),
    (
        Scalar("start", infinite=True, nan=True),
        Scalar("end", infinite=True, nan=True),
        Scalar("steps", minimum=0),
        Scalar("base", infinite=True, nan=True),
    ),
)


def logspace(
    start: float, end: float, steps: int, base: float = 10.0, *, out: Any = None, handle: Handle | None = None
) -> Any:
    """Raise a base to evenly spaced exponents.

    With ``d = (end - start) / (steps - 1)``, value i of the first half is
    ``base**(start + d * i)``, one of the second half ``base**(end - d * (steps - 1 - i))``. Bases
    above 0 are raised in double, others as powf does. Values are rounded to float32 first; int32
    cuts them off towards 0, within its range, and makes 0 of NaN.

    Parameters
    ----------
    start, end : float
        First and last exponent. float16 and int32 results have exponents of that type, rounded, or
        cut off towards 0; a single value has the exponent as it is.
    steps : int
        Number of values, 0 or more.
    base : float
        The base.
    out : array or DeviceArray, optional
        Where to write, shape [steps], float32, float16 or int32.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new NumPy array of float32.

    Raises
    ------
    BadParamError
        If an argument is not as described.

    References
    ----------
    ISO C, powf, for special values.

    Examples
    --------
    >>> import pymluops
    >>> pymluops.logspace(0, 3, 4).tolist()
    [1.0, 10.0, 100.0, 1000.0]
    """
    return _LOGSPACE(handle, (out,), (start, end, steps, base))
