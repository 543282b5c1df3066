"""The operators, a module for each family."""

# Written by tools/families.py; do not edit.

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a declaration for each kind of arrays
    from pymluops.ops._types import *  # noqa: F403
else:
    from pymluops.ops.active_rotated_filter import active_rotated_filter_backward, active_rotated_filter_forward
    from pymluops.ops.aligned_regions import (
        LargestSamples,
        roi_align_backward,
        roi_align_forward,
        roi_align_max_backward,
        roi_align_max_forward,
    )
    from pymluops.ops.assign_score_withk import (
        AssignScoreGradients,
        assign_score_withk_backward,
        assign_score_withk_forward,
    )
    from pymluops.ops.ball_query import ball_query, stack_ball_query
    from pymluops.ops.bbox_overlaps import bbox_overlaps
    from pymluops.ops.bev_pool import bev_pool_backward, bev_pool_forward
    from pymluops.ops.bezier_regions import bezier_align_backward, bezier_align_forward
    from pymluops.ops.border_align import border_align_backward, border_align_forward
    from pymluops.ops.box_iou_rotated import box_iou_rotated
    from pymluops.ops.box_nms import nms, nms2d, nms_match, soft_nms
    from pymluops.ops.boxes3d import boxes_iou3d, boxes_iou_bev, boxes_overlap_bev, nms3d, nms3d_normal
    from pymluops.ops.carafe_upsample import CarafeGradients, carafe_backward, carafe_forward
    from pymluops.ops.chamfer_distance import (
        ChamferDistance,
        ChamferGradients,
        chamfer_distance_backward,
        chamfer_distance_forward,
    )
    from pymluops.ops.correlation import CorrelationGradients, correlation_backward, correlation_forward
    from pymluops.ops.deform_conv import (
        DeformConvDataGradients,
        DeformConvGradients,
        deform_conv_backward,
        deform_conv_backward_data,
        deform_conv_backward_weight,
        deform_conv_forward,
    )
    from pymluops.ops.deformed_regions import (
        DeformRoiPoolGradients,
        deform_roi_pool_backward,
        deform_roi_pool_exact_backward,
        deform_roi_pool_forward,
    )
    from pymluops.ops.diff_iou_rotated_sort_vertices import diff_iou_rotated_sort_vertices_forward
    from pymluops.ops.dynamic_point_to_voxel import (
        ScatteredPoints,
        dynamic_point_to_voxel_backward,
        dynamic_point_to_voxel_forward,
        dynamic_scatter_backward,
        dynamic_scatter_forward,
    )
    from pymluops.ops.focal_loss import (
        focal_loss_sigmoid_backward,
        focal_loss_sigmoid_forward,
        sigmoid_focal_loss_backward,
        sigmoid_focal_loss_forward,
        softmax_focal_loss_backward,
        softmax_focal_loss_forward,
    )
    from pymluops.ops.fourier_transforms import fft_forward, fft_inverse, fft_real_forward, fft_real_inverse
    from pymluops.ops.furthest_point_sampling import (
        FurthestPoints,
        furthest_point_sampling,
        furthest_point_sampling_with_dist,
        stack_furthest_point_sampling,
    )
    from pymluops.ops.generate_proposals import generate_proposals_v2
    from pymluops.ops.get_indice_pairs import IndicePairs, get_indice_pairs
    from pymluops.ops.group_points import (
        gather_points_backward,
        gather_points_forward,
        group_points_backward,
        group_points_forward,
        stack_group_points_backward,
        stack_group_points_forward,
    )
    from pymluops.ops.indice_convolution import (
        indice_convolution_backward_data,
        indice_convolution_backward_filter,
        indice_convolution_forward,
    )
    from pymluops.ops.ingroup_indices import ingroup_indices
    from pymluops.ops.knn import NearestPoints, knn
    from pymluops.ops.logspace import logspace
    from pymluops.ops.masked_conv import masked_col2im_forward, masked_im2col_forward
    from pymluops.ops.moe_dispatch import moe_dispatch_backward_data, moe_dispatch_backward_gate, moe_dispatch_forward
    from pymluops.ops.ms_deform_attn import MsDeformAttnGradients, ms_deform_attn_backward, ms_deform_attn_forward
    from pymluops.ops.mutual_information import mutual_information_backward, mutual_information_forward
    from pymluops.ops.nms_rotated import nms_rotated
    from pymluops.ops.optimizer_steps import adam_w
    from pymluops.ops.point_sets import ConvexGiou, convex_giou, convex_iou, min_area_polygons
    from pymluops.ops.points_in_boxes import points_in_boxes, points_in_boxes_all, points_in_boxes_part
    from pymluops.ops.points_in_polygons import points_in_polygons
    from pymluops.ops.pointwise import abs, div, lgamma, log, sqrt, sqrt_backward
    from pymluops.ops.pooled_regions import LargestPixels, roi_pool_backward, roi_pool_forward
    from pymluops.ops.precise_regions import prroi_pool_backward, prroi_pool_coor_backward, prroi_pool_forward
    from pymluops.ops.prior_box import prior_box
    from pymluops.ops.ps_roi_pool import ps_roi_pool_backward, ps_roi_pool_forward
    from pymluops.ops.psamask import psamask_backward, psamask_forward
    from pymluops.ops.quadri_boxes import box_iou_quadri, nms_quadri, poly_nms
    from pymluops.ops.roi_aware_pool3d import roi_aware_pool3d_backward, roi_aware_pool3d_forward
    from pymluops.ops.roi_crop import roi_crop_backward, roi_crop_forward
    from pymluops.ops.roi_point_pool3d import roi_point_pool3d
    from pymluops.ops.rotated_feature_align import rotated_feature_align_backward, rotated_feature_align_forward
    from pymluops.ops.stack_three_interpolate import stack_three_interpolate_backward, stack_three_interpolate_forward
    from pymluops.ops.sync_batch_norm import (
        ChannelStats,
        ChannelSums,
        GatheredStats,
        sync_batch_norm_backward_elemt,
        sync_batch_norm_backward_elemt_v2,
        sync_batch_norm_backward_reduce,
        sync_batch_norm_elemt,
        sync_batch_norm_gather_stats_with_counts,
        sync_batch_norm_stats,
    )
    from pymluops.ops.text_regions import contour_expand, pixel_group
    from pymluops.ops.three_interpolate import three_interpolate_backward, three_interpolate_forward
    from pymluops.ops.three_nn import ThreeNN, stack_three_nn, three_nn_forward
    from pymluops.ops.tin_shift import tin_shift_backward, tin_shift_forward
    from pymluops.ops.turned_regions import (
        riroi_align_rotated_backward,
        riroi_align_rotated_forward,
        roi_align_rotated_backward,
        roi_align_rotated_forward,
    )
    from pymluops.ops.voxel_pooling import voxel_pooling_backward, voxel_pooling_forward
    from pymluops.ops.voxel_query import voxel_query
    from pymluops.ops.voxelization import Voxels, dynamic_voxelize, voxelization
    from pymluops.ops.yolo_box import yolo_box

