"""Bilinear samples of regions of interest whose bins are moved by offsets (arXiv:1703.06211)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pymluops._core import Operator
from pymluops.enums import Layout
from pymluops.ops._regions import (
    MAP,
    POOLED,
    SAMPLING_RATIO,
    SIZES,
    bins,
    given_pooled,
    like,
    region_rows,
)
from pymluops.ops._schema import FLOATS, Scalar, Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = [
    "DeformRoiPoolGradients",
    "deform_roi_pool_backward",
    "deform_roi_pool_exact_backward",
    "deform_roi_pool_forward",
]

_Result = TypeVar("_Result")

_OFFSETS = "R 2 pooled_height pooled_width"
_NUMBERS = (Scalar("spatial_scale"), SAMPLING_RATIO, Scalar("gamma"))


_FORWARD = Operator(
    "mluOpDeformRoiPoolForward",
    "deform_roi_pool_forward",
    (
        Tensor("input", FLOATS, MAP, layout=Layout.NHWC, positive="B C"),
        region_rows("input"),
        Tensor("offset", "input", _OFFSETS, optional=True),
        like("input", "out", POOLED, output=True, zero_if="H W", parameter="output"),
    ),
    (*SIZES, *_NUMBERS),
)
_BACKWARD = Operator(
    "mluOpDeformRoiPoolBackward",
    "deform_roi_pool_backward",
    (
        Tensor("grad_output", FLOATS, POOLED, layout=Layout.NHWC, positive="R C"),
        like("grad_output", "input", MAP, positive="B"),
        region_rows("grad_output"),
        Tensor("offset", "grad_output", _OFFSETS, optional=True),
        like("grad_output", "grad_input", MAP, output=True),
        Tensor("grad_offset", "grad_output", _OFFSETS, output=True, optional=True, given_with="offset", zero_if="H W"),
    ),
    (*SIZES, *_NUMBERS),
)
_EXACT_BACKWARD = Operator(
    "mluopsExtDeformRoiPoolExactBackward",
    "deform_roi_pool_exact_backward",
    (
        given_pooled(),
        like("grad_output", "input", MAP, positive="B H W"),
        region_rows("grad_output"),
        Tensor("offset", "grad_output", _OFFSETS),
        like("grad_output", "grad_input", MAP, output=True),
        Tensor("grad_offset", "grad_output", _OFFSETS, output=True),
    ),
    _NUMBERS,
)


class DeformRoiPoolGradients(NamedTuple, Generic[_Result]):
    """What `deform_roi_pool_backward` and `deform_roi_pool_exact_backward` return.

    Attributes
    ----------
    grad_input : array
        Shaped as the input.
    grad_offset : array or None
        Shaped as the offset; None without one.
    """

    grad_input: _Result
    grad_offset: _Result


def deform_roi_pool_forward(
    input: Array,
    rois: Array,
    offset: Array | None,
    output_size: Sequence[int] | int,
    spatial_scale: float = 1.0,
    sampling_ratio: int = 0,
    gamma: float = 0.1,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Average bilinear samples in the bins of regions, each of which an offset moves.

    A region's corners are multiplied with `spatial_scale`, then moved by half a pixel up and left.
    It is cut into ph x pw bins of equal size, and bin (i, j) is moved by ``gamma * width *
    offset[r, 0, i, j]`` along x and ``gamma * height * offset[r, 1, i, j]`` along y. A bin has
    `sampling_ratio` samples along each axis, or as many as its size rounded up, at even distances.
    A sample more than a pixel beside the map is 0, one nearer than that has the value at the rim. A
    bin without samples is 0, and so is a region whose batch index is out of range or whose corners
    are not finite.

    Parameters
    ----------
    input : array, shape [B, H, W, C], float16 or float32
        Feature maps of B images.
    rois : array, shape [R, 5], like `input`
        Number of the image, x1, y1, x2, y2 in pixels of the image.
    offset : array, shape [R, 2, ph, pw], like `input`, or None
        How far each bin moves, x before y: times `gamma` and the size of the region.
    output_size : int or (int, int)
        Number of bins along y and x, ph and pw, > 0.
    spatial_scale : float
        Size of the map divided by the size of the image.
    sampling_ratio : int
        Samples of a bin along an axis, at most 256; 0 for a sample each pixel.
    gamma : float
        What the offsets are multiplied with.
    out : array or DeviceArray, optional
        Where to write, shape [R, ph, pw, C], like `input`; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [R, ph, pw, C] of the kind of the first argument; zeros if
        the maps have no pixels.

    Raises
    ------
    BadParamError
        If an argument is not as described, or there are no images, regions or channels.
    NotSupportedError
        If a tensor has 2**31 elements or more, or the library is one for a device.

    References
    ----------
    Dai et al.: Deformable Convolutional Networks. ICCV 2017, arXiv:1703.06211.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> features = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
    >>> rois = np.array([[0, 1, 1, 3, 3]], np.float32)
    >>> offset = np.array([[[[0.5]], [[0]]]], np.float32)  # half of the width to the right
    >>> [pymluops.deform_roi_pool_forward(features, rois, one, 1, gamma=1.0).item() for one in (None, offset)]
    [7.5, 8.5]
    """
    scalars = (*bins(_FORWARD, output_size), spatial_scale, sampling_ratio, gamma)
    return _FORWARD(handle, (input, rois, offset, out), scalars)


