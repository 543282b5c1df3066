"""``MultiScaleDeformableAttention`` of Deformable-DETR, ``_C`` of GroundingDINO: deformable attention."""

from __future__ import annotations

from pymluops.dropins._declarations import Row
from pymluops.mmcv import ms_deform_attn as attention
from pymluops.mmcv._tensors import check_floats, extension_function
from pymluops.mmcv._torch import Tensor

__all__ = ["ms_deform_attn_backward", "ms_deform_attn_forward"]

DROP_IN = "MultiScaleDeformableAttention"
MODULES = ("MultiScaleDeformableAttention",)
LAST_NAMES = ("_C",)
ROWS = (
    Row(
        "ms_deform_attn_forward ms_deform_attn_backward",
        "mluOpMsDeformAttnForward, Backward",
        "im2col_step has no effect",
    ),
)
CHANGES = ("nothing in its own functions: Deformable-DETR runs with --device cpu",)


@extension_function
def ms_deform_attn_forward(
    value: Tensor,
    spatial_shapes: Tensor,
    level_start_index: Tensor,
    sampling_loc: Tensor,
    attn_weight: Tensor,
    im2col_step: int,
) -> Tensor:
    """Return weighted samples [B, Q, M*C] of the maps value [B, K, M, C]."""
    maps = (value, spatial_shapes, level_start_index, sampling_loc, attn_weight)
    found: Tensor = attention.ms_deform_attn_forward(*maps, im2col_step=im2col_step)
    return found


@extension_function
def ms_deform_attn_backward(
    value: Tensor,
    spatial_shapes: Tensor,
    level_start_index: Tensor,
    sampling_loc: Tensor,
    attn_weight: Tensor,
    grad_output: Tensor,
    im2col_step: int,
) -> list[Tensor]:
    """Return the gradients of the maps, of the places of the samples and of their weights."""
    name = "ms_deform_attn_backward"
    check_floats(name, value=value, sampling_loc=sampling_loc, attn_weight=attn_weight)
    made = [one.new_zeros(one.shape) for one in (value, sampling_loc, attn_weight)]
    maps = (value, spatial_shapes, level_start_index, sampling_loc, attn_weight)
    attention.ms_deform_attn_backward(*maps, grad_output, *made, im2col_step=im2col_step)
    return made
