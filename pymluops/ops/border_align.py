"""Features along the borders of boxes, from BorderDet (arXiv:2007.11056)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pymluops._core import Operator, integers
from pymluops._work import RULES, Rule, per_element
from pymluops.enums import Layout
from pymluops.ops._schema import FLOATS, INT32, Scalar, Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["border_align_backward", "border_align_forward"]

_MAP = "N H W 4*C"
_BORDERS = "N K 4 C"
_POOL_SIZE = Scalar("pool_size")

_FORWARD = Operator(
    "mluOpBorderAlignForward",
    "border_align_forward",
    (
        Tensor("input", FLOATS, _MAP, layout=Layout.NHWC, positive="N H W C"),
        Tensor("boxes", "input", "N K 4", positive="K"),
        Tensor("out", "input", _BORDERS, output=True, layout=Layout.NHWC, parameter="output"),
        Tensor("argmax_idx", INT32, _BORDERS, output=True, layout=Layout.NHWC),
    ),
    (_POOL_SIZE,),
)
_BACKWARD = Operator(
    "mluOpBorderAlignBackward",
    "border_align_backward",
    (
        Tensor("grad_output", FLOATS, _BORDERS, layout=Layout.NHWC, positive="N K C"),
        Tensor("boxes", "grad_output", "N K 4"),
        Tensor("argmax_idx", INT32, _BORDERS, layout=Layout.NHWC),
        Tensor("out", "grad_output", _MAP, output=True, layout=Layout.NHWC, parameter="grad_input"),
    ),
    (_POOL_SIZE, Scalar("feature_size", symbol="H"), Scalar("feature_size", symbol="W")),
)

# Backward, three operations for each gradient of a border.
RULES[_FORWARD.function] = per_element(2, 14)
RULES[_BACKWARD.function] = Rule(lambda arrays, _: math.prod(arrays[0].shape[:3]) * (arrays[0].shape[3] // 4) * 3)


def border_align_forward(
    input: Array, boxes: Array, pool_size: int, *, out: Any = None, argmax_idx: Any = None, handle: Handle | None = None
) -> tuple[Any, Any]:
    """Take the largest of ``pool_size + 1`` samples along each border of each box.

    Border e (0 top, 1 left, 2 bottom, 3 right) samples channels ``e*C`` to ``(e+1)*C`` by bilinear
    interpolation. The points are evenly spaced: top and left start at (x1, y1), bottom and right at
    (x2, y2), each runs along its border to the next corner. A sample more than one pixel outside
    the map is 0 and takes part in the maximum.

    Parameters
    ----------
    input : array, shape [N, H, W, 4*C], float16 or float32
        Feature map, C channels for each border.
    boxes : array, shape [N, K, 4], like `input`
        x1, y1, x2, y2 in pixels of the feature map. The vendor's library also wants K = H*W.
    pool_size : int
        Number of steps along a border, > 0.
    out : array or DeviceArray, optional
        Where to write the maxima, shape [N, K, 4, C], like `input`.
    argmax_idx : array or DeviceArray, optional
        Where to write which sample it was, shape [N, K, 4, C], int32.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    output : array, shape [N, K, 4, C]
        `out`, or a new array like `input` of the kind of the first argument.
    argmax_idx : array, shape [N, K, 4, C], int32
        Number of the first largest sample, 0 to `pool_size`. The backward direction needs it.

    Raises
    ------
    BadParamError
        If an argument is not as described, a dim is 0, or an output overlaps another array.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Qiu et al.: BorderDet: Border Feature for Dense Object Detection. ECCV 2020, arXiv:2007.11056.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> features = np.arange(9, dtype=np.float32).reshape(1, 3, 3, 1).repeat(4, axis=3)
    >>> boxes = np.array([[[0, 0, 2, 2]]], np.float32)
    >>> output, argmax_idx = pymluops.border_align_forward(features, boxes, 2)
    >>> output[0, 0, :, 0].tolist()
    [2.0, 6.0, 8.0, 8.0]
    >>> argmax_idx[0, 0, :, 0].tolist()
    [2, 2, 0, 0]
    """
    result: tuple[Any, Any] = _FORWARD(handle, (input, boxes, out, argmax_idx), (pool_size,))
    return result


def border_align_backward(
    grad_output: Array,
    boxes: Array,
    argmax_idx: Array,
    pool_size: int,
    feature_size: Sequence[int],
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Gradient of `border_align_forward` with respect to its input.

    Each gradient goes to the four pixels that its largest sample was interpolated from, with the
    same weights.

    Parameters
    ----------
    grad_output : array, shape [N, K, 4, C], float16 or float32
        Gradient with respect to the output of the forward direction.
    boxes : array, shape [N, K, 4], like `grad_output`
        The boxes of the forward direction. The vendor's library also wants K = H*W.
    argmax_idx : array, shape [N, K, 4, C], int32
        What the forward direction returned. A value outside 0 to `pool_size` contributes nothing.
    pool_size : int
        As in the forward direction, > 0.
    feature_size : (int, int)
        H and W of the feature map, in pixels.
    out : array or DeviceArray, optional
        Where to write, shape [N, H, W, 4*C], like `grad_output`; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [N, H, W, 4*C] of the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described, or a dim is 0.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Qiu et al.: BorderDet: Border Feature for Dense Object Detection. ECCV 2020, arXiv:2007.11056.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> boxes = np.array([[[0, 0, 2, 2]]], np.float32)
    >>> argmax_idx = np.array([2, 2, 0, 0], np.int32).reshape(1, 1, 4, 1)
    >>> grad = pymluops.border_align_backward(np.ones((1, 1, 4, 1), np.float32), boxes, argmax_idx, 2, (3, 3))
    >>> grad[0, :, :, 0].tolist()  # of the top border
    [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    height, width = integers(_BACKWARD, "feature_size", feature_size, 2, 1, repeat=False)
    return _BACKWARD(handle, (grad_output, boxes, argmax_idx, out), (pool_size, height, width))
