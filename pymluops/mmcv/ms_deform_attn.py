"""MultiScaleDeformableAttnFunction of mmcv."""

from __future__ import annotations

from typing import Any

from pymluops.mmcv._binding import Array, Call, Number, Returned, Row, binding, result, values
from pymluops.mmcv._wrappers import Wrapper

__all__ = ["ms_deform_attn_backward", "ms_deform_attn_forward"]


def _attention(value: Any, value_spatial_shapes: Any, sampling_locations: Any, attention_weights: Any) -> Any:
    from pymluops.torch.ms_deform_attn import attention_of_maps

    return attention_of_maps(value, value_spatial_shapes, sampling_locations, attention_weights)


WRAPPERS = (Wrapper("multi_scale_deform_attn", "multi_scale_deformable_attn_pytorch", _attention),)

ROWS = (
    Row(
        "MultiScaleDeformableAttnFunction",
        ("ms_deform_attn_forward", "ms_deform_attn_backward"),
        "forward, backward",
        "mluOpMsDeformAttnForward, Backward (float32)",
        "im2col_step is any number from 1 on, with no effect. The module MultiScaleDeformableAttention of mmcv takes "
        "another way for CPU tensors, which computes the same here: multi_scale_deformable_attn_pytorch.",
    ),
)

_INPUTS = (
    values("value", "B K M C", "value"),
    Array("value_spatial_shapes", "L 2", "spatial_shapes", ("int64", "int32")),
    Array("value_level_start_index", "L", "level_start_index", ("int64", "int32")),
    values("sampling_locations", "B Q M L P 2", "sampling_loc"),
    values("attention_weights", "B Q M L P", "attn_weight"),
)
_STEP = Number("im2col_step", least=1)  # any number, with no effect: see `_whole_batch`


def _check(call: Call) -> None:
    keys = call.sizes["K"]
    shapes, starts = call.arguments["value_spatial_shapes"], call.arguments["value_level_start_index"]
    for (height, width), start in zip(shapes.tolist(), starts.tolist(), strict=True):
        if min(height, width, start) < 0 or start + height * width > keys:
            place = f"a map of {height} x {width} that begins at key {start}"
            raise call.refuse("value_spatial_shapes", f"maps within the {keys} keys of value", place)


def _whole_batch(call: Call) -> int:
    return call.sizes["B"]


ms_deform_attn_forward = binding(
    "ms_deform_attn_forward",
    "ms_deform_attn_forward",
    *_INPUTS,
    _STEP,
    returns=Returned("out", "B Q M*C"),
    scalars={"im2col_step": _whole_batch},
    check=_check,
    empty="zero",
)
ms_deform_attn_backward = binding(
    "ms_deform_attn_backward",
    "ms_deform_attn_backward",
    *_INPUTS,
    values("grad_output", "B Q M*C", "grad_output", view="B Q M C"),
    result("grad_value", "B K M C", "grad_value"),
    result("grad_sampling_loc", "B Q M L P 2", "grad_sampling_loc"),
    result("grad_attn_weight", "B Q M L P", "grad_attn_weight"),
    _STEP,
    scalars={"im2col_step": _whole_batch},
    check=_check,
    empty="zero",
)
