"""Bilinear samples of feature maps at the points of grids, the cropping of spatial transformers (arXiv:1506.02025)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pymluops._core import Operator, integers
from pymluops.enums import Layout
from pymluops.ops._schema import FLOAT32, Scalar, Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["roi_crop_backward", "roi_crop_forward"]

_MAP = "B H W C"
_SAMPLES = "R rows columns C"

_FORWARD = Operator(
    "mluOpRoiCropForward",
    "roi_crop_forward",
    (
        Tensor("input", FLOAT32, _MAP, layout=Layout.NHWC, positive=_MAP),
        Tensor("grid", "input", "R rows columns 2", positive="R rows columns", rules=("B divides R",)),
        Tensor("out", "input", _SAMPLES, output=True, layout=Layout.NHWC, parameter="output"),
    ),
)
_BACKWARD = Operator(
    "mluOpRoiCropBackward",
    "roi_crop_backward",
    (
        Tensor("grad_output", FLOAT32, _SAMPLES, layout=Layout.NHWC, positive=_SAMPLES),
        Tensor("grid", "grad_output", "R rows columns 2"),
        Tensor(
            "out", "grad_output", _MAP,
            output=True, layout=Layout.NHWC, parameter="grad_input", rules=("B divides R",),
        ),
    ),
    (Scalar("batch", symbol="B"), Scalar("feature_size", symbol="H"), Scalar("feature_size", symbol="W")),
)  # fmt: skip


def roi_crop_forward(input: Array, grid: Array, *, out: Any = None, handle: Handle | None = None) -> Any:
    """Sample feature maps bilinearly at the points of grids, one grid for each region.

    Region n samples image ``n // (R // B)``. A point (y, x) of its grid, -1 to 1 from the centre of
    the first pixel to that of the last one, lies at the pixel ``((y + 1) * (H - 1) / 2, (x + 1) *
    (W - 1) / 2)``. Pixels beside the map count as 0, and so does all that a point with a NaN
    samples.

    Parameters
    ----------
    input : array, shape [B, H, W, C], float32
        Feature maps of B images.
    grid : array, shape [R, rows, columns, 2], like `input`
        The points of R regions, y first. B divides R; the regions of an image stand together.
    out : array or DeviceArray, optional
        Where to write, shape [R, rows, columns, C], like `input`; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [R, rows, columns, C] of the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described, or a dim is 0.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Jaderberg et al.: Spatial Transformer Networks. NIPS 2015, arXiv:1506.02025.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> features = np.arange(9, dtype=np.float32).reshape(1, 3, 3, 1)
    >>> grid = np.array([[[[-1, -1], [0, 0.5], [1, 1]]]], np.float32)
    >>> pymluops.roi_crop_forward(features, grid).ravel().tolist()
    [0.0, 4.5, 8.0]
    """
    return _FORWARD(handle, (input, grid, out))


def roi_crop_backward(
    grad_output: Array,
    grid: Array,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Gradient of `roi_crop_forward` with respect to its input.

    Each gradient goes to the four pixels that its point was interpolated from, with the same
    weights.

    Parameters
    ----------
    grad_output : array, shape [R, rows, columns, C], float32
        Gradient with respect to the output of the forward direction.
    grid : array, shape [R, rows, columns, 2], like `grad_output`
        The points of the forward direction.
    batch : int
        Number of images, B; it divides R.
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
        If a tensor has 2**31 elements or more.

    References
    ----------
    Jaderberg et al.: Spatial Transformer Networks. NIPS 2015, arXiv:1506.02025.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> grid = np.array([[[[0, 0.5]]]], np.float32)
    >>> grad = pymluops.roi_crop_backward(np.ones((1, 1, 1, 1), np.float32), grid, 1, (3, 3))
    >>> grad[0, :, :, 0].tolist()
    [[0.0, 0.0, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 0.0]]
    """
    height, width = integers(_BACKWARD, "feature_size", feature_size, 2, 1, repeat=False)
    return _BACKWARD(handle, (grad_output, grid, out), (batch, height, width))
