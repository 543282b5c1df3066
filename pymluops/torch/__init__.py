"""The operators for PyTorch, with the names, the argument order and the layouts of mmcv.ops.

Each is registered with torch.library in the namespace ``pymluops``: gradients, torch.compile,
torch.export, vmap and autocast work. The names of `pymluops.torch.sparse` stand here too.
docs/torch.md tells what is exact, what is cast and which threads are used.
"""

# Written by tools/families.py; do not edit.

from pymluops.torch.active_rotated_filter import active_rotated_filter
from pymluops.torch.aligned_regions import RoIAlign, roi_align
from pymluops.torch.assign_score_withk import assign_score_withk
from pymluops.torch.ball_query import ball_query, stack_ball_query
from pymluops.torch.bbox_overlaps import bbox_overlaps
from pymluops.torch.bev_pool import bev_pool
from pymluops.torch.bezier_regions import bezier_align
from pymluops.torch.border_align import BorderAlign, border_align
from pymluops.torch.box_iou_rotated import box_iou_rotated
from pymluops.torch.box_nms import nms, nms_match, soft_nms
from pymluops.torch.boxes3d import boxes_iou3d, boxes_iou_bev, boxes_overlap_bev, nms3d, nms3d_normal
from pymluops.torch.carafe_layers import CARAFENaive, CARAFEPack, carafe_naive
from pymluops.torch.carafe_upsample import CARAFE, carafe
from pymluops.torch.chamfer_distance import chamfer_distance
from pymluops.torch.class_nms import batched_nms, nms_bev, nms_normal_bev
from pymluops.torch.correlation import Correlation, correlation
from pymluops.torch.deform_conv import deform_conv2d, modulated_deform_conv2d
from pymluops.torch.deform_conv_layers import (
    DeformConv2d,
    DeformConv2dPack,
    ModulatedDeformConv2d,
    ModulatedDeformConv2dPack,
)
from pymluops.torch.deformed_region_layers import DeformRoIPool, DeformRoIPoolPack, ModulatedDeformRoIPoolPack
from pymluops.torch.deformed_regions import deform_roi_pool
from pymluops.torch.diff_iou_rotated_sort_vertices import diff_iou_rotated_2d, diff_iou_rotated_3d
from pymluops.torch.dynamic_point_to_voxel import DynamicScatter, dynamic_scatter
from pymluops.torch.focal_loss import SigmoidFocalLoss, SoftmaxFocalLoss, sigmoid_focal_loss, softmax_focal_loss
from pymluops.torch.fourier_transforms import fft, ifft, irfft, rfft
from pymluops.torch.furthest_point_sampling import (
    furthest_point_sample,
    furthest_point_sample_with_dist,
    stack_furthest_point_sample,
)
from pymluops.torch.group_points import gather_points, grouping_operation
from pymluops.torch.ingroup_indices import ingroup_indices
from pymluops.torch.knn import knn
from pymluops.torch.masked_conv import MaskedConv2d, masked_conv2d
from pymluops.torch.moe_dispatch import moe_dispatch
from pymluops.torch.ms_deform_attn import MultiScaleDeformableAttention, ms_deform_attn
from pymluops.torch.mutual_information import mutual_information_recursion
from pymluops.torch.nms_rotated import nms_rotated
from pymluops.torch.optimizer_steps import AdamW
from pymluops.torch.point_layers import GroupAll, PointsSampler, QueryAndGroup
from pymluops.torch.point_sets import convex_giou, convex_iou, min_area_polygons
from pymluops.torch.points_in_boxes import points_in_boxes_all, points_in_boxes_cpu, points_in_boxes_part
from pymluops.torch.points_in_polygons import points_in_polygons
from pymluops.torch.pooled_regions import RoIPool, roi_pool
from pymluops.torch.precise_regions import prroi_pool
from pymluops.torch.ps_roi_pool import PSRoIPool, ps_roi_pool
from pymluops.torch.psamask import PSAMask, psa_mask
from pymluops.torch.quadri_boxes import box_iou_quadri, nms_quadri, poly_nms
from pymluops.torch.region_layers import BezierAlign, PrRoIPool, RiRoIAlignRotated, RoIAlignRotated
from pymluops.torch.roi_aware_pool3d import RoIAwarePool3d, roiaware_pool3d
from pymluops.torch.roi_crop import roi_crop
from pymluops.torch.roi_point_pool3d import RoIPointPool3d, roipoint_pool3d
from pymluops.torch.rotated_feature_align import rotated_feature_align
from pymluops.torch.sparse import (
    SparseAvgPool,
    SparseAvgPool1d,
    SparseAvgPool2d,
    SparseAvgPool3d,
    SparseAvgPool4d,
    SparseConv1d,
    SparseConv2d,
    SparseConv3d,
    SparseConv4d,
    SparseConvolution,
    SparseConvTensor,
    SparseConvTranspose1d,
    SparseConvTranspose2d,
    SparseConvTranspose3d,
    SparseConvTranspose4d,
    SparseGlobalAvgPool,
    SparseGlobalMaxPool,
    SparseInverseConv1d,
    SparseInverseConv2d,
    SparseInverseConv3d,
    SparseInverseConv4d,
    SparseMaxPool,
    SparseMaxPool1d,
    SparseMaxPool2d,
    SparseMaxPool3d,
    SparseMaxPool4d,
    SparseModule,
    SparseSequential,
    SubMConv1d,
    SubMConv2d,
    SubMConv3d,
    SubMConv4d,
    ToDense,
    check_invariants,
    filters_from_spconv,
    filters_to_spconv,
    get_conv_output_size,
    get_deconv_output_size,
    get_indice_pairs,
    indice_avgpool,
    indice_conv,
    indice_inverse_conv,
    indice_maxpool,
    indice_subm_conv,
    load_state_dict,
    sparse_add,
    sparse_cat,
    sparse_collate,
)
from pymluops.torch.stack_three_interpolate import stack_three_interpolate
from pymluops.torch.sync_batch_norm import (
    SyncBatchNorm,
    batch_norm_backward_elemt,
    batch_norm_backward_reduce,
    batch_norm_elemt,
    batch_norm_gather_stats_with_counts,
    batch_norm_stats,
    sync_batch_norm,
)
from pymluops.torch.three_interpolate import three_interpolate
from pymluops.torch.three_nn import stack_three_nn, three_nn
from pymluops.torch.tin_shift import TINShift, tin_shift
from pymluops.torch.turned_regions import riroi_align_rotated, roi_align_rotated
from pymluops.torch.voxel_pooling import voxel_pooling
from pymluops.torch.voxel_query import voxel_query
from pymluops.torch.voxelization import Voxelization, voxelization

