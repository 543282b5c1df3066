"""Bilinear samples of turned regions of interest and their mean, also of maps with orientations (arXiv:2103.07733)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pymluops._core import Operator, integers
from pymluops.enums import Layout
from pymluops.ops._regions import (
    MAP,
    MAP_SIZES,
    POOLED,
    SIZES,
    SPATIAL_SCALE,
    bins,
    given_map,
    given_pooled,
    like,
    map_size,
    region_rows,
)
from pymluops.ops._schema import FLOAT32, FLOATS, Scalar, Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = [
    "riroi_align_rotated_backward",
    "riroi_align_rotated_forward",
    "roi_align_rotated_backward",
    "roi_align_rotated_forward",
]

_NUMBERS = (
    Scalar("spatial_scale", minimum=0),
    Scalar("sampling_ratio", minimum=0, maximum=256, parameter="sample_ratio"),
    Scalar("aligned"),
    Scalar("clockwise"),
)
_TURNING_NUMBERS = (
    SPATIAL_SCALE,
    Scalar("num_samples", minimum=0, maximum=256),
    Scalar("num_orientations", maximum=256),
    Scalar("clockwise"),
)

_FORWARD = Operator(
    "mluOpRoiAlignRotatedForward",
    "roi_align_rotated_forward",
    (
        Tensor("features", FLOATS, MAP, layout=Layout.NHWC, positive="C"),
        Tensor("rois", "features", "R 6", positive="R"),
        like("features", "out", POOLED, output=True, zero_if="B H W", parameter="output"),
    ),
    (*SIZES, *_NUMBERS),
)
_BACKWARD = Operator(
    "mluOpRoiAlignRotatedBackward",
    "roi_align_rotated_backward",
    (
        Tensor("top_grad", FLOATS, POOLED, layout=Layout.NHWC, positive="R C"),
        Tensor("rois", "top_grad", "R 6"),
        like("top_grad", "out", MAP, output=True, parameter="bottom_grad"),
    ),
    (
        *SIZES,
        *_NUMBERS,
        Scalar("batch", symbol="B", minimum=0),
        Scalar("feature_size", symbol="H", minimum=0),
        Scalar("feature_size", symbol="W", minimum=0),
    ),
)
_TURNING_FORWARD = Operator(
    "mluopsExtRiRoiAlignRotatedForward",
    "riroi_align_rotated_forward",
    (
        given_map("input", FLOAT32, rules=("num_orientations divides C",)),
        region_rows("input", 6),
        like("input", "out", POOLED, output=True, parameter="output"),
    ),
    (*SIZES, *_TURNING_NUMBERS),
)
_TURNING_BACKWARD = Operator(
    "mluopsExtRiRoiAlignRotatedBackward",
    "riroi_align_rotated_backward",
    (
        given_pooled("grad_output", FLOAT32, rules=("num_orientations divides C",)),
        region_rows("grad_output", 6),
        like("grad_output", "out", MAP, output=True, parameter="grad_input"),
    ),
    (*_TURNING_NUMBERS, *MAP_SIZES),
)


def roi_align_rotated_forward(
    features: Array,
    rois: Array,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    sampling_ratio: int = 0,
    aligned: bool = True,
    clockwise: bool = False,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Average bilinear samples in the bins of turned regions.

    A region's centre and size are multiplied with `spatial_scale`; if `aligned`, the centre is then
    moved by half a pixel up and left, else the region is at least 1 wide and high. It is cut into
    ph x pw bins of equal size, each with `sampling_ratio` samples along each axis, or as many as
    its size rounded up, at even distances; then it is turned about its centre. A sample more than a
    pixel beside the map is 0, one nearer than that has the value at the rim. A bin without samples
    is 0, and so is a region whose batch index is out of range, whose size is negative, or whose
    numbers are not finite.

    Parameters
    ----------
    features : array, shape [B, H, W, C], float16 or float32
        Feature maps of B images.
    rois : array, shape [R, 6], like `features`
        Number of the image, x and y of the centre, width, height in pixels of the image, angle in
        radians.
    output_size : int or (int, int)
        Number of bins along y and x, ph and pw, > 0.
    spatial_scale : float
        Size of the map divided by the size of the image, at least 0.
    sampling_ratio : int
        Samples of a bin along an axis, at most 256; 0 for a sample each pixel.
    aligned : bool
        Whether a pixel's centre is half a pixel from its corner, as it should be.
    clockwise : bool
        Whether angles go from y to x.
    out : array or DeviceArray, optional
        Where to write, shape [R, ph, pw, C], like `features`; it must not overlap an input.
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
        If an argument is not as described, or there are no regions or channels.
    NotSupportedError
        If the library is one for a device.

    References
    ----------
    Xie et al.: Oriented R-CNN. ICCV 2021, arXiv:2108.05699.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> features = np.array([[1, 2], [3, 4]], np.float32).reshape(1, 2, 2, 1)
    >>> rois = np.array([[0, 0.5, 0.5, 1, 1, 0]], np.float32)
    >>> pymluops.roi_align_rotated_forward(features, rois, 2, 1.0, 2)[0, :, :, 0].tolist()
    [[1.0, 1.25], [1.5, 1.75]]
    """
    sizes = bins(_FORWARD, output_size)
    return _FORWARD(handle, (features, rois, out), (*sizes, spatial_scale, sampling_ratio, aligned, clockwise))


