/* The operators in double; written by tools/families.py.
 *
 * Each takes what the function of mlu_op.h with its name takes, with MLUOP_DTYPE_DOUBLE in place of
 * MLUOP_DTYPE_FLOAT, and refuses other types. Sums and positions are computed in double. A library
 * for a device returns NOT_SUPPORTED. */
#ifndef MLUOPS_EXT_DOUBLE_H_
#define MLUOPS_EXT_DOUBLE_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

mluOpStatus_t MLUOP_WIN_API mluopsExtActiveRotatedFilterForwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t indices_desc, const void *indices, void *workspace, const size_t workspace_size,
    const mluOpTensorDescriptor_t output_desc, void *output);
mluOpStatus_t MLUOP_WIN_API mluopsExtBallQueryDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t new_xyz_desc, const void *new_xyz,
    const mluOpTensorDescriptor_t xyz_desc, const void *xyz, const double min_radius, const double max_radius,
    const int nsample, const mluOpTensorDescriptor_t idx_desc, void *idx);
mluOpStatus_t MLUOP_WIN_API mluopsExtBboxOverlapsDouble(
    mluOpHandle_t handle, const int mode, const bool aligned, const int offset,
    const mluOpTensorDescriptor_t bbox1_desc, const void *bbox1, const mluOpTensorDescriptor_t bbox2_desc,
    const void *bbox2, const mluOpTensorDescriptor_t ious_desc, void *ious);
mluOpStatus_t MLUOP_WIN_API mluopsExtBorderAlignForwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t boxes_desc, const void *boxes, const int32_t pool_size,
    const mluOpTensorDescriptor_t output_desc, void *output, const mluOpTensorDescriptor_t argmax_idx_desc,
    void *argmax_idx);
mluOpStatus_t MLUOP_WIN_API mluopsExtBorderAlignBackwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t boxes_desc, const void *boxes, const mluOpTensorDescriptor_t argmax_idx_desc,
    const void *argmax_idx, const int32_t pool_size, const mluOpTensorDescriptor_t grad_input_desc, void *grad_input);
mluOpStatus_t MLUOP_WIN_API mluopsExtBoxIouRotatedDouble(
    mluOpHandle_t handle, const int mode, const bool aligned, const mluOpTensorDescriptor_t bbox1_desc,
    const void *bbox1, const mluOpTensorDescriptor_t bbox2_desc, const void *bbox2,
    const mluOpTensorDescriptor_t ious_desc, void *ious);
mluOpStatus_t MLUOP_WIN_API mluopsExtNmsDouble(
    mluOpHandle_t handle, const mluOpNmsDescriptor_t nms_desc, const mluOpTensorDescriptor_t boxes_desc,
    const void *boxes, const mluOpTensorDescriptor_t confidence_desc, const void *confidence, void *workspace,
    const size_t workspace_size, const mluOpTensorDescriptor_t output_desc, void *output, void *output_size);
mluOpStatus_t MLUOP_WIN_API mluopsExtDeformRoiPoolForwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, const mluOpTensorDescriptor_t offset_desc,
    const void *offset, const int pooled_height, const int pooled_width, const double spatial_scale,
    const int sampling_ratio, const double gamma, const mluOpTensorDescriptor_t output_desc, void *output);
mluOpStatus_t MLUOP_WIN_API mluopsExtDeformRoiPoolBackwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t input_desc, const void *input, const mluOpTensorDescriptor_t rois_desc,
    const void *rois, const mluOpTensorDescriptor_t offset_desc, const void *offset, const int pooled_height,
    const int pooled_width, const double spatial_scale, const int sampling_ratio, const double gamma,
    const mluOpTensorDescriptor_t grad_input_desc, void *grad_input, const mluOpTensorDescriptor_t grad_offset_desc,
    void *grad_offset);
mluOpStatus_t MLUOP_WIN_API mluopsExtDiffIouRotatedSortVerticesForwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t vertices_desc, const void *vertices,
    const mluOpTensorDescriptor_t mask_desc, const void *mask, const mluOpTensorDescriptor_t num_valid_desc,
    const void *num_valid, const mluOpTensorDescriptor_t idx_desc, void *idx);
