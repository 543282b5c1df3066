"""The messages of test cases: names, numbers, types and defaults of their fields.

These are facts of the format. An enum is ``name: MEMBER number, ...``; its first member is the
default of a field without one. A message is ``name: label type field number [default], ...``.
Labels are r required, o optional and * repeated, with p behind it for a packed one. ``_param``
messages are fields of Node with the number in front of the colon.
"""

from __future__ import annotations

__all__ = ["ENUMS", "MESSAGES", "PARAMETERS"]

ENUMS = """
TensorLayout: LAYOUT_NCHW 1, LAYOUT_NHWC 2, LAYOUT_HWCN 3, LAYOUT_NDHWC 4, LAYOUT_ARRAY 5, LAYOUT_TNC 6, LAYOUT_NTC 7,
  LAYOUT_NCDHW 8, LAYOUT_NC 9, LAYOUT_NLC 10, LAYOUT_NCL 11
DataType: DTYPE_HALF 1, DTYPE_UNSET 0, DTYPE_FLOAT 2, DTYPE_INT8 3, DTYPE_INT16 4, DTYPE_INT31 5, DTYPE_INT32 6,
  DTYPE_BFLOAT16 7, DTYPE_DOUBLE 8, DTYPE_UINT8 9, DTYPE_UINT16 10, DTYPE_UINT32 11, DTYPE_BOOL 12, DTYPE_COMPLEX64 13,
  DTYPE_COMPLEX128 14, DTYPE_INVALID 15, DTYPE_INT64 16, DTYPE_UINT64 17, DTYPE_COMPLEX_HALF 18,
  DTYPE_COMPLEX_FLOAT 19, DTYPE_COMPLEX_DOUBLE 20, DTYPE_FLOAT8_E4M3FN 21, DTYPE_FLOAT8_E5M2 22, DTYPE_INT4X2 23,
  DTYPE_FLOAT8_E8M0FNU 24, DTYPE_INT8_Q1_6 25
Device: CPU 1, GPU 2, CMODEL 3, GENERATOR_CPU 4
EvaluationCriterion: MAPE 1, SMAPE 2, MAXAPE 3, SMAXAPE 4, NRMSE 5, DIFF1 6, DIFF2 7, DIFF3 8, DIFF3_2 9, DIFF4 10,
  DIFF_KL 11
MLUPlatform: MLU200 1, MLU370 2, MLU590 4, MTP613 6, MTP617 7
PointerMode: POINTER_MODE_HOST 0, POINTER_MODE_DEVICE 1
RandomDistribution: UNIFORM 1, GAUSSIAN 2, SAMPLE 3, BINOMIAL 4, DISCRETE_UNIFORM 5, CERTAIN 6, UNIQUE_INDEX 7
QuantizeRoundMode: ROUND_TO_EVEN 0, ROUND_HALF_UP 1, ROUND_OFF_ZERO 2
ComputationPreference: COMPUTATION_FAST 0, COMPUTATION_HIGH_PRECISION 1, COMPUTATION_ULTRAHIGH_PRECISION 2
mluOpLogBase: MLUOP_LOG_E 0, MLUOP_LOG_2 1, MLUOP_LOG_10 2
LossReduction: LOSS_REDUCTION_NONE 0, LOSS_REDUCTION_SUM 1, LOSS_REDUCTION_MEAN 2
ReduceMode: REDUCE_MODE_SUM 0, REDUCE_MODE_MEAN 1, REDUCE_MODE_MAX 2
PoolingForwardMode: POOLING_MAX 0, POOLING_AVERAGE_COUNT_INCLUDE_PADDING 1, POOLING_AVERAGE_COUNT_EXCLUDE_PADDING 2,
  POOLING_FIXED 3
NmsBoxMode: NMS_BOX_DIAGONAL 0, NMS_BOX_CENTER 1
NmsInputLayout: NMS_INPUT_LAYOUT_NUM_ATTR 0, NMS_INPUT_LAYOUT_ATTR_NUM 1
NmsOutputMode: NMS_INDICES 0, NMS_CONFIDENCE_AND_POS_1 1, NMS_CONFIDENCE_AND_POS_2 2, NMS_BATCH_AND_CLASS 3
NmsMethodMode: NMS_HARD_NMS 0, NMS_SOFT_NMS_LINEAR 1, NMS_SOFT_NMS_GAUSSIAN 2
NmsAlgo: NMS_ALGO_EXCLUDE_BOUNDARY 0, NMS_ALGO_INCLUDE_BOUNDARY 1
"""