def roi_align_rotated_backward(
    top_grad: Array,
    rois: Array,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    sampling_ratio: int,
    aligned: bool,
    clockwise: bool,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Gradient of `roi_align_rotated_forward` with respect to its features.

    Parameters
    ----------
    top_grad : array, shape [R, ph, pw, C], float16 or float32
        Gradient with respect to the output of the forward direction.
    rois : array, shape [R, 6], like `top_grad`
        The regions of the forward direction.
    output_size : int or (int, int)
        Number of bins along y and x, ph and pw, > 0.
    spatial_scale, sampling_ratio, aligned, clockwise : float, int, bool, bool
        As in the forward direction.
    batch : int
        Number of images, B.
    feature_size : (int, int)
        H and W of the feature maps, in pixels.
    out : array or DeviceArray, optional
        Where to write, shape [B, H, W, C], like `top_grad`; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [B, H, W, C] of the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described, or there are no regions or channels.
    NotSupportedError
        If the library is one for a device.

    References
    ----------
    Xie et al.: Oriented R-CNN. ICCV 2021, arXiv:2108.05699.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> grad, rois = np.ones((1, 1, 1, 1), np.float32), np.array([[0, 1, 1, 2, 2, 0]], np.float32)
    >>> pymluops.roi_align_rotated_backward(grad, rois, 1, 1.0, 2, True, False, 1, (2, 2))[0, :, :, 0].tolist()
    [[0.25, 0.25], [0.25, 0.25]]
    """
    sizes = bins(_BACKWARD, output_size)
    height, width = integers(_BACKWARD, "feature_size", feature_size, 2, 0, repeat=False)
    scalars = (*sizes, spatial_scale, sampling_ratio, aligned, clockwise, batch, height, width)
    return _BACKWARD(handle, (top_grad, rois, out), scalars)


def riroi_align_rotated_forward(
    input: Array,
    rois: Array,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    num_samples: int = 0,
    num_orientations: int = 8,
    clockwise: bool = False,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Average bilinear samples in the bins of turned regions, and turn the orientations of the channels as well.

    The samples are those of `roi_align_rotated_forward` without `aligned`. With q = angle *
    num_orientations / 2 pi and p = floor(q), channel ``c * num_orientations + o`` of the result is
    the mean of orientation ``(o - p) % num_orientations`` of channel c, times 1 - (q - p), plus
    that of the next orientation times q - p.

    Parameters
    ----------
    input : array, shape [B, H, W, C], float32
        Feature maps of B images; the orientations of a channel lie side by side.
    rois : array, shape [R, 6], like `input`
        Number of the image, x and y of the centre, width, height in pixels of the image, angle in
        radians.
    output_size : int or (int, int)
        Number of bins along y and x, ph and pw, > 0.
    spatial_scale : float
        Size of the map divided by the size of the image, > 0.
    num_samples : int
        Samples of a bin along an axis, at most 256; 0 for a sample each pixel.
    num_orientations : int
        Orientations of a channel, a divisor of C, at most 256.
    clockwise : bool
        Whether angles go from y to x.
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
    Han et al.: ReDet: A Rotation-equivariant Detector for Aerial Object Detection. CVPR 2021,
    arXiv:2103.07733.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> features = np.arange(4, dtype=np.float32).reshape(1, 1, 1, 4)
    >>> rois = np.array([[0, 0, 0, 1, 1, np.pi / 4]], np.float32)
    >>> pymluops.riroi_align_rotated_forward(features, rois, 1, 1.0, 1, 4)[0, 0, 0].tolist()
    [0.5, 1.5, 2.5, 1.5]
    """
    sizes = bins(_TURNING_FORWARD, output_size)
    scalars = (*sizes, spatial_scale, num_samples, num_orientations, clockwise)
    return _TURNING_FORWARD(handle, (input, rois, out), scalars)


def riroi_align_rotated_backward(
    grad_output: Array,
    rois: Array,
    spatial_scale: float,
    num_samples: int,
    num_orientations: int,
    clockwise: bool,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Gradient of `riroi_align_rotated_forward` with respect to its input.

    It takes memory of the size of `grad_output`.

    Parameters
    ----------
    grad_output : array, shape [R, ph, pw, C], float32
        Gradient with respect to the output of the forward direction.
    rois : array, shape [R, 6], like `grad_output`
        The regions of the forward direction.
    spatial_scale, num_samples, num_orientations, clockwise : float, int, int, bool
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
    Han et al.: ReDet: A Rotation-equivariant Detector for Aerial Object Detection. CVPR 2021,
    arXiv:2103.07733.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> grad, rois = np.ones((1, 1, 1, 4), np.float32), np.array([[0, 0, 0, 1, 1, 0]], np.float32)
    >>> pymluops.riroi_align_rotated_backward(grad, rois, 1.0, 1, 4, False, 1, (1, 1)).ravel().tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    height, width = map_size(_TURNING_BACKWARD, feature_size)
    scalars = (spatial_scale, num_samples, num_orientations, clockwise, batch, height, width)
    return _TURNING_BACKWARD(handle, (grad_output, rois, out), scalars)
