"""three_interpolate of mmcv."""

from __future__ import annotations

from pymluops.mmcv._binding import Call, Row, binding, indices, integers, result, values
from pymluops.mmcv._tensors import check_indices

__all__ = ["three_interpolate_backward", "three_interpolate_forward"]

ROWS = (
    Row(
        "three_interpolate",
        ("three_interpolate_forward", "three_interpolate_backward"),
        "forward, backward",
        "mluOpThreeInterpolateForward, Backward (float16, float32)",
        "An index outside of the points is refused; a compiled mmcv reads outside of the tensor.",
    ),
)


def _check(call: Call) -> None:
    check_indices(call.function, "idx_tensor", call.arguments["idx_tensor"], call.sizes["m"])


three_interpolate_forward = binding(
    "three_interpolate_forward",
    "three_interpolate_forward",
    values("points_tensor", "b c m", "features"),
    indices("idx_tensor", "b n 3", "indices"),
    values("weight_tensor", "b n 3", "weights"),
    result("out_tensor", "b c n", "out"),
    *integers("b c m n"),
    check=_check,
)
three_interpolate_backward = binding(
    "three_interpolate_backward",
    "three_interpolate_backward",
    values("grad_out_tensor", "b c n", "grad_output"),
    indices("idx_tensor", "b n 3", "indices"),
    values("weight_tensor", "b n 3", "weights"),
    result("grad_points_tensor", "b c m", "out"),
    *integers("b c n m"),
    scalars={"num_features": lambda call: call.sizes["m"]},
    check=_check,
    empty="zero",
)