MESSAGES = """
Shape: * int64 dims 1, * int64 dim_stride 2
Thresholds: * double evaluation_threshold 1, * double evaluation_threshold_imag 2
RandomData: o int32 seed 1, o float lower_bound 2 [-1], o float upper_bound 3 [1],
  o RandomDistribution distribution 4 [UNIFORM], o bool convert_dtype 5 [false], o float mu 6 [0], o float sigma 7 [1],
  o double lower_bound_double 8 [-1], o double upper_bound_double 9 [1], o double mu_double 10 [0],
  o double sigma_double 11 [1], o int32 true_number 12, o int32 begin_index 13, o int32 end_index 14,
  o int32 dim_shape 15 [1], o float negative_ratio 16, o int32 sorted_status 17
TestParam: * EvaluationCriterion error_func 1, * double error_threshold 2, * double error_threshold_imag 3,
  o double latency 5, o double efficiency 6, o Device baseline_device 7
HandleParam: o QuantizeRoundMode round_mode 1 [ROUND_OFF_ZERO]
Tensor: r string id 1, r Shape shape 2, r TensorLayout layout 3 [LAYOUT_ARRAY], r DataType dtype 4 [DTYPE_FLOAT],
  o int32 position 5 [1000], o float scale 6 [1000], *p float value_f 7, *p int32 value_i 8, * string value_h 9,
  o RandomData random_data 10, o string path 11, o DataType mlu_dtype 12, o DataType onchip_dtype 13 [DTYPE_UNSET],
  o int32 offset 14 [1000], o Thresholds thresholds 15, o int32 threshold_use 16, *p int64 value_l 17,
  *p uint32 value_ui 18, *p uint64 value_ul 19, o PointerMode pointer_mode 29 [POINTER_MODE_DEVICE],
  o bool is_cpu_scalar 30 [false], o int32 index 31
Node: o string valid 1 ["True"], o string pattern 2 ["random"], o Device device 3 [CPU], r string op_name 5,
  * Tensor input 6, * Tensor output 7, o OpType op_type 8, o TestParam test_param 10, o double latency 11,
  o double io_efficiency 12, o double efficiency 13, * EvaluationCriterion evaluation_criterion 14,
  * double evaluation_threshold 15, o double theory_io_size 16, o double theory_compute_ops 17,
  o double workspace_size 18, * double threshold_rate 21, * MLUPlatform supported_mlu_platform 22,
  o HandleParam handle_param 23451, * double evaluation_threshold_imag 4832, o string api_name 1048576
"""

