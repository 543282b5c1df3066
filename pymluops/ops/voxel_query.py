"""The points near centres, looked up by cells of a grid, from Voxel R-CNN (AAAI 2021)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pymluops._core import Operator, integers
from pymluops.ops._schema import FLOAT32, INT32, Scalar, Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["voxel_query"]

_RANGES = ("z_range", "y_range", "x_range")

_QUERY = Operator(
    "mluopsExtVoxelQuery",
    "voxel_query",
    (
        Tensor("new_xyz", FLOAT32, "M 3", positive="M"),
        Tensor("xyz", "new_xyz", "N 3", positive="N"),
        Tensor("new_coords", INT32, "M 4"),
        Tensor("point_indices", INT32, "B Z Y X", positive="B Z Y X"),
        Tensor("out", INT32, "M nsample", output=True, parameter="idx"),
    ),
    (
        Scalar("radius", minimum=0, infinite=True),
        *(Scalar("ranges", minimum=0, symbol=name) for name in _RANGES),
        Scalar("nsample"),
    ),
)


def voxel_query(
    new_xyz: Array,
    xyz: Array,
    new_coords: Array,
    point_indices: Array,
    radius: float,
    ranges: Sequence[int],
    nsample: int,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Find the first points that lie in a ball around each centre, of those in the cells around its own.

    Cells are visited along z, then y, then x, from the lowest to the highest; those outside of the
    grid are left out. A point counts if its squared distance is at most ``radius**2``. Where fewer
    than `nsample` points count, the first one fills the other places; a centre without a point has
    -1 in its first place and zeros in the others.

    Parameters
    ----------
    new_xyz : array, shape [M, 3], float32
        The centres.
    xyz : array, shape [N, 3], like `new_xyz`
        The points.
    new_coords : array, shape [M, 4], int32
        Batch of each centre, and its cell along z, y and x. A batch out of range has no points.
    point_indices : array, shape [B, Z, Y, X], int32
        Row of the point in each cell; any other number in a cell without a point.
    radius : float
        Radius of the ball, at least 0.
    ranges : (int, int, int)
        How many cells to visit on each side of the centre's own, along z, y and x.
    nsample : int
        Number of points for each centre.
    out : array or DeviceArray, optional
        Where to write, shape [M, nsample], int32; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [M, nsample] of the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described, or a dim is 0.
    NotSupportedError
        If a tensor has 2**31 elements or more, or the library is one for a device.

    References
    ----------
    Deng et al.: Voxel R-CNN. AAAI 2021, arXiv:2012.15712.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> xyz = np.array([[0.5, 0.5, 0.5], [2.5, 0.5, 0.5]], np.float32)
    >>> cells = np.array([0, -1, 1], np.int32).reshape(1, 1, 1, 3)
    >>> coords = np.array([[0, 0, 0, 1]], np.int32)
    >>> pymluops.voxel_query(xyz[:1] + 1, xyz, coords, cells, 5, (0, 0, 1), 3).tolist()
    [[0, 1, 0]]
    """
    z, y, x = integers(_QUERY, "ranges", ranges, 3, 0, repeat=False)
    return _QUERY(handle, (new_xyz, xyz, new_coords, point_indices, out), (radius, z, y, x, nsample))
