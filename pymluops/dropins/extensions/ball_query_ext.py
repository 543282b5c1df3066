"""``ball_query_ext`` of mmdetection3d below 1.0: the first points of balls."""

from __future__ import annotations

from pymluops.dropins._declarations import Row, extension, int32_result, integers, real, values

__all__ = ["ball_query_wrapper"]

DROP_IN = "mmdet3d"
MODULES = ("mmdet3d.ops.ball_query.ball_query_ext",)
ROWS = (Row("ball_query_wrapper", "mluOpBallQuery"),)
CHANGES = ("ball_query: torch.cuda.IntTensor",)

ball_query_wrapper = extension(
    "ball_query_wrapper",
    "ball_query",
    *integers("b n m"),
    real("min_radius"),
    real("max_radius"),
    *integers("nsample"),
    values("new_xyz", "b m 3", "new_xyz"),
    values("xyz", "b n 3", "xyz"),
    int32_result("idx", "b m nsample", "out"),
    empty="keep",
)
