"""Bilinear samples of regions of interest, their mean or the largest, from Mask R-CNN (arXiv:1703.06870)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pymluops._core import Operator
from pymluops.ops._regions import (
    MAP,
    MAP_SIZES,
    POOLED,
    SAMPLING_RATIO,
    SIZES,
    SPATIAL_SCALE,
    bins,
    given_map,
    given_pooled,
    like,
    map_size,
    region_rows,
)
from pymluops.ops._schema import Scalar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = [
    "LargestSamples",
    "roi_align_backward",
    "roi_align_forward",
    "roi_align_max_backward",
    "roi_align_max_forward",
]

_Result = TypeVar("_Result")

_NUMBERS = (SPATIAL_SCALE, SAMPLING_RATIO, Scalar("aligned"))

_FORWARD = Operator(
    "mluopsExtRoiAlignForward",
    "roi_align_forward",
    (given_map(), region_rows("input"), like("input", "out", POOLED, output=True, parameter="output")),
    (*SIZES, *_NUMBERS),
)
_BACKWARD = Operator(
    "mluopsExtRoiAlignBackward",
    "roi_align_backward",
    (
        given_pooled(),
        region_rows("grad_output"),
        like("grad_output", "out", MAP, output=True, parameter="grad_input"),
    ),
    (*_NUMBERS, *MAP_SIZES),
)
_MAX_FORWARD = Operator(
    "mluopsExtRoiAlignMaxForward",
    "roi_align_max_forward",
    (
        given_map(),
        region_rows("input"),
        like("input", "out", POOLED, output=True, parameter="output"),
        like("input", "argmax_y", POOLED, output=True),
        like("input", "argmax_x", POOLED, output=True),
    ),
    (*SIZES, *_NUMBERS),
)
_MAX_BACKWARD = Operator(
    "mluopsExtRoiAlignMaxBackward",
    "roi_align_max_backward",
    (
        given_pooled(),
        region_rows("grad_output"),
        like("grad_output", "argmax_y", POOLED),
        like("grad_output", "argmax_x", POOLED),
        like("grad_output", "out", MAP, output=True, parameter="grad_input"),
    ),
    (*_NUMBERS, *MAP_SIZES),
)


class LargestSamples(NamedTuple, Generic[_Result]):
    """What `roi_align_max_forward` returns.

    Attributes
    ----------
    output : array, shape [R, ph, pw, C], like the maps
        The largest sample of each bin.
    argmax_y, argmax_x : array, shape [R, ph, pw, C], like the maps
        Where it is on the map; -1 where there is none.
    """

    output: _Result
    argmax_y: _Result
    argmax_x: _Result


def roi_align_forward(
    input: Array,
    rois: Array,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    sampling_ratio: int = 0,
    aligned: bool = True,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Average bilinear samples in the bins of regions.

    A region's corners are multiplied with `spatial_scale`; if `aligned`, they are then moved by
    half a pixel up and left, else the region is at least 1 wide and high. It is cut into ph x pw
    bins of equal size. A bin has `sampling_ratio` samples along each axis, or as many as its size
    rounded up, at even distances. A sample more than a pixel beside the map is 0, one nearer than
    that has the value at the rim. A bin without samples is 0, and so is a region whose batch index
    is out of range or whose corners are not finite.

    Parameters
    ----------
    input : array, shape [B, H, W, C], float16 or float32
        Feature maps of B images.
    rois : array, shape [R, 5], like `input`
        Number of the image, x1, y1, x2, y2 in pixels of the image.
    output_size : int or (int, int)
        Number of bins along y and x, ph and pw, > 0.
    spatial_scale : float
        Size of the map divided by the size of the image, > 0.
    sampling_ratio : int
        Samples of a bin along an axis, at most 256; 0 for a sample each pixel.
    aligned : bool
        Whether a pixel's centre is half a pixel from its corner, as it should be.
    out : array or DeviceArray, optional
        Where to write, shape [R, ph, pw, C], like `input`; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [R, ph, pw, C] of the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described, or a dim is 0.
    NotSupportedError
        If a tensor has 2**31 elements or more, or the library is one for a device.

    References
    ----------
    He et al.: Mask R-CNN. ICCV 2017, arXiv:1703.06870.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> features = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
    >>> rois = np.array([[0, 0, 0, 4, 4]], np.float32)
    >>> pymluops.roi_align_forward(features, rois, 2, 1.0)[0, :, :, 0].tolist()
    [[2.5, 4.5], [10.5, 12.5]]
    """
    sizes = bins(_FORWARD, output_size)
    return _FORWARD(handle, (input, rois, out), (*sizes, spatial_scale, sampling_ratio, aligned))


