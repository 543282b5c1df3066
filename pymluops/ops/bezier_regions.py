"""Bilinear samples of regions between two cubic Bezier curves, from ABCNet (arXiv:2002.10200)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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

__all__ = ["bezier_align_backward", "bezier_align_forward"]

_NUMBERS = (SPATIAL_SCALE, SAMPLING_RATIO, Scalar("aligned"))

_FORWARD = Operator(
    "mluopsExtBezierAlignForward",
    "bezier_align_forward",
    (given_map(), region_rows("input", 17), like("input", "out", POOLED, output=True, parameter="output")),
    (*SIZES, *_NUMBERS),
)
_BACKWARD = Operator(
    "mluopsExtBezierAlignBackward",
    "bezier_align_backward",
    (
        given_pooled(),
        region_rows("grad_output", 17),
        like("grad_output", "out", MAP, output=True, parameter="grad_input"),
    ),
    (*_NUMBERS, *MAP_SIZES),
)


def bezier_align_forward(
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
    """Average bilinear samples in the bins between two Bezier curves.

    The control points are multiplied with `spatial_scale`. Bin (i, j) of ph x pw is upright; its
    centre is at the parameter j / pw of both curves, i / ph of the way from the upper to the lower
    one, and if `aligned` half a pixel further up and left. The bins are as wide as the larger
    distance between the ends of a curve along x, divided by pw, and as high as that along y,
    divided by ph; the distances are at least 1 if not `aligned`. A bin has `sampling_ratio` samples
    along each axis, or as many as its size rounded up, at even distances. A sample more than a
    pixel beside the map is 0, one nearer than that has the value at the rim. A bin without samples
    is 0, and so is a region whose batch index is out of range or whose points are not finite.

    Parameters
    ----------
    input : array, shape [B, H, W, C], float16 or float32
        Feature maps of B images.
    rois : array, shape [R, 17], like `input`
        Number of the image, then x and y of eight points in pixels of the image: those of the upper
        curve from left to right, and those of the lower one from right to left.
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
    Liu et al.: ABCNet: Real-time Scene Text Spotting with Adaptive Bezier-Curve Network. CVPR 2020,
    arXiv:2002.10200.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> features = np.array([[1, 2, 5], [3, 4, 7]], np.float32).reshape(1, 2, 3, 1)
    >>> rois = np.array([[0, 0, 0, 1, 0, 2, 0, 3, 0, 3, 2, 2, 2, 1, 2, 0, 2]], np.float32)
    >>> pymluops.bezier_align_forward(features, rois, 2, 1.0, 1, False)[0, :, :, 0].tolist()
    [[1.0, 3.5], [3.0, 5.5]]
    """
    scalars = (*bins(_FORWARD, output_size), spatial_scale, sampling_ratio, aligned)
    return _FORWARD(handle, (input, rois, out), scalars)


def bezier_align_backward(
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
    """Gradient of `bezier_align_forward` with respect to its input.

    Parameters
    ----------
    grad_output : array, shape [R, ph, pw, C], float16 or float32
        Gradient with respect to the output of the forward direction.
    rois : array, shape [R, 17], like `grad_output`
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
    Liu et al.: ABCNet: Real-time Scene Text Spotting with Adaptive Bezier-Curve Network. CVPR 2020,
    arXiv:2002.10200.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> grad = np.ones((1, 1, 1, 1), np.float32)
    >>> rois = np.array([[0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]], np.float32)
    >>> pymluops.bezier_align_backward(grad, rois, 1.0, 1, False, 1, (2, 2))[0, :, :, 0].tolist()
    [[0.0, 0.0], [0.0, 1.0]]
    """
    scalars = (spatial_scale, sampling_ratio, aligned, batch, *map_size(_BACKWARD, feature_size))
    return _BACKWARD(handle, (grad_output, rois, out), scalars)
