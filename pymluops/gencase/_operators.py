"""The operators of dumped cases: which C argument each tensor and each parameter of a case is.

The libraries are built from this table too: `native/abi/gen_case.py` makes the writer's table from
it. So this module imports nothing of the package.

A row has the name of the operator and its number, the C functions, and four lists: inputs, outputs,
parameters and criteria, separated by ``|``.

- An input is ``id=argument:upper,lower``. ``id=`` is left out where it is the argument's name. A
  star behind the argument says that mode 2 writes its data. Bounds are for random data, 10 and -10
  where none stand; one may be ``argument[dim]``, the size of a dim, or a number among the
  arguments, and less one with ``-1`` behind it.
- An argument ``-`` is no tensor: [1] FLOAT is written. One with ``!`` is a pointer without a
  descriptor: [1] INT32, or INT32 of the shape of the tensor named behind the ``!``.
- ``?name`` behind an input or output: it is there if that argument (or field, ``descriptor.field``)
  is not NULL and not 0; ``?!name``: if it is. Where a tensor without condition is NULL, [1] FLOAT
  stands for it.
- A parameter is ``name=source``: an argument, a field of a descriptor, or a number. The name of the
  message comes first where it is not that of the operator with ``_param`` behind. ``name[]`` has
  several values.
- Criteria are names and, behind them, thresholds; 0.003 where none stands. ``round_mode`` among
  them says that the rounding mode of the handle is written.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["OPERATORS", "Bound", "CaseInput", "CaseOperator", "CaseOutput", "CaseParameter"]

_SPARSE = (
    "dimnb=D.dimnb batch=D.batch pad[]=D.pad stride[]=D.stride dilation[]=D.dilation input_space[]=D.input_space "
    "filter_space[]=D.filter_space output_space[]=D.output_space sub_m=D.sub_m transpose=D.transpose inverse=D.inverse"
).replace("D.", "sparse_conv_desc.")
_DCN = (
    "dcn_param dimnb=D.dimnb pad[]=D.pad stride[]=D.stride dilation[]=D.dilation deformable_group=D.deformable_group "
    "conv_group=D.conv_group im2col_step=D.im2col_step compute_type=D.compute_type"
).replace("D.", "dcn_desc.")
_CARAFE = "carafe_param " + " ".join(
    f"{name}=carafe_desc.{name}" for name in ("dimnb", "kernel_size", "group_size", "scale_factor")
)
_NMS = "run_mode=0 " + " ".join(
    f"{name}=nms_desc.{source or name}"
    for name, source in (
        ("box_mode", ""), ("mode", "output_mode"), ("algo", ""), ("method_mode", ""), ("iou_threshold", ""),
        ("soft_nms_sigma", ""), ("max_output_boxes", "max_output_size"), ("confidence_threshold", ""), ("offset", ""),
        ("input_layout", ""), ("pad_to_max_output_size", ""),
    )
)  # fmt: skip
_ADAMW = (
    "adamw_param lr beta1 beta2 bias1 bias2 epsilon weight_decay=D.weight_decay scale=D.grad_scale "
    "use_nesterov=D.use_nesterov need_remove_nan=D.need_remove_nan"
).replace("D.", "adamw_desc.")
_ROI_ALIGN = (
    "roialign_param pooled_height=D.pooled_height pooled_width=D.pooled_width sampling_ratio=D.sampling_ratio "
    "spatial_scale=D.spatial_scale aligned=D.aligned pool_mode=D.pool_mode version=1"
).replace("D.", "roialign_desc.")
_ROTATED = "pooled_height pooled_width sample_ratio spatial_scale aligned clockwise"
_DEFORM = "spatial_scale sampling_ratio gamma pooled_height pooled_width"
_MOE = "samples capacity hidden num_experts"
_VOXEL_NUMBERS = "batch_size num_points num_channels num_voxel_x num_voxel_y num_voxel_z"
_PRIOR = (
    "height width im_height im_width step_h step_w offset flip=0 clip "
    "min_max_aspect_ratios_order=min_max_aspect_ratios_order"
)

_TEXT = f"""
tin_shift_forward 150002 mluOpTinShiftForward | input:-10,10 shifts* | output | | d3 0
tin_shift_backward 150003 mluOpTinShiftBackward | grad_output:-10,10 shifts* | grad_input | | d3 0
psamask_forward 134658 mluOpPsamaskForward | x:10,-10 | y | h_mask w_mask psa_type | d3 0
psamask_backward 134659 mluOpPsamaskBackward | dy:10,-10 | dx | h_mask w_mask psa_type | d3 0
border_align_forward 1009 mluOpBorderAlignForward | input1=input:100,0 input2=boxes* | output1=output output2=argmax_idx
    | border_align_param pool_size | d3 0
