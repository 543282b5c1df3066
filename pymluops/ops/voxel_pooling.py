"""Sums of the features of points in the columns of a grid, from BEVDepth (arXiv:2206.10092)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pymluops._core import Operator, integers
from pymluops.ops._schema import FLOAT32, FLOATS, INT32, Scalar, Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["voxel_pooling_backward", "voxel_pooling_forward"]

_MAP = "batch_size num_voxel_y num_voxel_x num_channels"

_FORWARD = Operator(
    "mluOpVoxelPoolingForward",
    "voxel_pooling_forward",
    (
        Tensor("geom_xyz", INT32, "batch_size num_points 3"),
        Tensor("input_features", FLOAT32, "batch_size num_points num_channels"),
        Tensor("output_features", "input_features", _MAP, output=True),
        Tensor("pos_memo", INT32, "batch_size num_points 3", output=True),
    ),
    (
        Scalar("batch_size"),
        Scalar("num_points"),
        Scalar("num_channels"),
        Scalar("voxel_num", symbol="num_voxel_x"),
        Scalar("voxel_num", symbol="num_voxel_y"),
        Scalar("voxel_num", symbol="num_voxel_z"),
    ),
)
_BACKWARD = Operator(
    "mluopsExtVoxelPoolingBackward",
    "voxel_pooling_backward",
    (
        Tensor("grad_output", FLOATS, "B Y X C", positive="B Y X C"),
        Tensor("pos_memo", INT32, "B P 3", positive="P"),
        Tensor("out", "grad_output", "B P C", output=True, parameter="grad_input"),
    ),
)


def voxel_pooling_forward(
    geom_xyz: Array,
    input_features: Array,
    batch_size: int,
    num_points: int,
    num_channels: int,
    voxel_num: Sequence[int],
    *,
    output_features: Any = None,
    pos_memo: Any = None,
    handle: Handle | None = None,
) -> tuple[Any, Any]:
    """Add up the features of all points in each column of a grid, seen from above.

    Points are added in their order. One outside of the grid, also by its height, is left out.

    Parameters
    ----------
    geom_xyz : array, shape [B, P, 3], int32
        The cell of each point: x, y, z.
    input_features : array, shape [B, P, C], float32
        Features of the points.
    batch_size, num_points, num_channels : int
        B, P and C, > 0.
    voxel_num : (int, int, int)
        Number of cells along x, y and z: X, Y, Z, > 0.
    output_features : array or DeviceArray, optional
        Where to write the sums, shape [B, Y, X, C], like `input_features`; no output may overlap
        another argument.
    pos_memo : array or DeviceArray, optional
        Where to write the pixel of each point, shape [B, P, 3], int32.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    output_features : array, shape [B, Y, X, C]
        `output_features`, or a new array of the kind of the first argument.
    pos_memo : array, shape [B, P, 3], int32
        Batch, y and x of each point, or -1 three times if it was left out. The backward direction
        needs it.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Li et al.: BEVDepth: Acquisition of Reliable Depth for Multi-view 3D Object Detection. AAAI
    2023, arXiv:2206.10092.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> geom = np.array([[[1, 0, 0], [1, 0, 2], [5, 0, 0]]], np.int32)
    >>> features = np.array([[[1], [2], [4]]], np.float32)
    >>> sums, memo = pymluops.voxel_pooling_forward(geom, features, 1, 3, 1, (2, 1, 3))
    >>> sums.tolist(), memo.tolist()
    ([[[[0.0], [3.0]]]], [[[0, 0, 1], [0, 0, 1], [-1, -1, -1]]])
    """
    sizes = (batch_size, num_points, num_channels, *integers(_FORWARD, "voxel_num", voxel_num, 3, 1, repeat=False))
    result: tuple[Any, Any] = _FORWARD(handle, (geom_xyz, input_features, output_features, pos_memo), sizes)
    return result


def voxel_pooling_backward(
    grad_output: Array, pos_memo: Array, *, out: Any = None, handle: Handle | None = None
) -> Any:
    """Gradient of `voxel_pooling_forward` with respect to the features: that of the pixel of each point.

    Parameters
    ----------
    grad_output : array, shape [B, Y, X, C], float16 or float32
        Gradient with respect to the sums.
    pos_memo : array, shape [B, P, 3], int32
        What the forward direction returned. A pixel that does not exist gives 0.
    out : array or DeviceArray, optional
        Where to write, shape [B, P, C], like `grad_output`; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [B, P, C] of the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described, or a tensor is empty.
    NotSupportedError
        If a tensor has 2**31 elements or more, or the library is not that for the CPU.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> memo = np.array([[[0, 0, 1], [-1, -1, -1]]], np.int32)
    >>> pymluops.voxel_pooling_backward(np.array([[[[7], [8]]]], np.float32), memo).tolist()
    [[[8.0], [0.0]]]
    """
    return _BACKWARD(handle, (grad_output, pos_memo, out))
