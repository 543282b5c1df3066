"""Boxes in space that stand upright: overlaps from above and of volumes, and suppression by them."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from pymluops._arguments import flag
from pymluops._core import Operator
from pymluops.ops._schema import FLOAT32, INT32, Scalar, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["boxes_iou3d", "boxes_iou_bev", "boxes_overlap_bev", "nms3d", "nms3d_normal"]

_FIRST = Tensor("boxes_a", FLOAT32, "N 7")
_OVERLAPS = {"boxes_overlap_bev": "overlaps", "boxes_iou_bev": "ious", "boxes_iou3d": "ious"}


def _pairs(function: str, name: str) -> Operator:
    """Describe a function of all pairs."""
    second = Tensor("boxes_b", "boxes_a", "M 7")
    out = Tensor("out", "boxes_a", "N M", output=True, parameter=_OVERLAPS[name])
    return Operator(function, name, (_FIRST, second, out), (Scalar("aligned"),))


_OVERLAP_BEV = _pairs("mluopsExtBoxesOverlapBev", "boxes_overlap_bev")
_IOU_BEV = _pairs("mluopsExtBoxesIouBev", "boxes_iou_bev")
_IOU_3D = _pairs("mluopsExtBoxesIou3d", "boxes_iou3d")


@functools.cache
def _aligned(function: str, name: str) -> Operator:
    """Describe a function of the boxes in the same rows."""
    second = Tensor("boxes_b", "boxes_a", "N 7")
    out = Tensor("out", "boxes_a", "N", output=True, parameter=_OVERLAPS[name])
    return Operator(function, name, (_FIRST, second, out), (Scalar("aligned"),))


def _suppression(function: str, name: str) -> Operator:
    return Operator(
        function,
        name,
        (
            Tensor("boxes", FLOAT32, "N 7"),
            Tensor("scores", "boxes", "N"),
            Tensor("out", INT32, "N", output=True, zeroed=True, parameter="output"),
            Tensor("result_num", INT32, "1", output=True, zeroed=True),
        ),
        (Scalar("iou_threshold", infinite=True, nan=True),),
    )


_NMS_3D = _suppression("mluopsExtNms3d", "nms3d")
_NMS_3D_NORMAL = _suppression("mluopsExtNms3dNormal", "nms3d_normal")


def boxes_overlap_bev(
    boxes_a: Array, boxes_b: Array, aligned: bool = False, *, out: Any = None, handle: Handle | None = None
) -> Any:
    """Compute the area that boxes have in common, seen from above.

    It is the true area, computed in float64, also where boxes nearly coincide or touch. The CUDA
    code of mmdetection3d and OpenPCDet counts corners within 0.01 around a box as inside. A box
    without a base, or with a number that is not finite, heights aside, overlaps no other one.

    Parameters
    ----------
    boxes_a : array, shape [N, 7], float32
        Boxes: x, y and z of the centre, sizes dx, dy and dz, and the heading in radians, which is
        the angle of dx from the x axis.
    boxes_b : array, shape [M, 7], like `boxes_a`
        The other boxes.
    aligned : bool
        Compare the boxes in the same rows, N = M of them; else all pairs.
    out : array or DeviceArray, optional
        Where to write, shape [N, M], or [N] if `aligned`, like `boxes_a`; it must not overlap an
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
    >>> boxes = np.array([[0, 0, 0, 4, 2, 2, 0], [1, 0, 5, 4, 2, 2, 0]], np.float32)
    >>> pymluops.boxes_overlap_bev(boxes, boxes).astype(float).round(3).tolist()
    [[8.0, 6.0], [6.0, 8.0]]
    """
    return _compare(_OVERLAP_BEV, (boxes_a, boxes_b, out), aligned, handle)


def boxes_iou_bev(
    boxes_a: Array, boxes_b: Array, aligned: bool = False, *, out: Any = None, handle: Handle | None = None
) -> Any:
    """Divide the area that boxes have in common, seen from above, by that of both together.

    The common area is that of `boxes_overlap_bev`; the divisor is at least 1e-8.

    Parameters
    ----------
    boxes_a : array, shape [N, 7], float32
        Boxes: x, y and z of the centre, sizes dx, dy and dz, and the heading in radians.
    boxes_b : array, shape [M, 7], like `boxes_a`
        The other boxes.
    aligned : bool
        Compare the boxes in the same rows, N = M of them; else all pairs.
    out : array or DeviceArray, optional
        Where to write, shape [N, M], or [N] if `aligned`, like `boxes_a`; it must not overlap an
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
    >>> boxes = np.array([[0, 0, 0, 4, 2, 2, 0], [1, 0, 5, 4, 2, 2, 0]], np.float32)
    >>> pymluops.boxes_iou_bev(boxes, boxes).astype(float).round(3).tolist()
    [[1.0, 0.6], [0.6, 1.0]]
    """
    return _compare(_IOU_BEV, (boxes_a, boxes_b, out), aligned, handle)


def boxes_iou3d(
    boxes_a: Array, boxes_b: Array, aligned: bool = False, *, out: Any = None, handle: Handle | None = None
) -> Any:
    """Divide the volume that boxes have in common by that of both together.

    The common volume is the area of `boxes_overlap_bev` times the common height; the divisor is at
    least 1e-6.

    Parameters
    ----------
    boxes_a : array, shape [N, 7], float32
        Boxes: x, y and z of the centre, sizes dx, dy and dz, and the heading in radians.
    boxes_b : array, shape [M, 7], like `boxes_a`
        The other boxes.
    aligned : bool
        Compare the boxes in the same rows, N = M of them; else all pairs.
    out : array or DeviceArray, optional
        Where to write, shape [N, M], or [N] if `aligned`, like `boxes_a`; it must not overlap an
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
    >>> boxes = np.array([[0, 0, 0, 4, 2, 2, 0], [1, 0, 1, 4, 2, 2, 0]], np.float32)
    >>> pymluops.boxes_iou3d(boxes, boxes).astype(float).round(3).tolist()
    [[1.0, 0.231], [0.231, 1.0]]
    """
    return _compare(_IOU_3D, (boxes_a, boxes_b, out), aligned, handle)


def _compare(pairs: Operator, tensors: tuple[Any, ...], aligned: bool, handle: Handle | None) -> Any:
    same_rows = flag(pairs, "aligned", aligned)
    operator = _aligned(pairs.function, pairs.name) if same_rows else pairs
    return operator(handle, tensors, (same_rows,))


def nms3d(boxes: Array, scores: Array, iou_threshold: float, *, handle: Handle | None = None) -> Any:
    """Keep the boxes that no kept box with a higher score overlaps too much, seen from above.

    From the highest score down, each box that is left is kept, and suppresses all others whose
    overlap with it, as of `boxes_iou_bev`, is above `iou_threshold`. Of equal scores the first one
    counts as higher. A box with a score of minus infinity or NaN is neither kept nor suppresses
    others.

    Parameters
    ----------
    boxes : array, shape [N, 7], float32
        Boxes: x, y and z of the centre, sizes dx, dy and dz, and the heading in radians. Heights
        are not looked at.
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
    >>> boxes = np.array([[0, 0, 0, 4, 2, 2, 0], [1, 0, 0, 4, 2, 2, 0], [9, 0, 0, 4, 2, 2, 0]], np.float32)
    >>> pymluops.nms3d(boxes, np.array([0.5, 0.8, 0.6], np.float32), 0.3).tolist()
    [1, 2]
    """
    return _kept(_NMS_3D, boxes, scores, iou_threshold, handle)


def nms3d_normal(boxes: Array, scores: Array, iou_threshold: float, *, handle: Handle | None = None) -> Any:
    """Keep boxes as `nms3d` does, as if all headings were 0.

    Parameters
    ----------
    boxes : array, shape [N, 7], float32
        Boxes: x, y and z of the centre, sizes dx, dy and dz, and the heading, which is not looked
        at, nor are heights.
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
    >>> boxes = np.array([[0, 0, 0, 4, 2, 2, 0], [1, 0, 0, 4, 2, 2, 1.5], [9, 0, 0, 4, 2, 2, 0]], np.float32)
    >>> pymluops.nms3d_normal(boxes, np.array([0.5, 0.8, 0.6], np.float32), 0.3).tolist()
    [1, 2]
    """
    return _kept(_NMS_3D_NORMAL, boxes, scores, iou_threshold, handle)


def _kept(operator: Operator, boxes: Array, scores: Array, iou_threshold: float, handle: Handle | None) -> Any:
    kept, count = operator(handle, (boxes, scores, None, None), (iou_threshold,))
    return kept[: int(count[0])]