border_align_backward 9001 mluOpBorderAlignBackward | input1=grad_output:100,0 input2=boxes* input3=argmax_idx*
    | output1=grad_input | border_align_param pool_size | d1 d2
three_interpolate_forward 2002 mluOpThreeInterpolateForward
    | features:0,100 indices:0,features[2]-1 weights:0,1 | output | | d1 d2
three_interpolate_backward 2001 mluOpThreeInterpolateBackward
    | grad_output:0,100 indices:0,grad_features[2]-1 weights:0,1 | grad_features | | d1 d2
three_nn_forward 2003 mluOpThreeNNForward | unknown:100,-100 known:100,-100 | dist2 idx | | d1 d2
get_indice_pairs 702 mluOpGetIndicePairs | indices* | out_indices indice_pairs indice_num | {_SPARSE} | d3 0 round_mode
indice_convolution_forward 902 mluOpIndiceConvolutionForward
    | features* filters* indice_pairs_desc=indice_pairs* | features_out
    | inverse sub_m indice_num[] num_active_out=num_act_out | d1 d2 round_mode
indice_convolution_backward_data 900 mluOpIndiceConvolutionBackwardData
    | output_grad* filters* indice_pairs_desc=indice_pairs* | input_grad | inverse sub_m indice_num[] | d1 d2 round_mode
indice_convolution_backward_filter 901 mluOpIndiceConvolutionBackwardFilter
    | features* output_grad* indice_pairs_desc=indice_pairs* | diff_w=filters_grad
    | indice_convolution_backward_param inverse sub_m indice_num[] | d1 d2 round_mode
abs 2022 mluOpAbs | x:10,0 | y | | d1 d2
active_rotated_filter_forward 257073 mluOpActiveRotatedFilterForward | input:100,-100 indices* | output | | d3 0
adam_w 7979 mluOpAdamW
    | param:1,0?param paramh_or_step=param_h:1,0?param_h momentum:1,1 velocity:1,1 grad:1,1
    | param?param paramh_or_step=param_h?param_h momentum velocity | {_ADAMW} | d1 d2
ball_query 20231025 mluOpBallQuery | input1=new_xyz* input2=xyz* | output=idx | min_radius max_radius nsample | d1 d2 0
bbox_overlaps 2041 mluOpBboxOverlaps | input=bbox1* input=bbox2* | output=ious | mode aligned offset | d1 d2
box_iou_rotated 200 mluOpBoxIouRotated | input=bbox1* input=bbox2* | output=ious | mode aligned | d1 d2
carafe_forward 408 mluOpCarafeForward | input:5.1,-5.3 mask:0,1 | output | {_CARAFE} | d1 d2
carafe_backward 409 mluOpCarafeBackward | input:5.1,-5.3 mask:0,1 grad_output:1.7,-1.8 | grad_input grad_mask
    | {_CARAFE} | d1 d2
deform_roi_pool_forward 10126 mluOpDeformRoiPoolForward | input:-10,10 rois* offset*?offset | output | {_DEFORM} | d1 d2
deform_roi_pool_backward 10127 mluOpDeformRoiPoolBackward | grad_output:-10,10 input:-10,10 rois* offset*?offset
    | grad_input grad_offset?grad_offset | {_DEFORM} | d1 d2
diff_iou_rotated_sort_vertices_forward 402 mluOpDiffIouRotatedSortVerticesForward
    | vertices* mask*:1,0 num_valid*:8,0 | idx | | d3 0
div 2020 mluOpDiv | x:10,0 y:10,0 | z | | d1 d2
dynamic_point_to_voxel_forward 405 mluOpDynamicPointToVoxelForward | feats:-100,100 coors*
    | voxel_feats voxel_coors point2voxel_map voxel_points_count voxel_num | reduce_type | d1 d2
dynamic_point_to_voxel_backward 404 mluOpDynamicPointToVoxelBackward
    | grad_voxel_feats* feats* voxel_feats* point2voxel_map* voxel_points_count* voxel_num* | grad_feats
    | reduce_type | d3 0
fft 65536 mluOpExecFFT | input=fft_plan.input:1,0 | output=fft_plan.output
    | rank=fft_plan.rank n[]=fft_plan.n direction scale_factor | d1 d2
focal_loss_sigmoid_forward 15000 mluOpFocalLossSigmoidForward
    | input* target*:input[1]-1,0?weight target*:input[1],0?!weight weight*?weight | output
    | prefer reduction=0 alpha gamma | d1 d2
