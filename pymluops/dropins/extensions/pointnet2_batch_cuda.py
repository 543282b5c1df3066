"""``pointnet2_batch_cuda`` of OpenPCDet: PointNet++ on batches of one size."""

from __future__ import annotations

from pymluops.dropins._declarations import Call, Row, extension, indices, int32_result, integers, real, result, values
from pymluops.mmcv._tensors import check_indices

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

DROP_IN = "openpcdet"
MODULES = ("pcdet.ops.pointnet2.pointnet2_batch.pointnet2_batch_cuda",)
ROWS = (
    Row("ball_query_wrapper", "mluOpBallQuery", "a radius of 0 finds the points at the centre, theirs none"),
    Row(
        "farthest_point_sampling_wrapper furthest_point_sampling_wrapper",
        "mluopsExtFurthestPointSampling",
        "of equal distances the first point is picked",
    ),
    Row("gather_points_wrapper gather_points_grad_wrapper", "mluopsExtGatherPointsForward, Backward"),
    Row("group_points_wrapper group_points_grad_wrapper", "mluopsExtGroupPointsForward, Backward"),
    Row("three_nn_wrapper", "mluOpThreeNNForward"),
    Row("three_interpolate_wrapper three_interpolate_grad_wrapper", "mluOpThreeInterpolateForward, Backward"),
)
CHANGES = ("pointnet2_utils: torch.cuda.IntTensor and FloatTensor in all of its functions",)

#: What their Python code fills distances with before the call.
_MOST = 1e10


def _check_points(call: Call) -> None:
    """Refuse indices outside of n points."""
    check_indices(call.function, "idx", call.arguments["idx"], call.sizes["n"])


def _check_sources(call: Call) -> None:
    """Refuse indices outside of m points."""
    check_indices(call.function, "idx", call.arguments["idx"], call.sizes["m"])


ball_query_wrapper = extension(
    "ball_query_wrapper",
    "ball_query",
    *integers("b n m"),
    real("radius"),
    *integers("nsample"),
    values("new_xyz", "b m 3", "new_xyz"),
    values("xyz", "b n 3", "xyz"),
    int32_result("idx", "b m nsample", "out"),
    scalars={"min_radius": lambda _call: 0.0, "max_radius": lambda call: call.arguments["radius"]},
    empty="keep",
)
farthest_point_sampling_wrapper = extension(
    "farthest_point_sampling_wrapper",
    "furthest_point_sampling",
    *integers("b n m"),
    values("xyz", "b n 3", "xyz"),
    result("temp", "b n", "dist2"),
    int32_result("idx", "b m", "idx"),
    scalars={
        "num_samples": lambda call: call.sizes["m"],
        "max_squared_distance": lambda _call: _MOST,
        "min_squared_norm": lambda _call: -1.0,
    },
    empty="keep",
)
furthest_point_sampling_wrapper = farthest_point_sampling_wrapper
gather_points_wrapper = extension(
    "gather_points_wrapper",
    "gather_points_forward",
    *integers("b c n npoints"),
    values("points", "b c n", "features"),
    indices("idx", "b npoints", "idx"),
    result("out", "b c npoints", "out"),
    empty="zero",
    check=_check_points,
)
gather_points_grad_wrapper = extension(
    "gather_points_grad_wrapper",
    "gather_points_backward",
    *integers("b c n npoints"),
    values("grad_out", "b c npoints", "grad_output"),
    indices("idx", "b npoints", "idx"),
    result("grad_points", "b c n", "out"),
    scalars={"num_points": lambda call: call.sizes["n"]},
    empty="zero",
    check=_check_points,
)
group_points_wrapper = extension(
    "group_points_wrapper",
    "group_points_forward",
    *integers("b c n npoints nsample"),
    values("points", "b c n", "features"),
    indices("idx", "b npoints nsample", "idx"),
    result("out", "b c npoints nsample", "out"),
    empty="zero",
    check=_check_points,
)
group_points_grad_wrapper = extension(
    "group_points_grad_wrapper",
    "group_points_backward",
    *integers("b c n npoints nsample"),
    values("grad_out", "b c npoints nsample", "grad_output"),
    indices("idx", "b npoints nsample", "idx"),
    result("grad_points", "b c n", "out"),
    scalars={"num_points": lambda call: call.sizes["n"]},
    empty="zero",
    check=_check_points,
)
three_nn_wrapper = extension(
    "three_nn_wrapper",
    "three_nn_forward",
    *integers("b n m"),
    values("unknown", "b n 3", "unknown"),
    values("known", "b m 3", "known"),
    result("dist2", "b n 3", "dist2"),
    int32_result("idx", "b n 3", "idx"),
    gives=None,
)
three_interpolate_wrapper = extension(
    "three_interpolate_wrapper",
    "three_interpolate_forward",
    *integers("b c m n"),
    values("points", "b c m", "features"),
    indices("idx", "b n 3", "indices"),
    values("weight", "b n 3", "weights"),
    result("out", "b c n", "out"),
    gives=None,
    check=_check_sources,
)
three_interpolate_grad_wrapper = extension(
    "three_interpolate_grad_wrapper",
    "three_interpolate_backward",
    *integers("b c n m"),
    values("grad_out", "b c n", "grad_output"),
    indices("idx", "b n 3", "indices"),
    values("weight", "b n 3", "weights"),
    result("grad_points", "b c m", "out"),
    scalars={"num_features": lambda call: call.sizes["m"]},
    empty="zero",
    gives=None,
    check=_check_sources,
)