def deform_roi_pool_backward(
    grad_output: Array,
    input: Array,
    rois: Array,
    offset: Array | None,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    sampling_ratio: int,
    gamma: float,
    *,
    grad_input: Any = None,
    grad_offset: Any = None,
    handle: Handle | None = None,
) -> DeformRoiPoolGradients[Any]:
    """Gradients of `deform_roi_pool_forward` with respect to its input and its offset.

    The gradient of the offset is that of the vendor's formula, which differs from the true one for
    samples that lie beside the centres of the outermost pixels; see
    `deform_roi_pool_exact_backward`.

    Parameters
    ----------
    grad_output : array, shape [R, ph, pw, C], float16 or float32
        Gradient with respect to the output of the forward direction.
    input, rois, offset : array or None, like `grad_output`
        As in the forward direction.
    output_size : int or (int, int)
        Number of bins along y and x, ph and pw, > 0.
    spatial_scale, sampling_ratio, gamma : float, int, float
        As in the forward direction.
    grad_input, grad_offset : array or DeviceArray, optional
        Where to write, shaped as `input` and `offset`, like `grad_output`; they must not overlap
        each other or an input. Without an offset there is no `grad_offset`.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    DeformRoiPoolGradients
        `grad_input` and `grad_offset`; zeros if the maps have no pixels.

    Raises
    ------
    BadParamError
        If an argument is not as described, or there are no images, regions or channels.
    NotSupportedError
        If a tensor has 2**31 elements or more, or the library is one for a device.

    References
    ----------
    Dai et al.: Deformable Convolutional Networks. ICCV 2017, arXiv:1703.06211.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> features = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
    >>> rois, offset = np.array([[0, 1, 1, 3, 3]], np.float32), np.zeros((1, 2, 1, 1), np.float32)
    >>> grad = np.ones((1, 1, 1, 1), np.float32)
    >>> found = pymluops.deform_roi_pool_backward(grad, features, rois, offset, 1, 1.0, 2, 0.5)
    >>> found.grad_offset.ravel().tolist()  # a pixel right is 1 more, a pixel down 4 more
    [1.0, 4.0]
    """
    tensors = (grad_output, input, rois, offset, grad_input, grad_offset)
    scalars = (*bins(_BACKWARD, output_size), spatial_scale, sampling_ratio, gamma)
    return DeformRoiPoolGradients(*_BACKWARD(handle, tensors, scalars))


def deform_roi_pool_exact_backward(
    grad_output: Array,
    input: Array,
    rois: Array,
    offset: Array,
    spatial_scale: float,
    sampling_ratio: int,
    gamma: float,
    *,
    grad_input: Any = None,
    grad_offset: Any = None,
    handle: Handle | None = None,
) -> DeformRoiPoolGradients[Any]:
    """True gradients of `deform_roi_pool_forward` with respect to its input and its offset.

    A sample beside the centres of the outermost pixels has the value at the rim, and so does not
    change as it moves across the rim.

    Parameters
    ----------
    grad_output : array, shape [R, ph, pw, C], float16 or float32
        Gradient with respect to the output of the forward direction.
    input, rois, offset : array, like `grad_output`
        As in the forward direction.
    spatial_scale, sampling_ratio, gamma : float, int, float
        As in the forward direction.
    grad_input, grad_offset : array or DeviceArray, optional
        Where to write, shaped as `input` and `offset`, like `grad_output`; they must not overlap
        each other or an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    DeformRoiPoolGradients
        `grad_input` and `grad_offset`.

    Raises
    ------
    BadParamError
        If an argument is not as described, or a dim is 0.
    NotSupportedError
        If a tensor has 2**31 elements or more, or the library is one for a device.

    References
    ----------
    Dai et al.: Deformable Convolutional Networks. ICCV 2017, arXiv:1703.06211.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> features = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
    >>> rois, offset = np.array([[0, 1, 4, 3, 5]], np.float32), np.zeros((1, 2, 1, 1), np.float32)
    >>> grad = np.ones((1, 1, 1, 1), np.float32)
    >>> found = pymluops.deform_roi_pool_exact_backward(grad, features, rois, offset, 1.0, 2, 0.5)
    >>> found.grad_offset.ravel().tolist()  # the samples lie below the last row
    [0.5, 0.0]
    """
    tensors = (grad_output, input, rois, offset, grad_input, grad_offset)
    return DeformRoiPoolGradients(*_EXACT_BACKWARD(handle, tensors, (spatial_scale, sampling_ratio, gamma)))
