"""``gather_points_ext`` of mmdetection3d below 1.0: columns by number."""

from __future__ import annotations

from pymluops.dropins._declarations import Row
from pymluops.dropins.extensions.pointnet2_batch_cuda import gather_points_grad_wrapper, gather_points_wrapper

__all__ = ["gather_points_grad_wrapper", "gather_points_wrapper"]

DROP_IN = "mmdet3d"
MODULES = ("mmdet3d.ops.gather_points.gather_points_ext",)
ROWS = (Row("gather_points_wrapper gather_points_grad_wrapper", "mluopsExtGatherPointsForward, Backward"),)
CHANGES = ("gather_points: torch.cuda.FloatTensor",)
