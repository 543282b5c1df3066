"""``pointnet2_cuda`` of Pointnet2.PyTorch and PointRCNN: PointNet++ on batches of one size."""

from __future__ import annotations

from pymluops.dropins.extensions import pointnet2_batch_cuda as batch
from pymluops.dropins.extensions.pointnet2_batch_cuda import (
    ball_query_wrapper,
    farthest_point_sampling_wrapper,
    furthest_point_sampling_wrapper,
    gather_points_grad_wrapper,
    gather_points_wrapper,
    group_points_grad_wrapper,
    group_points_wrapper,
    three_interpolate_grad_wrapper,
    three_interpolate_wrapper,
    three_nn_wrapper,
)

__all__ = [
    "ball_query_wrapper",
    "farthest_point_sampling_wrapper",
    "furthest_point_sampling_wrapper",
    "gather_points_grad_wrapper",
    "gather_points_wrapper",
    "group_points_grad_wrapper",
    "group_points_wrapper",
    "three_interpolate_grad_wrapper",
    "three_interpolate_wrapper",
    "three_nn_wrapper",
]

DROP_IN = "pointnet2"
MODULES = ("pointnet2_cuda",)
ROWS = batch.ROWS
CHANGES = batch.CHANGES