__all__ = [
    "CARAFE",
    "AdamW",
    "BezierAlign",
    "BorderAlign",
    "CARAFENaive",
    "CARAFEPack",
    "Correlation",
    "DeformConv2d",
    "DeformConv2dPack",
    "DeformRoIPool",
    "DeformRoIPoolPack",
    "DynamicScatter",
    "GroupAll",
    "MaskedConv2d",
    "ModulatedDeformConv2d",
    "ModulatedDeformConv2dPack",
    "ModulatedDeformRoIPoolPack",
    "MultiScaleDeformableAttention",
    "PSAMask",
    "PSRoIPool",
    "PointsSampler",
    "PrRoIPool",
    "QueryAndGroup",
    "RiRoIAlignRotated",
    "RoIAlign",
    "RoIAlignRotated",
    "RoIAwarePool3d",
    "RoIPointPool3d",
    "RoIPool",
    "SigmoidFocalLoss",
    "SoftmaxFocalLoss",
    "SparseAvgPool",
    "SparseAvgPool1d",
    "SparseAvgPool2d",
    "SparseAvgPool3d",
    "SparseAvgPool4d",
    "SparseConv1d",
    "SparseConv2d",
    "SparseConv3d",
    "SparseConv4d",
    "SparseConvTensor",
    "SparseConvTranspose1d",
    "SparseConvTranspose2d",
    "SparseConvTranspose3d",
    "SparseConvTranspose4d",
    "SparseConvolution",
    "SparseGlobalAvgPool",
    "SparseGlobalMaxPool",
    "SparseInverseConv1d",
    "SparseInverseConv2d",
    "SparseInverseConv3d",
    "SparseInverseConv4d",
    "SparseMaxPool",
    "SparseMaxPool1d",
    "SparseMaxPool2d",
    "SparseMaxPool3d",
    "SparseMaxPool4d",
    "SparseModule",
    "SparseSequential",
    "SubMConv1d",
    "SubMConv2d",
    "SubMConv3d",
    "SubMConv4d",
    "SyncBatchNorm",
    "TINShift",
    "ToDense",
    "Voxelization",
    "active_rotated_filter",
    "assign_score_withk",
    "ball_query",
    "batch_norm_backward_elemt",
    "batch_norm_backward_reduce",
    "batch_norm_elemt",
    "batch_norm_gather_stats_with_counts",
    "batch_norm_stats",
    "batched_nms",
    "bbox_overlaps",
    "bev_pool",
    "bezier_align",
    "border_align",
    "box_iou_quadri",
    "box_iou_rotated",
    "boxes_iou3d",
    "boxes_iou_bev",
    "boxes_overlap_bev",
    "carafe",
    "carafe_naive",
    "chamfer_distance",
    "check_invariants",
    "convex_giou",
    "convex_iou",
    "correlation",
    "deform_conv2d",
    "deform_roi_pool",
    "diff_iou_rotated_2d",
    "diff_iou_rotated_3d",
    "dynamic_scatter",
    "fft",
    "filters_from_spconv",
    "filters_to_spconv",
    "furthest_point_sample",
    "furthest_point_sample_with_dist",
    "gather_points",
    "get_conv_output_size",
    "get_deconv_output_size",
    "get_indice_pairs",
    "grouping_operation",
    "ifft",
    "indice_avgpool",
    "indice_conv",
    "indice_inverse_conv",
    "indice_maxpool",
    "indice_subm_conv",
    "ingroup_indices",
    "irfft",
    "knn",
    "load_state_dict",
    "masked_conv2d",
    "min_area_polygons",
    "modulated_deform_conv2d",
    "moe_dispatch",
    "ms_deform_attn",
    "mutual_information_recursion",
    "nms",
    "nms3d",
    "nms3d_normal",
    "nms_bev",
    "nms_match",
    "nms_normal_bev",
    "nms_quadri",
    "nms_rotated",
    "points_in_boxes_all",
    "points_in_boxes_cpu",
    "points_in_boxes_part",
    "points_in_polygons",
    "poly_nms",
    "prroi_pool",
    "ps_roi_pool",
    "psa_mask",
    "rfft",
    "riroi_align_rotated",
    "roi_align",
    "roi_align_rotated",
    "roi_crop",
    "roi_pool",
    "roiaware_pool3d",
    "roipoint_pool3d",
    "rotated_feature_align",
    "sigmoid_focal_loss",
    "soft_nms",
    "softmax_focal_loss",
    "sparse_add",
    "sparse_cat",
    "sparse_collate",
    "stack_ball_query",
    "stack_furthest_point_sample",
    "stack_three_interpolate",
    "stack_three_nn",
    "sync_batch_norm",
    "three_interpolate",
    "three_nn",
    "tin_shift",
    "voxel_pooling",
    "voxel_query",
    "voxelization",
]
