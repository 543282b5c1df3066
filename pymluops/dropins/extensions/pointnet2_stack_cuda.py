"""``pointnet2_stack_cuda`` of OpenPCDet: PointNet++ on batches of any sizes, one after another."""

from __future__ import annotations

from collections.abc import Callable

from pymluops.dropins._declarations import Call, Row, extension, indices, int32_result, integers, real, result, values
from pymluops.dropins.extensions._vector_pool import (
    query_stacked_local_neighbor_idxs_wrapper_stack,
    query_three_nn_by_stacked_local_idxs_wrapper_stack,
    vector_pool_grad_wrapper,
    vector_pool_wrapper,
)
from pymluops.dropins.extensions.pointnet2_batch_cuda import (
    farthest_point_sampling_wrapper,
    furthest_point_sampling_wrapper,
)
from pymluops.mmcv._tensors import check_counts, check_indices

__all__ = [
    "ball_query_wrapper",
    "farthest_point_sampling_wrapper",
    "furthest_point_sampling_wrapper",
    "group_points_grad_wrapper",
    "group_points_wrapper",
    "query_stacked_local_neighbor_idxs_wrapper_stack",
    "query_three_nn_by_stacked_local_idxs_wrapper_stack",
    "stack_farthest_point_sampling_wrapper",
    "three_interpolate_grad_wrapper",
    "three_interpolate_wrapper",
    "three_nn_wrapper",
    "vector_pool_grad_wrapper",
    "vector_pool_wrapper",
    "voxel_query_wrapper",
]

DROP_IN = "openpcdet"
MODULES = ("pcdet.ops.pointnet2.pointnet2_stack.pointnet2_stack_cuda",)
ROWS = (
    Row("ball_query_wrapper", "mluopsExtStackBallQuery"),
    Row(
        "farthest_point_sampling_wrapper furthest_point_sampling_wrapper stack_farthest_point_sampling_wrapper",
        "mluopsExtFurthestPointSampling, StackFurthestPointSampling",
        "of equal distances the first point is picked",
    ),
    Row("group_points_wrapper group_points_grad_wrapper", "mluopsExtStackGroupPointsForward, Backward"),
    Row("three_nn_wrapper", "mluopsExtStackThreeNN"),
    Row("three_interpolate_wrapper three_interpolate_grad_wrapper", "mluopsExtStackThreeInterpolateForward, Backward"),
    Row("voxel_query_wrapper", "mluopsExtVoxelQuery (float32)"),
    Row(
        "vector_pool_wrapper vector_pool_grad_wrapper query_stacked_local_neighbor_idxs_wrapper_stack "
        "query_three_nn_by_stacked_local_idxs_wrapper_stack",
        "PyTorch",
        "neighbours of a centre are in the order of the points",
    ),
)
CHANGES = (
    "pointnet2_utils: torch.cuda.IntTensor and FloatTensor in BallQuery, GroupingOperation, FarthestPointSampling and "
    "StackFarthestPointSampling",
    "voxel_query_utils: torch.cuda.IntTensor in VoxelQuery",
)

#: What their Python code fills distances with before the call.
_MOST = 1e10


def _check_counts(**rows: str) -> Callable[[Call], None]:
    """Return a check of counts, by name, and of the size that tells how many rows there are."""

    def check(call: Call) -> None:
        for name, size in rows.items():
            check_counts(call.function, name, call.arguments[name], call.sizes[size])

    return check


def _check_rows(call: Call) -> None:
    check_indices(call.function, "idx", call.arguments["idx"], call.sizes["m"])