def roi_align_backward(
    grad_output: Array,
    rois: Array,
    spatial_scale: float,
    sampling_ratio: int,
    aligned: bool,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Gradient of `roi_align_forward` with respect to its input.

    Parameters
    ----------
    grad_output : array, shape [R, ph, pw, C], float16 or float32
        Gradient with respect to the output of the forward direction.
    rois : array, shape [R, 5], like `grad_output`
        The regions of the forward direction.
    spatial_scale, sampling_ratio, aligned : float, int, bool
        As in the forward direction.
    batch : int
        Number of images, B.
    feature_size : (int, int)
        H and W of the feature maps, in pixels.
    out : array or DeviceArray, optional
        Where to write, shape [B, H, W, C], like `grad_output`; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [B, H, W, C] of the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described, or a dim is 0.
    NotSupportedError
        If a tensor has 2**31 elements or more, or the library is one for a device.

    References
    ----------
    He et al.: Mask R-CNN. ICCV 2017, arXiv:1703.06870.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> grad, rois = np.ones((1, 1, 1, 1), np.float32), np.array([[0, 0, 0, 2, 2]], np.float32)
    >>> pymluops.roi_align_backward(grad, rois, 1.0, 2, True, 1, (2, 2))[0, :, :, 0].tolist()
    [[0.25, 0.25], [0.25, 0.25]]
    """
    height, width = map_size(_BACKWARD, feature_size)
    scalars = (spatial_scale, sampling_ratio, aligned, batch, height, width)
    return _BACKWARD(handle, (grad_output, rois, out), scalars)


def roi_align_max_forward(
    input: Array,
    rois: Array,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    sampling_ratio: int = 0,
    aligned: bool = True,
    *,
    out: Any = None,
    argmax_y: Any = None,
    argmax_x: Any = None,
    handle: Handle | None = None,
) -> LargestSamples[Any]:
    """Take the largest of the bilinear samples in each bin of regions.

    The samples are those of `roi_align_forward`. Of equal ones the first counts, row by row; a NaN
    never does. A bin without samples has the lowest number of float32, which is minus infinity in
    float16; a region whose batch index is out of range, or whose corners are not finite, is 0.

    Parameters
    ----------
    input : array, shape [B, H, W, C], float16 or float32
        Feature maps of B images.
    rois : array, shape [R, 5], like `input`
        Number of the image, x1, y1, x2, y2 in pixels of the image.
    output_size : int or (int, int)
        Number of bins along y and x, ph and pw, > 0.
    spatial_scale : float
        Size of the map divided by the size of the image, > 0.
    sampling_ratio : int
        Samples of a bin along an axis, at most 256; 0 for a sample each pixel.
    aligned : bool
        Whether a pixel's centre is half a pixel from its corner, as it should be.
    out, argmax_y, argmax_x : array or DeviceArray, optional
        Where to write, shape [R, ph, pw, C], like `input`; they must not overlap each other or an
        input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    LargestSamples
        `output`, `argmax_y` and `argmax_x`.

    Raises
    ------
    BadParamError
        If an argument is not as described, or a dim is 0.
    NotSupportedError
        If a tensor has 2**31 elements or more, or the library is one for a device.

    References
    ----------
    He et al.: Mask R-CNN. ICCV 2017, arXiv:1703.06870.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> features = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
    >>> rois = np.array([[0, 0, 0, 4, 4]], np.float32)
    >>> output, y, x = pymluops.roi_align_max_forward(features, rois, 2, 1.0)
    >>> output.ravel().tolist(), y.ravel().tolist(), x.ravel().tolist()
    ([5.0, 7.0, 13.0, 15.0], [1.0, 1.0, 3.0, 3.0], [1.0, 3.0, 1.0, 3.0])
    """
    sizes = bins(_MAX_FORWARD, output_size)
    scalars = (*sizes, spatial_scale, sampling_ratio, aligned)
    return LargestSamples(*_MAX_FORWARD(handle, (input, rois, out, argmax_y, argmax_x), scalars))


def roi_align_max_backward(
    grad_output: Array,
    rois: Array,
    argmax_y: Array,
    argmax_x: Array,
    spatial_scale: float,
    sampling_ratio: int,
    aligned: bool,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Gradient of `roi_align_max_forward` with respect to its input.

    Parameters
    ----------
    grad_output : array, shape [R, ph, pw, C], float16 or float32
        Gradient with respect to the output of the forward direction.
    rois : array, shape [R, 5], like `grad_output`
        The regions of the forward direction, of which only the images are looked at.
    argmax_y, argmax_x : array, shape [R, ph, pw, C], like `grad_output`
        What the forward direction returned. Places beside the map, and those with y = -1, get
        nothing.
    spatial_scale, sampling_ratio, aligned : float, int, bool
        As in the forward direction.
    batch : int
        Number of images, B.
    feature_size : (int, int)
        H and W of the feature maps, in pixels.
    out : array or DeviceArray, optional
        Where to write, shape [B, H, W, C], like `grad_output`; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [B, H, W, C] of the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described, or a dim is 0.
    NotSupportedError
        If a tensor has 2**31 elements or more, or the library is one for a device.

    References
    ----------
    He et al.: Mask R-CNN. ICCV 2017, arXiv:1703.06870.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> grad, rois = np.ones((1, 1, 1, 1), np.float32), np.array([[0, 0, 0, 2, 2]], np.float32)
    >>> y, x = np.full_like(grad, 0.5), np.zeros_like(grad)
    >>> pymluops.roi_align_max_backward(grad, rois, y, x, 1.0, 2, True, 1, (2, 2))[0, :, :, 0].tolist()
    [[0.5, 0.0], [0.5, 0.0]]
    """
    height, width = map_size(_MAX_BACKWARD, feature_size)
    scalars = (spatial_scale, sampling_ratio, aligned, batch, height, width)
    return _MAX_BACKWARD(handle, (grad_output, rois, argmax_y, argmax_x, out), scalars)