__all__ = [
    "AssignScoreGradients",
    "CarafeGradients",
    "ChamferDistance",
    "ChamferGradients",
    "ChannelStats",
    "ChannelSums",
    "ConvexGiou",
    "CorrelationGradients",
    "DeformConvDataGradients",
    "DeformConvGradients",
    "DeformRoiPoolGradients",
    "FurthestPoints",
    "GatheredStats",
    "IndicePairs",
    "LargestPixels",
    "LargestSamples",
    "MsDeformAttnGradients",
    "NearestPoints",
    "ScatteredPoints",
    "ThreeNN",
    "Voxels",
    "abs",
    "active_rotated_filter_backward",
    "active_rotated_filter_forward",
    "adam_w",
    "assign_score_withk_backward",
    "assign_score_withk_forward",
    "ball_query",
    "bbox_overlaps",
    "bev_pool_backward",
    "bev_pool_forward",
    "bezier_align_backward",
    "bezier_align_forward",
    "border_align_backward",
    "border_align_forward",
    "box_iou_quadri",
    "box_iou_rotated",
    "boxes_iou3d",
    "boxes_iou_bev",
    "boxes_overlap_bev",
    "carafe_backward",
    "carafe_forward",
    "chamfer_distance_backward",
    "chamfer_distance_forward",
    "contour_expand",
    "convex_giou",
    "convex_iou",
    "correlation_backward",
    "correlation_forward",
    "deform_conv_backward",
    "deform_conv_backward_data",
    "deform_conv_backward_weight",
    "deform_conv_forward",
    "deform_roi_pool_backward",
    "deform_roi_pool_exact_backward",
    "deform_roi_pool_forward",
    "diff_iou_rotated_sort_vertices_forward",
    "div",
    "dynamic_point_to_voxel_backward",
    "dynamic_point_to_voxel_forward",
    "dynamic_scatter_backward",
    "dynamic_scatter_forward",
    "dynamic_voxelize",
    "fft_forward",
    "fft_inverse",
    "fft_real_forward",
    "fft_real_inverse",
    "focal_loss_sigmoid_backward",
    "focal_loss_sigmoid_forward",
    "furthest_point_sampling",
    "furthest_point_sampling_with_dist",
    "gather_points_backward",
    "gather_points_forward",
    "generate_proposals_v2",
    "get_indice_pairs",
    "group_points_backward",
    "group_points_forward",
    "indice_convolution_backward_data",
    "indice_convolution_backward_filter",
    "indice_convolution_forward",
    "ingroup_indices",
    "knn",
    "lgamma",
    "log",
    "logspace",
    "masked_col2im_forward",
    "masked_im2col_forward",
    "min_area_polygons",
    "moe_dispatch_backward_data",
    "moe_dispatch_backward_gate",
    "moe_dispatch_forward",
    "ms_deform_attn_backward",
    "ms_deform_attn_forward",
    "mutual_information_backward",
    "mutual_information_forward",
    "nms",
    "nms2d",
    "nms3d",
    "nms3d_normal",
    "nms_match",
    "nms_quadri",
    "nms_rotated",
    "pixel_group",
    "points_in_boxes",
    "points_in_boxes_all",
    "points_in_boxes_part",
    "points_in_polygons",
    "poly_nms",
    "prior_box",
    "prroi_pool_backward",
    "prroi_pool_coor_backward",
    "prroi_pool_forward",
    "ps_roi_pool_backward",
    "ps_roi_pool_forward",
    "psamask_backward",
    "psamask_forward",
    "riroi_align_rotated_backward",
    "riroi_align_rotated_forward",
    "roi_align_backward",
    "roi_align_forward",
    "roi_align_max_backward",
    "roi_align_max_forward",
    "roi_align_rotated_backward",
    "roi_align_rotated_forward",
    "roi_aware_pool3d_backward",
    "roi_aware_pool3d_forward",
    "roi_crop_backward",
    "roi_crop_forward",
    "roi_point_pool3d",
    "roi_pool_backward",
    "roi_pool_forward",
    "rotated_feature_align_backward",
    "rotated_feature_align_forward",
    "sigmoid_focal_loss_backward",
    "sigmoid_focal_loss_forward",
    "soft_nms",
    "softmax_focal_loss_backward",
    "softmax_focal_loss_forward",
    "sqrt",
    "sqrt_backward",
    "stack_ball_query",
    "stack_furthest_point_sampling",
    "stack_group_points_backward",
    "stack_group_points_forward",
    "stack_three_interpolate_backward",
    "stack_three_interpolate_forward",
    "stack_three_nn",
    "sync_batch_norm_backward_elemt",
    "sync_batch_norm_backward_elemt_v2",
    "sync_batch_norm_backward_reduce",
    "sync_batch_norm_elemt",
    "sync_batch_norm_gather_stats_with_counts",
    "sync_batch_norm_stats",
    "three_interpolate_backward",
    "three_interpolate_forward",
    "three_nn_forward",
    "tin_shift_backward",
    "tin_shift_forward",
    "voxel_pooling_backward",
    "voxel_pooling_forward",
    "voxel_query",
    "voxelization",
    "yolo_box",
]
