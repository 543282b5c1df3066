"""Which boxes hold points, as in Part-A2 (arXiv:1907.03670)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pymluops._core import Operator
from pymluops.ops._schema import FLOAT32, FLOATS, INT32, Scalar, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["points_in_boxes", "points_in_boxes_all", "points_in_boxes_part"]

_FIRST = Operator(
    "mluOpPointsInBoxes",
    "points_in_boxes",
    (
        Tensor("points", FLOAT32, "B N 3"),
        Tensor("boxes", "points", "B M 7"),
        Tensor("out", INT32, "B N", output=True, zeroed=True, any_size=True, parameter="points_indices"),
    ),
)
_MARGIN = (Scalar("margin"), Scalar("centred", minimum=0))
_PART = Operator(
    "mluopsExtPointsInBoxesPart",
    "points_in_boxes_part",
    (
        Tensor("boxes", FLOATS, "B M 7", positive="B M"),
        Tensor("points", "boxes", "B N 3", positive="N"),
        Tensor("out", INT32, "B N", output=True, any_size=True, parameter="points_indices"),
    ),
    _MARGIN,
)
_ALL = Operator(
    "mluopsExtPointsInBoxesAll",
    "points_in_boxes_all",
    (
        Tensor("boxes", FLOATS, "B M 7", positive="B M"),
        Tensor("points", "boxes", "B N 3", positive="N"),
        Tensor("out", INT32, "B N M", output=True, any_size=True, parameter="points_inside"),
    ),
    _MARGIN,
)


def points_in_boxes(points: Array, boxes: Array, *, out: Any = None, handle: Handle | None = None) -> Any:
    """Find the first box that holds each point, as mlu-ops does.

    A box is given by its centre, its sizes along x, y and z, and its heading, the angle from the x
    axis towards the y axis. It holds a point if, along its own x and y, ``|dx| < size/2 + 1e-5``,
    where dx is the distance from its centre and size is that of the box, and if the point is at
    most half the height of the box above or below the centre. `points_in_boxes_part` has other
    margins, and boxes on the ground.

    Parameters
    ----------
    points : array, shape [B, N, 3], float32
        The points.
    boxes : array, shape [B, M, 7], like `points`
        x, y, z, dx, dy, dz, heading.
    out : array or DeviceArray, optional
        Where to write, shape [B, N], int32; it must not overlap an input. Its values stay if there
        are no boxes.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of the kind of the first argument: the number of the box, or -1 for a
        point in none. A new array is zeros if there are no boxes.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If an input has 2**31 elements or more.

    References
    ----------
    Shi et al.: From Points to Parts: 3D Object Detection from Point Cloud with Part-aware and
    Part-aggregation Network. PAMI 2020, arXiv:1907.03670.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> boxes = np.array([[[5, 0, 0, 2, 2, 2, 0], [0, 0, 0, 2, 2, 2, 0.5]]], np.float32)
    >>> points = np.array([[[5, 0.5, 0], [0, 0, 1], [0, 0, 2]]], np.float32)
    >>> pymluops.points_in_boxes(points, boxes).tolist()
    [[0, 1, -1]]
    """
    return _FIRST(handle, (points, boxes, out))


def points_in_boxes_part(
    boxes: Array,
    points: Array,
    margin: float = 0.0,
    centred: bool = False,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Find the first box that holds each point, as mmcv and OpenPCDet do.

    A box holds a point if, along its own x and y, ``|dx| < size/2 + margin``, where dx is the
    distance from its centre and size is that of the box, and if the point is neither above nor
    below the box. A point whose height is NaN is neither above nor below.

    Parameters
    ----------
    boxes : array, shape [B, M, 7], float16 or float32
        x, y, z, dx, dy, dz, heading.
    points : array, shape [B, N, 3], like `boxes`
        The points.
    margin : float
        How much larger boxes are on each side: mmcv has 0, OpenPCDet 1e-5.
    centred : bool
        Whether z is the height of the centre, as in OpenPCDet; else of the bottom, as in mmcv.
    out : array or DeviceArray, optional
        Where to write, shape [B, N], int32; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of the kind of the first argument: the number of the box, or -1 for a
        point in none.

    Raises
    ------
    BadParamError
        If an argument is not as described, or an input is empty.
    NotSupportedError
        If an input has 2**31 elements or more, or the library is not that for the CPU.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> boxes = np.array([[[5, 0, 0, 2, 2, 2, 0], [0, 0, 0, 2, 2, 2, 0.5]]], np.float32)
    >>> points = np.array([[[5, 0.5, 0], [0, 0, 2], [0, 0, -1]]], np.float32)
    >>> pymluops.points_in_boxes_part(boxes, points).tolist()
    [[0, 1, -1]]
    """
    return _PART(handle, (boxes, points, out), (margin, centred))


def points_in_boxes_all(
    boxes: Array,
    points: Array,
    margin: float = 0.0,
    centred: bool = False,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Tell of each point and each box whether the box holds the point, by the rule of `points_in_boxes_part`.

    Parameters
    ----------
    boxes : array, shape [B, M, 7], float16 or float32
        x, y, z, dx, dy, dz, heading.
    points : array, shape [B, N, 3], like `boxes`
        The points.
    margin : float
        How much larger boxes are on each side.
    centred : bool
        Whether z is the height of the centre, else of the bottom.
    out : array or DeviceArray, optional
        Where to write, shape [B, N, M], int32; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of the kind of the first argument: 1 where the box holds the point,
        else 0.

    Raises
    ------
    BadParamError
        If an argument is not as described, or an input is empty.
    NotSupportedError
        If an input has 2**31 elements or more, or the library is not that for the CPU.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> boxes = np.array([[[5, 0, 0, 2, 2, 2, 0], [5, 1, 0, 9, 9, 9, 0]]], np.float32)
    >>> pymluops.points_in_boxes_all(boxes, np.array([[[5, 0.5, 0], [0, 0, 9]]], np.float32)).tolist()
    [[[1, 1], [0, 0]]]
    """
    return _ALL(handle, (boxes, points, out), (margin, centred))
