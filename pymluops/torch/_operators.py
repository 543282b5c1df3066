"""The operators registered with torch, and which of them computes the gradient of which."""

from __future__ import annotations

from typing import Any

import torch

from pymluops.ops._described import described
from pymluops.torch._library import TorchOperator

__all__ = [
    "BALL_QUERY",
    "BORDER_ALIGN",
    "MS_DEFORM_ATTN",
    "PSA_MASK",
    "THREE_INTERPOLATE",
    "THREE_NN",
    "TIN_SHIFT",
    "TIN_SHIFT_AS_MMCV",
]


def _described(name: str, torch_name: str = "", **options: Any) -> TorchOperator:
    """Register the operator that a module of pymluops.ops describes."""
    return TorchOperator(described(name), torch_name, **options)


def _opposite(shifts: torch.Tensor) -> torch.Tensor:
    """Return shifts the other way. The least of int32 has no opposite; the next one moves all out of a clip too."""
    return shifts.clamp(min=1 - 2**31).neg()


TIN_SHIFT = _described("tin_shift_forward")
TIN_SHIFT_AS_MMCV = _described("tin_shift_forward", "tin_shift_forward_as_mmcv")
_TIN_SHIFT_BACKWARD = _described("tin_shift_backward", autocast=False)
# A shift the other way is the adjoint, of every direction.
TIN_SHIFT.differentiate(TIN_SHIFT, "input", {"input": "out"}, {"shifts": _opposite}, linear=("input",))
TIN_SHIFT_AS_MMCV.differentiate(_TIN_SHIFT_BACKWARD, "grad_output", {"input": "out"}, linear=("input",))
_TIN_SHIFT_BACKWARD.differentiate(
    TIN_SHIFT, "input", {"grad_output": "out"}, {"shifts": _opposite}, linear=("grad_output",)
)

PSA_MASK = _described("psamask_forward")
_PSA_MASK_BACKWARD = _described("psamask_backward", autocast=False)
PSA_MASK.differentiate(_PSA_MASK_BACKWARD, "dy", {"x": "out"}, linear=("x",))
_PSA_MASK_BACKWARD.differentiate(PSA_MASK, "x", {"dy": "out"}, linear=("dy",))

BORDER_ALIGN = _described("border_align_forward")
_BORDER_ALIGN_BACKWARD = _described("border_align_backward", autocast=False)
BORDER_ALIGN.differentiate(_BORDER_ALIGN_BACKWARD, "grad_output", {"input": "out"})
_BORDER_ALIGN_BACKWARD.refuse_gradient("the gradient of border_align cannot be differentiated again")

THREE_INTERPOLATE = _described("three_interpolate_forward", validate=True)
_THREE_INTERPOLATE_BACKWARD = _described("three_interpolate_backward", validate=True, autocast=False)
THREE_INTERPOLATE.differentiate(_THREE_INTERPOLATE_BACKWARD, "grad_output", {"features": "out"}, linear=("features",))
_THREE_INTERPOLATE_BACKWARD.differentiate(
    THREE_INTERPOLATE, "features", {"grad_output": "out"}, linear=("grad_output",)
)

MS_DEFORM_ATTN = _described("ms_deform_attn_forward", divides="im2col_step")
_MS_DEFORM_ATTN_BACKWARD = _described("ms_deform_attn_backward", autocast=False, divides="im2col_step")
MS_DEFORM_ATTN.differentiate(
    _MS_DEFORM_ATTN_BACKWARD,
    "grad_output",
    {"value": "grad_value", "sampling_loc": "grad_sampling_loc", "attn_weight": "grad_attn_weight"},
    linear=("value", "attn_weight"),
)
_MS_DEFORM_ATTN_BACKWARD.refuse_gradient("the gradient of ms_deform_attn cannot be differentiated again")

THREE_NN = _described("three_nn_forward")
BALL_QUERY = _described("ball_query")
for _operator in (THREE_NN, BALL_QUERY):
    _operator.without_gradient()
