"""Corners of polygons in the order of a walk around them, for differentiable overlaps of rotated boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pymluops._core import Operator
from pymluops.enums import DataType
from pymluops.ops._schema import FLOAT32, INT32, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["diff_iou_rotated_sort_vertices_forward"]

# Without polygons the C function has nothing to do; without batches, but with polygons, it refuses.
_FORWARD = Operator(
    "mluOpDiffIouRotatedSortVerticesForward",
    "diff_iou_rotated_sort_vertices_forward",
    (
        Tensor("vertices", FLOAT32, "B N 24 2"),
        Tensor("mask", (DataType.BOOL,), "B N 24"),
        Tensor("num_valid", INT32, "B N"),
        Tensor("out", INT32, "B N 9", output=True, parameter="idx"),
    ),
)


def diff_iou_rotated_sort_vertices_forward(
    vertices: Array, mask: Array, num_valid: Array, *, out: Any = None, handle: Handle | None = None
) -> Any:
    """Sort the corners of polygons by their angle around the origin.

    The polygon that two rectangles have in common has at most 8 corners out of 24 points: the 8
    corners of both, and 16 where their edges may cross. Its vertices come in the order of a walk
    around it, then the first one again; the other places have the number of the first crossing that
    is not a vertex, or 0. A polygon with fewer than 3 vertices has that number everywhere.

    Parameters
    ----------
    vertices : array, shape [B, N, 24, 2], float32
        The points of each polygon, from its mean, so that the origin lies inside.
    mask : array, shape [B, N, 24], bool
        Which of them are vertices.
    num_valid : array, shape [B, N], int32
        How many they are; more than 8 count as 8.
    out : array or DeviceArray, optional
        Where to write, shape [B, N, 9], int32; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [B, N, 9] of the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described, or B is 0 and N is not.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Zhou et al.: IoU Loss for 2D/3D Object Detection. 3DV 2019, arXiv:1908.03851.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> vertices, mask = np.zeros((1, 1, 24, 2), np.float32), np.zeros((1, 1, 24), np.bool_)
    >>> vertices[0, 0, :4], mask[0, 0, :4] = [(1, 1), (-1, -1), (-1, 1), (1, -1)], True
    >>> pymluops.diff_iou_rotated_sort_vertices_forward(vertices, mask, np.array([[4]], np.int32)).tolist()
    [[[0, 2, 1, 3, 0, 8, 8, 8, 8]]]
    """
    return _FORWARD(handle, (vertices, mask, num_valid, out))
