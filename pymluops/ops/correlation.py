"""Products of patches of two maps at several displacements, the correlation of FlowNet (arXiv:1504.06852)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pymluops._core import Operator, integers
from pymluops.ops._schema import FLOATS, Scalar, Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["CorrelationGradients", "correlation_backward", "correlation_forward"]

_Result = TypeVar("_Result")

_MAP, _RESULT = "B C H W", "B patch_h patch_w Ho Wo"
_MOST = 32767
_NUMBERS = (
    Scalar("kernel_size", symbol="kernel_h", maximum=_MOST),
    Scalar("kernel_size", symbol="kernel_w", maximum=_MOST),
    Scalar("patch_size", symbol="patch_h", maximum=_MOST),
    Scalar("patch_size", symbol="patch_w", maximum=_MOST),
    Scalar("stride", symbol="stride_h", maximum=_MOST),
    Scalar("stride", symbol="stride_w", maximum=_MOST),
    Scalar("padding", symbol="pad_h", minimum=0, maximum=_MOST),
    Scalar("padding", symbol="pad_w", minimum=0, maximum=_MOST),
    Scalar("dilation", symbol="dilation_h", maximum=_MOST),
    Scalar("dilation", symbol="dilation_w", maximum=_MOST),
    Scalar("dilation_patch", symbol="dilation_patch_h", maximum=_MOST),
    Scalar("dilation_patch", symbol="dilation_patch_w", maximum=_MOST),
)

_FORWARD = Operator(
    "mluopsExtCorrelationForward",
    "correlation_forward",
    (
        Tensor("input1", FLOATS, _MAP, positive=_MAP),
        Tensor("input2", "input1", _MAP),
        Tensor("out", "input1", _RESULT, output=True, parameter="output"),
    ),
    (*_NUMBERS, Scalar("output_size", symbol="Ho"), Scalar("output_size", symbol="Wo")),
)
_BACKWARD = Operator(
    "mluopsExtCorrelationBackward",
    "correlation_backward",
    (
        Tensor("grad_output", FLOATS, _RESULT, positive="B Ho Wo"),
        Tensor("input1", "grad_output", _MAP, positive="C H W"),
        Tensor("input2", "grad_output", _MAP),
        Tensor("grad_input1", "grad_output", _MAP, output=True),
        Tensor("grad_input2", "grad_output", _MAP, output=True),
    ),
    _NUMBERS,
)


class CorrelationGradients(NamedTuple, Generic[_Result]):
    """What `correlation_backward` returns.

    Attributes
    ----------
    grad_input1 : array, shape [B, C, H, W], like the gradient
        Gradient with respect to the first maps.
    grad_input2 : array, shape [B, C, H, W], like the gradient
        Gradient with respect to the second maps.
    """

    grad_input1: _Result
    grad_input2: _Result


def _numbers(
    operator: Operator, kernel_size: Any, patch_size: Any, stride: Any, padding: Any, dilation: Any, dilation_patch: Any
) -> tuple[int, ...]:
    return (
        *integers(operator, "kernel_size", kernel_size, 2, 1),
        *integers(operator, "patch_size", patch_size, 2, 1),
        *integers(operator, "stride", stride, 2, 1),
        *integers(operator, "padding", padding, 2, 0),
        *integers(operator, "dilation", dilation, 2, 1),
        *integers(operator, "dilation_patch", dilation_patch, 2, 1),
    )


def correlation_forward(
    input1: Array,
    input2: Array,
    output_size: Sequence[int],
    kernel_size: int | Sequence[int] = 1,
    patch_size: int | Sequence[int] = 1,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    dilation_patch: int | Sequence[int] = 1,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Multiply patches of maps with patches of other maps, at several displacements.

    With kernels of kh x kw cells and ph x pw displacements, ``out[b, p, q, k, l]`` is the sum over
    channels c and cells (i, j) of ``input1[b, c, y, x] * input2[b, c, y + dy, x + dx]``, where::

        y = k * stride_h - pad_h + i * dilation_h
        dy = p * dilation_patch_h - dilation_patch_h * (ph - 1) // 2

    and likewise x and dx of l, j and q. Pixels beside the maps count as 0.

    Parameters
    ----------
    input1 : array, shape [B, C, H, W], float16 or float32
        The first maps; float16 is added up in float32.
    input2 : array, shape [B, C, H, W], like `input1`
        The second maps.
    output_size : (int, int)
        Ho and Wo. All windows lie in the padded map with ``(H + 2 * pad_h - dilation_h * (kh - 1)
        - 1) // stride_h + 1`` rows, and as many columns with the numbers for these.
    kernel_size : int or (int, int)
        kh and kw.
    patch_size : int or (int, int)
        ph and pw; odd numbers have the displacement 0 in the middle.
    stride : int or (int, int)
        Pixels between results.
    padding : int or (int, int)
        Rows of zeros above and below the maps, columns left and right of them.
    dilation : int or (int, int)
        Pixels between the cells of a kernel.
    dilation_patch : int or (int, int)
        Pixels between displacements.
    out : array or DeviceArray, optional
        Where to write, shape [B, ph, pw, Ho, Wo], like `input1`; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [B, ph, pw, Ho, Wo] of the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described, a dim is 0, or a number is above 32767.
    NotSupportedError
        If a tensor has 2**31 elements or more, or the library is one for a device.

    References
    ----------
    Dosovitskiy et al.: FlowNet: Learning Optical Flow with Convolutional Networks. ICCV 2015,
    arXiv:1504.06852.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> one, other = np.float32([[[[1, 2, 3]]]]), np.float32([[[[4, 5, 6]]]])
    >>> pymluops.correlation_forward(one, other, (1, 3), patch_size=(1, 3))[0, 0, :, 0].tolist()
    [[0.0, 8.0, 15.0], [4.0, 10.0, 18.0], [5.0, 12.0, 0.0]]
    """
    numbers = _numbers(_FORWARD, kernel_size, patch_size, stride, padding, dilation, dilation_patch)
    size = integers(_FORWARD, "output_size", output_size, 2, 1, repeat=False)
    return _FORWARD(handle, (input1, input2, out), (*numbers, *size))


