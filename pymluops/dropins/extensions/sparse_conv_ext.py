"""``sparse_conv_ext`` of mmdetection3d below 1.0 and of BEVFusion: pairs, convolutions and pools of sparse tensors."""

from __future__ import annotations

from pymluops.dropins._declarations import Row, renamed
from pymluops.mmcv import get_indice_pairs as pairs
from pymluops.mmcv import indice_convolution as convolution
from pymluops.mmcv import indice_maxpool as pool

__all__ = [
    "fused_indice_conv_fp32",
    "fused_indice_conv_half",
    "get_indice_pairs_2d",
    "get_indice_pairs_3d",
    "get_indice_pairs_4d",
    "get_indice_pairs_grid_2d",
    "get_indice_pairs_grid_3d",
    "indice_conv_backward_fp32",
    "indice_conv_backward_half",
    "indice_conv_fp32",
    "indice_conv_half",
    "indice_maxpool_backward_fp32",
    "indice_maxpool_backward_half",
    "indice_maxpool_fp32",
    "indice_maxpool_half",
]

DROP_IN = "mmdet3d"
MODULES = ("mmdet3d.ops.spconv.sparse_conv_ext",)
ROWS = (
    Row(
        "get_indice_pairs_2d get_indice_pairs_3d get_indice_pairs_4d get_indice_pairs_grid_2d get_indice_pairs_grid_3d",
        "mluOpGetIndicePairs, mluopsExtGetIndicePairs",
        "output rows are in ascending order; a given grid is not used",
    ),
    Row(
        "indice_conv_fp32 indice_conv_half indice_conv_backward_fp32 indice_conv_backward_half "
        "fused_indice_conv_fp32 fused_indice_conv_half",
        "mluopsExtIndiceConvolutionForward, BackwardData, BackwardFilter",
        "each takes all types",
    ),
    Row(
        "indice_maxpool_fp32 indice_maxpool_half indice_maxpool_backward_fp32 indice_maxpool_backward_half",
        "PyTorch",
        "maxima begin at 0, as in the compiled module",
    ),
)
CHANGES = ("nothing in its own functions",)

get_indice_pairs_2d = renamed(pairs.get_indice_pairs_2d_forward, "get_indice_pairs_2d")
get_indice_pairs_3d = renamed(pairs.get_indice_pairs_3d_forward, "get_indice_pairs_3d")
get_indice_pairs_4d = renamed(pairs.get_indice_pairs_4d_forward, "get_indice_pairs_4d")
get_indice_pairs_grid_2d = renamed(pairs.get_indice_pairs_2d_backward, "get_indice_pairs_grid_2d")
get_indice_pairs_grid_3d = renamed(pairs.get_indice_pairs_3d_backward, "get_indice_pairs_grid_3d")
indice_conv_fp32 = renamed(convolution.indice_conv_forward, "indice_conv_fp32")
indice_conv_half = renamed(convolution.indice_conv_forward, "indice_conv_half")
indice_conv_backward_fp32 = renamed(convolution.indice_conv_backward, "indice_conv_backward_fp32")
indice_conv_backward_half = renamed(convolution.indice_conv_backward, "indice_conv_backward_half")
fused_indice_conv_fp32 = renamed(convolution.fused_indice_conv_forward, "fused_indice_conv_fp32")
fused_indice_conv_half = renamed(convolution.fused_indice_conv_forward, "fused_indice_conv_half")
indice_maxpool_fp32 = renamed(pool.indice_maxpool_forward, "indice_maxpool_fp32")
indice_maxpool_half = renamed(pool.indice_maxpool_forward, "indice_maxpool_half")
indice_maxpool_backward_fp32 = renamed(pool.indice_maxpool_backward, "indice_maxpool_backward_fp32")
indice_maxpool_backward_half = renamed(pool.indice_maxpool_backward, "indice_maxpool_backward_half")