mluOpStatus_t MLUOP_WIN_API mluopsExtDynamicPointToVoxelForwardDouble(
    mluOpHandle_t handle, const mluOpReduceMode_t reduce_type, const mluOpTensorDescriptor_t feats_desc,
    const void *feats, const mluOpTensorDescriptor_t coors_desc, void *coors, void *workspace,
    const size_t workspace_size, const mluOpTensorDescriptor_t voxel_feats_desc, void *voxel_feats,
    const mluOpTensorDescriptor_t voxel_coors_desc, void *voxel_coors,
    const mluOpTensorDescriptor_t point2voxel_map_desc, void *point2voxel_map,
    const mluOpTensorDescriptor_t voxel_points_count_desc, void *voxel_points_count,
    const mluOpTensorDescriptor_t voxel_num_desc, void *voxel_num);
mluOpStatus_t MLUOP_WIN_API mluopsExtDynamicPointToVoxelBackwardDouble(
    mluOpHandle_t handle, const mluOpReduceMode_t reduce_type, const mluOpTensorDescriptor_t grad_voxel_feats_desc,
    const void *grad_voxel_feats, const mluOpTensorDescriptor_t feats_desc, const void *feats,
    const mluOpTensorDescriptor_t voxel_feats_desc, const void *voxel_feats,
    const mluOpTensorDescriptor_t point2voxel_map_desc, const void *point2voxel_map,
    const mluOpTensorDescriptor_t voxel_points_count_desc, const void *voxel_points_count,
    const mluOpTensorDescriptor_t voxel_num_desc, const void *voxel_num, void *workspace, const size_t workspace_size,
    const mluOpTensorDescriptor_t grad_feats_desc, void *grad_feats);
mluOpStatus_t MLUOP_WIN_API mluopsExtFocalLossSigmoidForwardDouble(
    mluOpHandle_t handle, const mluOpComputationPreference_t prefer, const mluOpLossReduction_t reduction,
    const mluOpTensorDescriptor_t input_desc, const void *input, const mluOpTensorDescriptor_t target_desc,
    const void *target, const mluOpTensorDescriptor_t weight_desc, const void *weight, const double alpha,
    const double gamma, const mluOpTensorDescriptor_t output_desc, void *output);
mluOpStatus_t MLUOP_WIN_API mluopsExtFocalLossSigmoidBackwardDouble(
    mluOpHandle_t handle, const mluOpComputationPreference_t prefer, const mluOpLossReduction_t reduction,
    const mluOpTensorDescriptor_t input_desc, const void *input, const mluOpTensorDescriptor_t target_desc,
    const void *target, const mluOpTensorDescriptor_t weight_desc, const void *weight, const double alpha,
    const double gamma, const mluOpTensorDescriptor_t grad_input_desc, void *grad_input);
mluOpStatus_t MLUOP_WIN_API mluopsExtGenerateProposalsV2Double(
    mluOpHandle_t handle, const int pre_nms_top_n, const int post_nms_top_n, const double nms_thresh,
    const double min_size, const double eta, const bool pixel_offset, const mluOpTensorDescriptor_t scores_desc,
    const void *scores, const mluOpTensorDescriptor_t bbox_deltas_desc, const void *bbox_deltas,
    const mluOpTensorDescriptor_t im_shape_desc, const void *im_shape, const mluOpTensorDescriptor_t anchors_desc,
    const void *anchors, const mluOpTensorDescriptor_t variances_desc, const void *variances, void *workspace,
    const size_t workspace_size, const mluOpTensorDescriptor_t rpn_rois_desc, void *rpn_rois,
    const mluOpTensorDescriptor_t rpn_roi_probs_desc, void *rpn_roi_probs,
    const mluOpTensorDescriptor_t rpn_rois_num_desc, void *rpn_rois_num, void *rpn_rois_batch_size);
mluOpStatus_t MLUOP_WIN_API mluopsExtMaskedIm2colForwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t feature_desc, const void *feature,
    const mluOpTensorDescriptor_t mask_h_idx_desc, const void *mask_h_idx,
    const mluOpTensorDescriptor_t mask_w_idx_desc, const void *mask_w_idx, const int kernel_h, const int kernel_w,
    const int pad_h, const int pad_w, void *workspace, const size_t workspace_size,
    const mluOpTensorDescriptor_t data_col_desc, void *data_col);
