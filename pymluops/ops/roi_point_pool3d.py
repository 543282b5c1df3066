"""The first points in boxes with their features, from PointRCNN (arXiv:1812.04244)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pymluops._core import Operator
from pymluops.ops._schema import FLOATS, INT32, Scalar, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["roi_point_pool3d"]

_POOL = Operator(
    "mluOpRoiPointPool3d",
    "roi_point_pool3d",
    (
        Tensor("points", FLOATS, "batch_size pts_num 3"),
        Tensor("point_features", "points", "batch_size pts_num feature_in_len"),
        Tensor("boxes3d", "points", "batch_size boxes_num 7"),
        Tensor("pooled_features", "points", "batch_size boxes_num sampled_pts_num feature_in_len+3", output=True),
        Tensor("pooled_empty_flag", INT32, "batch_size boxes_num", output=True),
    ),
    (
        Scalar("batch_size"),
        Scalar("pts_num"),
        Scalar("boxes_num"),
        Scalar("feature_in_len"),
        Scalar("sampled_pts_num"),
    ),
    workspace="mluOpGetRoiPointPool3dWorkspaceSize",
)


def roi_point_pool3d(
    points: Array,
    point_features: Array,
    boxes3d: Array,
    batch_size: int,
    pts_num: int,
    boxes_num: int,
    feature_in_len: int,
    sampled_pts_num: int,
    *,
    pooled_features: Any = None,
    pooled_empty_flag: Any = None,
    handle: Handle | None = None,
) -> tuple[Any, Any]:
    """Gather the first points in each box, with their features.

    A box stands on (x, y, z), is dx, dy and dz large, and turned by its heading from the x axis
    towards the y axis. It holds a point that is less than half its size away from its axis along
    its own x and y, and neither above nor below it. If it holds fewer points than asked for, they
    are repeated from the first one on.

    Parameters
    ----------
    points : array, shape [B, N, 3], float16 or float32
        Points.
    point_features : array, shape [B, N, C], like `points`
        Their features.
    boxes3d : array, shape [B, M, 7], like `points`
        Boxes: x, y, z, dx, dy, dz, heading.
    batch_size, pts_num, boxes_num, feature_in_len : int
        B, N, M and C, > 0.
    sampled_pts_num : int
        Points of each box, S, > 0.
    pooled_features : array or DeviceArray, optional
        Where to write points and features, shape [B, M, S, 3+C], like `points`; no output may
        overlap another argument.
    pooled_empty_flag : array or DeviceArray, optional
        Where to write the flags, shape [B, M], int32.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    pooled_features : array, shape [B, M, S, 3+C]
        x, y, z and features of each point; zeros for a box without a point.
    pooled_empty_flag : array, shape [B, M], int32
        1 for a box without a point, else 0.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Shi et al.: PointRCNN: 3D Object Proposal Generation and Detection from Point Cloud. CVPR 2019,
    arXiv:1812.04244.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> points = np.array([[[9, 0, 0], [0, 0, 1], [1, 0, 1]]], np.float32)
    >>> features = np.array([[[5], [6], [7]]], np.float32)
    >>> boxes = np.array([[[0, 0, 0, 4, 4, 2, 0], [0, 0, 7, 1, 1, 1, 0]]], np.float32)
    >>> pooled, empty = pymluops.roi_point_pool3d(points, features, boxes, 1, 3, 2, 1, 3)
    >>> pooled[0, 0].tolist(), empty.tolist()
    ([[0.0, 0.0, 1.0, 6.0], [1.0, 0.0, 1.0, 7.0], [0.0, 0.0, 1.0, 6.0]], [[0, 1]])
    """
    arrays = (points, point_features, boxes3d, pooled_features, pooled_empty_flag)
    sizes = (batch_size, pts_num, boxes_num, feature_in_len, sampled_pts_num)
    result: tuple[Any, Any] = _POOL(handle, arrays, sizes)
    return result
