"""Deformable convolution: the filter's cells look at places that offsets move (arXiv:1703.06211, arXiv:1811.11168)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pymluops._core import Operator, integers
from pymluops.ops._schema import FLOATS, Scalar, Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = [
    "DeformConvDataGradients",
    "DeformConvGradients",
    "deform_conv_backward",
    "deform_conv_backward_data",
    "deform_conv_backward_weight",
    "deform_conv_forward",
]

_Result = TypeVar("_Result")

_DEFORMABLE = "deformable_group divides conv_group*Cg"
_FILTER = Tensor("filter", FLOATS, "Co kh kw Cg", positive="Co kh kw Cg", rules=("conv_group divides Co", _DEFORMABLE))
_CHANNELS = "N H W conv_group*Cg"
_OFFSETS, _MASKS = "N Ho Wo 2*deformable_group*kh*kw", "N Ho Wo deformable_group*kh*kw"
_PLACES = (Tensor("offset", "filter", _OFFSETS, positive="Ho Wo"), Tensor("mask", "filter", _MASKS))
_NUMBERS = (
    Scalar("stride", symbol="stride_h"),
    Scalar("stride", symbol="stride_w"),
    Scalar("padding", symbol="pad_h", minimum=0),
    Scalar("padding", symbol="pad_w", minimum=0),
    Scalar("dilation", symbol="dilation_h"),
    Scalar("dilation", symbol="dilation_w"),
    Scalar("conv_group"),
    Scalar("deformable_group"),
)
_INPUT = Tensor("input", "filter", _CHANNELS, positive="N H W")
_GRAD_OUTPUT = Tensor("grad_output", "filter", "N Ho Wo Co")
_GRADIENTS = (
    Tensor("grad_input", "filter", _CHANNELS, output=True),
    Tensor("grad_offset", "filter", _OFFSETS, output=True),
    Tensor("grad_mask", "filter", _MASKS, output=True),
)

_FORWARD = Operator(
    "mluopsExtDeformConvForward",
    "deform_conv_forward",
    (
        _FILTER,
        _INPUT,
        *_PLACES,
        Tensor("out", "filter", "N Ho Wo Co", output=True, parameter="output"),
    ),
    _NUMBERS,
)
_BACKWARD_DATA = Operator(
    "mluopsExtDeformConvBackwardData",
    "deform_conv_backward_data",
    (_FILTER, _INPUT, *_PLACES, _GRAD_OUTPUT, *_GRADIENTS),
    _NUMBERS,
)
_BACKWARD_WEIGHT = Operator(
    "mluopsExtDeformConvBackwardWeight",
    "deform_conv_backward_weight",
    (
        Tensor(
            "input",
            FLOATS,
            "N H W conv_group*group_channels",
            positive="N H W",
            rules=("deformable_group divides conv_group*group_channels",),
        ),
        Tensor("offset", "input", "N Ho Wo 2*deformable_group*kernel_h*kernel_w", positive="Ho Wo"),
        Tensor("mask", "input", "N Ho Wo deformable_group*kernel_h*kernel_w"),
        Tensor("grad_output", "input", "N Ho Wo Co", positive="Co", rules=("conv_group divides Co",)),
        Tensor("out", "input", "Co kernel_h kernel_w group_channels", output=True, parameter="grad_filter"),
    ),
    (
        *_NUMBERS,
        Scalar("kernel_size", symbol="kernel_h"),
        Scalar("kernel_size", symbol="kernel_w"),
        Scalar("group_channels"),
    ),
)
_BACKWARD = Operator(
    "mluopsExtDeformConvBackward",
    "deform_conv_backward",
    (
        _FILTER,
        _INPUT,
        *_PLACES,
        _GRAD_OUTPUT,
        *_GRADIENTS,
        Tensor("grad_filter", "filter", "Co kh kw Cg", output=True),
    ),
    _NUMBERS,
)


class DeformConvDataGradients(NamedTuple, Generic[_Result]):
    """What `deform_conv_backward_data` returns.

    Attributes
    ----------
    grad_input, grad_offset, grad_mask : array
        Gradients, shaped as the arguments.
    """

    grad_input: _Result
    grad_offset: _Result
    grad_mask: _Result


class DeformConvGradients(NamedTuple, Generic[_Result]):
    """What `deform_conv_backward` returns.

    Attributes
    ----------
    grad_input, grad_offset, grad_mask, grad_filter : array
        Gradients, shaped as the arguments.
    """

    grad_input: _Result
    grad_offset: _Result
    grad_mask: _Result
    grad_filter: _Result


def _numbers(
    operator: Operator, stride: Any, padding: Any, dilation: Any, conv_group: Any, deformable_group: Any
) -> tuple[Any, ...]:
    return (
        *integers(operator, "stride", stride, 2, 1),
        *integers(operator, "padding", padding, 2, 0),
        *integers(operator, "dilation", dilation, 2, 1),
        conv_group,
        deformable_group,
    )


def deform_conv_forward(
    filter: Array,
    input: Array,
    offset: Array,
    mask: Array,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    conv_group: int = 1,
    deformable_group: int = 1,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Convolve maps with a filter whose cells look at places that offsets move, as ``mluOpDCNForward`` does.

    Cell (a, b) of the filter, at position (ho, wo) and for deformable group q, looks at ::

        y = ho * stride_h - pad_h + a * dilation_h + offset[n, ho, wo, q, a, b, 0]
        x = wo * stride_w - pad_w + b * dilation_w + offset[n, ho, wo, q, a, b, 1]

    between four pixels, of which those beside the map count as 0. A place counts if ``-1 < y < H``
    and ``-1 < x < W``. Its value is multiplied by ``mask[n, ho, wo, q, a, b]``; the sum over cells
    and channels of the products with the filter is the result.

    Parameters
    ----------
    filter : array, shape [Co, kh, kw, Ci // conv_group], float16 or float32
        The filter.
    input : array, shape [N, H, W, Ci], like `filter`
        Maps; `deformable_group` divides Ci.
    offset : array, shape [N, Ho, Wo, 2 * deformable_group * kh * kw], like `filter`
        y and x of the shift of each place; Ho and Wo are the size of the result.
    mask : array, shape [N, Ho, Wo, deformable_group * kh * kw], like `filter`
        Weights of the places; ones give the convolution without modulation.
    stride, padding, dilation : int or (int, int)
        As in any convolution, along height and width. `padding` stands before the first pixel.
    conv_group : int
        Groups of channels that are convolved by themselves; a divisor of Co.
    deformable_group : int
        Groups of channels with offsets of their own.
    out : array or DeviceArray, optional
        Where to write, shape [N, Ho, Wo, Co], like `filter`.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [N, Ho, Wo, Co] of the kind of `filter`. float16 is computed
        in float32 and rounded once. The order of sums does not depend on the number of threads.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Dai et al.: Deformable Convolutional Networks. ICCV 2017. Zhu et al.: Deformable ConvNets v2.
    CVPR 2019.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> maps = np.arange(4, dtype=np.float32).reshape(1, 1, 4, 1)
    >>> offset = np.zeros((1, 1, 4, 2), np.float32)
    >>> offset[..., 1] = 0.5
    >>> ones = np.ones((1, 1, 1, 1), np.float32)
    >>> pymluops.deform_conv_forward(ones, maps, offset, np.ones((1, 1, 4, 1), np.float32)).ravel().tolist()
    [0.5, 1.5, 2.5, 1.5]
    """
    numbers = _numbers(_FORWARD, stride, padding, dilation, conv_group, deformable_group)
    return _FORWARD(handle, (filter, input, offset, mask, out), numbers)