PARAMETERS = """
psamask_forward_param 134658: r int32 h_mask 1, r int32 w_mask 2, r int32 psa_type 3
psamask_backward_param 134659: r int32 h_mask 1, r int32 w_mask 2, r int32 psa_type 3
border_align_param 9001: o int32 pool_size 1 [10]
get_indice_pairs_param 202302031: r int32 dimnb 1, r int32 batch 2, * int32 pad 3, * int32 stride 4, * int32 dilation 5,
  * int32 input_space 6, * int32 filter_space 7, * int32 output_space 8, o int32 sub_m 9, o int32 transpose 10,
  o int32 inverse 11, o int32 num_act_out 12
indice_convolution_forward_param 23020721: r int64 num_active_out 1, o int64 inverse 2, o int64 sub_m 3,
  * int64 indice_num 4
indice_convolution_backward_data_param 22120599: o int64 inverse 1, o int64 sub_m 2, * int64 indice_num 3
indice_convolution_backward_param 20230131: o int64 inverse 1, o int64 sub_m 2, * int64 indice_num 3
adamw_param 403505: r float lr 1 [0.01], r float beta1 2 [0.4], r float beta2 3 [0.4], r float bias1 4 [0.6],
  r float bias2 5 [0.6], r float epsilon 6 [0.1], r float weight_decay 7 [0], r float scale 8 [1],
  o bool use_nesterov 9 [false], o bool need_remove_nan 10 [false]
ball_query_param 4008: o float min_radius 1 [0], o float max_radius 2 [1], o int32 nsample 3 [1]
bbox_overlaps_param 2041: o int32 mode 1 [0], o bool aligned 2 [false], o int32 offset 3 [0]
box_iou_rotated_param 200: o int32 mode 1 [0], o bool aligned 2 [false]
carafe_param 408: o int32 dimnb 1, o int32 kernel_size 2, o int32 group_size 3, o int32 scale_factor 4
dcn_param 405: r int32 dimnb 1, * int32 pad 2, * int32 stride 3, * int32 dilation 4, o int32 deformable_group 5 [1],
  o int32 conv_group 6 [1], o int32 im2col_step 7, o DataType compute_type 8
deform_roi_pool_forward_param 10126: r int32 sampling_ratio 1 [0], r float spatial_scale 2 [1], r float gamma 3 [0.1],
  r int32 pooled_height 4 [7], r int32 pooled_width 5 [7]
deform_roi_pool_backward_param 10127: r int32 sampling_ratio 1 [0], r float spatial_scale 2 [1], r float gamma 3 [0.1],
  r int32 pooled_height 4 [7], r int32 pooled_width 5 [7]
div_param 4001: o ComputationPreference prefer 1 [COMPUTATION_HIGH_PRECISION]
sqrt_param 4003: o ComputationPreference prefer 1 [COMPUTATION_HIGH_PRECISION]
dynamic_point_to_voxel_forward_param 4012: r ReduceMode reduce_type 1
dynamic_point_to_voxel_backward_param 4013: r ReduceMode reduce_type 1
fft_param 65536: o int32 rank 1 [1], * int32 n 2, o int32 direction 3 [0], o float scale_factor 4 [1]
focal_loss_sigmoid_forward_param 15000: o ComputationPreference prefer 999 [COMPUTATION_HIGH_PRECISION],
  r LossReduction reduction 1 [LOSS_REDUCTION_NONE], r float alpha 2 [0.25], r float gamma 3 [2]
focal_loss_sigmoid_backward_param 12322: o ComputationPreference prefer 1 [COMPUTATION_HIGH_PRECISION],
  r LossReduction reduction 2 [LOSS_REDUCTION_NONE], r float alpha 3 [0.25], r float gamma 4 [2]
generate_proposals_v2_param 5930: o int32 pre_nms_top_n 1 [6000], o int32 post_nms_top_n 2 [2000],
  o float nms_thresh 3 [0.5], o float min_size 4 [0.1], o float eta 5 [1], o bool pixel_offset 6 [true]
lgamma_param 202435: o bool inplace 1 [false]
log_param 4002: r mluOpLogBase log_base 1 [MLUOP_LOG_E], o ComputationPreference prefer 2 [COMPUTATION_HIGH_PRECISION]
logspace_param 20240307: r float start 1 [1], r float end 2 [3], r int64 steps 3 [1024], r float base 4 [10]
masked_im2col_forward_param 2201: o int32 kernel_h 1 [3], o int32 kernel_w 2 [3], o int32 pad_h 3 [1],
  o int32 pad_w 4 [1]
moe_dispatch_forward_param 23333: o int32 samples 1, o int32 capacity 2, o int32 hidden 3, o int32 num_experts 4
moe_dispatch_backward_data_param 20230216: o int32 samples 1, o int32 capacity 2, o int32 hidden 3,
  o int32 num_experts 4
moe_dispatch_backward_gate_param 135246: o int32 samples 1, o int32 capacity 2, o int32 hidden 3, o int32 num_experts 4
ms_deform_attn_forward_param 16005: o int32 im2col_step 1 [64]
ms_deform_attn_backward_param 1006: o int32 im2col_step 1 [64]
mutual_information_backward_param 20230414: r bool overwrite_ans_grad 1
nms_param 768: r int32 run_mode 1 [0], o int32 max_output_boxes 2 [100], o float iou_threshold 3 [0.45],
  o float confidence_threshold 4 [0], o NmsInputLayout input_layout 5 [NMS_INPUT_LAYOUT_NUM_ATTR],
  o NmsOutputMode mode 6 [NMS_INDICES], o bool is_use_v2_api 7 [false], o NmsAlgo algo 8 [NMS_ALGO_EXCLUDE_BOUNDARY],
  o float offset 9 [0], o NmsMethodMode method_mode 10 [NMS_HARD_NMS], o NmsBoxMode box_mode 11 [NMS_BOX_DIAGONAL],
  o float soft_nms_sigma 12 [0], o bool pad_to_max_output_size 13 [false]
nms_rotated_param 201: o float iou_threshold 1 [0.5]
poly_nms_param 4010: r float iou_threshold 1 [0.2]
prior_box_param 4006: r int32 height 1 [1], r int32 width 2 [1], r int32 im_height 3 [300], r int32 im_width 4 [300],
  r bool flip 5 [true], r bool clip 6 [true], r float step_w 7 [0], r float step_h 8 [0], r float offset 9 [0.5],
  r bool min_max_aspect_ratios_order 10 [true]
psroipool_forward_param 4004: o float spatial_scale 1 [0.0625], o int32 group_size 2 [7], o int32 output_dim 3 [8],
  o int32 pooled_height 4 [7], o int32 pooled_width 5 [7]
psroipool_backward_param 4005: o int32 output_dim 1 [8], o int32 pooled_height 2 [7], o int32 pooled_width 3 [7],
  o float spatial_scale 4 [0.0625]
roi_align_backward_param 4427: o float spatial_scale 1 [1], o int32 sampling_ratio 2 [2], o bool aligned 3 [false],
  o int32 pool_mode 4 [1], o int32 version 5 [0]
roialign_param 202: r int32 pooled_height 1 [7], r int32 pooled_width 2 [7], r int32 sampling_ratio 3 [2],
  r float spatial_scale 4 [0.25], r bool aligned 5 [false], o int32 pool_mode 6 [1], o int32 version 7 [0]
roi_align_rotated_forward_param 134660: r int32 pooled_height 1, r int32 pooled_width 2, o int32 sample_ratio 3 [0],
  r float spatial_scale 4, o bool aligned 5 [true], o bool clockwise 6 [false]
roi_align_rotated_backward_param 134661: r int32 pooled_height 1, r int32 pooled_width 2, o int32 sample_ratio 3 [0],
  r float spatial_scale 4, o bool aligned 5 [true], o bool clockwise 6 [false]
roi_pooling_forward_param 210812: o float spatial_scale 1 [1], o PoolingForwardMode mode 2 [POOLING_MAX]
roi_pooling_backward_param 888888: o float spatial_scale 1 [1], o PoolingForwardMode mode 2 [POOLING_MAX]
roiaware_pool3d_forward_param 10120: o int32 pool_method 1 [0], o int32 boxes_num 2, o int32 pts_num 3,
  o int32 channels 4, o int32 max_pts_each_voxel 5 [128], o int32 out_x 6, o int32 out_y 7, o int32 out_z 8
roiaware_pool3d_backward_param 10121: o int32 pool_method 1 [0], o int32 boxes_num 2, o int32 out_x 3, o int32 out_y 4,
  o int32 out_z 5, o int32 channels 6, o int32 max_pts_each_voxel 7 [128]
roipoint_pool3d_param 16002: o int32 num_sampled_points 1 [512]
rotated_feature_align_forward_param 20229510: r float spatial_scale 1 [1], r int32 points 2 [1]
rotated_feature_align_backward_param 20221008: r float spatial_scale 1 [1], r int32 points 2 [1]
sync_batchnorm_stats_param 11112: r float eps 1, o float momentum 2 [0.1]
sync_batchnorm_gather_stats_with_counts_param 11113: r float eps 1, o float momentum 2 [0.1]
sync_batchnorm_backward_reduce_param 38324: r bool needs_input_grad0 1 [true], r bool needs_input_grad1 2 [true],
  r bool needs_input_grad2 3 [true]
voxel_pooling_forward_param 4009: o int32 batch_size 1, o int32 num_points 2, o int32 num_channels 3,
  o int32 num_voxel_x 4, o int32 num_voxel_y 5, o int32 num_voxel_z 6
voxelization_param 6564: o int32 max_points 1 [35], o int32 max_voxels 2 [20000], o int32 ndim 3 [3],
  o bool deterministic 4 [true]
yolo_box_param 4011: o int32 class_num 1 [1], o float conf_thresh 2 [0.01], o int32 downsample_ratio 3 [8],
  o bool clip_bbox 4 [true], o float scale_x_y 5 [1], o bool iou_aware 6 [true], o float iou_aware_factor 7 [0.5]
"""