def correlation_backward(
    grad_output: Array,
    input1: Array,
    input2: Array,
    kernel_size: int | Sequence[int] = 1,
    patch_size: int | Sequence[int] = 1,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    dilation_patch: int | Sequence[int] = 1,
    *,
    grad_input1: Any = None,
    grad_input2: Any = None,
    handle: Handle | None = None,
) -> CorrelationGradients[Any]:
    """Gradients of `correlation_forward` with respect to both inputs.

    Parameters
    ----------
    grad_output : array, shape [B, ph, pw, Ho, Wo], float16 or float32
        Gradient with respect to the output of the forward direction.
    input1, input2 : array, shape [B, C, H, W], like `grad_output`
        The maps of the forward direction.
    kernel_size, patch_size, stride, padding, dilation, dilation_patch : int or (int, int)
        As in the forward direction.
    grad_input1, grad_input2 : array or DeviceArray, optional
        Where to write, shape [B, C, H, W], like `grad_output`; they must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    CorrelationGradients
        grad_input1 and grad_input2, of the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described, a dim is 0, or a number is above 32767.
    NotSupportedError
        If a tensor has 2**31 elements or more, or the library is one for a device.

    References
    ----------
    Dosovitskiy et al.: FlowNet: Learning Optical Flow with Convolutional Networks. ICCV 2015,
    arXiv:1504.06852.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> one, other = np.float32([[[[1, 2, 3]]]]), np.float32([[[[4, 5, 6]]]])
    >>> grad = np.ones((1, 1, 3, 1, 3), np.float32)
    >>> grad1, grad2 = pymluops.correlation_backward(grad, one, other, patch_size=(1, 3))
    >>> grad1.ravel().tolist(), grad2.ravel().tolist()
    ([9.0, 15.0, 11.0], [3.0, 6.0, 5.0])
    """
    numbers = _numbers(_BACKWARD, kernel_size, patch_size, stride, padding, dilation, dilation_patch)
    return CorrelationGradients(*_BACKWARD(handle, (grad_output, input1, input2, grad_input1, grad_input2), numbers))