def deform_conv_backward_data(
    filter: Array,
    input: Array,
    offset: Array,
    mask: Array,
    grad_output: Array,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    conv_group: int = 1,
    deformable_group: int = 1,
    *,
    grad_input: Any = None,
    grad_offset: Any = None,
    grad_mask: Any = None,
    handle: Handle | None = None,
) -> DeformConvDataGradients[Any]:
    """Find the gradients of `deform_conv_forward` with respect to input, offset and mask.

    A place at a whole number has the slope behind it. One that does not count has gradients of 0.

    Parameters
    ----------
    filter, input, offset, mask : array
        As in `deform_conv_forward`.
    grad_output : array, shape [N, Ho, Wo, Co], like `filter`
        Gradient with respect to the result.
    stride, padding, dilation : int or (int, int)
        As in `deform_conv_forward`.
    conv_group, deformable_group : int
        As in `deform_conv_forward`.
    grad_input, grad_offset, grad_mask : array or DeviceArray, optional
        Where to write, shaped as `input`, `offset` and `mask`.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    DeformConvDataGradients
        The gradients. The order of sums does not depend on the number of threads.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Dai et al.: Deformable Convolutional Networks. ICCV 2017. Zhu et al.: Deformable ConvNets v2.
    CVPR 2019.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> maps = np.arange(4, dtype=np.float32).reshape(1, 1, 4, 1)
    >>> offset, mask = np.zeros((1, 1, 4, 2), np.float32), np.ones((1, 1, 4, 1), np.float32)
    >>> offset[..., 1] = 0.5
    >>> filter, grad = np.ones((1, 1, 1, 1), np.float32), np.ones((1, 1, 4, 1), np.float32)
    >>> found = pymluops.deform_conv_backward_data(filter, maps, offset, mask, grad)
    >>> found.grad_input.ravel().tolist(), found.grad_offset[..., 1].ravel().tolist()
    ([0.5, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, -3.0])
    """
    numbers = _numbers(_BACKWARD_DATA, stride, padding, dilation, conv_group, deformable_group)
    arrays = filter, input, offset, mask, grad_output, grad_input, grad_offset, grad_mask
    return DeformConvDataGradients(*_BACKWARD_DATA(handle, arrays, numbers))