mluOpStatus_t MLUOP_WIN_API mluopsExtMaskedCol2imForwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t col_desc, const void *col,
    const mluOpTensorDescriptor_t mask_h_idx_desc, const void *mask_h_idx,
    const mluOpTensorDescriptor_t mask_w_idx_desc, const void *mask_w_idx, const size_t workspace_size, void *workspace,
    const mluOpTensorDescriptor_t im_desc, void *im);
mluOpStatus_t MLUOP_WIN_API mluopsExtMoeDispatchForwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t gates_desc, const void *gates,
    const mluOpTensorDescriptor_t indices_desc, const void *indices, const mluOpTensorDescriptor_t locations_desc,
    const void *locations, const mluOpTensorDescriptor_t input_desc, const void *input, const int samples,
    const int capacity, const int hidden, const int num_experts, const mluOpTensorDescriptor_t dispatch_desc,
    void *dispatch);
mluOpStatus_t MLUOP_WIN_API mluopsExtMoeDispatchBackwardDataDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t gates_desc, const void *gates,
    const mluOpTensorDescriptor_t indices_desc, const void *indices, const mluOpTensorDescriptor_t locations_desc,
    const void *locations, const mluOpTensorDescriptor_t dispatch_desc, const void *dispatch, const int samples,
    const int capacity, const int hidden, const int num_experts, const mluOpTensorDescriptor_t grad_input_desc,
    void *grad_input);
mluOpStatus_t MLUOP_WIN_API mluopsExtMoeDispatchBackwardGateDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t indices_desc, const void *indices,
    const mluOpTensorDescriptor_t locations_desc, const void *locations, const mluOpTensorDescriptor_t input_desc,
    const void *input, const mluOpTensorDescriptor_t dispatch_desc, const void *dispatch, const int samples,
    const int capacity, const int hidden, const int num_experts, void *workspace, const size_t workspace_size,
    const mluOpTensorDescriptor_t grad_gates_desc, void *grad_gates);
mluOpStatus_t MLUOP_WIN_API mluopsExtMsDeformAttnForwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t data_value_desc, const void *data_value,
    const mluOpTensorDescriptor_t data_spatial_shapes_desc, const void *data_spatial_shapes,
    const mluOpTensorDescriptor_t data_level_start_index_desc, const void *data_level_start_index,
    const mluOpTensorDescriptor_t data_sampling_loc_desc, const void *data_sampling_loc,
    const mluOpTensorDescriptor_t data_attn_weight_desc, const void *data_attn_weight, const int im2col_step,
    const mluOpTensorDescriptor_t data_col_desc, void *data_col);
mluOpStatus_t MLUOP_WIN_API mluopsExtMsDeformAttnBackwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t value_desc, const void *value,
    const mluOpTensorDescriptor_t spatial_shapes_desc, const void *spatial_shapes,
    const mluOpTensorDescriptor_t level_start_index_desc, const void *level_start_index,
    const mluOpTensorDescriptor_t sampling_loc_desc, const void *sampling_loc,
    const mluOpTensorDescriptor_t attn_weight_desc, const void *attn_weight,
    const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output, const int32_t im2col_step,
    const mluOpTensorDescriptor_t grad_value_desc, void *grad_value,
    const mluOpTensorDescriptor_t grad_sampling_loc_desc, void *grad_sampling_loc,
    const mluOpTensorDescriptor_t grad_attn_weight_desc, void *grad_attn_weight);
mluOpStatus_t MLUOP_WIN_API mluopsExtMutualInformationForwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t px_desc, const void *px, const mluOpTensorDescriptor_t py_desc,
    const void *py, const mluOpTensorDescriptor_t opt_boundary_desc, const void *opt_boundary,
    const mluOpTensorDescriptor_t p_desc, void *p, void *workspace, const size_t workspace_size,
    const mluOpTensorDescriptor_t ans_desc, void *ans);
