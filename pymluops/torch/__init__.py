"""The operators for PyTorch, with the names, the argument order and the layouts of mmcv.ops.

Each is registered with torch.library in the namespace ``pymluops``: gradients, torch.compile, torch.export, vmap and
autocast work. docs/torch.md tells what is exact, what is cast and which threads are used.
"""

from pymluops.torch._functions import (
    ball_query,
    border_align,
    ms_deform_attn,
    psa_mask,
    three_interpolate,
    three_nn,
    tin_shift,
)
from pymluops.torch._modules import BorderAlign, MultiScaleDeformableAttention, PSAMask, TINShift

__all__ = [
    "BorderAlign",
    "MultiScaleDeformableAttention",
    "PSAMask",
    "TINShift",
    "ball_query",
    "border_align",
    "ms_deform_attn",
    "psa_mask",
    "three_interpolate",
    "three_nn",
    "tin_shift",
]
