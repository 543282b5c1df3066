"""Feature maps plus their samples at the centres and corners of turned boxes, one box a pixel (arXiv:1908.05612)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pymluops._core import Operator
from pymluops.enums import Layout
from pymluops.ops._schema import FLOATS, Scalar, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["rotated_feature_align_backward", "rotated_feature_align_forward"]

_MAP = "B H W C"
_NUMBERS = (Scalar("spatial_scale", minimum=0, above=True), Scalar("points", choices={"centre": 1, "corners": 5}))

_FORWARD = Operator(
    "mluOpRotatedFeatureAlignForward",
    "rotated_feature_align_forward",
    (
        Tensor("input", FLOATS, _MAP, layout=Layout.NHWC, positive=_MAP),
        Tensor("bboxes", "input", "B H W 5"),
        Tensor("out", "input", _MAP, output=True, layout=Layout.NHWC, parameter="output"),
    ),
    _NUMBERS,
)
_BACKWARD = Operator(
    "mluOpRotatedFeatureAlignBackward",
    "rotated_feature_align_backward",
    (
        Tensor("top_output", FLOATS, _MAP, layout=Layout.NHWC, positive=_MAP),
        Tensor("bboxes", "top_output", "B H W 5"),
        Tensor("out", "top_output", _MAP, output=True, layout=Layout.NHWC, parameter="bottom_input"),
    ),
    _NUMBERS,
)


def rotated_feature_align_forward(
    input: Array,
    bboxes: Array,
    spatial_scale: float,
    points: int | str = 1,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Add to each pixel of feature maps the samples at the centre, or the centre and the corners, of its box.

    With (y, x, w, h, a) a box whose numbers, except for the angle, are multiplied with
    `spatial_scale`, the places are, in (x, y), the centre, ``centre + right + down``, ``centre -
    right + down``, ``centre - right - down`` and ``centre + right - down``, where ``right = w / 2 *
    (cos a, sin a)`` and ``down = h / 2 * (-sin a, cos a)``. Samples are bilinear. A place up to a
    pixel beside the map has the value at its rim; one that is further away, or not finite, adds
    nothing.

    Parameters
    ----------
    input : array, shape [B, H, W, C], float16 or float32
        Feature maps of B images.
    bboxes : array, shape [B, H, W, 5], like `input`
        A box for each pixel: y and x of the centre, width, height in pixels of the image, angle in
        radians.
    spatial_scale : float
        Size of the map divided by the size of the image, > 0.
    points : {1, 5, "centre", "corners"}
        Sample the centre, or the centre and the four corners.
    out : array or DeviceArray, optional
        Where to write, shape [B, H, W, C], like `input`; it must not overlap an input.
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
    Yang et al.: R3Det: Refined Single-Stage Detector with Feature Refinement for Rotating Object.
    AAAI 2021, arXiv:1908.05612.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> features = np.array([[1, 2], [3, 4]], np.float32).reshape(1, 2, 2, 1)
    >>> bboxes = np.zeros((1, 2, 2, 5), np.float32)
    >>> bboxes[..., 1] = 0.5
    >>> pymluops.rotated_feature_align_forward(features, bboxes, 1.0)[0, :, :, 0].tolist()
    [[2.5, 3.5], [4.5, 5.5]]
    """
    return _FORWARD(handle, (input, bboxes, out), (spatial_scale, points))


def rotated_feature_align_backward(
    top_output: Array,
    bboxes: Array,
    spatial_scale: float,
    points: int | str = 1,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Gradient of `rotated_feature_align_forward` with respect to its input.

    Beside the arguments it takes memory for two numbers a place.

    Parameters
    ----------
    top_output : array, shape [B, H, W, C], float16 or float32
        Gradient with respect to the output of the forward direction.
    bboxes : array, shape [B, H, W, 5], like `top_output`
        The boxes of the forward direction.
    spatial_scale : float
        Size of the map divided by the size of the image, > 0.
    points : {1, 5, "centre", "corners"}
        As in the forward direction.
    out : array or DeviceArray, optional
        Where to write, shape [B, H, W, C], like `top_output`; it must not overlap an input.
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
    Yang et al.: R3Det: Refined Single-Stage Detector with Feature Refinement for Rotating Object.
    AAAI 2021, arXiv:1908.05612.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> bboxes = np.zeros((1, 2, 2, 5), np.float32)
    >>> bboxes[..., 1] = 0.5
    >>> grad = np.ones((1, 2, 2, 1), np.float32)
    >>> pymluops.rotated_feature_align_backward(grad, bboxes, 1.0)[0, :, :, 0].tolist()
    [[3.0, 3.0], [1.0, 1.0]]
    """
    return _BACKWARD(handle, (top_output, bboxes, out), (spatial_scale, points))
