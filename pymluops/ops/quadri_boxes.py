"""Overlaps of quadrilaterals, and suppression by them."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from pymluops._arguments import flag
from pymluops._core import Operator
from pymluops.ops._schema import FLOAT32, INT32, Scalar, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["box_iou_quadri", "nms_quadri", "poly_nms"]

_FIRST = Tensor("bbox1", FLOAT32, "N 8")
_SCALARS = (Scalar("mode", choices={"iou": 0, "iof": 1, "mmcv_iou": 2, "mmcv_iof": 3}), Scalar("aligned"))
_THRESHOLD = Scalar("iou_threshold", infinite=True, nan=True)
_KEPT = Tensor("out", INT32, "N", output=True, zeroed=True, parameter="output")

_PAIRS = Operator(
    "mluopsExtBoxIouQuadri",
    "box_iou_quadri",
    (_FIRST, Tensor("bbox2", "bbox1", "M 8"), Tensor("out", "bbox1", "N M", output=True, parameter="ious")),
    _SCALARS,
)
_NMS = Operator(
    "mluopsExtNmsQuadri",
    "nms_quadri",
    (
        Tensor("boxes", FLOAT32, "N 8"),
        Tensor("scores", "boxes", "N"),
        _KEPT,
        Tensor("result_num", INT32, "1", output=True, zeroed=True),
    ),
    (_THRESHOLD,),
)
_POLY_NMS = Operator(
    "mluOpPolyNms",
    "poly_nms",
    (Tensor("boxes", FLOAT32, "N 9"), _KEPT, Tensor("output_size", INT32, "1", output=True, zeroed=True)),
    (_THRESHOLD,),
    workspace="mluOpGetPolyNmsWorkspaceSize",
)


@functools.cache
def aligned_operator() -> Operator:
    """Return the operator for boxes in the same rows."""
    second = Tensor("bbox2", "bbox1", "N 8")
    out = Tensor("out", "bbox1", "N", output=True, parameter="ious")
    return Operator("mluopsExtBoxIouQuadri", "box_iou_quadri", (_FIRST, second, out), _SCALARS)


def box_iou_quadri(
    bbox1: Array,
    bbox2: Array,
    mode: int | str = "iou",
    aligned: bool = False,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Divide the area that two quadrilaterals have in common by that of both together, or of the first one.

    Areas are those of simple quadrilaterals, convex or not, in either direction around. They are
    computed in float64 and right also where boxes nearly coincide; identical boxes give 1. A box
    that has no area or a number that is not finite overlaps no other one.

    Parameters
    ----------
    bbox1 : array, shape [N, 8], float32
        Boxes: x and y of four corners, in their order around the box.
    bbox2 : array, shape [M, 8], like `bbox1`
        The other boxes.
    mode : {"iou", "iof", "mmcv_iou", "mmcv_iof"}, or 0 to 3
        Divide by the area of both boxes together, or by that of the one in `bbox1`. The modes of
        mmcv give the values that programs made with mmcv expect: a corner counts as inside if it
        lies between the lines across the ends of the other box's first edge, and of its last edge,
        and the common area is that of the convex hull of these corners and of the crossings. That
        is wrong for boxes which are no rectangles. Where both are rectangles, or nearly coincide,
        to a thousandth of a side, these modes are as the others.
    aligned : bool
        Compare the boxes in the same rows, N = M of them; else all pairs.
    out : array or DeviceArray, optional
        Where to write, shape [N, M], or [N] if `aligned`, like `bbox1`; it must not overlap an
        input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of the kind of the first argument. N and M may be 0.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> boxes = np.array([[0, 0, 4, 0, 4, 2, 0, 2], [0, 0, 2, 0, 2, 2, 0, 2]], np.float32)
    >>> pymluops.box_iou_quadri(boxes[:1], boxes).tolist()
    [[1.0, 0.5]]
    """
    same_rows = flag(_PAIRS, "aligned", aligned)
    operator = aligned_operator() if same_rows else _PAIRS
    return operator(handle, (bbox1, bbox2, out), (mode, same_rows))


def nms_quadri(boxes: Array, scores: Array, iou_threshold: float, *, handle: Handle | None = None) -> Any:
    """Keep the boxes that no kept box with a higher score overlaps too much.

    From the highest score down, each box that is left is kept, and suppresses all others whose
    overlap with it, as of `box_iou_quadri`, is above `iou_threshold`. A box without an area
    overlaps no other one. Of equal scores the first one counts as higher. A box with a score of
    minus infinity or NaN is neither kept nor suppresses others.

    Parameters
    ----------
    boxes : array, shape [N, 8], float32
        Boxes: x and y of four corners, in their order around the box. To suppress within classes
        only, move the boxes of each class far from the others.
    scores : array, shape [N], like `boxes`
        Their scores.
    iou_threshold : float
        The largest overlap allowed. Below 0 only one box is kept; with NaN all of them are.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        Numbers of the kept boxes in the order of their scores, int32, of the kind of the first
        argument.

    Raises
    ------
    BadParamError
        If an argument is not as described. N may be 0.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> boxes = np.array([[0, 0, 4, 0, 4, 2, 0, 2], [0, 0, 4, 0, 4, 3, 0, 3]], np.float32)
    >>> pymluops.nms_quadri(boxes, np.array([0.5, 0.8], np.float32), 0.5).tolist()
    [1]
    """
    kept, count = _NMS(handle, (boxes, scores, None, None), (iou_threshold,))
    return kept[: int(count[0])]


def poly_nms(boxes: Array, iou_threshold: float, *, handle: Handle | None = None) -> Any:
    """Keep the quadrilaterals that no kept one with a higher score overlaps too much.

    From the highest score down, each box that is left is kept, and suppresses all others of lower
    scores whose intersection with it, divided by their union, is above `iou_threshold`. Boxes
    of equal scores do not suppress each other. A score of NaN is the highest.

    Parameters
    ----------
    boxes : array, shape [N, 9], float32
        Boxes: x and y of four corners, in their order around the box, which may be concave; and the
        score. One that is not finite overlaps no other one.
    iou_threshold : float
        The largest overlap allowed.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        Numbers of the kept boxes in the order of their scores, int32, of the kind of the first
        argument.

    Raises
    ------
    BadParamError
        If an argument is not as described. N may be 0.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> boxes = np.array([[0, 0, 4, 0, 4, 2, 0, 2, 0.5], [0, 0, 4, 0, 4, 3, 0, 3, 0.8]], np.float32)
    >>> pymluops.poly_nms(boxes, 0.5).tolist()
    [1]
    """
    kept, count = _POLY_NMS(handle, (boxes, None, None), (iou_threshold,))
    return kept[: int(count[0])]