mluOpStatus_t MLUOP_WIN_API mluopsExtMutualInformationBackwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t px_desc, const void *px, const mluOpTensorDescriptor_t py_desc,
    const void *py, const mluOpTensorDescriptor_t opt_boundary_desc, const void *opt_boundary,
    const mluOpTensorDescriptor_t p_desc, const void *p, const mluOpTensorDescriptor_t ans_grad_desc, void *ans_grad,
    const bool overwrite_ans_grad, void *workspace, const size_t workspace_size,
    const mluOpTensorDescriptor_t px_grad_desc, void *px_grad, const mluOpTensorDescriptor_t py_grad_desc,
    void *py_grad);
mluOpStatus_t MLUOP_WIN_API mluopsExtNmsRotatedDouble(
    mluOpHandle_t handle, const double iou_threshold, const mluOpTensorDescriptor_t boxes_desc, const void *boxes,
    const mluOpTensorDescriptor_t scores_desc, const void *scores, void *workspace, const size_t workspace_size,
    const mluOpTensorDescriptor_t output_desc, void *output, int32_t *result_num);
mluOpStatus_t MLUOP_WIN_API mluopsExtPointsInBoxesDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc, const void *points,
    const mluOpTensorDescriptor_t boxes_desc, const void *boxes, const mluOpTensorDescriptor_t points_indices_desc,
    void *points_indices);
mluOpStatus_t MLUOP_WIN_API mluopsExtAbsDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t x_desc, const void *x, const mluOpTensorDescriptor_t y_desc,
    void *y);
mluOpStatus_t MLUOP_WIN_API mluopsExtSqrtDouble(
    mluOpHandle_t handle, const mluOpComputationPreference_t prefer, const mluOpTensorDescriptor_t x_desc,
    const void *x, const mluOpTensorDescriptor_t y_desc, void *y);
mluOpStatus_t MLUOP_WIN_API mluopsExtSqrtBackwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t y_desc, const void *y, const mluOpTensorDescriptor_t dy_desc,
    const void *diff_y, const mluOpTensorDescriptor_t dx_desc, void *diff_x);
mluOpStatus_t MLUOP_WIN_API mluopsExtLogDouble(
    mluOpHandle_t handle, const mluOpComputationPreference_t prefer, const mluOpLogBase_t base,
    const mluOpTensorDescriptor_t x_desc, const void *x, const mluOpTensorDescriptor_t y_desc, void *y);
mluOpStatus_t MLUOP_WIN_API mluopsExtDivDouble(
    mluOpHandle_t handle, const mluOpComputationPreference_t prefer, const mluOpTensorDescriptor_t x_desc,
    const void *x, const mluOpTensorDescriptor_t y_desc, const void *y, const mluOpTensorDescriptor_t z_desc, void *z);
mluOpStatus_t MLUOP_WIN_API mluopsExtLgammaDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t x_desc, const void *x, const mluOpTensorDescriptor_t y_desc,
    void *y);
mluOpStatus_t MLUOP_WIN_API mluopsExtPriorBoxDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t min_sizes_desc, const void *min_sizes,
    const mluOpTensorDescriptor_t aspect_ratios_desc, const void *aspect_ratios,
    const mluOpTensorDescriptor_t variances_desc, const void *variances, const mluOpTensorDescriptor_t max_sizes_desc,
    const void *max_sizes, const int height, const int width, const int im_height, const int im_width,
    const double step_h, const double step_w, const double offset, const bool clip,
    const bool min_max_aspect_ratios_order, const mluOpTensorDescriptor_t output_desc, void *output,
    const mluOpTensorDescriptor_t var_desc, void *var);
mluOpStatus_t MLUOP_WIN_API mluopsExtPsRoiPoolForwardDouble(
    mluOpHandle_t handle, const int pooled_height, const int pooled_width, const double spatial_scale,
    const int group_size, const int output_dim, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, const mluOpTensorDescriptor_t output_desc, void *output,
    const mluOpTensorDescriptor_t mapping_channel_desc, void *mapping_channel);
