"""Arguments keep the names and order of mmcv's bindings: mmcv passes tensors by place and most numbers by name."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from pymluops.mmcv._extension import implemented

_CONVOLUTION = "batchSize outSpatialShape spatialShape kernelSize stride padding dilation outPadding _subM _transpose"

_WINDOWS = "kernel_size group_size scale_factor"
_DEFORMED = "kW kH dW dH padW padH dilationW dilationH group deformable_group"
_MODULATED = "kernel_h kernel_w stride_h stride_w pad_h pad_w dilation_h dilation_w group deformable_group with_bias"

_ROTATED = "pooled_height pooled_width spatial_scale sampling_ratio aligned clockwise"
_CURVED = "aligned_height aligned_width spatial_scale sampling_ratio aligned"
_MOVED = "pooled_height pooled_width spatial_scale sampling_ratio gamma"
_TURNED = "pooled_height pooled_width spatial_scale num_samples num_orientations clockwise"
_ALIGNED = "argmax_y argmax_x aligned_height aligned_width spatial_scale sampling_ratio pool_mode aligned"
_ASSIGNED = "B N0 N1 M K O aggregate"

_CORRELATED = "kH kW patchH patchW padH padW dilationH dilationW dilation_patchH dilation_patchW dH dW"

BINDINGS = {
    "correlation_forward": f"input1 input2 output {_CORRELATED}",
    "correlation_backward": f"grad_output input1 input2 grad_input1 grad_input2 {_CORRELATED}",
    "active_rotated_filter_forward": "input indices output",
    "active_rotated_filter_backward": "grad_out indices grad_in",
    "assign_score_withk_forward": f"points centers scores knn_idx output {_ASSIGNED}",
    "assign_score_withk_backward": (
        f"grad_out points centers scores knn_idx grad_points grad_centers grad_scores {_ASSIGNED}"
    ),
    "ball_query_forward": "new_xyz_tensor xyz_tensor idx_tensor b n m min_radius max_radius nsample",
    "stack_ball_query_forward": (
        "new_xyz_tensor new_xyz_batch_cnt xyz_tensor xyz_batch_cnt idx_tensor max_radius nsample"
    ),
    "bezier_align_forward": f"input rois output {_CURVED}",
    "bezier_align_backward": f"grad_output rois grad_input {_CURVED}",
    "border_align_forward": "input boxes output argmax_idx pool_size",
    "box_iou_rotated": "boxes1 boxes2 ious mode_flag aligned",
    "bias_act": "input bias xref yref dy grad dim act alpha gain clamp",
    "carafe_forward": f"features masks rfeatures routput rmasks output {_WINDOWS}",
    "carafe_backward": (
        f"top_grad rfeatures masks rtop_grad rbottom_grad_hs rbottom_grad rmask_grad bottom_grad mask_grad {_WINDOWS}"
    ),
    "carafe_naive_forward": f"features masks output {_WINDOWS}",
    "carafe_naive_backward": f"top_grad features masks bottom_grad mask_grad {_WINDOWS}",
    "filtered_lrelu": "x fu fd b si up down px0 px1 py0 py1 sx sy gain slope clamp flip_filters writeSigns",
    "filtered_lrelu_act_": "x si sx sy gain slope clamp writeSigns",
    "fused_bias_leakyrelu": "input bias empty act grad alpha scale",
    "upfirdn2d": "input filter upx upy downx downy padx0 padx1 pady0 pady1 flip gain",
    "chamfer_distance_forward": "xyz1 xyz2 dist1 dist2 idx1 idx2",
    "chamfer_distance_backward": "xyz1 xyz2 idx1 idx2 graddist1 graddist2 gradxyz1 gradxyz2",
    "deform_conv_forward": f"input weight offset output columns ones {_DEFORMED} im2col_step",
    "deform_conv_backward_input": (
        f"input offset gradOutput gradInput gradOffset weight columns {_DEFORMED} im2col_step"
    ),
    "deform_conv_backward_parameters": (
        f"input offset gradOutput gradWeight columns ones {_DEFORMED} scale im2col_step"
    ),
    "modulated_deform_conv_forward": f"input weight bias ones offset mask output columns {_MODULATED}",
    "modulated_deform_conv_backward": (
        "input weight bias ones offset mask columns grad_input grad_weight grad_bias grad_offset grad_mask grad_output "
        f"{_MODULATED}"
    ),
    "sync_bn_forward_mean": "input mean",
    "sync_bn_forward_var": "input mean var",
    "sync_bn_forward_output": (
        "input mean var weight bias running_mean running_var norm std output eps momentum group_size"
    ),
    "sync_bn_backward_param": "grad_output norm grad_weight grad_bias",
    "sync_bn_backward_data": "grad_output weight grad_weight grad_bias norm std grad_input",
    "diff_iou_rotated_sort_vertices_forward": "vertices mask num_valid",
    "iou3d_boxes_overlap_bev_forward": "boxes_a boxes_b ans_iou",
    "iou3d_nms3d_forward": "boxes keep num_out nms_overlap_thresh",
    "iou3d_nms3d_normal_forward": "boxes keep num_out nms_overlap_thresh",
    "bbox_overlaps": "bboxes1 bboxes2 ious mode aligned offset",
    "sigmoid_focal_loss_forward": "input target weight output gamma alpha",
    "sigmoid_focal_loss_backward": "input target weight grad_input gamma alpha",
    "softmax_focal_loss_forward": "input target weight output gamma alpha",
    "softmax_focal_loss_backward": "input target weight buff grad_input gamma alpha",
    "box_iou_quadri": "boxes1 boxes2 ious mode_flag aligned",
    "nms_quadri": "dets scores order dets_sorted iou_threshold multi_label",
    "contour_expand": "kernel_mask internal_kernel_label min_kernel_area kernel_num",
    "convex_iou": "pointsets polygons ious",
    "convex_giou": "pointsets polygons output",
    "min_area_polygons": "pointsets polygons",
    "pixel_group": "score mask embedding kernel_label kernel_contour kernel_region_num distance_threshold",
    "nms": "boxes scores iou_threshold offset",
    "softnms": "boxes scores dets iou_threshold sigma min_score method offset",
    "nms_match": "dets iou_threshold",
    "nms_rotated": "dets scores order dets_sorted labels iou_threshold multi_label",
    "border_align_backward": "grad_output boxes argmax_idx grad_input pool_size",
    "furthest_point_sampling_forward": "points_tensor temp_tensor idx_tensor b n m",
    "furthest_point_sampling_with_dist_forward": "points_tensor temp_tensor idx_tensor b n m",
    "gather_points_forward": "points_tensor idx_tensor out_tensor b c n npoints",
    "gather_points_backward": "grad_out_tensor idx_tensor grad_points_tensor b c n npoints",
    "group_points_forward": "points_tensor idx_tensor out_tensor b c n npoints nsample",
    "group_points_backward": "grad_out_tensor idx_tensor grad_points_tensor b c n npoints nsample",
    "knn_forward": "xyz_tensor new_xyz_tensor idx_tensor dist2_tensor b n m nsample",
    "masked_im2col_forward": "im mask_h_idx mask_w_idx col kernel_h kernel_w pad_h pad_w",
    "masked_col2im_forward": "col mask_h_idx mask_w_idx im height width channels",
    "stack_group_points_forward": (
        "features_tensor features_batch_cnt_tensor idx_tensor idx_batch_cnt_tensor out_tensor b c m nsample"
    ),
    "stack_group_points_backward": (
        "grad_out_tensor idx_tensor idx_batch_cnt_tensor features_batch_cnt_tensor grad_features_tensor b c m n nsample"
    ),
    "ms_deform_attn_forward": (
        "value value_spatial_shapes value_level_start_index sampling_locations attention_weights im2col_step"
    ),
    "ms_deform_attn_backward": (
        "value value_spatial_shapes value_level_start_index sampling_locations attention_weights grad_output "
        "grad_value grad_sampling_loc grad_attn_weight im2col_step"
    ),
    "points_in_polygons_forward": "points polygons output",
    "hard_voxelize_forward": (
        "points voxel_size coors_range voxels coors num_points_per_voxel voxel_num max_points max_voxels NDim "
        "deterministic"
    ),
    "dynamic_voxelize_forward": "points voxel_size coors_range coors NDim",
    "dynamic_point_to_voxel_forward": "feats coors reduce_type",
    "dynamic_point_to_voxel_backward": (
        "grad_feats grad_reduced_feats feats reduced_feats coors_idx reduce_count reduce_type"
    ),
    "points_in_boxes_part_forward": "boxes_tensor pts_tensor box_idx_of_points_tensor",
    "points_in_boxes_all_forward": "boxes_tensor pts_tensor box_idx_of_points_tensor",
    "points_in_boxes_cpu_forward": "boxes_tensor pts_tensor pts_indices_tensor",
    "roi_align_forward": f"input rois output {_ALIGNED}",
    "roi_align_backward": f"grad_output rois {_ALIGNED.replace('argmax_x', 'argmax_x grad_input')}",
    "roi_align_rotated_forward": f"input rois output {_ROTATED}",
    "roi_align_rotated_backward": f"rois grad_input grad_output {_ROTATED}",
    "riroi_align_rotated_forward": f"features rois output {_TURNED}",
    "riroi_align_rotated_backward": f"top_grad rois bottom_grad {_TURNED}",
    "prroi_pool_forward": "input rois output pooled_height pooled_width spatial_scale",
    "prroi_pool_backward": "grad_output rois grad_input pooled_height pooled_width spatial_scale",
    "prroi_pool_coor_backward": "output grad_output input rois grad_rois pooled_height pooled_width spatial_scale",
    "deform_roi_pool_forward": f"input rois offset output {_MOVED}",
    "deform_roi_pool_backward": f"grad_output input rois offset grad_input grad_offset {_MOVED}",
    "rotated_feature_align_forward": "features best_bboxes output spatial_scale points",
    "rotated_feature_align_backward": "top_grad best_bboxes bottom_grad spatial_scale points",
    "roi_pool_forward": "input rois output argmax pooled_height pooled_width spatial_scale",
    "roi_pool_backward": "grad_output rois argmax grad_input pooled_height pooled_width spatial_scale",
    "roiaware_pool3d_forward": "rois pts pts_feature argmax pts_idx_of_voxels pooled_features pool_method",
    "roiaware_pool3d_backward": "pts_idx_of_voxels argmax grad_out grad_in pool_method",
    "roipoint_pool3d_forward": "xyz boxes3d pts_feature pooled_features pooled_empty_flag",
    "psamask_forward": "input output psa_type num_ h_feature w_feature h_mask w_mask half_h_mask half_w_mask",
    "psamask_backward": (
        "grad_output grad_input psa_type num_ h_feature w_feature h_mask w_mask half_h_mask half_w_mask"
    ),
    "three_interpolate_forward": "points_tensor idx_tensor weight_tensor out_tensor b c m n",
    "three_interpolate_backward": "grad_out_tensor idx_tensor weight_tensor grad_points_tensor b c n m",
    "three_nn_forward": "unknown_tensor known_tensor dist2_tensor idx_tensor b n m",
    "tin_shift_forward": "input shift output",
    "tin_shift_backward": "grad_output shift grad_input",
    "get_indice_pairs_2d_forward": f"indices {_CONVOLUTION}",
    "get_indice_pairs_3d_forward": f"indices {_CONVOLUTION}",
    "get_indice_pairs_4d_forward": f"indices {_CONVOLUTION}",
    "get_indice_pairs_2d_backward": f"indices gridOut {_CONVOLUTION}",
    "get_indice_pairs_3d_backward": f"indices gridOut {_CONVOLUTION}",
    "indice_conv_forward": "features filters indicePairs indiceNum numActOut _inverse _subM",
    "indice_conv_backward": "features filters outGrad indicePairs indiceNum _inverse _subM",
    "fused_indice_conv_forward": "features filters bias indicePairs indiceNum numActOut _inverse _subM",
    "indice_maxpool_forward": "features indicePairs indiceNum numAct",
    "indice_maxpool_backward": "features outFeatures outGrad indicePairs indiceNum",
    "get_compiler_version": "",
    "get_compiling_cuda_version": "",
}


@pytest.mark.parametrize("name", sorted(implemented()))
def test_arguments(name: str) -> None:
    parameters = inspect.signature(implemented()[name]).parameters.values()
    assert [parameter.name for parameter in parameters] == BINDINGS[name].split()
    assert all(p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty for p in parameters)


def test_every_function_is_compared() -> None:
    assert set(BINDINGS) == set(implemented())


@pytest.mark.parametrize(
    ("args", "kwargs", "text"),
    [
        ((1, 2, 3, 4), {}, "too many positional arguments"),
        ((1, 2), {}, "missing a required argument: 'output'"),
        ((1, 2, 3), {"other": 4}, "got an unexpected keyword argument 'other'"),
        ((1, 2), {"input": 3}, "multiple values for argument 'input'"),
    ],
)
def test_arguments_that_do_not_fit_the_signature_are_refused(args: Any, kwargs: Any, text: str) -> None:
    pytest.importorskip("torch")
    with pytest.raises(TypeError, match=f"tin_shift_forward: {text}"):
        implemented()["tin_shift_forward"](*args, **kwargs)
