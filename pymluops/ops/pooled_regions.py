"""The largest pixel in the bins of regions of interest, from Fast R-CNN (arXiv:1504.08083)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pymluops._core import Operator
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
from pymluops.ops._schema import INT32, Scalar, Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["LargestPixels", "roi_pool_backward", "roi_pool_forward"]

_Result = TypeVar("_Result")

_FORWARD = Operator(
    "mluopsExtRoiPoolForward",
    "roi_pool_forward",
    (
        given_map(),
        region_rows("input"),
        like("input", "out", POOLED, output=True, parameter="output"),
        Tensor("argmax", INT32, POOLED, output=True, layout=Layout.NHWC),
    ),
    (*SIZES, SPATIAL_SCALE, Scalar("rounded")),
)
_BACKWARD = Operator(
    "mluopsExtRoiPoolBackward",
    "roi_pool_backward",
    (
        given_pooled(),
        region_rows("grad_output"),
        Tensor("argmax", INT32, POOLED, layout=Layout.NHWC),
        like("grad_output", "out", MAP, output=True, parameter="grad_input"),
    ),
    MAP_SIZES,
)


class LargestPixels(NamedTuple, Generic[_Result]):
    """What `roi_pool_forward` returns.

    Attributes
    ----------
    output : array, shape [R, ph, pw, C], like the maps
        The largest pixel of each bin.
    argmax : array, shape [R, ph, pw, C], int32
        Its number in the image, row by row; -1 for none.
    """

    output: _Result
    argmax: _Result


def roi_pool_forward(
    input: Array,
    rois: Array,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    rounded: bool = True,
    *,
    out: Any = None,
    argmax: Any = None,
    handle: Handle | None = None,
) -> LargestPixels[Any]:
    """Take the largest pixel in each bin of regions.

    A region is cut into ph x pw bins of equal size, each of which covers the pixels that it
    touches. If `rounded`, its corners times `spatial_scale` are rounded half away from zero, the
    last pixel belongs to it, and it is at least a pixel wide and high: `mluOpRoiPoolingForward`, as
    in Fast R-CNN. If not, the corners are not rounded, 1 is added to the lower right one before the
    multiplication, and a region without a size has no pixels, as in `roi_pool` of mmcv. Of equal
    pixels the first counts, row by row. A NaN never counts; if `rounded`, it counts if no number
    precedes it. A bin without pixels is 0, and so is a region whose batch index is out of range or
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
    rounded : bool
        Whether corners are whole pixels of the map.
    out : array or DeviceArray, optional
        Where to write, shape [R, ph, pw, C], like `input`; it must not overlap an input.
    argmax : array or DeviceArray, optional
        Where to write the pixels, shape [R, ph, pw, C], int32.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    LargestPixels
        `output` and `argmax`.

    Raises
    ------
    BadParamError
        If an argument is not as described, or a dim is 0.
    NotSupportedError
        If a tensor has 2**31 elements or more, or the library is one for a device.

    References
    ----------
    Girshick: Fast R-CNN. ICCV 2015, arXiv:1504.08083.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> features = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
    >>> output, pixel = pymluops.roi_pool_forward(features, np.array([[0, 0, 0, 3, 3]], np.float32), 2, 1.0)
    >>> output.ravel().tolist(), pixel.ravel().tolist()
    ([5.0, 7.0, 13.0, 15.0], [5, 7, 13, 15])
    """
    sizes = bins(_FORWARD, output_size)
    return LargestPixels(*_FORWARD(handle, (input, rois, out, argmax), (*sizes, spatial_scale, rounded)))


def roi_pool_backward(
    grad_output: Array,
    rois: Array,
    argmax: Array,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Gradient of `roi_pool_forward` with respect to its input.

    Parameters
    ----------
    grad_output : array, shape [R, ph, pw, C], float16 or float32
        Gradient with respect to the output of the forward direction.
    rois : array, shape [R, 5], like `grad_output`
        The regions of the forward direction, of which only the images are looked at.
    argmax : array, shape [R, ph, pw, C], int32
        What the forward direction returned. A number that names no pixel is ignored.
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
    Girshick: Fast R-CNN. ICCV 2015, arXiv:1504.08083.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> grad, rois = np.ones((1, 1, 1, 1), np.float32), np.zeros((1, 5), np.float32)
    >>> pixel = np.array([3], np.int32).reshape(1, 1, 1, 1)
    >>> pymluops.roi_pool_backward(grad, rois, pixel, 1, (2, 2))[0, :, :, 0].tolist()
    [[0.0, 0.0], [0.0, 1.0]]
    """
    height, width = map_size(_BACKWARD, feature_size)
    return _BACKWARD(handle, (grad_output, rois, argmax, out), (batch, height, width))