mluOpStatus_t MLUOP_WIN_API mluopsExtPsRoiPoolBackwardDouble(
    mluOpHandle_t handle, const int pooled_height, const int pooled_width, const double spatial_scale,
    const int output_dim, const mluOpTensorDescriptor_t top_grad_desc, const void *top_grad,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, const mluOpTensorDescriptor_t mapping_channel_desc,
    const void *mapping_channel, const mluOpTensorDescriptor_t bottom_grad_desc, void *bottom_grad);
mluOpStatus_t MLUOP_WIN_API mluopsExtPsamaskForwardDouble(
    mluOpHandle_t handle, const int psa_type, const mluOpTensorDescriptor_t x_desc, const void *x, const int h_mask,
    const int w_mask, const mluOpTensorDescriptor_t y_desc, void *y);
mluOpStatus_t MLUOP_WIN_API mluopsExtPsamaskBackwardDouble(
    mluOpHandle_t handle, const int psa_type, const mluOpTensorDescriptor_t dy_desc, const void *dy, const int h_mask,
    const int w_mask, const mluOpTensorDescriptor_t dx_desc, void *dx);
mluOpStatus_t MLUOP_WIN_API mluopsExtPolyNmsDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t boxes_desc, const void *boxes, const double iou_threshold,
    void *workspace, const size_t workspace_size, const mluOpTensorDescriptor_t output_desc, void *output,
    void *output_size);
mluOpStatus_t MLUOP_WIN_API mluopsExtRoiAwarePool3dForwardDouble(
    mluOpHandle_t handle, const int pool_method, const int boxes_num, const int pts_num, const int channels,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, const mluOpTensorDescriptor_t pts_desc, const void *pts,
    const mluOpTensorDescriptor_t pts_feature_desc, const void *pts_feature, void *workspace,
    const size_t workspace_size, const int max_pts_each_voxel, const int out_x, const int out_y, const int out_z,
    const mluOpTensorDescriptor_t argmax_desc, void *argmax, const mluOpTensorDescriptor_t pts_idx_of_voxels_desc,
    void *pts_idx_of_voxels, const mluOpTensorDescriptor_t pooled_features_desc, void *pooled_features);
mluOpStatus_t MLUOP_WIN_API mluopsExtRoiAwarePool3dBackwardDouble(
    mluOpHandle_t handle, const int pool_method, const int boxes_num, const int out_x, const int out_y, const int out_z,
    const int channels, const int max_pts_each_voxel, const mluOpTensorDescriptor_t pts_idx_of_voxels_desc,
    const void *pts_idx_of_voxels, const mluOpTensorDescriptor_t argmax_desc, const void *argmax,
    const mluOpTensorDescriptor_t grad_out_desc, const void *grad_out, const mluOpTensorDescriptor_t grad_in_desc,
    void *grad_in);
mluOpStatus_t MLUOP_WIN_API mluopsExtRoiCropForwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t grid_desc, const void *grid, const mluOpTensorDescriptor_t output_desc, void *output);
mluOpStatus_t MLUOP_WIN_API mluopsExtRoiCropBackwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t grid_desc, const void *grid, const mluOpTensorDescriptor_t grad_input_desc,
    void *grad_input);
mluOpStatus_t MLUOP_WIN_API mluopsExtRoiPointPool3dDouble(
    mluOpHandle_t handle, const int batch_size, const int pts_num, const int boxes_num, const int feature_in_len,
    const int sampled_pts_num, const mluOpTensorDescriptor_t points_desc, const void *points,
    const mluOpTensorDescriptor_t point_features_desc, const void *point_features,
    const mluOpTensorDescriptor_t boxes3d_desc, const void *boxes3d, void *workspace, const size_t workspace_size,
    const mluOpTensorDescriptor_t pooled_features_desc, void *pooled_features,
    const mluOpTensorDescriptor_t pooled_empty_flag_desc, void *pooled_empty_flag);
mluOpStatus_t MLUOP_WIN_API mluopsExtRotatedFeatureAlignForwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t bboxes_desc, const void *bboxes, const double spatial_scale, const int points,
    const mluOpTensorDescriptor_t output_desc, void *output);
mluOpStatus_t MLUOP_WIN_API mluopsExtRotatedFeatureAlignBackwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t top_output_desc, const void *top_output,
    const mluOpTensorDescriptor_t bboxes_desc, const void *bboxes, const double spatial_scale, const int points,
    const mluOpTensorDescriptor_t bottom_input_desc, void *bottom_input);