focal_loss_sigmoid_backward 12322 mluOpFocalLossSigmoidBackward
    | input*:20,-20 target*:input[1],0 weight*?weight | output=grad_input | prefer reduction=0 alpha gamma | d1 d2
generate_proposals_v2 701 mluOpGenerateProposalsV2
    | input1=scores:10,0 input2=bbox_deltas:10,0 input3=anchors:10,0 input4=variances:10,0 input5=im_shape:10,0
    | output1=rpn_rois output2=rpn_roi_probs output3=rpn_rois_num output4=rpn_rois_batch_size!
    | pre_nms_top_n post_nms_top_n nms_thresh min_size eta pixel_offset | d1 d2
lgamma 20243500 mluOpLgamma | x:100,0.1 | y | inplace=x==y | d1 d2
log 20333 mluOpLog | x:10,0 | y | log_base=base | d1 d2
logspace 29299 mluOpLogspace | input=-:0,0 | res | start end steps base | d1 d2
masked_col2im_forward 2201 mluOpMaskedCol2imForward | col:-10,10 mask_h_idx* mask_w_idx* | im | | d3 0
masked_im2col_forward 2202 mluOpMaskedIm2colForward
    | feature:-10,10 mask_h_idx*:feature[2]-1,0 mask_w_idx*:feature[3]-1,0 | data_col
    | kernel_h kernel_w pad_h pad_w | d3 0
moe_dispatch_forward 1305 mluOpMoeDispatchForward
    | gates:1,0 indices*:num_experts-1,0 locations*:capacity-1,0 input:100,-100 dispatch:100,-100 | dispatch
    | {_MOE} | d1 d2
moe_dispatch_backward_data 1303 mluOpMoeDispatchBackwardData
    | gates:100,-100 indices*:num_experts,0 locations*:capacity,0 dispatch:100,-100 | grad_input | {_MOE} | d3 0
moe_dispatch_backward_gate 1304 mluOpMoeDispatchBackwardGate
    | indices*:num_experts,0 locations*:capacity,0 input:0,0 dispatch:0,0 | grad_gates | {_MOE} | d1 d2
ms_deform_attn_forward 16005 mluOpMsDeformAttnForward
    | data_value:10,-10 data_spatial_shapes*:10,0 data_level_start_index*:10,0 data_sampling_loc*:10,-10
      data_attn_weight:10,-10
    | data_col | im2col_step | d1 d2
ms_deform_attn_backward 1013 mluOpMsDeformAttnBackward
    | value* spatial_shapes* level_start_index* sampling_loc* attn_weight* grad_output*
    | grad_value grad_sampling_loc grad_attn_weight | im2col_step | d1 d2
mutual_information_forward 1309 mluOpMutualInformationForward
    | px:-1,1 py:-1,1 opt_boundary*?opt_boundary p:-1,1 | p ans | | d1 d2
mutual_information_backward 1308 mluOpMutualInformationBackward
    | px:-1,1 py:-1,1 opt_boundary*?opt_boundary p:-1,1 ans_grad:-1,1 | ans_grad px_grad py_grad
    | overwrite_ans_grad | d1 d2
nms_rotated 1401 mluOpNmsRotated | input1=boxes* input2=scores* | output1=output output2=result_num!
    | iou_threshold | d3 0
points_in_boxes 217 mluOpPointsInBoxes | points:100,0 boxes:100,0 | points_indices | | d1 d2
poly_nms 1602 mluOpPolyNms | input1=boxes:10,0 | output1=output output2=output_size! | iou_threshold | d3 0
prior_box 1603 mluOpPriorBox | input1=min_sizes* input2=aspect_ratios* input3=variances* input4=max_sizes*
    | output var | {_PRIOR} | d1 d2
psroipool_forward 1607 mluOpPsRoiPoolForward | input:1,0 rois* | output mapping_channel
    | output_dim pooled_height pooled_width spatial_scale group_size | d1 d2
psroipool_backward 1606 mluOpPsRoiPoolBackward | input=top_grad:1,0 mapping_channel* rois* | output=bottom_grad
    | output_dim pooled_height pooled_width spatial_scale | d1 d2
roi_align_rotated_forward 134660 mluOpRoiAlignRotatedForward | input1=features:10,0 input2=rois* | output1=output
    | {_ROTATED} | d1 d2
roi_align_rotated_backward 134661 mluOpRoiAlignRotatedBackward | input1=top_grad:10,0 input2=rois*
    | output1=bottom_grad | {_ROTATED} | d1 d2