def deform_conv_backward_weight(
    input: Array,
    offset: Array,
    mask: Array,
    grad_output: Array,
    kernel_size: int | Sequence[int],
    group_channels: int,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    conv_group: int = 1,
    deformable_group: int = 1,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Find the gradient of `deform_conv_forward` with respect to the filter.

    Parameters
    ----------
    input, offset, mask : array
        As in `deform_conv_forward`; `input` is float16 or float32, the others are like it.
    grad_output : array, shape [N, Ho, Wo, Co], like `input`
        Gradient with respect to the result.
    kernel_size : int or (int, int)
        Height and width of the filter.
    group_channels : int
        Input channels of a group of the convolution: Ci is `conv_group` times as many.
    stride, padding, dilation : int or (int, int)
        As in `deform_conv_forward`.
    conv_group, deformable_group : int
        As in `deform_conv_forward`.
    out : array or DeviceArray, optional
        Where to write, shape [Co, kh, kw, group_channels], like `input`.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [Co, kh, kw, group_channels] of the kind of `input`.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Dai et al.: Deformable Convolutional Networks. ICCV 2017. Zhu et al.: Deformable ConvNets v2.
    CVPR 2019.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> maps = np.arange(4, dtype=np.float32).reshape(1, 1, 4, 1)
    >>> offset, mask = np.zeros((1, 1, 4, 2), np.float32), np.ones((1, 1, 4, 1), np.float32)
    >>> offset[..., 1] = 0.5
    >>> pymluops.deform_conv_backward_weight(maps, offset, mask, mask, 1, 1).ravel().tolist()
    [6.0]
    """
    numbers = _numbers(_BACKWARD_WEIGHT, stride, padding, dilation, conv_group, deformable_group)
    sizes = integers(_BACKWARD_WEIGHT, "kernel_size", kernel_size, 2, 1)
    return _BACKWARD_WEIGHT(handle, (input, offset, mask, grad_output, out), (*numbers, *sizes, group_channels))


def deform_conv_backward(
    filter: Array,
    input: Array,
    offset: Array,
    mask: Array,
    grad_output: Array,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    conv_group: int = 1,
    deformable_group: int = 1,
    *,
    grad_input: Any = None,
    grad_offset: Any = None,
    grad_mask: Any = None,
    grad_filter: Any = None,
    handle: Handle | None = None,
) -> DeformConvGradients[Any]:
    """Find all gradients of `deform_conv_forward`.

    Parameters
    ----------
    filter, input, offset, mask, grad_output : array
        As in `deform_conv_backward_data`.
    stride, padding, dilation : int or (int, int)
        As in `deform_conv_forward`.
    conv_group, deformable_group : int
        As in `deform_conv_forward`.
    grad_input, grad_offset, grad_mask, grad_filter : array or DeviceArray, optional
        Where to write, shaped as `input`, `offset`, `mask` and `filter`.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    DeformConvGradients
        What `deform_conv_backward_data` and `deform_conv_backward_weight` return.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Dai et al.: Deformable Convolutional Networks. ICCV 2017. Zhu et al.: Deformable ConvNets v2.
    CVPR 2019.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> maps = np.arange(4, dtype=np.float32).reshape(1, 1, 4, 1)
    >>> offset, mask = np.zeros((1, 1, 4, 2), np.float32), np.ones((1, 1, 4, 1), np.float32)
    >>> found = pymluops.deform_conv_backward(np.ones((1, 1, 1, 1), np.float32), maps, offset, mask, mask)
    >>> found.grad_filter.ravel().tolist()
    [6.0]
    """
    numbers = _numbers(_BACKWARD, stride, padding, dilation, conv_group, deformable_group)
    arrays = filter, input, offset, mask, grad_output, grad_input, grad_offset, grad_mask, grad_filter
    return DeformConvGradients(*_BACKWARD(handle, arrays, numbers))
