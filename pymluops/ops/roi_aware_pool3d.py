"""Features of points pooled in the voxels of boxes, from Part-A2 (arXiv:1907.03670)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pymluops._core import Operator
from pymluops.ops._schema import FLOATS, INT32, Scalar, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["roi_aware_pool3d_backward", "roi_aware_pool3d_forward"]

_VOXELS = "boxes_num out_x out_y out_z"
_POOLED, _LISTED = f"{_VOXELS} channels", f"{_VOXELS} max_pts_each_voxel"
_METHOD = Scalar("pool_method", choices={"max": 0, "avg": 1})
_BOXES = Scalar("boxes_num", maximum=65535)
_CHANNELS = Scalar("channels", maximum=65535)
_OUT = (Scalar("out_x"), Scalar("out_y"), Scalar("out_z"))

_FORWARD = Operator(
    "mluOpRoiAwarePool3dForward",
    "roi_aware_pool3d_forward",
    (
        Tensor("rois", FLOATS, "boxes_num 7"),
        Tensor("pts", "rois", "pts_num 3"),
        Tensor("pts_feature", "rois", "pts_num channels"),
        Tensor("pooled_features", "rois", _POOLED, output=True),
        Tensor("argmax", INT32, _POOLED, output=True),
        Tensor("pts_idx_of_voxels", INT32, _LISTED, output=True),
    ),
    (_METHOD, _BOXES, Scalar("pts_num"), _CHANNELS, Scalar("max_pts_each_voxel"), *_OUT),
    workspace="mluOpGetRoiAwarePool3dForwardWorkspaceSize",
)
_BACKWARD = Operator(
    "mluOpRoiAwarePool3dBackward",
    "roi_aware_pool3d_backward",
    (
        Tensor("pts_idx_of_voxels", INT32, _LISTED),
        Tensor("argmax", INT32, _POOLED),
        Tensor("grad_out", FLOATS, _POOLED),
        Tensor("out", "grad_out", "pts_num channels", output=True, parameter="grad_in"),
    ),
    (_METHOD, _BOXES, *_OUT, _CHANNELS, Scalar("max_pts_each_voxel"), Scalar("pts_num")),
)


def roi_aware_pool3d_forward(
    rois: Array,
    pts: Array,
    pts_feature: Array,
    pool_method: str | int,
    boxes_num: int,
    pts_num: int,
    channels: int,
    max_pts_each_voxel: int,
    out_x: int,
    out_y: int,
    out_z: int,
    *,
    pooled_features: Any = None,
    argmax: Any = None,
    pts_idx_of_voxels: Any = None,
    handle: Handle | None = None,
) -> tuple[Any, Any, Any]:
    """Pool the features of the points in each voxel of each box.

    A box stands on (x, y, z), is dx, dy and dz large, and turned by its heading from the x axis
    towards the y axis. It holds a point that is less than half its size away from its axis along
    its own x and y, and neither above nor below it. It is cut into out_x x out_y x out_z voxels. A
    voxel keeps the first ``max_pts_each_voxel - 1`` of its points.

    Parameters
    ----------
    rois : array, shape [R, 7], float16 or float32
        Boxes: x, y, z, dx, dy, dz, heading.
    pts : array, shape [P, 3], like `rois`
        Points.
    pts_feature : array, shape [P, C], like `rois`
        Features of the points.
    pool_method : {"max", "avg"} or int
        The largest feature (0), for which NaN and -infinity do not count, or the mean (1).
    boxes_num, pts_num, channels : int
        R, P and C, > 0; R and C below 65536.
    max_pts_each_voxel : int
        Room for points of a voxel, K, one more than it keeps; > 0.
    out_x, out_y, out_z : int
        Voxels along the axes of a box, > 0.
    pooled_features : array or DeviceArray, optional
        Where to write the features, shape [R, out_x, out_y, out_z, C], like `rois`; no output may
        overlap another argument.
    argmax : array or DeviceArray, optional
        Where to write the points, shape [R, out_x, out_y, out_z, C], int32.
    pts_idx_of_voxels : array or DeviceArray, optional
        Where to write the lists, shape [R, out_x, out_y, out_z, K], int32.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    pooled_features : array, shape [R, out_x, out_y, out_z, C]
        The features, 0 in a voxel without a point.
    argmax : array, shape [R, out_x, out_y, out_z, C], int32
        The point of each maximum, -1 if there is none; zeros for means.
    pts_idx_of_voxels : array, shape [R, out_x, out_y, out_z, K], int32
        The number of points of each voxel, these points, and zeros.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor, or R times P, is 2**31 or more.

    References
    ----------
    Shi et al.: From Points to Parts: 3D Object Detection from Point Cloud with Part-aware and
    Part-aggregation Network. PAMI 2020, arXiv:1907.03670.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> rois, points = np.array([[0, 0, 0, 4, 2, 2, 0]], np.float32), np.array([[-1, 0, 1], [1, 0, 1]], np.float32)
    >>> features = np.array([[5], [7]], np.float32)
    >>> found = pymluops.roi_aware_pool3d_forward(rois, points, features, "max", 1, 2, 1, 3, 2, 1, 1)
    >>> found[0].ravel().tolist(), found[1].ravel().tolist(), found[2].reshape(2, 3).tolist()
    ([5.0, 7.0], [0, 1], [[1, 0, 0], [1, 1, 0]])
    """
    arrays = (rois, pts, pts_feature, pooled_features, argmax, pts_idx_of_voxels)
    scalars = (pool_method, boxes_num, pts_num, channels, max_pts_each_voxel, out_x, out_y, out_z)
    result: tuple[Any, Any, Any] = _FORWARD(handle, arrays, scalars)
    return result


def roi_aware_pool3d_backward(
    pts_idx_of_voxels: Array,
    argmax: Array,
    grad_out: Array,
    pool_method: str | int,
    boxes_num: int,
    out_x: int,
    out_y: int,
    out_z: int,
    channels: int,
    max_pts_each_voxel: int,
    pts_num: int,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Gradient of `roi_aware_pool3d_forward` with respect to the features.

    The gradient of a maximum goes to its point, that of a mean to the points of the voxel, divided
    by their number.

    Parameters
    ----------
    pts_idx_of_voxels : array, shape [R, out_x, out_y, out_z, K], int32
        The lists that the forward direction returned.
    argmax : array, shape [R, out_x, out_y, out_z, C], int32
        The points that it returned. One outside of 0 to P-1 gets nothing.
    grad_out : array, shape [R, out_x, out_y, out_z, C], float16 or float32
        Gradient with respect to the pooled features.
    pool_method : {"max", "avg"} or int
        As in the forward direction.
    boxes_num, out_x, out_y, out_z, channels, max_pts_each_voxel : int
        As in the forward direction.
    pts_num : int
        Number of points, P, > 0.
    out : array or DeviceArray, optional
        Where to write, shape [P, C], like `grad_out`; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [P, C] of the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> listed, argmax = np.array([[[[[2, 0, 1]]]]], np.int32), np.array([[[[[1]]]]], np.int32)
    >>> gradient = np.array([[[[[8]]]]], np.float32)
    >>> for method in ("max", "avg"):
    ...     pymluops.roi_aware_pool3d_backward(listed, argmax, gradient, method, 1, 1, 1, 1, 1, 3, 2).tolist()
    [[0.0], [8.0]]
    [[4.0], [4.0]]
    """
    scalars = (pool_method, boxes_num, out_x, out_y, out_z, channels, max_pts_each_voxel, pts_num)
    return _BACKWARD(handle, (pts_idx_of_voxels, argmax, grad_out, out), scalars)
