"""ball_query of mmcv, for batches of one size and for stacked ones."""

from __future__ import annotations

from pymluops.mmcv._binding import Call, Number, Row, binding, indices, integers, result, values
from pymluops.mmcv._tensors import check_rows

__all__ = ["ball_query_forward", "stack_ball_query_forward"]

ROWS = (
    Row(
        "ball_query",
        ("ball_query_forward", "stack_ball_query_forward"),
        "forward",
        "mluOpBallQuery (float16, float32), mluopsExtStackBallQuery (float16, float32)",
    ),
)


def _check_stack(call: Call) -> None:
    for counts, rows in (("new_xyz_batch_cnt", "new_xyz_tensor"), ("xyz_batch_cnt", "xyz_tensor")):
        check_rows(call.function, counts, call.arguments[counts], rows, call.arguments[rows])


ball_query_forward = binding(
    "ball_query_forward",
    "ball_query",
    values("new_xyz_tensor", "b m 3", "new_xyz"),
    values("xyz_tensor", "b n 3", "xyz"),
    result("idx_tensor", "b m nsample", "out", types=("int32",)),
    *integers("b n m"),
    Number("min_radius", real=True, least=0),
    Number("max_radius", real=True, least=0),
    *integers("nsample"),
    empty="keep",
)
stack_ball_query_forward = binding(
    "stack_ball_query_forward",
    "stack_ball_query",
    values("new_xyz_tensor", "m 3", "new_xyz"),
    indices("new_xyz_batch_cnt", "b", "new_xyz_batch_cnt"),
    values("xyz_tensor", "n 3", "xyz"),
    indices("xyz_batch_cnt", "b", "xyz_batch_cnt"),
    result("idx_tensor", "m nsample", "out", types=("int32",)),
    Number("max_radius", real=True, least=0),
    *integers("nsample"),
    check=_check_stack,
)
