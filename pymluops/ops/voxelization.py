"""Voxels of point clouds on a regular grid, from VoxelNet (arXiv:1711.06396)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pymluops._arguments import flag, refusal
from pymluops._core import Operator
from pymluops.ops._schema import FLOAT32, FLOATS, INT32, Scalar, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["Voxels", "dynamic_voxelize", "voxelization"]

_Result = TypeVar("_Result")

_XYZ = ("F >= 3",)
_NOTHING = "max_points max_voxels"

_VOXELIZATION = Operator(
    "mluOpVoxelization",
    "voxelization",
    (
        Tensor("points", FLOAT32, "N F", positive="N F", rules=_XYZ),
        Tensor("voxel_size", "points", "3"),
        Tensor("coors_range", "points", "6"),
        Tensor("voxels", "points", "max_voxels max_points F", output=True, any_size=True, zero_if=_NOTHING),
        Tensor("coors", INT32, "max_voxels 3", output=True, zero_if=_NOTHING),
        Tensor("num_points_per_voxel", INT32, "max_voxels", output=True, zero_if=_NOTHING),
        Tensor("voxel_num", INT32, "1", output=True, zero_if=_NOTHING),
    ),
    (
        Scalar("max_points", minimum=0),
        Scalar("max_voxels", minimum=0),
        Scalar("ndim", parameter="NDim", minimum=3, maximum=3),
        Scalar("deterministic"),
    ),
    workspace="mluOpGetVoxelizationWorkspaceSize",
)
_DYNAMIC = Operator(
    "mluopsExtDynamicVoxelize",
    "dynamic_voxelize",
    (
        Tensor("points", FLOATS, "N F", rules=_XYZ),
        Tensor("voxel_size", "points", "3"),
        Tensor("coors_range", "points", "6"),
        Tensor("coors", INT32, "N 3", output=True),
    ),
)


class Voxels(NamedTuple, Generic[_Result]):
    """What `voxelization` returns.

    Attributes
    ----------
    voxels : array, shape [max_voxels, max_points, F], like the points
        The points of each voxel, zeros behind them.
    coors : array, shape [max_voxels, 3], int32
        The cell of each voxel: z, y, x.
    num_points_per_voxel : array, shape [max_voxels], int32
        How many points each voxel has here.
    voxel_num : array, shape [1], int32
        How many voxels there are; the rows behind them are zeros.
    """

    voxels: _Result
    coors: _Result
    num_points_per_voxel: _Result
    voxel_num: _Result


def voxelization(
    points: Array,
    voxel_size: Array,
    coors_range: Array,
    max_points: int,
    max_voxels: int,
    ndim: int = 3,
    deterministic: bool = True,
    *,
    voxels: Any = None,
    coors: Any = None,
    num_points_per_voxel: Any = None,
    voxel_num: Any = None,
    handle: Handle | None = None,
) -> Voxels[Any]:
    """Sort points into the voxels of a regular grid.

    Along each axis the grid has ``round((highest - lowest) / size)`` cells, and a point lies in
    cell ``floor((place - lowest) / size)``. The first point in a cell opens the next voxel, until
    there are `max_voxels`; the first `max_points` points of a voxel are copied. A point outside of
    the grid is left out, and so is one whose coordinates are not finite. An axis has no cells if
    its size or its range is not finite and positive.

    Parameters
    ----------
    points : array, shape [N, F], float32
        Points: x, y, z, and other values of each.
    voxel_size : array, shape [3], like `points`
        Size of a cell along x, y and z.
    coors_range : array, shape [6], like `points`
        Lowest x, y, z and highest x, y, z.
    max_points : int
        Most points of a voxel, >= 0.
    max_voxels : int
        Most voxels, >= 0.
    ndim : int
        Number of coordinates, 3.
    deterministic : bool
        True: voxels have the order of their first points.
    voxels : array or DeviceArray, optional
        Where to write the points, shape [max_voxels, max_points, F], like `points`; no output may
        overlap another argument.
    coors : array or DeviceArray, optional
        Where to write the cells, shape [max_voxels, 3], int32.
    num_points_per_voxel : array or DeviceArray, optional
        Where to write the numbers of points, shape [max_voxels], int32.
    voxel_num : array or DeviceArray, optional
        Where to write the number of voxels, shape [1], int32.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    Voxels
        A named tuple ``(voxels, coors, num_points_per_voxel, voxel_num)``: the arrays given, or new
        ones of the kind of the first argument. All are zeros if `max_points` or `max_voxels` is 0.

    Raises
    ------
    BadParamError
        If an argument is not as described, or there are no points.
    NotSupportedError
        If a tensor other than `voxels` has 2**31 elements or more.

    References
    ----------
    Zhou and Tuzel: VoxelNet: End-to-End Learning for Point Cloud Based 3D Object Detection. CVPR
    2018, arXiv:1711.06396.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> points = np.array([[2.5, 0, 0], [0, 1, 0], [2, 0.5, 0], [9, 0, 0]], np.float32)
    >>> size, extent = np.ones(3, np.float32), np.array([0, 0, 0, 3, 2, 1], np.float32)
    >>> found = pymluops.voxelization(points, size, extent, 2, 4)
    >>> found.voxel_num.item(), found.coors[:2].tolist(), found.num_points_per_voxel.tolist()
    (2, [[0, 0, 2], [0, 1, 0]], [2, 1, 0, 0])
    """
    if not flag(_VOXELIZATION, "deterministic", deterministic):
        raise refusal(_VOXELIZATION, "deterministic", "True", "False")
    arrays = (points, voxel_size, coors_range, voxels, coors, num_points_per_voxel, voxel_num)
    return Voxels(*_VOXELIZATION(handle, arrays, (max_points, max_voxels, ndim, deterministic)))


def dynamic_voxelize(
    points: Array, voxel_size: Array, coors_range: Array, *, coors: Any = None, handle: Handle | None = None
) -> Any:
    """Find the cell of each point on a regular grid, that of `voxelization`.

    Parameters
    ----------
    points : array, shape [N, F], float16 or float32
        Points: x, y, z, and other values of each.
    voxel_size : array, shape [3], like `points`
        Size of a cell along x, y and z.
    coors_range : array, shape [6], like `points`
        Lowest x, y, z and highest x, y, z.
    coors : array or DeviceArray, optional
        Where to write, shape [N, 3], int32; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `coors`, or a new array of the kind of the first argument: z, y, x of the cell of each
        point, or -1 three times for a point outside of the grid.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more, or the library is not that for the CPU.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> points = np.array([[2.5, 0, 0], [0, 1, 0], [9, 0, 0]], np.float32)
    >>> size, extent = np.ones(3, np.float32), np.array([0, 0, 0, 3, 2, 1], np.float32)
    >>> pymluops.dynamic_voxelize(points, size, extent).tolist()
    [[0, 0, 2], [0, 1, 0], [-1, -1, -1]]
    """
    return _DYNAMIC(handle, (points, voxel_size, coors_range, coors))
