"""Position-sensitive average pooling of regions of interest, from R-FCN (arXiv:1605.06409)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pymluops._core import Operator, integers
from pymluops.enums import Layout
from pymluops.ops._schema import FLOAT32, INT32, Scalar, Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["ps_roi_pool_backward", "ps_roi_pool_forward"]

_MAP = "B H W pooled_height*pooled_width*output_dim"
_POOLED = "R pooled_height pooled_width output_dim"
_SQUARE = "pooled_width == pooled_height"
_SPATIAL_SCALE = Scalar("spatial_scale", minimum=0, above=True, infinite=True)

_FORWARD = Operator(
    "mluOpPsRoiPoolForward",
    "ps_roi_pool_forward",
    (
        Tensor("input", FLOAT32, _MAP, layout=Layout.NHWC, rules=(_SQUARE, "group_size == pooled_height")),
        Tensor("rois", "input", "R 5"),
        Tensor("out", "input", _POOLED, output=True, layout=Layout.NHWC, zero_if="B H W", parameter="output"),
        Tensor("mapping_channel", INT32, _POOLED, output=True, layout=Layout.NHWC, zero_if="B H W"),
    ),
    (
        Scalar("pooled_height"),
        Scalar("pooled_width"),
        _SPATIAL_SCALE,
        Scalar("group_size"),
        Scalar("output_dim"),
    ),
)
_BACKWARD = Operator(
    "mluOpPsRoiPoolBackward",
    "ps_roi_pool_backward",
    (
        Tensor("top_grad", FLOAT32, _POOLED, layout=Layout.NHWC, rules=(_SQUARE,)),
        Tensor("rois", "top_grad", "R 5", positive="R"),
        Tensor("mapping_channel", INT32, _POOLED, layout=Layout.NHWC),
        Tensor("out", "top_grad", _MAP, output=True, layout=Layout.NHWC, parameter="bottom_grad"),
    ),
    (
        Scalar("pooled_height"),
        Scalar("pooled_width"),
        _SPATIAL_SCALE,
        Scalar("output_dim"),
        Scalar("batch", symbol="B", minimum=0),
        Scalar("feature_size", symbol="H", minimum=0),
        Scalar("feature_size", symbol="W", minimum=0),
    ),
)


def ps_roi_pool_forward(
    input: Array,
    rois: Array,
    pooled_height: int,
    pooled_width: int,
    spatial_scale: float,
    group_size: int,
    output_dim: int,
    *,
    out: Any = None,
    mapping_channel: Any = None,
    handle: Handle | None = None,
) -> tuple[Any, Any]:
    """Average the pixels of each bin of each region, each bin in channels of its own.

    A region is cut into g x g bins, with g = `group_size` = `pooled_height` = `pooled_width`. Its
    corners are rounded half away from zero, multiplied with `spatial_scale`, the lower right one
    after adding 1; it is at least 0.1 wide and high. Bin (i, j) has all pixels that it touches, in
    channel ``(d * g + i) * g + j`` for output channel d. The value of a bin without a pixel is 0. A
    region whose batch index is out of range, or whose corners are not finite, has no pixels.

    Parameters
    ----------
    input : array, shape [B, H, W, g*g*output_dim], float32
        Feature maps of B images.
    rois : array, shape [R, 5], like `input`
        Number of the image, x1, y1, x2, y2 in pixels of the image.
    pooled_height, pooled_width : int
        Number of bins along an axis, g, > 0.
    spatial_scale : float
        Size of the map divided by the size of the image, > 0.
    group_size : int
        g again.
    output_dim : int
        Number of channels of the result, D, > 0.
    out : array or DeviceArray, optional
        Where to write, shape [R, g, g, D], like `input`; it must not overlap an input.
    mapping_channel : array or DeviceArray, optional
        Where to write the channels, shape [R, g, g, D], int32.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    output : array, shape [R, g, g, D]
        `out`, or a new array like `input` of the kind of the first argument.
    mapping_channel : array, shape [R, g, g, D], int32
        The channel of each value. The backward direction needs it. Both are zeros if the maps have
        no pixels.

    Raises
    ------
    BadParamError
        If an argument is not as described, or there are no regions.
    NotSupportedError
        If a tensor has 2**31 bytes or more.

    References
    ----------
    Dai et al.: R-FCN: Object Detection via Region-based Fully Convolutional Networks. NIPS 2016,
    arXiv:1605.06409.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> features = np.arange(16, dtype=np.float32).reshape(1, 2, 2, 4)
    >>> rois = np.array([[0, 0, 0, 1, 1]], np.float32)
    >>> output, channels = pymluops.ps_roi_pool_forward(features, rois, 2, 2, 1, 2, 1)
    >>> output[0, :, :, 0].tolist()
    [[0.0, 5.0], [10.0, 15.0]]
    >>> channels.ravel().tolist()
    [0, 1, 2, 3]
    """
    scalars = (pooled_height, pooled_width, spatial_scale, group_size, output_dim)
    result: tuple[Any, Any] = _FORWARD(handle, (input, rois, out, mapping_channel), scalars)
    return result


def ps_roi_pool_backward(
    top_grad: Array,
    rois: Array,
    mapping_channel: Array,
    pooled_height: int,
    pooled_width: int,
    spatial_scale: float,
    output_dim: int,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Gradient of `ps_roi_pool_forward` with respect to its input.

    The gradient of a bin is shared evenly by its pixels, in the channel that `mapping_channel`
    names.

    Parameters
    ----------
    top_grad : array, shape [R, g, g, D], float32
        Gradient with respect to the output of the forward direction.
    rois : array, shape [R, 5], like `top_grad`
        The regions of the forward direction.
    mapping_channel : array, shape [R, g, g, D], int32
        What the forward direction returned. A number outside 0 to g*g*D - 1 contributes nothing.
    pooled_height, pooled_width : int
        Number of bins along an axis, g, > 0.
    spatial_scale : float
        As in the forward direction, > 0.
    output_dim : int
        D, > 0.
    batch : int
        Number of images, B.
    feature_size : (int, int)
        H and W of the feature maps, in pixels.
    out : array or DeviceArray, optional
        Where to write, shape [B, H, W, g*g*D], like `top_grad`; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [B, H, W, g*g*D] of the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described, or there are no regions.
    NotSupportedError
        If a tensor has 2**31 bytes or more.

    References
    ----------
    Dai et al.: R-FCN: Object Detection via Region-based Fully Convolutional Networks. NIPS 2016,
    arXiv:1605.06409.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> rois, channels = np.array([[0, 0, 0, 1, 0]], np.float32), np.zeros((1, 1, 1, 1), np.int32)
    >>> grad = pymluops.ps_roi_pool_backward(np.ones((1, 1, 1, 1), np.float32), rois, channels, 1, 1, 1, 1, 1, (2, 2))
    >>> grad[0, :, :, 0].tolist()
    [[0.5, 0.5], [0.0, 0.0]]
    """
    height, width = integers(_BACKWARD, "feature_size", feature_size, 2, 0, repeat=False)
    scalars = (pooled_height, pooled_width, spatial_scale, output_dim, batch, height, width)
    return _BACKWARD(handle, (top_grad, rois, mapping_channel, out), scalars)
