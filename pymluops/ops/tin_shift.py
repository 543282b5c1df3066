"""Temporal shift of groups of channels, from the Temporal Interlacing Network (arXiv:2001.06499)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pymluops._core import Operator
from pymluops._work import RULES, per_element
from pymluops.ops._schema import FLOATS, INT32, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["tin_shift_backward", "tin_shift_forward"]

_SHIFTS = Tensor("shifts", INT32, "B G", positive="G", rules=("G divides C",))

_FORWARD = Operator(
    "mluOpTinShiftForward",
    "tin_shift_forward",
    (
        Tensor("input", FLOATS, "B T C HW", positive="B C HW"),
        _SHIFTS,
        Tensor("out", "input", "B T C HW", output=True, parameter="output"),
    ),
)
_BACKWARD = Operator(
    "mluOpTinShiftBackward",
    "tin_shift_backward",
    (
        Tensor("grad_output", FLOATS, "B T C HW", positive="B C HW"),
        _SHIFTS,
        Tensor("out", "grad_output", "B T C HW", output=True, parameter="grad_input"),
    ),
)

RULES[_FORWARD.function] = RULES[_BACKWARD.function] = per_element(2, 1)


def tin_shift_forward(input: Array, shifts: Array, *, out: Any = None, handle: Handle | None = None) -> Any:
    """Shift groups of channels along time.

    With ``s = shifts[b, c // (C // G)]``::

        output[b, t, c, p] = input[b, t - s, c, p]   if 0 <= t - s < T, else 0

    Parameters
    ----------
    input : array, shape [B, T, C, HW], float16 or float32
        A clip: T time steps, C channels, HW positions.
    shifts : array, shape [B, G], int32
        Time steps that each of the G groups of channels moves; positive is towards later. G divides
        C.
    out : array or DeviceArray, optional
        Where to write, like `input`; it must not overlap `input` or `shifts`.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array like `input` of the kind of the first argument. The
        values are copied bit by bit.

    Raises
    ------
    BadParamError
        If an argument is not as described, or B, C, HW or G is 0. T may be 0.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Shao, Qian, Liu: Temporal Interlacing Network. AAAI 2020, arXiv:2001.06499.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> clip = np.array([1, 2, 3], np.float32).reshape(1, 3, 1, 1)
    >>> pymluops.tin_shift_forward(clip, np.array([[1]], np.int32)).ravel().tolist()
    [0.0, 1.0, 2.0]
    """
    return _FORWARD(handle, (input, shifts, out))


def tin_shift_backward(grad_output: Array, shifts: Array, *, out: Any = None, handle: Handle | None = None) -> Any:
    """Shift the gradient as the mlu-ops library does: with the same sign as the forward direction.

    This is not the adjoint of `tin_shift_forward`, but what networks trained with mlu-ops or mmcv
    see. The true gradient is ``tin_shift_forward(grad_output, -shifts)``.

    Parameters
    ----------
    grad_output : array, shape [B, T, C, HW], float16 or float32
        Gradient with respect to the output of the forward direction.
    shifts : array, shape [B, G], int32
        The shifts of the forward direction.
    out : array or DeviceArray, optional
        Where to write, like `grad_output`; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array like `grad_output` of the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described, or B, C, HW or G is 0. T may be 0.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Shao, Qian, Liu: Temporal Interlacing Network. AAAI 2020, arXiv:2001.06499.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> grad = np.array([1, 2, 3], np.float32).reshape(1, 3, 1, 1)
    >>> pymluops.tin_shift_backward(grad, np.array([[-1]], np.int32)).ravel().tolist()
    [2.0, 3.0, 0.0]
    """
    return _BACKWARD(handle, (grad_output, shifts, out))
