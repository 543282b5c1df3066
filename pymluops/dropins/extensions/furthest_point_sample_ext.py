"""``furthest_point_sample_ext`` of mmdetection3d below 1.0: points far from each other."""

from __future__ import annotations

from pymluops.dropins._declarations import Row, extension, int32_result, integers, renamed, result, values
from pymluops.dropins.extensions import pointnet2_batch_cuda as batch

__all__ = ["furthest_point_sampling_with_dist_wrapper", "furthest_point_sampling_wrapper"]

DROP_IN = "mmdet3d"
MODULES = ("mmdet3d.ops.furthest_point_sample.furthest_point_sample_ext",)
ROWS = (
    Row(
        "furthest_point_sampling_wrapper furthest_point_sampling_with_dist_wrapper",
        "mluopsExtFurthestPointSampling, FurthestPointSamplingWithDist",
        "of equal distances the first point is picked",
    ),
)
CHANGES = ("furthest_point_sample: torch.cuda.IntTensor and FloatTensor",)

furthest_point_sampling_wrapper = renamed(batch.farthest_point_sampling_wrapper, "furthest_point_sampling_wrapper")
furthest_point_sampling_with_dist_wrapper = extension(
    "furthest_point_sampling_with_dist_wrapper",
    "furthest_point_sampling_with_dist",
    *integers("b n m"),
    values("points_dist", "b n n", "dist"),
    result("temp", "b n", "min_dist"),
    int32_result("idx", "b m", "idx"),
    scalars={"num_samples": lambda call: call.sizes["m"], "max_distance": lambda _call: 1e10},
    empty="keep",
)
