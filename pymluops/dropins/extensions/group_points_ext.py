"""``group_points_ext`` of mmdetection3d below 1.0: columns of groups by number."""

from __future__ import annotations

from pymluops.dropins._declarations import Row, renamed
from pymluops.dropins.extensions.pointnet2_batch_cuda import group_points_grad_wrapper, group_points_wrapper

__all__ = ["backward", "forward"]

DROP_IN = "mmdet3d"
MODULES = ("mmdet3d.ops.group_points.group_points_ext",)
ROWS = (Row("forward backward", "mluopsExtGroupPointsForward, Backward"),)
CHANGES = ("group_points: torch.cuda.FloatTensor",)

forward = renamed(group_points_wrapper, "forward")
backward = renamed(group_points_grad_wrapper, "backward")