roi_crop_forward 1805 mluOpRoiCropForward | input:-10,10 grid:-1,1 | output | | d1 d2
roi_crop_backward 1804 mluOpRoiCropBackward | grad_output:-10,10 grid:-1,1 | grad_input | | d1 d2
roiaware_pool3d_forward 10120 mluOpRoiAwarePool3dForward mluOpRoiawarePool3dForward
    | rois* pts* pts_feature:-10,10 | argmax pts_idx_of_voxels pooled_features
    | pool_method boxes_num pts_num channels max_pts_each_voxel out_x out_y out_z | d1 d2
roiaware_pool3d_backward 10121 mluOpRoiAwarePool3dBackward mluOpRoiawarePool3dBackward
    | pts_idx_of_voxels* argmax* grad_out* | grad_in
    | pool_method boxes_num out_x out_y out_z channels max_pts_each_voxel | d1 d2
roipoint_pool3d 16002 mluOpRoiPointPool3d | points:10,-10 point_features:10,-10 boxes3d:10,-10
    | pooled_features pooled_empty_flag | num_sampled_points=sampled_pts_num | d1 d2 0
rotated_feature_align_forward 20229510 mluOpRotatedFeatureAlignForward | input:-10,10 rois=bboxes* | output
    | spatial_scale points | d1 d2
rotated_feature_align_backward 20221008 mluOpRotatedFeatureAlignBackward | input=top_output:-100,100 rois=bboxes*
    | output=bottom_input | spatial_scale points | d1 d2
sqrt 2021 mluOpSqrt | x:100,0.1 | y | | d1 d2
sqrt_backward 55660 mluOpSqrtBackward | y:10,0.1 diff_y:-10,10 | diff_x | | d1 d2
voxel_pooling_forward 2200 mluOpVoxelPoolingForward | geom_xyz* input_features* | output_features pos_memo
    | {_VOXEL_NUMBERS} | d1 d2
voxelization 2203 mluOpVoxelization | points:10,-10 voxel_size:10,-10 coors_range:10,-10
    | voxels coors num_points_per_voxel voxel_num | max_points max_voxels ndim=NDim deterministic | d3 0
yolo_box 2500 mluOpYoloBox | x:10,0 img_size:1000,100 anchors:10,1 | boxes scores
    | class_num conf_thresh downsample_ratio clip_bbox scale_x_y=scale iou_aware iou_aware_factor | d1 d2
nms 768 mluOpNms | input1=boxes* input2=confidence* | output1=output output2=output_size! | {_NMS} | d1 d2
dcn_forward 4051 mluOpDCNForward | input offset mask?mask filter bias?bias | output | {_DCN} | d1 d2
dcn_backward_data 407 mluOpDCNBackwardData | input offset mask?mask filter grad_output
    | grad_input grad_offset grad_mask?mask | {_DCN} | d1 d2
dcn_backward_weight 406 mluOpDCNBackwardWeight | input offset mask?mask grad_output | grad_filter grad_bias?grad_bias
    | {_DCN} | d1 d2
roialign_forward 1808 mluOpRoiAlignForward_v2 | input boxes*
    | output argmax_x?!roialign_desc.pool_mode argmax_y?!roialign_desc.pool_mode | {_ROI_ALIGN} | d1 d2
roi_align_backward 4427 mluOpRoiAlignBackward_v2 | grads boxes* argmax_x*?!pool_mode argmax_y*?!pool_mode
    | grads_image | spatial_scale sampling_ratio aligned pool_mode version=1 | d1 d2
roi_align_backward 4427 mluOpRoiAlignBackward | grads boxes* | grads_image
    | spatial_scale sampling_ratio aligned pool_mode=1 version=0 | d1 d2
roi_pooling_forward 210812 mluOpRoiPoolingForward | input rois* | output argmax!output
    | spatial_scale mode=pooling_mode | d1 d2
roi_pooling_backward 888888 mluOpRoiPoolingBackward | grads rois* argmax* | grads_image
    | spatial_scale mode=pooling_mode | d1 d2
sync_batchnorm_stats 11112 mluOpSyncBatchNormStats_v2 mluOpSyncBatchNormStats | x | mean invstd | eps | d1 d2
sync_batchnorm_gather_stats_with_counts 11113 mluOpSyncBatchNormGatherStatsWithCounts
    | mean_all* invstd_all* moving_mean?moving_mean moving_var?moving_mean count_all*
    | moving_mean?moving_mean moving_var?moving_mean mean invstd | eps momentum | d1 d2
