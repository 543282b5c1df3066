"""gather_points and grouping_operation of mmcv, the latter for batches of one size and for stacked ones."""

from __future__ import annotations

from pymluops.mmcv._binding import Call, Row, binding, indices, integers, result, values
from pymluops.mmcv._tensors import check_indices, check_rows

__all__ = [
    "gather_points_backward",
    "gather_points_forward",
    "group_points_backward",
    "group_points_forward",
    "stack_group_points_backward",
    "stack_group_points_forward",
]

ROWS = (
    Row(
        "gather_points",
        ("gather_points_forward", "gather_points_backward"),
        "forward, backward",
        "mluopsExtGatherPointsForward, Backward (float16, float32)",
        "An index outside of the points is refused; a compiled mmcv reads outside of the tensor.",
    ),
    Row(
        "grouping_operation",
        ("group_points_forward", "group_points_backward", "stack_group_points_forward", "stack_group_points_backward"),
        "forward, backward",
        "mluopsExtGroupPointsForward, Backward, StackGroupPointsForward, Backward (float16, float32)",
        "An index outside of the points is refused, and gives zeros in stacked batches.",
    ),
)


def _check(call: Call) -> None:
    check_indices(call.function, "idx_tensor", call.arguments["idx_tensor"], call.sizes["n"])


def _check_stack(call: Call) -> None:
    features = "features_tensor" if "features_tensor" in call.arguments else "grad_features_tensor"
    for counts, rows in (("features_batch_cnt_tensor", features), ("idx_batch_cnt_tensor", "idx_tensor")):
        check_rows(call.function, counts, call.arguments[counts], rows, call.arguments[rows])


gather_points_forward = binding(
    "gather_points_forward",
    "gather_points_forward",
    values("points_tensor", "b c n", "features"),
    indices("idx_tensor", "b npoints", "idx"),
    result("out_tensor", "b c npoints", "out"),
    *integers("b c n npoints"),
    check=_check,
)
gather_points_backward = binding(
    "gather_points_backward",
    "gather_points_backward",
    values("grad_out_tensor", "b c npoints", "grad_output"),
    indices("idx_tensor", "b npoints", "idx"),
    result("grad_points_tensor", "b c n", "out"),
    *integers("b c n npoints"),
    scalars={"num_points": lambda call: call.sizes["n"]},
    check=_check,
    empty="zero",
)
group_points_forward = binding(
    "group_points_forward",
    "group_points_forward",
    values("points_tensor", "b c n", "features"),
    indices("idx_tensor", "b npoints nsample", "idx"),
    result("out_tensor", "b c npoints nsample", "out"),
    *integers("b c n npoints nsample"),
    check=_check,
)
group_points_backward = binding(
    "group_points_backward",
    "group_points_backward",
    values("grad_out_tensor", "b c npoints nsample", "grad_output"),
    indices("idx_tensor", "b npoints nsample", "idx"),
    result("grad_points_tensor", "b c n", "out"),
    *integers("b c n npoints nsample"),
    scalars={"num_points": lambda call: call.sizes["n"]},
    check=_check,
    empty="zero",
)
stack_group_points_forward = binding(
    "stack_group_points_forward",
    "stack_group_points_forward",
    values("features_tensor", "n c", "features"),
    indices("features_batch_cnt_tensor", "b", "features_batch_cnt"),
    indices("idx_tensor", "m nsample", "idx"),
    indices("idx_batch_cnt_tensor", "b", "idx_batch_cnt"),
    result("out_tensor", "m c nsample", "out"),
    *integers("b c m nsample"),
    check=_check_stack,
    empty="zero",
)
stack_group_points_backward = binding(
    "stack_group_points_backward",
    "stack_group_points_backward",
    values("grad_out_tensor", "m c nsample", "grad_output"),
    indices("idx_tensor", "m nsample", "idx"),
    indices("idx_batch_cnt_tensor", "b", "idx_batch_cnt"),
    indices("features_batch_cnt_tensor", "b", "features_batch_cnt"),
    result("grad_features_tensor", "n c", "out"),
    *integers("b c m n nsample"),
    scalars={"num_points": lambda call: call.sizes["n"]},
    check=_check_stack,
    empty="zero",
)