mluOpStatus_t MLUOP_WIN_API mluopsExtThreeInterpolateForwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void *features,
    const mluOpTensorDescriptor_t indices_desc, const void *indices, const mluOpTensorDescriptor_t weights_desc,
    const void *weights, const mluOpTensorDescriptor_t output_desc, void *output);
mluOpStatus_t MLUOP_WIN_API mluopsExtThreeInterpolateBackwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t indices_desc, const void *indices, const mluOpTensorDescriptor_t weights_desc,
    const void *weights, const mluOpTensorDescriptor_t grad_features_desc, void *grad_features);
mluOpStatus_t MLUOP_WIN_API mluopsExtThreeNNForwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t unknown_desc, const void *unknown,
    const mluOpTensorDescriptor_t known_desc, const void *known, void *workspace, const size_t workspace_size,
    const mluOpTensorDescriptor_t dist2_desc, void *dist2, const mluOpTensorDescriptor_t idx_desc, void *idx);
mluOpStatus_t MLUOP_WIN_API mluopsExtTinShiftForwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t shifts_desc, const void *shifts, const mluOpTensorDescriptor_t output_desc,
    void *output);
mluOpStatus_t MLUOP_WIN_API mluopsExtTinShiftBackwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t shifts_desc, const void *shifts, const mluOpTensorDescriptor_t grad_input_desc,
    void *grad_input);
mluOpStatus_t MLUOP_WIN_API mluopsExtRoiAlignRotatedForwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void *features,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, const int pooled_height, const int pooled_width,
    const int sample_ratio, const double spatial_scale, const bool aligned, const bool clockwise,
    const mluOpTensorDescriptor_t output_desc, void *output);
mluOpStatus_t MLUOP_WIN_API mluopsExtRoiAlignRotatedBackwardDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t top_grad_desc, const void *top_grad,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, const int pooled_height, const int pooled_width,
    const int sample_ratio, const double spatial_scale, const bool aligned, const bool clockwise,
    const mluOpTensorDescriptor_t bottom_grad_desc, void *bottom_grad);
mluOpStatus_t MLUOP_WIN_API mluopsExtVoxelPoolingForwardDouble(
    mluOpHandle_t handle, const int batch_size, const int num_points, const int num_channels, const int num_voxel_x,
    const int num_voxel_y, const int num_voxel_z, const mluOpTensorDescriptor_t geom_xyz_desc, const void *geom_xyz,
    const mluOpTensorDescriptor_t input_features_desc, const void *input_features,
    const mluOpTensorDescriptor_t output_features_desc, void *output_features,
    const mluOpTensorDescriptor_t pos_memo_desc, void *pos_memo);
mluOpStatus_t MLUOP_WIN_API mluopsExtVoxelizationDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc, const void *points,
    const mluOpTensorDescriptor_t voxel_size_desc, const void *voxel_size,
    const mluOpTensorDescriptor_t coors_range_desc, const void *coors_range, const int32_t max_points,
    const int32_t max_voxels, const int32_t NDim, const bool deterministic, void *workspace,
    const size_t workspace_size, const mluOpTensorDescriptor_t voxels_desc, void *voxels,
    const mluOpTensorDescriptor_t coors_desc, void *coors, const mluOpTensorDescriptor_t num_points_per_voxel_desc,
    void *num_points_per_voxel, const mluOpTensorDescriptor_t voxel_num_desc, void *voxel_num);
mluOpStatus_t MLUOP_WIN_API mluopsExtYoloBoxDouble(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t x_desc, const void *x,
    const mluOpTensorDescriptor_t img_size_desc, const void *img_size, const mluOpTensorDescriptor_t anchors_desc,
    const void *anchors, const int class_num, const double conf_thresh, const int downsample_ratio,
    const bool clip_bbox, const double scale, const bool iou_aware, const double iou_aware_factor,
    const mluOpTensorDescriptor_t boxes_desc, void *boxes, const mluOpTensorDescriptor_t scores_desc, void *scores);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_DOUBLE_H_ */