sync_batchnorm_elemt 1662 mluOpSyncBatchNormElemt | x mean invstd* filter?filter bias?filter | y | | d1 d2
sync_batchnorm_backward_reduce 38324 mluOpSyncBatchNormBackwardReduce_v2 mluOpSyncBatchNormBackwardReduce
      mluOpSyncBatchnormBackwardReduce_v2 mluOpSyncBatchnormBackwardReduce
    | dz x mean invstd* weight=-
    | sum_dy?needs_input_grad0 sum_dy_xmu?needs_input_grad0 dfilter?needs_input_grad1 dbias?needs_input_grad2
    | needs_input_grad0 needs_input_grad1 needs_input_grad2 | d1 d2
sync_batch_norm_backward_elemt 1663 mluOpSyncBatchNormBackwardElemt
    | diff_y x mean invstd* filter?filter mean_dy mean_dy_xmu | diff_x | | d1 d2
sync_batchnorm_backward_elemt_v2 1664 mluOpSyncBatchNormBackwardElemtV2
    | diff_y x mean invstd* filter?filter sum_dy sum_dy_xmu count* | diff_x | | d1 d2
"""

#: Names of the enum OpType that are not the name of the operator in capitals.
_TYPES = {"adam_w": "ADAMW", "sync_batch_norm_backward_elemt": "SYNC_BATCHNORM_BACKWARD_ELEMT"}


class Bound(NamedTuple):
    """A bound of random data: a number, or the size of a dim or a number among the arguments, plus an integer."""

    argument: str | None
    dim: int | None
    number: float


class CaseInput(NamedTuple):
    """An input of a case."""

    id: str
    argument: str | None  # None: no tensor
    real: bool
    upper: Bound
    lower: Bound
    condition: str  # "", "name" or "!name"


class CaseOutput(NamedTuple):
    """An output of a case."""

    id: str
    argument: str
    like: str | None  # "": a pointer to one INT32; a name: a pointer to INT32 of that tensor's shape
    condition: str


class CaseParameter(NamedTuple):
    """A parameter of a case."""

    name: str
    source: str
    repeated: bool


class CaseOperator(NamedTuple):
    """One operator of dumped cases, for one C function."""

    name: str
    number: int
    functions: tuple[str, ...]
    inputs: tuple[CaseInput, ...]
    outputs: tuple[CaseOutput, ...]
    message: str
    parameters: tuple[CaseParameter, ...]
    criteria: tuple[tuple[str, float], ...]
    round_mode: bool

    @property
    def type(self) -> str:
        """Name of the operator in the enum OpType."""
        return _TYPES.get(self.name, self.name.upper())


def _bound(text: str) -> Bound:
    less = text.endswith("-1") and text != "-1"
    name = text.removesuffix("-1") if less else text
    try:
        return Bound(None, None, float(text))
    except ValueError:
        argument, _, dim = name.partition("[")
        return Bound(argument, int(dim[:-1]) if dim else None, -1.0 if less else 0.0)


def _input(text: str) -> CaseInput:
    text, _, condition = text.partition("?")
    text, _, bounds = text.partition(":")
    upper, lower = map(_bound, (bounds or "10,-10").split(","))
    real = text.endswith("*")
    known, _, argument = text.removesuffix("*").rpartition("=")
    return CaseInput(known or argument, None if argument == "-" else argument, real, upper, lower, condition)


def _output(text: str) -> CaseOutput:
    text, _, condition = text.partition("?")
    text, mark, like = text.partition("!")
    known, _, argument = text.rpartition("=")
    return CaseOutput(known or argument, argument, like if mark else None, condition)


def _parameter(text: str) -> CaseParameter:
    name, _, source = text.partition("=")
    plain = name.removesuffix("[]")
    return CaseParameter(plain, source or plain, plain != name)


def _criteria(words: list[str]) -> tuple[tuple[str, float], ...]:
    names = [word for word in words if word.startswith("d")]
    threshold = next((float(word) for word in words if word[0].isdigit()), 0.003)
    return tuple((f"DIFF{name[1:]}", threshold) for name in names)


def _operator(row: str) -> CaseOperator:
    names, inputs, outputs, parameters, criteria = (part.split() for part in row.split("|"))
    message = parameters.pop(0) if parameters and parameters[0].endswith("_param") else f"{names[0]}_param"
    return CaseOperator(
        names[0],
        int(names[1]),
        tuple(names[2:]),
        tuple(map(_input, inputs)),
        tuple(map(_output, outputs)),
        message if parameters else "",
        tuple(map(_parameter, parameters)),
        _criteria(criteria),
        "round_mode" in criteria,
    )


#: All operators, in the order of the table. Two rows of one name are two C functions of it, the
#: usual one first.
OPERATORS = tuple(map(_operator, _TEXT.strip().replace("\n ", " ").split("\n")))
