"""Enlarging maps by weighted sums of windows, content-aware reassembly of features (CARAFE, arXiv:1905.02188)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pymluops._core import Operator
from pymluops.ops._schema import FLOATS, Scalar, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["CarafeGradients", "carafe_backward", "carafe_forward"]

_Result = TypeVar("_Result")

_MAPS = "N H W C"
_MASKS = "N scale_factor*H scale_factor*W group_size*kernel_size*kernel_size"
_LARGE = "N scale_factor*H scale_factor*W C"
_INPUTS = (
    Tensor("input", FLOATS, _MAPS, positive="N H W C", rules=("group_size divides C",)),
    Tensor("mask", "input", _MASKS),
)
_NUMBERS = (Scalar("kernel_size"), Scalar("group_size"), Scalar("scale_factor"))

_FORWARD = Operator(
    "mluopsExtCarafeForward",
    "carafe_forward",
    (*_INPUTS, Tensor("out", "input", _LARGE, output=True, parameter="output")),
    _NUMBERS,
)
_BACKWARD = Operator(
    "mluopsExtCarafeBackward",
    "carafe_backward",
    (
        *_INPUTS,
        Tensor("grad_output", "input", _LARGE),
        Tensor("grad_input", "input", _MAPS, output=True),
        Tensor("grad_mask", "input", _MASKS, output=True),
    ),
    _NUMBERS,
)


class CarafeGradients(NamedTuple, Generic[_Result]):
    """What `carafe_backward` returns.

    Attributes
    ----------
    grad_input, grad_mask : array
        Gradients, shaped as the arguments.
    """

    grad_input: _Result
    grad_mask: _Result


def carafe_forward(
    input: Array,
    mask: Array,
    kernel_size: int,
    group_size: int,
    scale_factor: int,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Enlarge maps: each pixel of the result is a weighted sum of a window, as ``mluOpCarafeForward`` computes it.

    With ``s = scale_factor``, ``k = kernel_size`` and ``r = (k - 1) // 2``, for channel c of group
    g::

        out[n, y, x, c] = sum over a, b of
            mask[n, y, x, (g * k + a) * k + b] * input[n, y // s - r + a, x // s - r + b, c]

    Pixels beside the map do not take part.

    Parameters
    ----------
    input : array, shape [N, H, W, C], float16 or float32
        Maps.
    mask : array, shape [N, s*H, s*W, group_size * k * k], like `input`
        Weights of the windows.
    kernel_size : int
        Side of a window. The functions of the ABI take odd ones only.
    group_size : int
        Groups of channels with weights of their own; a divisor of C.
    scale_factor : int
        How many times as high and as wide the result is.
    out : array or DeviceArray, optional
        Where to write, shape [N, s*H, s*W, C], like `input`.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [N, s*H, s*W, C] of the kind of `input`. float16 is computed
        in float32 and rounded once.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Wang et al.: CARAFE: Content-Aware ReAssembly of FEatures. ICCV 2019.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> maps = np.array([1, 2, 4], np.float32).reshape(1, 1, 3, 1)
    >>> mask = np.zeros((1, 1, 3, 9), np.float32)
    >>> mask[..., 3:6] = [1, 0, 1]  # the neighbours to the left and to the right
    >>> pymluops.carafe_forward(maps, mask, 3, 1, 1).ravel().tolist()
    [2.0, 5.0, 2.0]
    """
    return _FORWARD(handle, (input, mask, out), (kernel_size, group_size, scale_factor))


def carafe_backward(
    input: Array,
    mask: Array,
    grad_output: Array,
    kernel_size: int,
    group_size: int,
    scale_factor: int,
    *,
    grad_input: Any = None,
    grad_mask: Any = None,
    handle: Handle | None = None,
) -> CarafeGradients[Any]:
    """Find the gradients of `carafe_forward` with respect to the maps and the weights.

    Parameters
    ----------
    input, mask : array
        As in `carafe_forward`.
    grad_output : array, shape [N, scale_factor*H, scale_factor*W, C], like `input`
        Gradient with respect to the result.
    kernel_size, group_size, scale_factor : int
        As in `carafe_forward`.
    grad_input, grad_mask : array or DeviceArray, optional
        Where to write, shaped as `input` and `mask`.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    CarafeGradients
        The gradients. Weights of pixels beside the map have gradients of 0. The order of sums does
        not depend on the number of threads.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Wang et al.: CARAFE: Content-Aware ReAssembly of FEatures. ICCV 2019.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> maps = np.array([1, 2, 4], np.float32).reshape(1, 1, 3, 1)
    >>> mask = np.zeros((1, 1, 3, 9), np.float32)
    >>> mask[..., 3:6] = [1, 0, 1]
    >>> found = pymluops.carafe_backward(maps, mask, np.ones_like(maps), 3, 1, 1)
    >>> found.grad_input.ravel().tolist(), found.grad_mask[0, 0, :, 3].tolist()
    ([1.0, 2.0, 1.0], [0.0, 1.0, 2.0])
    """
    arrays = input, mask, grad_output, grad_input, grad_mask
    return CarafeGradients(*_BACKWARD(handle, arrays, (kernel_size, group_size, scale_factor)))
