"""The operators, a module for each family."""

# Written by tools/families.py; do not edit.

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a declaration for each kind of arrays
    from pymluops.ops._types import *  # noqa: F403
else:
    from pymluops.ops.ball_query import ball_query
    from pymluops.ops.border_align import border_align_backward, border_align_forward
    from pymluops.ops.get_indice_pairs import IndicePairs, get_indice_pairs
    from pymluops.ops.indice_convolution import (
        indice_convolution_backward_data,
        indice_convolution_backward_filter,
        indice_convolution_forward,
    )
    from pymluops.ops.ms_deform_attn import MsDeformAttnGradients, ms_deform_attn_backward, ms_deform_attn_forward
    from pymluops.ops.psamask import psamask_backward, psamask_forward
    from pymluops.ops.three_interpolate import three_interpolate_backward, three_interpolate_forward
    from pymluops.ops.three_nn import ThreeNN, three_nn_forward
    from pymluops.ops.tin_shift import tin_shift_backward, tin_shift_forward

__all__ = [
    "IndicePairs",
    "MsDeformAttnGradients",
    "ThreeNN",
    "ball_query",
    "border_align_backward",
    "border_align_forward",
    "get_indice_pairs",
    "indice_convolution_backward_data",
    "indice_convolution_backward_filter",
    "indice_convolution_forward",
    "ms_deform_attn_backward",
    "ms_deform_attn_forward",
    "psamask_backward",
    "psamask_forward",
    "three_interpolate_backward",
    "three_interpolate_forward",
    "three_nn_forward",
    "tin_shift_backward",
    "tin_shift_forward",
]
