"""Means of maps over the bins of regions of interest, without samples, from IoU-Net (arXiv:1807.11590)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pymluops._core import Operator
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
from pymluops.ops._schema import Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["prroi_pool_backward", "prroi_pool_coor_backward", "prroi_pool_forward"]

_FORWARD = Operator(
    "mluopsExtPrRoiPoolForward",
    "prroi_pool_forward",
    (given_map(), region_rows("input"), like("input", "out", POOLED, output=True, parameter="output")),
    (*SIZES, SPATIAL_SCALE),
)
_BACKWARD = Operator(
    "mluopsExtPrRoiPoolBackward",
    "prroi_pool_backward",
    (
        given_pooled(),
        region_rows("grad_output"),
        like("grad_output", "out", MAP, output=True, parameter="grad_input"),
    ),
    (SPATIAL_SCALE, *MAP_SIZES),
)
_COOR_BACKWARD = Operator(
    "mluopsExtPrRoiPoolCoorBackward",
    "prroi_pool_coor_backward",
    (
        given_pooled(),
        like("grad_output", "input", MAP, positive="B H W"),
        region_rows("grad_output"),
        like("grad_output", "output", POOLED),
        Tensor("out", "grad_output", "R 5", output=True, parameter="grad_rois"),
    ),
    (SPATIAL_SCALE,),
)


def prroi_pool_forward(
    input: Array,
    rois: Array,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Average maps over the bins of regions, by integrals instead of samples.

    A region's corners are multiplied with `spatial_scale`; it is cut into ph x pw bins of equal
    size. Between the centres of its pixels, which have whole coordinates, a map is bilinear; beside
    them it falls to 0 within a pixel. The value of a bin is the integral of the map over it divided
    by its area. A bin without an area is 0, and so is a region whose batch index is out of range or
    whose corners are not finite.

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
    Jiang et al.: Acquisition of Localization Confidence for Accurate Object Detection. ECCV 2018,
    arXiv:1807.11590.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> features = np.array([[1, 2], [3, 4]], np.float32).reshape(1, 2, 2, 1)
    >>> rois = np.array([[0, 0, 0, 1, 1]], np.float32)
    >>> pymluops.prroi_pool_forward(features, rois, 2, 1.0)[0, :, :, 0].tolist()
    [[1.75, 2.25], [2.75, 3.25]]
    """
    return _FORWARD(handle, (input, rois, out), (*bins(_FORWARD, output_size), spatial_scale))


def prroi_pool_backward(
    grad_output: Array,
    rois: Array,
    spatial_scale: float,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Gradient of `prroi_pool_forward` with respect to its input.

    Parameters
    ----------
    grad_output : array, shape [R, ph, pw, C], float16 or float32
        Gradient with respect to the output of the forward direction.
    rois : array, shape [R, 5], like `grad_output`
        The regions of the forward direction.
    spatial_scale : float
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
    Jiang et al.: Acquisition of Localization Confidence for Accurate Object Detection. ECCV 2018,
    arXiv:1807.11590.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> grad, rois = np.ones((1, 1, 1, 1), np.float32), np.array([[0, 0, 0, 1, 1]], np.float32)
    >>> pymluops.prroi_pool_backward(grad, rois, 1.0, 1, (2, 2))[0, :, :, 0].tolist()
    [[0.25, 0.25], [0.25, 0.25]]
    """
    scalars = (spatial_scale, batch, *map_size(_BACKWARD, feature_size))
    return _BACKWARD(handle, (grad_output, rois, out), scalars)


def prroi_pool_coor_backward(
    grad_output: Array,
    input: Array,
    rois: Array,
    output: Array,
    spatial_scale: float,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Gradient of `prroi_pool_forward` with respect to the corners of its regions.

    The gradient of the number of the image is 0. A channel with a gradient of 0 contributes
    nothing, even if the map is not finite there.

    Parameters
    ----------
    grad_output : array, shape [R, ph, pw, C], float16 or float32
        Gradient with respect to the output of the forward direction.
    input : array, shape [B, H, W, C], like `grad_output`
        The feature maps of the forward direction.
    rois : array, shape [R, 5], like `grad_output`
        The regions of the forward direction.
    output : array, shape [R, ph, pw, C], like `grad_output`
        What the forward direction returned.
    spatial_scale : float
        As in the forward direction.
    out : array or DeviceArray, optional
        Where to write, shape [R, 5], like `grad_output`; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [R, 5] of the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described, or a dim is 0.
    NotSupportedError
        If a tensor has 2**31 elements or more, or the library is one for a device.

    References
    ----------
    Jiang et al.: Acquisition of Localization Confidence for Accurate Object Detection. ECCV 2018,
    arXiv:1807.11590.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> features = np.array([[1, 2], [3, 4]], np.float32).reshape(1, 2, 2, 1)
    >>> rois = np.array([[0, 0, 0, 1, 1]], np.float32)
    >>> output = pymluops.prroi_pool_forward(features, rois, 2, 1.0)
    >>> pymluops.prroi_pool_coor_backward(np.ones_like(output), features, rois, output, 1.0).tolist()
    [[0.0, 2.0, 4.0, 2.0, 4.0]]
    """
    return _COOR_BACKWARD(handle, (grad_output, input, rois, output, out), (spatial_scale,))