ball_query_wrapper = extension(
    "ball_query_wrapper",
    "stack_ball_query",
    *integers("B M"),
    real("radius"),
    *integers("nsample"),
    values("new_xyz", "M 3", "new_xyz"),
    indices("new_xyz_batch_cnt", "B", "new_xyz_batch_cnt"),
    values("xyz", "N 3", "xyz"),
    indices("xyz_batch_cnt", "B", "xyz_batch_cnt"),
    int32_result("idx", "M nsample", "out"),
    scalars={"max_radius": lambda call: call.arguments["radius"]},
    check=_check_counts(new_xyz_batch_cnt="M", xyz_batch_cnt="N"),
    empty="keep",
)
stack_farthest_point_sampling_wrapper = extension(
    "stack_farthest_point_sampling_wrapper",
    "stack_furthest_point_sampling",
    values("xyz", "N 3", "xyz"),
    result("temp", "N", "dist2"),
    indices("xyz_batch_cnt", "B", "xyz_batch_cnt"),
    int32_result("idx", "M", "idx"),
    indices("num_sampled_points", "B", "num_samples"),
    scalars={"total_samples": lambda call: call.sizes["M"], "max_squared_distance": lambda _call: _MOST},
    check=_check_counts(xyz_batch_cnt="N", num_sampled_points="M"),
    empty="keep",
)
group_points_wrapper = extension(
    "group_points_wrapper",
    "stack_group_points_forward",
    *integers("B M C nsample"),
    values("features", "N C", "features"),
    indices("features_batch_cnt", "B", "features_batch_cnt"),
    indices("idx", "M nsample", "idx"),
    indices("idx_batch_cnt", "B", "idx_batch_cnt"),
    result("out", "M C nsample", "out"),
    check=_check_counts(features_batch_cnt="N", idx_batch_cnt="M"),
    empty="zero",
)
group_points_grad_wrapper = extension(
    "group_points_grad_wrapper",
    "stack_group_points_backward",
    *integers("B M C N nsample"),
    values("grad_out", "M C nsample", "grad_output"),
    indices("idx", "M nsample", "idx"),
    indices("idx_batch_cnt", "B", "idx_batch_cnt"),
    indices("features_batch_cnt", "B", "features_batch_cnt"),
    result("grad_features", "N C", "out"),
    scalars={"num_points": lambda call: call.sizes["N"]},
    check=_check_counts(idx_batch_cnt="M", features_batch_cnt="N"),
    empty="zero",
)
three_nn_wrapper = extension(
    "three_nn_wrapper",
    "stack_three_nn",
    values("unknown", "N 3", "unknown"),
    indices("unknown_batch_cnt", "B", "unknown_batch_cnt"),
    values("known", "M 3", "known"),
    indices("known_batch_cnt", "B", "known_batch_cnt"),
    result("dist2", "N 3", "dist2"),
    int32_result("idx", "N 3", "idx"),
    check=_check_counts(unknown_batch_cnt="N", known_batch_cnt="M"),
    gives=None,
    empty="keep",
)
three_interpolate_wrapper = extension(
    "three_interpolate_wrapper",
    "stack_three_interpolate_forward",
    values("features", "m C", "features"),
    indices("idx", "N 3", "indices"),
    values("weight", "N 3", "weights"),
    result("out", "N C", "out"),
    check=_check_rows,
    gives=None,
    empty="zero",
)
three_interpolate_grad_wrapper = extension(
    "three_interpolate_grad_wrapper",
    "stack_three_interpolate_backward",
    values("grad_out", "N C", "grad_output"),
    indices("idx", "N 3", "indices"),
    values("weight", "N 3", "weights"),
    result("grad_features", "m C", "out"),
    scalars={"num_features": lambda call: call.sizes["m"], "M": lambda call: call.sizes["m"]},
    check=_check_rows,
    gives=None,
    empty="zero",
)
voxel_query_wrapper = extension(
    "voxel_query_wrapper",
    "voxel_query",
    *integers("M R1 R2 R3 nsample"),
    real("radius"),
    *integers("z_range y_range x_range"),
    values("new_xyz", "M 3", "new_xyz"),
    values("xyz", "N 3", "xyz"),
    indices("new_coords", "M 4", "new_coords"),
    indices("point_indices", "B R1 R2 R3", "point_indices"),
    int32_result("idx", "M nsample", "out"),
    scalars={"radius": lambda call: call.arguments["radius"]},
    empty="keep",
)
