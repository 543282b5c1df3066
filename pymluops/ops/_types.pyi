# Written by tools/families.py; do not edit.
# fmt: off
"""Types of the operators; their documentation is in the modules of the families."""

from collections.abc import Sequence
from types import EllipsisType
from typing import Any, overload

from numpy.typing import NDArray

from pymluops._core import DeviceArray, Handle
from pymluops._typing import Array, HostArray, Out, TorchTensor
from pymluops.ops.aligned_regions import LargestSamples as LargestSamples
from pymluops.ops.assign_score_withk import AssignScoreGradients as AssignScoreGradients
from pymluops.ops.carafe_upsample import CarafeGradients as CarafeGradients
from pymluops.ops.chamfer_distance import ChamferDistance as ChamferDistance
from pymluops.ops.chamfer_distance import ChamferGradients as ChamferGradients
from pymluops.ops.correlation import CorrelationGradients as CorrelationGradients
from pymluops.ops.deform_conv import DeformConvDataGradients as DeformConvDataGradients
from pymluops.ops.deform_conv import DeformConvGradients as DeformConvGradients
from pymluops.ops.deformed_regions import DeformRoiPoolGradients as DeformRoiPoolGradients
from pymluops.ops.dynamic_point_to_voxel import ScatteredPoints as ScatteredPoints
from pymluops.ops.furthest_point_sampling import FurthestPoints as FurthestPoints
from pymluops.ops.get_indice_pairs import IndicePairs as IndicePairs
from pymluops.ops.knn import NearestPoints as NearestPoints
from pymluops.ops.ms_deform_attn import MsDeformAttnGradients as MsDeformAttnGradients
from pymluops.ops.point_sets import ConvexGiou as ConvexGiou
from pymluops.ops.pooled_regions import LargestPixels as LargestPixels
from pymluops.ops.sync_batch_norm import ChannelStats as ChannelStats
from pymluops.ops.sync_batch_norm import ChannelSums as ChannelSums
from pymluops.ops.sync_batch_norm import GatheredStats as GatheredStats
from pymluops.ops.three_nn import ThreeNN as ThreeNN
from pymluops.ops.voxelization import Voxels as Voxels

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

@overload
def active_rotated_filter_forward(
    input: DeviceArray,
    indices: DeviceArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def active_rotated_filter_forward(  # type: ignore[overload-overlap]
    input: TorchTensor,
    indices: HostArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def active_rotated_filter_forward(
    input: HostArray,
    indices: HostArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def active_rotated_filter_forward(input: Array, indices: Array, *, out: Out, handle: Handle | None = None) -> Out: ...
@overload
def active_rotated_filter_forward(
    input: Array,
    indices: Array,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def active_rotated_filter_backward(
    grad_output: DeviceArray,
    indices: DeviceArray,
    planes: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def active_rotated_filter_backward(  # type: ignore[overload-overlap]
    grad_output: TorchTensor,
    indices: HostArray,
    planes: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def active_rotated_filter_backward(
    grad_output: HostArray,
    indices: HostArray,
    planes: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def active_rotated_filter_backward(
    grad_output: Array,
    indices: Array,
    planes: Sequence[int],
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def active_rotated_filter_backward(
    grad_output: Array,
    indices: Array,
    planes: Sequence[int],
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def roi_align_forward(
    input: DeviceArray,
    rois: DeviceArray,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    sampling_ratio: int = 0,
    aligned: bool = True,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def roi_align_forward(  # type: ignore[overload-overlap]
    input: TorchTensor,
    rois: HostArray,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    sampling_ratio: int = 0,
    aligned: bool = True,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def roi_align_forward(
    input: HostArray,
    rois: HostArray,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    sampling_ratio: int = 0,
    aligned: bool = True,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def roi_align_forward(
    input: Array,
    rois: Array,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    sampling_ratio: int = 0,
    aligned: bool = True,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def roi_align_forward(
    input: Array,
    rois: Array,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    sampling_ratio: int = 0,
    aligned: bool = True,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def roi_align_backward(
    grad_output: DeviceArray,
    rois: DeviceArray,
    spatial_scale: float,
    sampling_ratio: int,
    aligned: bool,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def roi_align_backward(  # type: ignore[overload-overlap]
    grad_output: TorchTensor,
    rois: HostArray,
    spatial_scale: float,
    sampling_ratio: int,
    aligned: bool,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def roi_align_backward(
    grad_output: HostArray,
    rois: HostArray,
    spatial_scale: float,
    sampling_ratio: int,
    aligned: bool,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def roi_align_backward(
    grad_output: Array,
    rois: Array,
    spatial_scale: float,
    sampling_ratio: int,
    aligned: bool,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def roi_align_backward(
    grad_output: Array,
    rois: Array,
    spatial_scale: float,
    sampling_ratio: int,
    aligned: bool,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def roi_align_max_forward(
    input: DeviceArray,
    rois: DeviceArray,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    sampling_ratio: int = 0,
    aligned: bool = True,
    *,
    out: None = None,
    argmax_y: None = None,
    argmax_x: None = None,
    handle: Handle | None = None,
) -> LargestSamples[DeviceArray]: ...
@overload
def roi_align_max_forward(  # type: ignore[overload-overlap]
    input: TorchTensor,
    rois: HostArray,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    sampling_ratio: int = 0,
    aligned: bool = True,
    *,
    out: None = None,
    argmax_y: None = None,
    argmax_x: None = None,
    handle: Handle | None = None,
) -> LargestSamples[TorchTensor]: ...
@overload
def roi_align_max_forward(
    input: HostArray,
    rois: HostArray,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    sampling_ratio: int = 0,
    aligned: bool = True,
    *,
    out: None = None,
    argmax_y: None = None,
    argmax_x: None = None,
    handle: Handle | None = None,
) -> LargestSamples[NDArray[Any]]: ...
@overload
def roi_align_max_forward(
    input: Array,
    rois: Array,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    sampling_ratio: int = 0,
    aligned: bool = True,
    *,
    out: Any = None,
    argmax_y: Any = None,
    argmax_x: Any = None,
    handle: Handle | None = None,
) -> LargestSamples[Any]: ...
@overload
def roi_align_max_backward(
    grad_output: DeviceArray,
    rois: DeviceArray,
    argmax_y: DeviceArray,
    argmax_x: DeviceArray,
    spatial_scale: float,
    sampling_ratio: int,
    aligned: bool,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def roi_align_max_backward(  # type: ignore[overload-overlap]
    grad_output: TorchTensor,
    rois: HostArray,
    argmax_y: HostArray,
    argmax_x: HostArray,
    spatial_scale: float,
    sampling_ratio: int,
    aligned: bool,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def roi_align_max_backward(
    grad_output: HostArray,
    rois: HostArray,
    argmax_y: HostArray,
    argmax_x: HostArray,
    spatial_scale: float,
    sampling_ratio: int,
    aligned: bool,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def roi_align_max_backward(
    grad_output: Array,
    rois: Array,
    argmax_y: Array,
    argmax_x: Array,
    spatial_scale: float,
    sampling_ratio: int,
    aligned: bool,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def roi_align_max_backward(
    grad_output: Array,
    rois: Array,
    argmax_y: Array,
    argmax_x: Array,
    spatial_scale: float,
    sampling_ratio: int,
    aligned: bool,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def assign_score_withk_forward(
    points: DeviceArray,
    centers: DeviceArray,
    scores: DeviceArray,
    knn_idx: DeviceArray,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def assign_score_withk_forward(  # type: ignore[overload-overlap]
    points: TorchTensor,
    centers: HostArray,
    scores: HostArray,
    knn_idx: HostArray,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def assign_score_withk_forward(
    points: HostArray,
    centers: HostArray,
    scores: HostArray,
    knn_idx: HostArray,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def assign_score_withk_forward(
    points: Array,
    centers: Array,
    scores: Array,
    knn_idx: Array,
    *,
    out: Out,
    validate: bool = True,
    handle: Handle | None = None,
) -> Out: ...
@overload
def assign_score_withk_forward(
    points: Array,
    centers: Array,
    scores: Array,
    knn_idx: Array,
    *,
    out: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> Any: ...
@overload
def assign_score_withk_backward(
    grad_output: DeviceArray,
    points: DeviceArray,
    centers: DeviceArray,
    scores: DeviceArray,
    knn_idx: DeviceArray,
    *,
    grad_points: None = None,
    grad_centers: None = None,
    grad_scores: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> AssignScoreGradients[DeviceArray]: ...
@overload
def assign_score_withk_backward(  # type: ignore[overload-overlap]
    grad_output: TorchTensor,
    points: HostArray,
    centers: HostArray,
    scores: HostArray,
    knn_idx: HostArray,
    *,
    grad_points: None = None,
    grad_centers: None = None,
    grad_scores: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> AssignScoreGradients[TorchTensor]: ...
@overload
def assign_score_withk_backward(
    grad_output: HostArray,
    points: HostArray,
    centers: HostArray,
    scores: HostArray,
    knn_idx: HostArray,
    *,
    grad_points: None = None,
    grad_centers: None = None,
    grad_scores: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> AssignScoreGradients[NDArray[Any]]: ...
@overload
def assign_score_withk_backward(
    grad_output: Array,
    points: Array,
    centers: Array,
    scores: Array,
    knn_idx: Array,
    *,
    grad_points: Any = None,
    grad_centers: Any = None,
    grad_scores: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> AssignScoreGradients[Any]: ...
@overload
def ball_query(
    new_xyz: DeviceArray,
    xyz: DeviceArray,
    min_radius: float,
    max_radius: float,
    nsample: int,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def ball_query(  # type: ignore[overload-overlap]
    new_xyz: TorchTensor,
    xyz: HostArray,
    min_radius: float,
    max_radius: float,
    nsample: int,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def ball_query(
    new_xyz: HostArray,
    xyz: HostArray,
    min_radius: float,
    max_radius: float,
    nsample: int,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def ball_query(
    new_xyz: Array,
    xyz: Array,
    min_radius: float,
    max_radius: float,
    nsample: int,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def ball_query(
    new_xyz: Array,
    xyz: Array,
    min_radius: float,
    max_radius: float,
    nsample: int,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def stack_ball_query(
    new_xyz: DeviceArray,
    new_xyz_batch_cnt: DeviceArray,
    xyz: DeviceArray,
    xyz_batch_cnt: DeviceArray,
    max_radius: float,
    nsample: int,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def stack_ball_query(  # type: ignore[overload-overlap]
    new_xyz: TorchTensor,
    new_xyz_batch_cnt: HostArray,
    xyz: HostArray,
    xyz_batch_cnt: HostArray,
    max_radius: float,
    nsample: int,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def stack_ball_query(
    new_xyz: HostArray,
    new_xyz_batch_cnt: HostArray,
    xyz: HostArray,
    xyz_batch_cnt: HostArray,
    max_radius: float,
    nsample: int,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def stack_ball_query(
    new_xyz: Array,
    new_xyz_batch_cnt: Array,
    xyz: Array,
    xyz_batch_cnt: Array,
    max_radius: float,
    nsample: int,
    *,
    out: Out,
    validate: bool = True,
    handle: Handle | None = None,
) -> Out: ...
@overload
def stack_ball_query(
    new_xyz: Array,
    new_xyz_batch_cnt: Array,
    xyz: Array,
    xyz_batch_cnt: Array,
    max_radius: float,
    nsample: int,
    *,
    out: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> Any: ...
@overload
def bbox_overlaps(
    bbox1: DeviceArray,
    bbox2: DeviceArray,
    mode: int | str = 'iou',
    aligned: bool = False,
    offset: int = 0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def bbox_overlaps(  # type: ignore[overload-overlap]
    bbox1: TorchTensor,
    bbox2: HostArray,
    mode: int | str = 'iou',
    aligned: bool = False,
    offset: int = 0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def bbox_overlaps(
    bbox1: HostArray,
    bbox2: HostArray,
    mode: int | str = 'iou',
    aligned: bool = False,
    offset: int = 0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def bbox_overlaps(
    bbox1: Array,
    bbox2: Array,
    mode: int | str = 'iou',
    aligned: bool = False,
    offset: int = 0,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def bbox_overlaps(
    bbox1: Array,
    bbox2: Array,
    mode: int | str = 'iou',
    aligned: bool = False,
    offset: int = 0,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def bev_pool_forward(
    features: DeviceArray,
    geometry: DeviceArray,
    interval_lengths: DeviceArray,
    interval_starts: DeviceArray,
    grid_size: Sequence[int],
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def bev_pool_forward(  # type: ignore[overload-overlap]
    features: TorchTensor,
    geometry: HostArray,
    interval_lengths: HostArray,
    interval_starts: HostArray,
    grid_size: Sequence[int],
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def bev_pool_forward(
    features: HostArray,
    geometry: HostArray,
    interval_lengths: HostArray,
    interval_starts: HostArray,
    grid_size: Sequence[int],
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def bev_pool_forward(
    features: Array,
    geometry: Array,
    interval_lengths: Array,
    interval_starts: Array,
    grid_size: Sequence[int],
    *,
    out: Out,
    validate: bool = True,
    handle: Handle | None = None,
) -> Out: ...
@overload
def bev_pool_forward(
    features: Array,
    geometry: Array,
    interval_lengths: Array,
    interval_starts: Array,
    grid_size: Sequence[int],
    *,
    out: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> Any: ...
@overload
def bev_pool_backward(
    grad_output: DeviceArray,
    geometry: DeviceArray,
    interval_lengths: DeviceArray,
    interval_starts: DeviceArray,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def bev_pool_backward(  # type: ignore[overload-overlap]
    grad_output: TorchTensor,
    geometry: HostArray,
    interval_lengths: HostArray,
    interval_starts: HostArray,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def bev_pool_backward(
    grad_output: HostArray,
    geometry: HostArray,
    interval_lengths: HostArray,
    interval_starts: HostArray,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def bev_pool_backward(
    grad_output: Array,
    geometry: Array,
    interval_lengths: Array,
    interval_starts: Array,
    *,
    out: Out,
    validate: bool = True,
    handle: Handle | None = None,
) -> Out: ...
@overload
def bev_pool_backward(
    grad_output: Array,
    geometry: Array,
    interval_lengths: Array,
    interval_starts: Array,
    *,
    out: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> Any: ...
@overload
def bezier_align_forward(
    input: DeviceArray,
    rois: DeviceArray,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    sampling_ratio: int = 0,
    aligned: bool = True,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def bezier_align_forward(  # type: ignore[overload-overlap]
    input: TorchTensor,
    rois: HostArray,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    sampling_ratio: int = 0,
    aligned: bool = True,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def bezier_align_forward(
    input: HostArray,
    rois: HostArray,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    sampling_ratio: int = 0,
    aligned: bool = True,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def bezier_align_forward(
    input: Array,
    rois: Array,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    sampling_ratio: int = 0,
    aligned: bool = True,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def bezier_align_forward(
    input: Array,
    rois: Array,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    sampling_ratio: int = 0,
    aligned: bool = True,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def bezier_align_backward(
    grad_output: DeviceArray,
    rois: DeviceArray,
    spatial_scale: float,
    sampling_ratio: int,
    aligned: bool,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def bezier_align_backward(  # type: ignore[overload-overlap]
    grad_output: TorchTensor,
    rois: HostArray,
    spatial_scale: float,
    sampling_ratio: int,
    aligned: bool,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def bezier_align_backward(
    grad_output: HostArray,
    rois: HostArray,
    spatial_scale: float,
    sampling_ratio: int,
    aligned: bool,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def bezier_align_backward(
    grad_output: Array,
    rois: Array,
    spatial_scale: float,
    sampling_ratio: int,
    aligned: bool,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def bezier_align_backward(
    grad_output: Array,
    rois: Array,
    spatial_scale: float,
    sampling_ratio: int,
    aligned: bool,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def border_align_forward(
    input: DeviceArray,
    boxes: DeviceArray,
    pool_size: int,
    *,
    out: None = None,
    argmax_idx: None = None,
    handle: Handle | None = None,
) -> tuple[DeviceArray, DeviceArray]: ...
@overload
def border_align_forward(  # type: ignore[overload-overlap]
    input: TorchTensor,
    boxes: HostArray,
    pool_size: int,
    *,
    out: None = None,
    argmax_idx: None = None,
    handle: Handle | None = None,
) -> tuple[TorchTensor, TorchTensor]: ...
@overload
def border_align_forward(
    input: HostArray,
    boxes: HostArray,
    pool_size: int,
    *,
    out: None = None,
    argmax_idx: None = None,
    handle: Handle | None = None,
) -> tuple[NDArray[Any], NDArray[Any]]: ...
@overload
def border_align_forward(
    input: Array,
    boxes: Array,
    pool_size: int,
    *,
    out: Any = None,
    argmax_idx: Any = None,
    handle: Handle | None = None,
) -> tuple[Any, Any]: ...
@overload
def border_align_backward(
    grad_output: DeviceArray,
    boxes: DeviceArray,
    argmax_idx: DeviceArray,
    pool_size: int,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def border_align_backward(  # type: ignore[overload-overlap]
    grad_output: TorchTensor,
    boxes: HostArray,
    argmax_idx: HostArray,
    pool_size: int,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def border_align_backward(
    grad_output: HostArray,
    boxes: HostArray,
    argmax_idx: HostArray,
    pool_size: int,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def border_align_backward(
    grad_output: Array,
    boxes: Array,
    argmax_idx: Array,
    pool_size: int,
    feature_size: Sequence[int],
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def border_align_backward(
    grad_output: Array,
    boxes: Array,
    argmax_idx: Array,
    pool_size: int,
    feature_size: Sequence[int],
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def box_iou_rotated(
    bbox1: DeviceArray,
    bbox2: DeviceArray,
    mode: int | str = 'iou',
    aligned: bool = False,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def box_iou_rotated(  # type: ignore[overload-overlap]
    bbox1: TorchTensor,
    bbox2: HostArray,
    mode: int | str = 'iou',
    aligned: bool = False,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def box_iou_rotated(
    bbox1: HostArray,
    bbox2: HostArray,
    mode: int | str = 'iou',
    aligned: bool = False,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def box_iou_rotated(
    bbox1: Array,
    bbox2: Array,
    mode: int | str = 'iou',
    aligned: bool = False,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def box_iou_rotated(
    bbox1: Array,
    bbox2: Array,
    mode: int | str = 'iou',
    aligned: bool = False,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def nms(
    boxes: DeviceArray,
    confidence: DeviceArray,
    iou_threshold: float,
    max_output_size: int | None = None,
    confidence_threshold: float = 0.0,
    *,
    box_mode: int | str = 'corners',
    output_mode: int | str = 'indices',
    offset: int = 0,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def nms(  # type: ignore[overload-overlap]
    boxes: TorchTensor,
    confidence: HostArray,
    iou_threshold: float,
    max_output_size: int | None = None,
    confidence_threshold: float = 0.0,
    *,
    box_mode: int | str = 'corners',
    output_mode: int | str = 'indices',
    offset: int = 0,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def nms(
    boxes: HostArray,
    confidence: HostArray,
    iou_threshold: float,
    max_output_size: int | None = None,
    confidence_threshold: float = 0.0,
    *,
    box_mode: int | str = 'corners',
    output_mode: int | str = 'indices',
    offset: int = 0,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def nms2d(
    boxes: DeviceArray,
    scores: DeviceArray,
    iou_threshold: float,
    offset: int = 0,
    *,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def nms2d(  # type: ignore[overload-overlap]
    boxes: TorchTensor,
    scores: HostArray,
    iou_threshold: float,
    offset: int = 0,
    *,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def nms2d(
    boxes: HostArray,
    scores: HostArray,
    iou_threshold: float,
    offset: int = 0,
    *,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def nms_match(
    dets: DeviceArray,
    iou_threshold: float,
    *,
    matches: None = None,
    order: None = None,
    handle: Handle | None = None,
) -> tuple[DeviceArray, DeviceArray]: ...
@overload
def nms_match(  # type: ignore[overload-overlap]
    dets: TorchTensor,
    iou_threshold: float,
    *,
    matches: None = None,
    order: None = None,
    handle: Handle | None = None,
) -> tuple[TorchTensor, TorchTensor]: ...
@overload
def nms_match(
    dets: HostArray,
    iou_threshold: float,
    *,
    matches: None = None,
    order: None = None,
    handle: Handle | None = None,
) -> tuple[NDArray[Any], NDArray[Any]]: ...
@overload
def nms_match(
    dets: Array,
    iou_threshold: float,
    *,
    matches: Any = None,
    order: Any = None,
    handle: Handle | None = None,
) -> tuple[Any, Any]: ...
@overload
def soft_nms(
    boxes: DeviceArray,
    scores: DeviceArray,
    iou_threshold: float = 0.3,
    sigma: float = 0.5,
    min_score: float = 0.001,
    method: int | str = 'linear',
    offset: int = 0,
    *,
    handle: Handle | None = None,
) -> tuple[DeviceArray, DeviceArray]: ...
@overload
def soft_nms(  # type: ignore[overload-overlap]
    boxes: TorchTensor,
    scores: HostArray,
    iou_threshold: float = 0.3,
    sigma: float = 0.5,
    min_score: float = 0.001,
    method: int | str = 'linear',
    offset: int = 0,
    *,
    handle: Handle | None = None,
) -> tuple[TorchTensor, TorchTensor]: ...
@overload
def soft_nms(
    boxes: HostArray,
    scores: HostArray,
    iou_threshold: float = 0.3,
    sigma: float = 0.5,
    min_score: float = 0.001,
    method: int | str = 'linear',
    offset: int = 0,
    *,
    handle: Handle | None = None,
) -> tuple[NDArray[Any], NDArray[Any]]: ...
@overload
def boxes_overlap_bev(
    boxes_a: DeviceArray,
    boxes_b: DeviceArray,
    aligned: bool = False,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def boxes_overlap_bev(  # type: ignore[overload-overlap]
    boxes_a: TorchTensor,
    boxes_b: HostArray,
    aligned: bool = False,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def boxes_overlap_bev(
    boxes_a: HostArray,
    boxes_b: HostArray,
    aligned: bool = False,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def boxes_overlap_bev(
    boxes_a: Array,
    boxes_b: Array,
    aligned: bool = False,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def boxes_overlap_bev(
    boxes_a: Array,
    boxes_b: Array,
    aligned: bool = False,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def boxes_iou_bev(
    boxes_a: DeviceArray,
    boxes_b: DeviceArray,
    aligned: bool = False,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def boxes_iou_bev(  # type: ignore[overload-overlap]
    boxes_a: TorchTensor,
    boxes_b: HostArray,
    aligned: bool = False,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def boxes_iou_bev(
    boxes_a: HostArray,
    boxes_b: HostArray,
    aligned: bool = False,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def boxes_iou_bev(
    boxes_a: Array,
    boxes_b: Array,
    aligned: bool = False,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def boxes_iou_bev(
    boxes_a: Array,
    boxes_b: Array,
    aligned: bool = False,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def boxes_iou3d(
    boxes_a: DeviceArray,
    boxes_b: DeviceArray,
    aligned: bool = False,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def boxes_iou3d(  # type: ignore[overload-overlap]
    boxes_a: TorchTensor,
    boxes_b: HostArray,
    aligned: bool = False,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def boxes_iou3d(
    boxes_a: HostArray,
    boxes_b: HostArray,
    aligned: bool = False,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def boxes_iou3d(
    boxes_a: Array,
    boxes_b: Array,
    aligned: bool = False,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def boxes_iou3d(
    boxes_a: Array,
    boxes_b: Array,
    aligned: bool = False,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def nms3d(
    boxes: DeviceArray,
    scores: DeviceArray,
    iou_threshold: float,
    *,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def nms3d(  # type: ignore[overload-overlap]
    boxes: TorchTensor,
    scores: HostArray,
    iou_threshold: float,
    *,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def nms3d(
    boxes: HostArray,
    scores: HostArray,
    iou_threshold: float,
    *,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def nms3d_normal(
    boxes: DeviceArray,
    scores: DeviceArray,
    iou_threshold: float,
    *,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def nms3d_normal(  # type: ignore[overload-overlap]
    boxes: TorchTensor,
    scores: HostArray,
    iou_threshold: float,
    *,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def nms3d_normal(
    boxes: HostArray,
    scores: HostArray,
    iou_threshold: float,
    *,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def carafe_forward(
    input: DeviceArray,
    mask: DeviceArray,
    kernel_size: int,
    group_size: int,
    scale_factor: int,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def carafe_forward(  # type: ignore[overload-overlap]
    input: TorchTensor,
    mask: HostArray,
    kernel_size: int,
    group_size: int,
    scale_factor: int,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def carafe_forward(
    input: HostArray,
    mask: HostArray,
    kernel_size: int,
    group_size: int,
    scale_factor: int,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def carafe_forward(
    input: Array,
    mask: Array,
    kernel_size: int,
    group_size: int,
    scale_factor: int,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def carafe_forward(
    input: Array,
    mask: Array,
    kernel_size: int,
    group_size: int,
    scale_factor: int,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def carafe_backward(
    input: DeviceArray,
    mask: DeviceArray,
    grad_output: DeviceArray,
    kernel_size: int,
    group_size: int,
    scale_factor: int,
    *,
    grad_input: None = None,
    grad_mask: None = None,
    handle: Handle | None = None,
) -> CarafeGradients[DeviceArray]: ...
@overload
def carafe_backward(  # type: ignore[overload-overlap]
    input: TorchTensor,
    mask: HostArray,
    grad_output: HostArray,
    kernel_size: int,
    group_size: int,
    scale_factor: int,
    *,
    grad_input: None = None,
    grad_mask: None = None,
    handle: Handle | None = None,
) -> CarafeGradients[TorchTensor]: ...
@overload
def carafe_backward(
    input: HostArray,
    mask: HostArray,
    grad_output: HostArray,
    kernel_size: int,
    group_size: int,
    scale_factor: int,
    *,
    grad_input: None = None,
    grad_mask: None = None,
    handle: Handle | None = None,
) -> CarafeGradients[NDArray[Any]]: ...
@overload
def carafe_backward(
    input: Array,
    mask: Array,
    grad_output: Array,
    kernel_size: int,
    group_size: int,
    scale_factor: int,
    *,
    grad_input: Any = None,
    grad_mask: Any = None,
    handle: Handle | None = None,
) -> CarafeGradients[Any]: ...
@overload
def chamfer_distance_forward(
    xyz1: DeviceArray,
    xyz2: DeviceArray,
    *,
    dist1: None = None,
    dist2: None = None,
    idx1: None = None,
    idx2: None = None,
    handle: Handle | None = None,
) -> ChamferDistance[DeviceArray]: ...
@overload
def chamfer_distance_forward(  # type: ignore[overload-overlap]
    xyz1: TorchTensor,
    xyz2: HostArray,
    *,
    dist1: None = None,
    dist2: None = None,
    idx1: None = None,
    idx2: None = None,
    handle: Handle | None = None,
) -> ChamferDistance[TorchTensor]: ...
@overload
def chamfer_distance_forward(
    xyz1: HostArray,
    xyz2: HostArray,
    *,
    dist1: None = None,
    dist2: None = None,
    idx1: None = None,
    idx2: None = None,
    handle: Handle | None = None,
) -> ChamferDistance[NDArray[Any]]: ...
@overload
def chamfer_distance_forward(
    xyz1: Array,
    xyz2: Array,
    *,
    dist1: Any = None,
    dist2: Any = None,
    idx1: Any = None,
    idx2: Any = None,
    handle: Handle | None = None,
) -> ChamferDistance[Any]: ...
@overload
def chamfer_distance_backward(
    xyz1: DeviceArray,
    xyz2: DeviceArray,
    idx1: DeviceArray,
    idx2: DeviceArray,
    grad_dist1: DeviceArray,
    grad_dist2: DeviceArray,
    *,
    grad_xyz1: None = None,
    grad_xyz2: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> ChamferGradients[DeviceArray]: ...
@overload
def chamfer_distance_backward(  # type: ignore[overload-overlap]
    xyz1: TorchTensor,
    xyz2: HostArray,
    idx1: HostArray,
    idx2: HostArray,
    grad_dist1: HostArray,
    grad_dist2: HostArray,
    *,
    grad_xyz1: None = None,
    grad_xyz2: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> ChamferGradients[TorchTensor]: ...
@overload
def chamfer_distance_backward(
    xyz1: HostArray,
    xyz2: HostArray,
    idx1: HostArray,
    idx2: HostArray,
    grad_dist1: HostArray,
    grad_dist2: HostArray,
    *,
    grad_xyz1: None = None,
    grad_xyz2: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> ChamferGradients[NDArray[Any]]: ...
@overload
def chamfer_distance_backward(
    xyz1: Array,
    xyz2: Array,
    idx1: Array,
    idx2: Array,
    grad_dist1: Array,
    grad_dist2: Array,
    *,
    grad_xyz1: Any = None,
    grad_xyz2: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> ChamferGradients[Any]: ...
@overload
def correlation_forward(
    input1: DeviceArray,
    input2: DeviceArray,
    output_size: Sequence[int],
    kernel_size: int | Sequence[int] = 1,
    patch_size: int | Sequence[int] = 1,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    dilation_patch: int | Sequence[int] = 1,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def correlation_forward(  # type: ignore[overload-overlap]
    input1: TorchTensor,
    input2: HostArray,
    output_size: Sequence[int],
    kernel_size: int | Sequence[int] = 1,
    patch_size: int | Sequence[int] = 1,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    dilation_patch: int | Sequence[int] = 1,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def correlation_forward(
    input1: HostArray,
    input2: HostArray,
    output_size: Sequence[int],
    kernel_size: int | Sequence[int] = 1,
    patch_size: int | Sequence[int] = 1,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    dilation_patch: int | Sequence[int] = 1,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def correlation_forward(
    input1: Array,
    input2: Array,
    output_size: Sequence[int],
    kernel_size: int | Sequence[int] = 1,
    patch_size: int | Sequence[int] = 1,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    dilation_patch: int | Sequence[int] = 1,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def correlation_forward(
    input1: Array,
    input2: Array,
    output_size: Sequence[int],
    kernel_size: int | Sequence[int] = 1,
    patch_size: int | Sequence[int] = 1,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    dilation_patch: int | Sequence[int] = 1,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def correlation_backward(
    grad_output: DeviceArray,
    input1: DeviceArray,
    input2: DeviceArray,
    kernel_size: int | Sequence[int] = 1,
    patch_size: int | Sequence[int] = 1,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    dilation_patch: int | Sequence[int] = 1,
    *,
    grad_input1: None = None,
    grad_input2: None = None,
    handle: Handle | None = None,
) -> CorrelationGradients[DeviceArray]: ...
@overload
def correlation_backward(  # type: ignore[overload-overlap]
    grad_output: TorchTensor,
    input1: HostArray,
    input2: HostArray,
    kernel_size: int | Sequence[int] = 1,
    patch_size: int | Sequence[int] = 1,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    dilation_patch: int | Sequence[int] = 1,
    *,
    grad_input1: None = None,
    grad_input2: None = None,
    handle: Handle | None = None,
) -> CorrelationGradients[TorchTensor]: ...
@overload
def correlation_backward(
    grad_output: HostArray,
    input1: HostArray,
    input2: HostArray,
    kernel_size: int | Sequence[int] = 1,
    patch_size: int | Sequence[int] = 1,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    dilation_patch: int | Sequence[int] = 1,
    *,
    grad_input1: None = None,
    grad_input2: None = None,
    handle: Handle | None = None,
) -> CorrelationGradients[NDArray[Any]]: ...
@overload
def correlation_backward(
    grad_output: Array,
    input1: Array,
    input2: Array,
    kernel_size: int | Sequence[int] = 1,
    patch_size: int | Sequence[int] = 1,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    dilation_patch: int | Sequence[int] = 1,
    *,
    grad_input1: Any = None,
    grad_input2: Any = None,
    handle: Handle | None = None,
) -> CorrelationGradients[Any]: ...
@overload
def deform_conv_forward(
    filter: DeviceArray,
    input: DeviceArray,
    offset: DeviceArray,
    mask: DeviceArray,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    conv_group: int = 1,
    deformable_group: int = 1,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def deform_conv_forward(  # type: ignore[overload-overlap]
    filter: TorchTensor,
    input: HostArray,
    offset: HostArray,
    mask: HostArray,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    conv_group: int = 1,
    deformable_group: int = 1,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def deform_conv_forward(
    filter: HostArray,
    input: HostArray,
    offset: HostArray,
    mask: HostArray,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    conv_group: int = 1,
    deformable_group: int = 1,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def deform_conv_forward(
    filter: Array,
    input: Array,
    offset: Array,
    mask: Array,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    conv_group: int = 1,
    deformable_group: int = 1,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def deform_conv_forward(
    filter: Array,
    input: Array,
    offset: Array,
    mask: Array,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    conv_group: int = 1,
    deformable_group: int = 1,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def deform_conv_backward_data(
    filter: DeviceArray,
    input: DeviceArray,
    offset: DeviceArray,
    mask: DeviceArray,
    grad_output: DeviceArray,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    conv_group: int = 1,
    deformable_group: int = 1,
    *,
    grad_input: None = None,
    grad_offset: None = None,
    grad_mask: None = None,
    handle: Handle | None = None,
) -> DeformConvDataGradients[DeviceArray]: ...
@overload
def deform_conv_backward_data(  # type: ignore[overload-overlap]
    filter: TorchTensor,
    input: HostArray,
    offset: HostArray,
    mask: HostArray,
    grad_output: HostArray,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    conv_group: int = 1,
    deformable_group: int = 1,
    *,
    grad_input: None = None,
    grad_offset: None = None,
    grad_mask: None = None,
    handle: Handle | None = None,
) -> DeformConvDataGradients[TorchTensor]: ...
@overload
def deform_conv_backward_data(
    filter: HostArray,
    input: HostArray,
    offset: HostArray,
    mask: HostArray,
    grad_output: HostArray,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    conv_group: int = 1,
    deformable_group: int = 1,
    *,
    grad_input: None = None,
    grad_offset: None = None,
    grad_mask: None = None,
    handle: Handle | None = None,
) -> DeformConvDataGradients[NDArray[Any]]: ...
@overload
def deform_conv_backward_data(
    filter: Array,
    input: Array,
    offset: Array,
    mask: Array,
    grad_output: Array,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    conv_group: int = 1,
    deformable_group: int = 1,
    *,
    grad_input: Any = None,
    grad_offset: Any = None,
    grad_mask: Any = None,
    handle: Handle | None = None,
) -> DeformConvDataGradients[Any]: ...
@overload
def deform_conv_backward_weight(
    input: DeviceArray,
    offset: DeviceArray,
    mask: DeviceArray,
    grad_output: DeviceArray,
    kernel_size: int | Sequence[int],
    group_channels: int,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    conv_group: int = 1,
    deformable_group: int = 1,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def deform_conv_backward_weight(  # type: ignore[overload-overlap]
    input: TorchTensor,
    offset: HostArray,
    mask: HostArray,
    grad_output: HostArray,
    kernel_size: int | Sequence[int],
    group_channels: int,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    conv_group: int = 1,
    deformable_group: int = 1,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def deform_conv_backward_weight(
    input: HostArray,
    offset: HostArray,
    mask: HostArray,
    grad_output: HostArray,
    kernel_size: int | Sequence[int],
    group_channels: int,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    conv_group: int = 1,
    deformable_group: int = 1,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def deform_conv_backward_weight(
    input: Array,
    offset: Array,
    mask: Array,
    grad_output: Array,
    kernel_size: int | Sequence[int],
    group_channels: int,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    conv_group: int = 1,
    deformable_group: int = 1,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def deform_conv_backward_weight(
    input: Array,
    offset: Array,
    mask: Array,
    grad_output: Array,
    kernel_size: int | Sequence[int],
    group_channels: int,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    conv_group: int = 1,
    deformable_group: int = 1,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def deform_conv_backward(
    filter: DeviceArray,
    input: DeviceArray,
    offset: DeviceArray,
    mask: DeviceArray,
    grad_output: DeviceArray,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    conv_group: int = 1,
    deformable_group: int = 1,
    *,
    grad_input: None = None,
    grad_offset: None = None,
    grad_mask: None = None,
    grad_filter: None = None,
    handle: Handle | None = None,
) -> DeformConvGradients[DeviceArray]: ...
@overload
def deform_conv_backward(  # type: ignore[overload-overlap]
    filter: TorchTensor,
    input: HostArray,
    offset: HostArray,
    mask: HostArray,
    grad_output: HostArray,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    conv_group: int = 1,
    deformable_group: int = 1,
    *,
    grad_input: None = None,
    grad_offset: None = None,
    grad_mask: None = None,
    grad_filter: None = None,
    handle: Handle | None = None,
) -> DeformConvGradients[TorchTensor]: ...
@overload
def deform_conv_backward(
    filter: HostArray,
    input: HostArray,
    offset: HostArray,
    mask: HostArray,
    grad_output: HostArray,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    conv_group: int = 1,
    deformable_group: int = 1,
    *,
    grad_input: None = None,
    grad_offset: None = None,
    grad_mask: None = None,
    grad_filter: None = None,
    handle: Handle | None = None,
) -> DeformConvGradients[NDArray[Any]]: ...
@overload
def deform_conv_backward(
    filter: Array,
    input: Array,
    offset: Array,
    mask: Array,
    grad_output: Array,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    conv_group: int = 1,
    deformable_group: int = 1,
    *,
    grad_input: Any = None,
    grad_offset: Any = None,
    grad_mask: Any = None,
    grad_filter: Any = None,
    handle: Handle | None = None,
) -> DeformConvGradients[Any]: ...
@overload
def deform_roi_pool_forward(
    input: DeviceArray,
    rois: DeviceArray,
    offset: Array | None,
    output_size: Sequence[int] | int,
    spatial_scale: float = 1.0,
    sampling_ratio: int = 0,
    gamma: float = 0.1,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def deform_roi_pool_forward(  # type: ignore[overload-overlap]
    input: TorchTensor,
    rois: HostArray,
    offset: Array | None,
    output_size: Sequence[int] | int,
    spatial_scale: float = 1.0,
    sampling_ratio: int = 0,
    gamma: float = 0.1,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def deform_roi_pool_forward(
    input: HostArray,
    rois: HostArray,
    offset: Array | None,
    output_size: Sequence[int] | int,
    spatial_scale: float = 1.0,
    sampling_ratio: int = 0,
    gamma: float = 0.1,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def deform_roi_pool_forward(
    input: Array,
    rois: Array,
    offset: Array | None,
    output_size: Sequence[int] | int,
    spatial_scale: float = 1.0,
    sampling_ratio: int = 0,
    gamma: float = 0.1,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def deform_roi_pool_forward(
    input: Array,
    rois: Array,
    offset: Array | None,
    output_size: Sequence[int] | int,
    spatial_scale: float = 1.0,
    sampling_ratio: int = 0,
    gamma: float = 0.1,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def deform_roi_pool_backward(
    grad_output: DeviceArray,
    input: DeviceArray,
    rois: DeviceArray,
    offset: Array | None,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    sampling_ratio: int,
    gamma: float,
    *,
    grad_input: None = None,
    grad_offset: None = None,
    handle: Handle | None = None,
) -> DeformRoiPoolGradients[DeviceArray]: ...
@overload
def deform_roi_pool_backward(  # type: ignore[overload-overlap]
    grad_output: TorchTensor,
    input: HostArray,
    rois: HostArray,
    offset: Array | None,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    sampling_ratio: int,
    gamma: float,
    *,
    grad_input: None = None,
    grad_offset: None = None,
    handle: Handle | None = None,
) -> DeformRoiPoolGradients[TorchTensor]: ...
@overload
def deform_roi_pool_backward(
    grad_output: HostArray,
    input: HostArray,
    rois: HostArray,
    offset: Array | None,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    sampling_ratio: int,
    gamma: float,
    *,
    grad_input: None = None,
    grad_offset: None = None,
    handle: Handle | None = None,
) -> DeformRoiPoolGradients[NDArray[Any]]: ...
@overload
def deform_roi_pool_backward(
    grad_output: Array,
    input: Array,
    rois: Array,
    offset: Array | None,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    sampling_ratio: int,
    gamma: float,
    *,
    grad_input: Any = None,
    grad_offset: Any = None,
    handle: Handle | None = None,
) -> DeformRoiPoolGradients[Any]: ...
@overload
def deform_roi_pool_exact_backward(
    grad_output: DeviceArray,
    input: DeviceArray,
    rois: DeviceArray,
    offset: DeviceArray,
    spatial_scale: float,
    sampling_ratio: int,
    gamma: float,
    *,
    grad_input: None = None,
    grad_offset: None = None,
    handle: Handle | None = None,
) -> DeformRoiPoolGradients[DeviceArray]: ...
@overload
def deform_roi_pool_exact_backward(  # type: ignore[overload-overlap]
    grad_output: TorchTensor,
    input: HostArray,
    rois: HostArray,
    offset: HostArray,
    spatial_scale: float,
    sampling_ratio: int,
    gamma: float,
    *,
    grad_input: None = None,
    grad_offset: None = None,
    handle: Handle | None = None,
) -> DeformRoiPoolGradients[TorchTensor]: ...
@overload
def deform_roi_pool_exact_backward(
    grad_output: HostArray,
    input: HostArray,
    rois: HostArray,
    offset: HostArray,
    spatial_scale: float,
    sampling_ratio: int,
    gamma: float,
    *,
    grad_input: None = None,
    grad_offset: None = None,
    handle: Handle | None = None,
) -> DeformRoiPoolGradients[NDArray[Any]]: ...
@overload
def deform_roi_pool_exact_backward(
    grad_output: Array,
    input: Array,
    rois: Array,
    offset: Array,
    spatial_scale: float,
    sampling_ratio: int,
    gamma: float,
    *,
    grad_input: Any = None,
    grad_offset: Any = None,
    handle: Handle | None = None,
) -> DeformRoiPoolGradients[Any]: ...
@overload
def diff_iou_rotated_sort_vertices_forward(
    vertices: DeviceArray,
    mask: DeviceArray,
    num_valid: DeviceArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def diff_iou_rotated_sort_vertices_forward(  # type: ignore[overload-overlap]
    vertices: TorchTensor,
    mask: HostArray,
    num_valid: HostArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def diff_iou_rotated_sort_vertices_forward(
    vertices: HostArray,
    mask: HostArray,
    num_valid: HostArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def diff_iou_rotated_sort_vertices_forward(
    vertices: Array,
    mask: Array,
    num_valid: Array,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def diff_iou_rotated_sort_vertices_forward(
    vertices: Array,
    mask: Array,
    num_valid: Array,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def dynamic_point_to_voxel_forward(
    feats: DeviceArray,
    coors: DeviceArray,
    reduce_type: str | int,
    max_voxels: int,
    *,
    voxel_feats: None = None,
    voxel_coors: None = None,
    point2voxel_map: None = None,
    voxel_points_count: None = None,
    voxel_num: None = None,
    handle: Handle | None = None,
) -> ScatteredPoints[DeviceArray]: ...
@overload
def dynamic_point_to_voxel_forward(  # type: ignore[overload-overlap]
    feats: TorchTensor,
    coors: HostArray,
    reduce_type: str | int,
    max_voxels: int,
    *,
    voxel_feats: None = None,
    voxel_coors: None = None,
    point2voxel_map: None = None,
    voxel_points_count: None = None,
    voxel_num: None = None,
    handle: Handle | None = None,
) -> ScatteredPoints[TorchTensor]: ...
@overload
def dynamic_point_to_voxel_forward(
    feats: HostArray,
    coors: HostArray,
    reduce_type: str | int,
    max_voxels: int,
    *,
    voxel_feats: None = None,
    voxel_coors: None = None,
    point2voxel_map: None = None,
    voxel_points_count: None = None,
    voxel_num: None = None,
    handle: Handle | None = None,
) -> ScatteredPoints[NDArray[Any]]: ...
@overload
def dynamic_point_to_voxel_forward(
    feats: Array,
    coors: Array,
    reduce_type: str | int,
    max_voxels: int,
    *,
    voxel_feats: Any = None,
    voxel_coors: Any = None,
    point2voxel_map: Any = None,
    voxel_points_count: Any = None,
    voxel_num: Any = None,
    handle: Handle | None = None,
) -> ScatteredPoints[Any]: ...
@overload
def dynamic_point_to_voxel_backward(
    grad_voxel_feats: DeviceArray,
    feats: DeviceArray,
    voxel_feats: DeviceArray,
    point2voxel_map: DeviceArray,
    voxel_points_count: DeviceArray,
    voxel_num: DeviceArray,
    reduce_type: str | int = 'max',
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def dynamic_point_to_voxel_backward(  # type: ignore[overload-overlap]
    grad_voxel_feats: TorchTensor,
    feats: HostArray,
    voxel_feats: HostArray,
    point2voxel_map: HostArray,
    voxel_points_count: HostArray,
    voxel_num: HostArray,
    reduce_type: str | int = 'max',
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def dynamic_point_to_voxel_backward(
    grad_voxel_feats: HostArray,
    feats: HostArray,
    voxel_feats: HostArray,
    point2voxel_map: HostArray,
    voxel_points_count: HostArray,
    voxel_num: HostArray,
    reduce_type: str | int = 'max',
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def dynamic_point_to_voxel_backward(
    grad_voxel_feats: Array,
    feats: Array,
    voxel_feats: Array,
    point2voxel_map: Array,
    voxel_points_count: Array,
    voxel_num: Array,
    reduce_type: str | int = 'max',
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def dynamic_point_to_voxel_backward(
    grad_voxel_feats: Array,
    feats: Array,
    voxel_feats: Array,
    point2voxel_map: Array,
    voxel_points_count: Array,
    voxel_num: Array,
    reduce_type: str | int = 'max',
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def dynamic_scatter_forward(
    feats: DeviceArray,
    coors: DeviceArray,
    reduce_type: str | int,
    *,
    voxel_feats: None = None,
    voxel_coors: None = None,
    point2voxel_map: None = None,
    voxel_points_count: None = None,
    voxel_num: None = None,
    handle: Handle | None = None,
) -> ScatteredPoints[DeviceArray]: ...
@overload
def dynamic_scatter_forward(  # type: ignore[overload-overlap]
    feats: TorchTensor,
    coors: HostArray,
    reduce_type: str | int,
    *,
    voxel_feats: None = None,
    voxel_coors: None = None,
    point2voxel_map: None = None,
    voxel_points_count: None = None,
    voxel_num: None = None,
    handle: Handle | None = None,
) -> ScatteredPoints[TorchTensor]: ...
@overload
def dynamic_scatter_forward(
    feats: HostArray,
    coors: HostArray,
    reduce_type: str | int,
    *,
    voxel_feats: None = None,
    voxel_coors: None = None,
    point2voxel_map: None = None,
    voxel_points_count: None = None,
    voxel_num: None = None,
    handle: Handle | None = None,
) -> ScatteredPoints[NDArray[Any]]: ...
@overload
def dynamic_scatter_forward(
    feats: Array,
    coors: Array,
    reduce_type: str | int,
    *,
    voxel_feats: Any = None,
    voxel_coors: Any = None,
    point2voxel_map: Any = None,
    voxel_points_count: Any = None,
    voxel_num: Any = None,
    handle: Handle | None = None,
) -> ScatteredPoints[Any]: ...
@overload
def dynamic_scatter_backward(
    grad_voxel_feats: DeviceArray,
    feats: DeviceArray,
    voxel_feats: DeviceArray,
    point2voxel_map: DeviceArray,
    voxel_points_count: DeviceArray,
    reduce_type: str | int,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def dynamic_scatter_backward(  # type: ignore[overload-overlap]
    grad_voxel_feats: TorchTensor,
    feats: HostArray,
    voxel_feats: HostArray,
    point2voxel_map: HostArray,
    voxel_points_count: HostArray,
    reduce_type: str | int,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def dynamic_scatter_backward(
    grad_voxel_feats: HostArray,
    feats: HostArray,
    voxel_feats: HostArray,
    point2voxel_map: HostArray,
    voxel_points_count: HostArray,
    reduce_type: str | int,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def dynamic_scatter_backward(
    grad_voxel_feats: Array,
    feats: Array,
    voxel_feats: Array,
    point2voxel_map: Array,
    voxel_points_count: Array,
    reduce_type: str | int,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def dynamic_scatter_backward(
    grad_voxel_feats: Array,
    feats: Array,
    voxel_feats: Array,
    point2voxel_map: Array,
    voxel_points_count: Array,
    reduce_type: str | int,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def focal_loss_sigmoid_forward(
    input: DeviceArray,
    target: DeviceArray,
    weight: Array | None = None,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    prefer: int | str = 'high_precision',
    reduction: int | str = 'none',
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def focal_loss_sigmoid_forward(  # type: ignore[overload-overlap]
    input: TorchTensor,
    target: HostArray,
    weight: Array | None = None,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    prefer: int | str = 'high_precision',
    reduction: int | str = 'none',
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def focal_loss_sigmoid_forward(
    input: HostArray,
    target: HostArray,
    weight: Array | None = None,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    prefer: int | str = 'high_precision',
    reduction: int | str = 'none',
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def focal_loss_sigmoid_forward(
    input: Array,
    target: Array,
    weight: Array | None = None,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    prefer: int | str = 'high_precision',
    reduction: int | str = 'none',
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def focal_loss_sigmoid_forward(
    input: Array,
    target: Array,
    weight: Array | None = None,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    prefer: int | str = 'high_precision',
    reduction: int | str = 'none',
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def focal_loss_sigmoid_backward(
    input: DeviceArray,
    target: DeviceArray,
    weight: Array | None = None,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    prefer: int | str = 'high_precision',
    reduction: int | str = 'none',
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def focal_loss_sigmoid_backward(  # type: ignore[overload-overlap]
    input: TorchTensor,
    target: HostArray,
    weight: Array | None = None,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    prefer: int | str = 'high_precision',
    reduction: int | str = 'none',
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def focal_loss_sigmoid_backward(
    input: HostArray,
    target: HostArray,
    weight: Array | None = None,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    prefer: int | str = 'high_precision',
    reduction: int | str = 'none',
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def focal_loss_sigmoid_backward(
    input: Array,
    target: Array,
    weight: Array | None = None,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    prefer: int | str = 'high_precision',
    reduction: int | str = 'none',
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def focal_loss_sigmoid_backward(
    input: Array,
    target: Array,
    weight: Array | None = None,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    prefer: int | str = 'high_precision',
    reduction: int | str = 'none',
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def sigmoid_focal_loss_forward(
    input: DeviceArray,
    target: DeviceArray,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def sigmoid_focal_loss_forward(  # type: ignore[overload-overlap]
    input: TorchTensor,
    target: HostArray,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def sigmoid_focal_loss_forward(
    input: HostArray,
    target: HostArray,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def sigmoid_focal_loss_forward(
    input: Array,
    target: Array,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def sigmoid_focal_loss_forward(
    input: Array,
    target: Array,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def sigmoid_focal_loss_backward(
    grad_output: DeviceArray,
    input: DeviceArray,
    target: DeviceArray,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def sigmoid_focal_loss_backward(  # type: ignore[overload-overlap]
    grad_output: TorchTensor,
    input: HostArray,
    target: HostArray,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def sigmoid_focal_loss_backward(
    grad_output: HostArray,
    input: HostArray,
    target: HostArray,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def sigmoid_focal_loss_backward(
    grad_output: Array,
    input: Array,
    target: Array,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def sigmoid_focal_loss_backward(
    grad_output: Array,
    input: Array,
    target: Array,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def softmax_focal_loss_forward(
    input: DeviceArray,
    target: DeviceArray,
    of_probabilities: bool = False,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def softmax_focal_loss_forward(  # type: ignore[overload-overlap]
    input: TorchTensor,
    target: HostArray,
    of_probabilities: bool = False,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def softmax_focal_loss_forward(
    input: HostArray,
    target: HostArray,
    of_probabilities: bool = False,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def softmax_focal_loss_forward(
    input: Array,
    target: Array,
    of_probabilities: bool = False,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def softmax_focal_loss_forward(
    input: Array,
    target: Array,
    of_probabilities: bool = False,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def softmax_focal_loss_backward(
    grad_output: DeviceArray,
    input: DeviceArray,
    target: DeviceArray,
    of_probabilities: bool = False,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def softmax_focal_loss_backward(  # type: ignore[overload-overlap]
    grad_output: TorchTensor,
    input: HostArray,
    target: HostArray,
    of_probabilities: bool = False,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def softmax_focal_loss_backward(
    grad_output: HostArray,
    input: HostArray,
    target: HostArray,
    of_probabilities: bool = False,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def softmax_focal_loss_backward(
    grad_output: Array,
    input: Array,
    target: Array,
    of_probabilities: bool = False,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def softmax_focal_loss_backward(
    grad_output: Array,
    input: Array,
    target: Array,
    of_probabilities: bool = False,
    alpha: float = 0.25,
    gamma: float = 2.0,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def fft_forward(
    input: DeviceArray,
    scale_factor: float = 1.0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def fft_forward(  # type: ignore[overload-overlap]
    input: TorchTensor,
    scale_factor: float = 1.0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def fft_forward(
    input: HostArray,
    scale_factor: float = 1.0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def fft_forward(input: Array, scale_factor: float = 1.0, *, out: Out, handle: Handle | None = None) -> Out: ...
@overload
def fft_forward(input: Array, scale_factor: float = 1.0, *, out: Any = None, handle: Handle | None = None) -> Any: ...
@overload
def fft_inverse(
    input: DeviceArray,
    scale_factor: float = 1.0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def fft_inverse(  # type: ignore[overload-overlap]
    input: TorchTensor,
    scale_factor: float = 1.0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def fft_inverse(
    input: HostArray,
    scale_factor: float = 1.0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def fft_inverse(input: Array, scale_factor: float = 1.0, *, out: Out, handle: Handle | None = None) -> Out: ...
@overload
def fft_inverse(input: Array, scale_factor: float = 1.0, *, out: Any = None, handle: Handle | None = None) -> Any: ...
@overload
def fft_real_forward(
    input: DeviceArray,
    frequencies: int | EllipsisType = ...,
    weight: float = 1.0,
    scale_factor: float = 1.0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def fft_real_forward(  # type: ignore[overload-overlap]
    input: TorchTensor,
    frequencies: int | EllipsisType = ...,
    weight: float = 1.0,
    scale_factor: float = 1.0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def fft_real_forward(
    input: HostArray,
    frequencies: int | EllipsisType = ...,
    weight: float = 1.0,
    scale_factor: float = 1.0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def fft_real_forward(
    input: Array,
    frequencies: int | EllipsisType = ...,
    weight: float = 1.0,
    scale_factor: float = 1.0,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def fft_real_forward(
    input: Array,
    frequencies: int | EllipsisType = ...,
    weight: float = 1.0,
    scale_factor: float = 1.0,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def fft_real_inverse(
    input: DeviceArray,
    n: int,
    weight: float = 2.0,
    scale_factor: float = 1.0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def fft_real_inverse(  # type: ignore[overload-overlap]
    input: TorchTensor,
    n: int,
    weight: float = 2.0,
    scale_factor: float = 1.0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def fft_real_inverse(
    input: HostArray,
    n: int,
    weight: float = 2.0,
    scale_factor: float = 1.0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def fft_real_inverse(
    input: Array,
    n: int,
    weight: float = 2.0,
    scale_factor: float = 1.0,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def fft_real_inverse(
    input: Array,
    n: int,
    weight: float = 2.0,
    scale_factor: float = 1.0,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def furthest_point_sampling(
    xyz: DeviceArray,
    num_samples: int,
    max_squared_distance: float = float('inf'),
    min_squared_norm: float = -1.0,
    *,
    dist2: None = None,
    idx: None = None,
    handle: Handle | None = None,
) -> FurthestPoints[DeviceArray]: ...
@overload
def furthest_point_sampling(  # type: ignore[overload-overlap]
    xyz: TorchTensor,
    num_samples: int,
    max_squared_distance: float = float('inf'),
    min_squared_norm: float = -1.0,
    *,
    dist2: None = None,
    idx: None = None,
    handle: Handle | None = None,
) -> FurthestPoints[TorchTensor]: ...
@overload
def furthest_point_sampling(
    xyz: HostArray,
    num_samples: int,
    max_squared_distance: float = float('inf'),
    min_squared_norm: float = -1.0,
    *,
    dist2: None = None,
    idx: None = None,
    handle: Handle | None = None,
) -> FurthestPoints[NDArray[Any]]: ...
@overload
def furthest_point_sampling(
    xyz: Array,
    num_samples: int,
    max_squared_distance: float = float('inf'),
    min_squared_norm: float = -1.0,
    *,
    dist2: Any = None,
    idx: Any = None,
    handle: Handle | None = None,
) -> FurthestPoints[Any]: ...
@overload
def furthest_point_sampling_with_dist(
    dist: DeviceArray,
    num_samples: int,
    max_distance: float = float('inf'),
    *,
    min_dist: None = None,
    idx: None = None,
    handle: Handle | None = None,
) -> FurthestPoints[DeviceArray]: ...
@overload
def furthest_point_sampling_with_dist(  # type: ignore[overload-overlap]
    dist: TorchTensor,
    num_samples: int,
    max_distance: float = float('inf'),
    *,
    min_dist: None = None,
    idx: None = None,
    handle: Handle | None = None,
) -> FurthestPoints[TorchTensor]: ...
@overload
def furthest_point_sampling_with_dist(
    dist: HostArray,
    num_samples: int,
    max_distance: float = float('inf'),
    *,
    min_dist: None = None,
    idx: None = None,
    handle: Handle | None = None,
) -> FurthestPoints[NDArray[Any]]: ...
@overload
def furthest_point_sampling_with_dist(
    dist: Array,
    num_samples: int,
    max_distance: float = float('inf'),
    *,
    min_dist: Any = None,
    idx: Any = None,
    handle: Handle | None = None,
) -> FurthestPoints[Any]: ...
@overload
def stack_furthest_point_sampling(
    xyz: DeviceArray,
    xyz_batch_cnt: DeviceArray,
    num_samples: DeviceArray,
    total_samples: int,
    max_squared_distance: float = float('inf'),
    *,
    dist2: None = None,
    idx: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> FurthestPoints[DeviceArray]: ...
@overload
def stack_furthest_point_sampling(  # type: ignore[overload-overlap]
    xyz: TorchTensor,
    xyz_batch_cnt: HostArray,
    num_samples: HostArray,
    total_samples: int,
    max_squared_distance: float = float('inf'),
    *,
    dist2: None = None,
    idx: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> FurthestPoints[TorchTensor]: ...
@overload
def stack_furthest_point_sampling(
    xyz: HostArray,
    xyz_batch_cnt: HostArray,
    num_samples: HostArray,
    total_samples: int,
    max_squared_distance: float = float('inf'),
    *,
    dist2: None = None,
    idx: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> FurthestPoints[NDArray[Any]]: ...
@overload
def stack_furthest_point_sampling(
    xyz: Array,
    xyz_batch_cnt: Array,
    num_samples: Array,
    total_samples: int,
    max_squared_distance: float = float('inf'),
    *,
    dist2: Any = None,
    idx: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> FurthestPoints[Any]: ...
@overload
def generate_proposals_v2(
    scores: DeviceArray,
    bbox_deltas: DeviceArray,
    im_shape: DeviceArray,
    anchors: DeviceArray,
    variances: DeviceArray,
    pre_nms_top_n: int = 6000,
    post_nms_top_n: int = 1000,
    nms_thresh: float = 0.5,
    min_size: float = 0.1,
    eta: float = 1.0,
    pixel_offset: bool = True,
    *,
    rpn_rois: None = None,
    rpn_roi_probs: None = None,
    rpn_rois_num: None = None,
    rpn_rois_batch_size: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def generate_proposals_v2(  # type: ignore[overload-overlap]
    scores: TorchTensor,
    bbox_deltas: HostArray,
    im_shape: HostArray,
    anchors: HostArray,
    variances: HostArray,
    pre_nms_top_n: int = 6000,
    post_nms_top_n: int = 1000,
    nms_thresh: float = 0.5,
    min_size: float = 0.1,
    eta: float = 1.0,
    pixel_offset: bool = True,
    *,
    rpn_rois: None = None,
    rpn_roi_probs: None = None,
    rpn_rois_num: None = None,
    rpn_rois_batch_size: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def generate_proposals_v2(
    scores: HostArray,
    bbox_deltas: HostArray,
    im_shape: HostArray,
    anchors: HostArray,
    variances: HostArray,
    pre_nms_top_n: int = 6000,
    post_nms_top_n: int = 1000,
    nms_thresh: float = 0.5,
    min_size: float = 0.1,
    eta: float = 1.0,
    pixel_offset: bool = True,
    *,
    rpn_rois: None = None,
    rpn_roi_probs: None = None,
    rpn_rois_num: None = None,
    rpn_rois_batch_size: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def generate_proposals_v2(
    scores: Array,
    bbox_deltas: Array,
    im_shape: Array,
    anchors: Array,
    variances: Array,
    pre_nms_top_n: int = 6000,
    post_nms_top_n: int = 1000,
    nms_thresh: float = 0.5,
    min_size: float = 0.1,
    eta: float = 1.0,
    pixel_offset: bool = True,
    *,
    rpn_rois: Any = None,
    rpn_roi_probs: Any = None,
    rpn_rois_num: Any = None,
    rpn_rois_batch_size: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def get_indice_pairs(
    indices: DeviceArray,
    *,
    batch_size: int,
    spatial_shape: Sequence[int],
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    subm: bool = False,
    out_spatial_shape: Sequence[int] | None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> IndicePairs[DeviceArray]: ...
@overload
def get_indice_pairs(  # type: ignore[overload-overlap]
    indices: TorchTensor,
    *,
    batch_size: int,
    spatial_shape: Sequence[int],
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    subm: bool = False,
    out_spatial_shape: Sequence[int] | None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> IndicePairs[TorchTensor]: ...
@overload
def get_indice_pairs(
    indices: HostArray,
    *,
    batch_size: int,
    spatial_shape: Sequence[int],
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    subm: bool = False,
    out_spatial_shape: Sequence[int] | None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> IndicePairs[NDArray[Any]]: ...
@overload
def gather_points_forward(
    features: DeviceArray,
    idx: DeviceArray,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def gather_points_forward(  # type: ignore[overload-overlap]
    features: TorchTensor,
    idx: HostArray,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def gather_points_forward(
    features: HostArray,
    idx: HostArray,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def gather_points_forward(
    features: Array,
    idx: Array,
    *,
    out: Out,
    validate: bool = True,
    handle: Handle | None = None,
) -> Out: ...
@overload
def gather_points_forward(
    features: Array,
    idx: Array,
    *,
    out: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> Any: ...
@overload
def gather_points_backward(
    grad_output: DeviceArray,
    idx: DeviceArray,
    num_points: int,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def gather_points_backward(  # type: ignore[overload-overlap]
    grad_output: TorchTensor,
    idx: HostArray,
    num_points: int,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def gather_points_backward(
    grad_output: HostArray,
    idx: HostArray,
    num_points: int,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def gather_points_backward(
    grad_output: Array,
    idx: Array,
    num_points: int,
    *,
    out: Out,
    validate: bool = True,
    handle: Handle | None = None,
) -> Out: ...
@overload
def gather_points_backward(
    grad_output: Array,
    idx: Array,
    num_points: int,
    *,
    out: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> Any: ...
@overload
def group_points_forward(
    features: DeviceArray,
    idx: DeviceArray,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def group_points_forward(  # type: ignore[overload-overlap]
    features: TorchTensor,
    idx: HostArray,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def group_points_forward(
    features: HostArray,
    idx: HostArray,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def group_points_forward(
    features: Array,
    idx: Array,
    *,
    out: Out,
    validate: bool = True,
    handle: Handle | None = None,
) -> Out: ...
@overload
def group_points_forward(
    features: Array,
    idx: Array,
    *,
    out: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> Any: ...
@overload
def group_points_backward(
    grad_output: DeviceArray,
    idx: DeviceArray,
    num_points: int,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def group_points_backward(  # type: ignore[overload-overlap]
    grad_output: TorchTensor,
    idx: HostArray,
    num_points: int,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def group_points_backward(
    grad_output: HostArray,
    idx: HostArray,
    num_points: int,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def group_points_backward(
    grad_output: Array,
    idx: Array,
    num_points: int,
    *,
    out: Out,
    validate: bool = True,
    handle: Handle | None = None,
) -> Out: ...
@overload
def group_points_backward(
    grad_output: Array,
    idx: Array,
    num_points: int,
    *,
    out: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> Any: ...
@overload
def stack_group_points_forward(
    features: DeviceArray,
    features_batch_cnt: DeviceArray,
    idx: DeviceArray,
    idx_batch_cnt: DeviceArray,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def stack_group_points_forward(  # type: ignore[overload-overlap]
    features: TorchTensor,
    features_batch_cnt: HostArray,
    idx: HostArray,
    idx_batch_cnt: HostArray,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def stack_group_points_forward(
    features: HostArray,
    features_batch_cnt: HostArray,
    idx: HostArray,
    idx_batch_cnt: HostArray,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def stack_group_points_forward(
    features: Array,
    features_batch_cnt: Array,
    idx: Array,
    idx_batch_cnt: Array,
    *,
    out: Out,
    validate: bool = True,
    handle: Handle | None = None,
) -> Out: ...
@overload
def stack_group_points_forward(
    features: Array,
    features_batch_cnt: Array,
    idx: Array,
    idx_batch_cnt: Array,
    *,
    out: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> Any: ...
@overload
def stack_group_points_backward(
    grad_output: DeviceArray,
    idx: DeviceArray,
    idx_batch_cnt: DeviceArray,
    features_batch_cnt: DeviceArray,
    num_points: int,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def stack_group_points_backward(  # type: ignore[overload-overlap]
    grad_output: TorchTensor,
    idx: HostArray,
    idx_batch_cnt: HostArray,
    features_batch_cnt: HostArray,
    num_points: int,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def stack_group_points_backward(
    grad_output: HostArray,
    idx: HostArray,
    idx_batch_cnt: HostArray,
    features_batch_cnt: HostArray,
    num_points: int,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def stack_group_points_backward(
    grad_output: Array,
    idx: Array,
    idx_batch_cnt: Array,
    features_batch_cnt: Array,
    num_points: int,
    *,
    out: Out,
    validate: bool = True,
    handle: Handle | None = None,
) -> Out: ...
@overload
def stack_group_points_backward(
    grad_output: Array,
    idx: Array,
    idx_batch_cnt: Array,
    features_batch_cnt: Array,
    num_points: int,
    *,
    out: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> Any: ...
@overload
def indice_convolution_forward(
    features: DeviceArray,
    filters: DeviceArray,
    indice_pairs: DeviceArray,
    indice_num: DeviceArray,
    num_act_out: int,
    inverse: int = 0,
    sub_m: int = 0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def indice_convolution_forward(  # type: ignore[overload-overlap]
    features: TorchTensor,
    filters: HostArray,
    indice_pairs: HostArray,
    indice_num: HostArray,
    num_act_out: int,
    inverse: int = 0,
    sub_m: int = 0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def indice_convolution_forward(
    features: HostArray,
    filters: HostArray,
    indice_pairs: HostArray,
    indice_num: HostArray,
    num_act_out: int,
    inverse: int = 0,
    sub_m: int = 0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def indice_convolution_forward(
    features: Array,
    filters: Array,
    indice_pairs: Array,
    indice_num: Array,
    num_act_out: int,
    inverse: int = 0,
    sub_m: int = 0,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def indice_convolution_forward(
    features: Array,
    filters: Array,
    indice_pairs: Array,
    indice_num: Array,
    num_act_out: int,
    inverse: int = 0,
    sub_m: int = 0,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def indice_convolution_backward_data(
    output_grad: DeviceArray,
    filters: DeviceArray,
    indice_pairs: DeviceArray,
    indice_num: DeviceArray,
    inverse: int = 0,
    sub_m: int = 0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def indice_convolution_backward_data(  # type: ignore[overload-overlap]
    output_grad: TorchTensor,
    filters: HostArray,
    indice_pairs: HostArray,
    indice_num: HostArray,
    inverse: int = 0,
    sub_m: int = 0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def indice_convolution_backward_data(
    output_grad: HostArray,
    filters: HostArray,
    indice_pairs: HostArray,
    indice_num: HostArray,
    inverse: int = 0,
    sub_m: int = 0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def indice_convolution_backward_data(
    output_grad: Array,
    filters: Array,
    indice_pairs: Array,
    indice_num: Array,
    inverse: int = 0,
    sub_m: int = 0,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def indice_convolution_backward_data(
    output_grad: Array,
    filters: Array,
    indice_pairs: Array,
    indice_num: Array,
    inverse: int = 0,
    sub_m: int = 0,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def indice_convolution_backward_filter(
    features: DeviceArray,
    output_grad: DeviceArray,
    indice_pairs: DeviceArray,
    indice_num: DeviceArray,
    kernel_size: int | Sequence[int],
    inverse: int = 0,
    sub_m: int = 0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def indice_convolution_backward_filter(  # type: ignore[overload-overlap]
    features: TorchTensor,
    output_grad: HostArray,
    indice_pairs: HostArray,
    indice_num: HostArray,
    kernel_size: int | Sequence[int],
    inverse: int = 0,
    sub_m: int = 0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def indice_convolution_backward_filter(
    features: HostArray,
    output_grad: HostArray,
    indice_pairs: HostArray,
    indice_num: HostArray,
    kernel_size: int | Sequence[int],
    inverse: int = 0,
    sub_m: int = 0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def indice_convolution_backward_filter(
    features: Array,
    output_grad: Array,
    indice_pairs: Array,
    indice_num: Array,
    kernel_size: int | Sequence[int],
    inverse: int = 0,
    sub_m: int = 0,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def indice_convolution_backward_filter(
    features: Array,
    output_grad: Array,
    indice_pairs: Array,
    indice_num: Array,
    kernel_size: int | Sequence[int],
    inverse: int = 0,
    sub_m: int = 0,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def ingroup_indices(groups: DeviceArray, *, out: None = None, handle: Handle | None = None) -> DeviceArray: ...
@overload
def ingroup_indices(  # type: ignore[overload-overlap]
    groups: TorchTensor,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def ingroup_indices(groups: HostArray, *, out: None = None, handle: Handle | None = None) -> NDArray[Any]: ...
@overload
def ingroup_indices(groups: Array, *, out: Out, handle: Handle | None = None) -> Out: ...
@overload
def ingroup_indices(groups: Array, *, out: Any = None, handle: Handle | None = None) -> Any: ...
@overload
def knn(
    xyz: DeviceArray,
    new_xyz: DeviceArray,
    k: int,
    *,
    dist2: None = None,
    idx: None = None,
    handle: Handle | None = None,
) -> NearestPoints[DeviceArray]: ...
@overload
def knn(  # type: ignore[overload-overlap]
    xyz: TorchTensor,
    new_xyz: HostArray,
    k: int,
    *,
    dist2: None = None,
    idx: None = None,
    handle: Handle | None = None,
) -> NearestPoints[TorchTensor]: ...
@overload
def knn(
    xyz: HostArray,
    new_xyz: HostArray,
    k: int,
    *,
    dist2: None = None,
    idx: None = None,
    handle: Handle | None = None,
) -> NearestPoints[NDArray[Any]]: ...
@overload
def knn(
    xyz: Array,
    new_xyz: Array,
    k: int,
    *,
    dist2: Any = None,
    idx: Any = None,
    handle: Handle | None = None,
) -> NearestPoints[Any]: ...
@overload
def logspace(
    start: float,
    end: float,
    steps: int,
    base: float = 10.0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def logspace(
    start: float,
    end: float,
    steps: int,
    base: float = 10.0,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def logspace(
    start: float,
    end: float,
    steps: int,
    base: float = 10.0,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def masked_im2col_forward(
    feature: DeviceArray,
    mask_h_idx: DeviceArray,
    mask_w_idx: DeviceArray,
    kernel_size: int | Sequence[int],
    padding: int | Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def masked_im2col_forward(  # type: ignore[overload-overlap]
    feature: TorchTensor,
    mask_h_idx: HostArray,
    mask_w_idx: HostArray,
    kernel_size: int | Sequence[int],
    padding: int | Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def masked_im2col_forward(
    feature: HostArray,
    mask_h_idx: HostArray,
    mask_w_idx: HostArray,
    kernel_size: int | Sequence[int],
    padding: int | Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def masked_im2col_forward(
    feature: Array,
    mask_h_idx: Array,
    mask_w_idx: Array,
    kernel_size: int | Sequence[int],
    padding: int | Sequence[int],
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def masked_im2col_forward(
    feature: Array,
    mask_h_idx: Array,
    mask_w_idx: Array,
    kernel_size: int | Sequence[int],
    padding: int | Sequence[int],
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def masked_col2im_forward(
    col: DeviceArray,
    mask_h_idx: DeviceArray,
    mask_w_idx: DeviceArray,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def masked_col2im_forward(  # type: ignore[overload-overlap]
    col: TorchTensor,
    mask_h_idx: HostArray,
    mask_w_idx: HostArray,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def masked_col2im_forward(
    col: HostArray,
    mask_h_idx: HostArray,
    mask_w_idx: HostArray,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def masked_col2im_forward(
    col: Array,
    mask_h_idx: Array,
    mask_w_idx: Array,
    feature_size: Sequence[int],
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def masked_col2im_forward(
    col: Array,
    mask_h_idx: Array,
    mask_w_idx: Array,
    feature_size: Sequence[int],
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def moe_dispatch_forward(
    gates: DeviceArray,
    indices: DeviceArray,
    locations: DeviceArray,
    input: DeviceArray,
    samples: int,
    capacity: int,
    hidden: int,
    num_experts: int,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def moe_dispatch_forward(  # type: ignore[overload-overlap]
    gates: TorchTensor,
    indices: HostArray,
    locations: HostArray,
    input: HostArray,
    samples: int,
    capacity: int,
    hidden: int,
    num_experts: int,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def moe_dispatch_forward(
    gates: HostArray,
    indices: HostArray,
    locations: HostArray,
    input: HostArray,
    samples: int,
    capacity: int,
    hidden: int,
    num_experts: int,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def moe_dispatch_forward(
    gates: Array,
    indices: Array,
    locations: Array,
    input: Array,
    samples: int,
    capacity: int,
    hidden: int,
    num_experts: int,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def moe_dispatch_forward(
    gates: Array,
    indices: Array,
    locations: Array,
    input: Array,
    samples: int,
    capacity: int,
    hidden: int,
    num_experts: int,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def moe_dispatch_backward_data(
    gates: DeviceArray,
    indices: DeviceArray,
    locations: DeviceArray,
    dispatch: DeviceArray,
    samples: int,
    capacity: int,
    hidden: int,
    num_experts: int,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def moe_dispatch_backward_data(  # type: ignore[overload-overlap]
    gates: TorchTensor,
    indices: HostArray,
    locations: HostArray,
    dispatch: HostArray,
    samples: int,
    capacity: int,
    hidden: int,
    num_experts: int,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def moe_dispatch_backward_data(
    gates: HostArray,
    indices: HostArray,
    locations: HostArray,
    dispatch: HostArray,
    samples: int,
    capacity: int,
    hidden: int,
    num_experts: int,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def moe_dispatch_backward_data(
    gates: Array,
    indices: Array,
    locations: Array,
    dispatch: Array,
    samples: int,
    capacity: int,
    hidden: int,
    num_experts: int,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def moe_dispatch_backward_data(
    gates: Array,
    indices: Array,
    locations: Array,
    dispatch: Array,
    samples: int,
    capacity: int,
    hidden: int,
    num_experts: int,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def moe_dispatch_backward_gate(
    indices: DeviceArray,
    locations: DeviceArray,
    input: DeviceArray,
    dispatch: DeviceArray,
    samples: int,
    capacity: int,
    hidden: int,
    num_experts: int,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def moe_dispatch_backward_gate(  # type: ignore[overload-overlap]
    indices: TorchTensor,
    locations: HostArray,
    input: HostArray,
    dispatch: HostArray,
    samples: int,
    capacity: int,
    hidden: int,
    num_experts: int,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def moe_dispatch_backward_gate(
    indices: HostArray,
    locations: HostArray,
    input: HostArray,
    dispatch: HostArray,
    samples: int,
    capacity: int,
    hidden: int,
    num_experts: int,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def moe_dispatch_backward_gate(
    indices: Array,
    locations: Array,
    input: Array,
    dispatch: Array,
    samples: int,
    capacity: int,
    hidden: int,
    num_experts: int,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def moe_dispatch_backward_gate(
    indices: Array,
    locations: Array,
    input: Array,
    dispatch: Array,
    samples: int,
    capacity: int,
    hidden: int,
    num_experts: int,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def ms_deform_attn_forward(
    value: DeviceArray,
    spatial_shapes: DeviceArray,
    level_start_index: DeviceArray,
    sampling_loc: DeviceArray,
    attn_weight: DeviceArray,
    im2col_step: int,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def ms_deform_attn_forward(  # type: ignore[overload-overlap]
    value: TorchTensor,
    spatial_shapes: HostArray,
    level_start_index: HostArray,
    sampling_loc: HostArray,
    attn_weight: HostArray,
    im2col_step: int,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def ms_deform_attn_forward(
    value: HostArray,
    spatial_shapes: HostArray,
    level_start_index: HostArray,
    sampling_loc: HostArray,
    attn_weight: HostArray,
    im2col_step: int,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def ms_deform_attn_forward(
    value: Array,
    spatial_shapes: Array,
    level_start_index: Array,
    sampling_loc: Array,
    attn_weight: Array,
    im2col_step: int,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def ms_deform_attn_forward(
    value: Array,
    spatial_shapes: Array,
    level_start_index: Array,
    sampling_loc: Array,
    attn_weight: Array,
    im2col_step: int,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def ms_deform_attn_backward(
    value: DeviceArray,
    spatial_shapes: DeviceArray,
    level_start_index: DeviceArray,
    sampling_loc: DeviceArray,
    attn_weight: DeviceArray,
    grad_output: DeviceArray,
    im2col_step: int,
    *,
    grad_value: None = None,
    grad_sampling_loc: None = None,
    grad_attn_weight: None = None,
    handle: Handle | None = None,
) -> MsDeformAttnGradients[DeviceArray]: ...
@overload
def ms_deform_attn_backward(  # type: ignore[overload-overlap]
    value: TorchTensor,
    spatial_shapes: HostArray,
    level_start_index: HostArray,
    sampling_loc: HostArray,
    attn_weight: HostArray,
    grad_output: HostArray,
    im2col_step: int,
    *,
    grad_value: None = None,
    grad_sampling_loc: None = None,
    grad_attn_weight: None = None,
    handle: Handle | None = None,
) -> MsDeformAttnGradients[TorchTensor]: ...
@overload
def ms_deform_attn_backward(
    value: HostArray,
    spatial_shapes: HostArray,
    level_start_index: HostArray,
    sampling_loc: HostArray,
    attn_weight: HostArray,
    grad_output: HostArray,
    im2col_step: int,
    *,
    grad_value: None = None,
    grad_sampling_loc: None = None,
    grad_attn_weight: None = None,
    handle: Handle | None = None,
) -> MsDeformAttnGradients[NDArray[Any]]: ...
@overload
def ms_deform_attn_backward(
    value: Array,
    spatial_shapes: Array,
    level_start_index: Array,
    sampling_loc: Array,
    attn_weight: Array,
    grad_output: Array,
    im2col_step: int,
    *,
    grad_value: Any = None,
    grad_sampling_loc: Any = None,
    grad_attn_weight: Any = None,
    handle: Handle | None = None,
) -> MsDeformAttnGradients[Any]: ...
@overload
def mutual_information_forward(
    px: DeviceArray,
    py: DeviceArray,
    opt_boundary: Array | None = None,
    *,
    ans: None = None,
    p: None = None,
    handle: Handle | None = None,
) -> tuple[DeviceArray, DeviceArray]: ...
@overload
def mutual_information_forward(  # type: ignore[overload-overlap]
    px: TorchTensor,
    py: HostArray,
    opt_boundary: Array | None = None,
    *,
    ans: None = None,
    p: None = None,
    handle: Handle | None = None,
) -> tuple[TorchTensor, TorchTensor]: ...
@overload
def mutual_information_forward(
    px: HostArray,
    py: HostArray,
    opt_boundary: Array | None = None,
    *,
    ans: None = None,
    p: None = None,
    handle: Handle | None = None,
) -> tuple[NDArray[Any], NDArray[Any]]: ...
@overload
def mutual_information_forward(
    px: Array,
    py: Array,
    opt_boundary: Array | None = None,
    *,
    ans: Any = None,
    p: Any = None,
    handle: Handle | None = None,
) -> tuple[Any, Any]: ...
@overload
def mutual_information_backward(
    px: DeviceArray,
    py: DeviceArray,
    opt_boundary: Array | None,
    p: DeviceArray,
    ans_grad: DeviceArray,
    overwrite_ans_grad: bool = False,
    *,
    px_grad: None = None,
    py_grad: None = None,
    handle: Handle | None = None,
) -> tuple[DeviceArray, DeviceArray]: ...
@overload
def mutual_information_backward(  # type: ignore[overload-overlap]
    px: TorchTensor,
    py: HostArray,
    opt_boundary: Array | None,
    p: HostArray,
    ans_grad: HostArray,
    overwrite_ans_grad: bool = False,
    *,
    px_grad: None = None,
    py_grad: None = None,
    handle: Handle | None = None,
) -> tuple[TorchTensor, TorchTensor]: ...
@overload
def mutual_information_backward(
    px: HostArray,
    py: HostArray,
    opt_boundary: Array | None,
    p: HostArray,
    ans_grad: HostArray,
    overwrite_ans_grad: bool = False,
    *,
    px_grad: None = None,
    py_grad: None = None,
    handle: Handle | None = None,
) -> tuple[NDArray[Any], NDArray[Any]]: ...
@overload
def mutual_information_backward(
    px: Array,
    py: Array,
    opt_boundary: Array | None,
    p: Array,
    ans_grad: Array,
    overwrite_ans_grad: bool = False,
    *,
    px_grad: Any = None,
    py_grad: Any = None,
    handle: Handle | None = None,
) -> tuple[Any, Any]: ...
@overload
def nms_rotated(
    boxes: DeviceArray,
    scores: DeviceArray,
    iou_threshold: float,
    *,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def nms_rotated(  # type: ignore[overload-overlap]
    boxes: TorchTensor,
    scores: HostArray,
    iou_threshold: float,
    *,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def nms_rotated(
    boxes: HostArray,
    scores: HostArray,
    iou_threshold: float,
    *,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def adam_w(
    param: DeviceArray,
    momentum: DeviceArray,
    velocity: DeviceArray,
    grad: DeviceArray,
    step: int,
    lr: float = 0.001,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-08,
    weight_decay: float = 0.01,
    grad_scale: float = 1.0,
    need_remove_nan: bool = False,
    *,
    handle: Handle | None = None,
) -> None: ...
@overload
def adam_w(
    param: HostArray,
    momentum: HostArray,
    velocity: HostArray,
    grad: HostArray,
    step: int,
    lr: float = 0.001,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-08,
    weight_decay: float = 0.01,
    grad_scale: float = 1.0,
    need_remove_nan: bool = False,
    *,
    handle: Handle | None = None,
) -> None: ...
@overload
def convex_iou(
    pointsets: DeviceArray,
    polygons: DeviceArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def convex_iou(  # type: ignore[overload-overlap]
    pointsets: TorchTensor,
    polygons: HostArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def convex_iou(
    pointsets: HostArray,
    polygons: HostArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def convex_iou(pointsets: Array, polygons: Array, *, out: Out, handle: Handle | None = None) -> Out: ...
@overload
def convex_iou(pointsets: Array, polygons: Array, *, out: Any = None, handle: Handle | None = None) -> Any: ...
@overload
def convex_giou(
    pointsets: DeviceArray,
    polygons: DeviceArray,
    *,
    gious: None = None,
    gradients: None = None,
    handle: Handle | None = None,
) -> ConvexGiou[DeviceArray]: ...
@overload
def convex_giou(  # type: ignore[overload-overlap]
    pointsets: TorchTensor,
    polygons: HostArray,
    *,
    gious: None = None,
    gradients: None = None,
    handle: Handle | None = None,
) -> ConvexGiou[TorchTensor]: ...
@overload
def convex_giou(
    pointsets: HostArray,
    polygons: HostArray,
    *,
    gious: None = None,
    gradients: None = None,
    handle: Handle | None = None,
) -> ConvexGiou[NDArray[Any]]: ...
@overload
def convex_giou(
    pointsets: Array,
    polygons: Array,
    *,
    gious: Any = None,
    gradients: Any = None,
    handle: Handle | None = None,
) -> ConvexGiou[Any]: ...
@overload
def min_area_polygons(pointsets: DeviceArray, *, out: None = None, handle: Handle | None = None) -> DeviceArray: ...
@overload
def min_area_polygons(  # type: ignore[overload-overlap]
    pointsets: TorchTensor,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def min_area_polygons(pointsets: HostArray, *, out: None = None, handle: Handle | None = None) -> NDArray[Any]: ...
@overload
def min_area_polygons(pointsets: Array, *, out: Out, handle: Handle | None = None) -> Out: ...
@overload
def min_area_polygons(pointsets: Array, *, out: Any = None, handle: Handle | None = None) -> Any: ...
@overload
def points_in_boxes(
    points: DeviceArray,
    boxes: DeviceArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def points_in_boxes(  # type: ignore[overload-overlap]
    points: TorchTensor,
    boxes: HostArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def points_in_boxes(
    points: HostArray,
    boxes: HostArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def points_in_boxes(points: Array, boxes: Array, *, out: Out, handle: Handle | None = None) -> Out: ...
@overload
def points_in_boxes(points: Array, boxes: Array, *, out: Any = None, handle: Handle | None = None) -> Any: ...
@overload
def points_in_boxes_part(
    boxes: DeviceArray,
    points: DeviceArray,
    margin: float = 0.0,
    centred: bool = False,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def points_in_boxes_part(  # type: ignore[overload-overlap]
    boxes: TorchTensor,
    points: HostArray,
    margin: float = 0.0,
    centred: bool = False,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def points_in_boxes_part(
    boxes: HostArray,
    points: HostArray,
    margin: float = 0.0,
    centred: bool = False,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def points_in_boxes_part(
    boxes: Array,
    points: Array,
    margin: float = 0.0,
    centred: bool = False,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def points_in_boxes_part(
    boxes: Array,
    points: Array,
    margin: float = 0.0,
    centred: bool = False,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def points_in_boxes_all(
    boxes: DeviceArray,
    points: DeviceArray,
    margin: float = 0.0,
    centred: bool = False,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def points_in_boxes_all(  # type: ignore[overload-overlap]
    boxes: TorchTensor,
    points: HostArray,
    margin: float = 0.0,
    centred: bool = False,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def points_in_boxes_all(
    boxes: HostArray,
    points: HostArray,
    margin: float = 0.0,
    centred: bool = False,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def points_in_boxes_all(
    boxes: Array,
    points: Array,
    margin: float = 0.0,
    centred: bool = False,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def points_in_boxes_all(
    boxes: Array,
    points: Array,
    margin: float = 0.0,
    centred: bool = False,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def points_in_polygons(
    points: DeviceArray,
    polygons: DeviceArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def points_in_polygons(  # type: ignore[overload-overlap]
    points: TorchTensor,
    polygons: HostArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def points_in_polygons(
    points: HostArray,
    polygons: HostArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def points_in_polygons(points: Array, polygons: Array, *, out: Out, handle: Handle | None = None) -> Out: ...
@overload
def points_in_polygons(points: Array, polygons: Array, *, out: Any = None, handle: Handle | None = None) -> Any: ...
@overload
def abs(x: DeviceArray, *, out: None = None, handle: Handle | None = None) -> DeviceArray: ...
@overload
def abs(  # type: ignore[overload-overlap]
    x: TorchTensor,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def abs(x: HostArray, *, out: None = None, handle: Handle | None = None) -> NDArray[Any]: ...
@overload
def abs(x: Array, *, out: Out, handle: Handle | None = None) -> Out: ...
@overload
def abs(x: Array, *, out: Any = None, handle: Handle | None = None) -> Any: ...
@overload
def sqrt(x: DeviceArray, prefer: str = 'fast', *, out: None = None, handle: Handle | None = None) -> DeviceArray: ...
@overload
def sqrt(  # type: ignore[overload-overlap]
    x: TorchTensor,
    prefer: str = 'fast',
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def sqrt(x: HostArray, prefer: str = 'fast', *, out: None = None, handle: Handle | None = None) -> NDArray[Any]: ...
@overload
def sqrt(x: Array, prefer: str = 'fast', *, out: Out, handle: Handle | None = None) -> Out: ...
@overload
def sqrt(x: Array, prefer: str = 'fast', *, out: Any = None, handle: Handle | None = None) -> Any: ...
@overload
def sqrt_backward(
    y: DeviceArray,
    diff_y: DeviceArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def sqrt_backward(  # type: ignore[overload-overlap]
    y: TorchTensor,
    diff_y: HostArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def sqrt_backward(
    y: HostArray,
    diff_y: HostArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def sqrt_backward(y: Array, diff_y: Array, *, out: Out, handle: Handle | None = None) -> Out: ...
@overload
def sqrt_backward(y: Array, diff_y: Array, *, out: Any = None, handle: Handle | None = None) -> Any: ...
@overload
def log(
    x: DeviceArray,
    base: str | int = 'e',
    prefer: str = 'fast',
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def log(  # type: ignore[overload-overlap]
    x: TorchTensor,
    base: str | int = 'e',
    prefer: str = 'fast',
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def log(
    x: HostArray,
    base: str | int = 'e',
    prefer: str = 'fast',
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def log(x: Array, base: str | int = 'e', prefer: str = 'fast', *, out: Out, handle: Handle | None = None) -> Out: ...
@overload
def log(
    x: Array,
    base: str | int = 'e',
    prefer: str = 'fast',
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def div(
    x: DeviceArray,
    y: DeviceArray,
    prefer: str = 'fast',
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def div(  # type: ignore[overload-overlap]
    x: TorchTensor,
    y: HostArray,
    prefer: str = 'fast',
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def div(
    x: HostArray,
    y: HostArray,
    prefer: str = 'fast',
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def div(x: Array, y: Array, prefer: str = 'fast', *, out: Out, handle: Handle | None = None) -> Out: ...
@overload
def div(x: Array, y: Array, prefer: str = 'fast', *, out: Any = None, handle: Handle | None = None) -> Any: ...
@overload
def lgamma(x: DeviceArray, *, out: None = None, handle: Handle | None = None) -> DeviceArray: ...
@overload
def lgamma(  # type: ignore[overload-overlap]
    x: TorchTensor,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def lgamma(x: HostArray, *, out: None = None, handle: Handle | None = None) -> NDArray[Any]: ...
@overload
def lgamma(x: Array, *, out: Out, handle: Handle | None = None) -> Out: ...
@overload
def lgamma(x: Array, *, out: Any = None, handle: Handle | None = None) -> Any: ...
@overload
def roi_pool_forward(
    input: DeviceArray,
    rois: DeviceArray,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    rounded: bool = True,
    *,
    out: None = None,
    argmax: None = None,
    handle: Handle | None = None,
) -> LargestPixels[DeviceArray]: ...
@overload
def roi_pool_forward(  # type: ignore[overload-overlap]
    input: TorchTensor,
    rois: HostArray,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    rounded: bool = True,
    *,
    out: None = None,
    argmax: None = None,
    handle: Handle | None = None,
) -> LargestPixels[TorchTensor]: ...
@overload
def roi_pool_forward(
    input: HostArray,
    rois: HostArray,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    rounded: bool = True,
    *,
    out: None = None,
    argmax: None = None,
    handle: Handle | None = None,
) -> LargestPixels[NDArray[Any]]: ...
@overload
def roi_pool_forward(
    input: Array,
    rois: Array,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    rounded: bool = True,
    *,
    out: Any = None,
    argmax: Any = None,
    handle: Handle | None = None,
) -> LargestPixels[Any]: ...
@overload
def roi_pool_backward(
    grad_output: DeviceArray,
    rois: DeviceArray,
    argmax: DeviceArray,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def roi_pool_backward(  # type: ignore[overload-overlap]
    grad_output: TorchTensor,
    rois: HostArray,
    argmax: HostArray,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def roi_pool_backward(
    grad_output: HostArray,
    rois: HostArray,
    argmax: HostArray,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def roi_pool_backward(
    grad_output: Array,
    rois: Array,
    argmax: Array,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def roi_pool_backward(
    grad_output: Array,
    rois: Array,
    argmax: Array,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def prroi_pool_forward(
    input: DeviceArray,
    rois: DeviceArray,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def prroi_pool_forward(  # type: ignore[overload-overlap]
    input: TorchTensor,
    rois: HostArray,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def prroi_pool_forward(
    input: HostArray,
    rois: HostArray,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def prroi_pool_forward(
    input: Array,
    rois: Array,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def prroi_pool_forward(
    input: Array,
    rois: Array,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def prroi_pool_backward(
    grad_output: DeviceArray,
    rois: DeviceArray,
    spatial_scale: float,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def prroi_pool_backward(  # type: ignore[overload-overlap]
    grad_output: TorchTensor,
    rois: HostArray,
    spatial_scale: float,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def prroi_pool_backward(
    grad_output: HostArray,
    rois: HostArray,
    spatial_scale: float,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def prroi_pool_backward(
    grad_output: Array,
    rois: Array,
    spatial_scale: float,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def prroi_pool_backward(
    grad_output: Array,
    rois: Array,
    spatial_scale: float,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def prroi_pool_coor_backward(
    grad_output: DeviceArray,
    input: DeviceArray,
    rois: DeviceArray,
    output: DeviceArray,
    spatial_scale: float,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def prroi_pool_coor_backward(  # type: ignore[overload-overlap]
    grad_output: TorchTensor,
    input: HostArray,
    rois: HostArray,
    output: HostArray,
    spatial_scale: float,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def prroi_pool_coor_backward(
    grad_output: HostArray,
    input: HostArray,
    rois: HostArray,
    output: HostArray,
    spatial_scale: float,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def prroi_pool_coor_backward(
    grad_output: Array,
    input: Array,
    rois: Array,
    output: Array,
    spatial_scale: float,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def prroi_pool_coor_backward(
    grad_output: Array,
    input: Array,
    rois: Array,
    output: Array,
    spatial_scale: float,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def prior_box(
    min_sizes: DeviceArray,
    aspect_ratios: DeviceArray,
    variances: DeviceArray,
    max_sizes: DeviceArray,
    height: int,
    width: int,
    im_height: int,
    im_width: int,
    step_h: float,
    step_w: float,
    offset: float = 0.5,
    clip: bool = False,
    min_max_aspect_ratios_order: bool = True,
    *,
    out: None = None,
    var: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def prior_box(  # type: ignore[overload-overlap]
    min_sizes: TorchTensor,
    aspect_ratios: HostArray,
    variances: HostArray,
    max_sizes: HostArray,
    height: int,
    width: int,
    im_height: int,
    im_width: int,
    step_h: float,
    step_w: float,
    offset: float = 0.5,
    clip: bool = False,
    min_max_aspect_ratios_order: bool = True,
    *,
    out: None = None,
    var: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def prior_box(
    min_sizes: HostArray,
    aspect_ratios: HostArray,
    variances: HostArray,
    max_sizes: HostArray,
    height: int,
    width: int,
    im_height: int,
    im_width: int,
    step_h: float,
    step_w: float,
    offset: float = 0.5,
    clip: bool = False,
    min_max_aspect_ratios_order: bool = True,
    *,
    out: None = None,
    var: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def prior_box(
    min_sizes: Array,
    aspect_ratios: Array,
    variances: Array,
    max_sizes: Array,
    height: int,
    width: int,
    im_height: int,
    im_width: int,
    step_h: float,
    step_w: float,
    offset: float = 0.5,
    clip: bool = False,
    min_max_aspect_ratios_order: bool = True,
    *,
    out: Any = None,
    var: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def ps_roi_pool_forward(
    input: DeviceArray,
    rois: DeviceArray,
    pooled_height: int,
    pooled_width: int,
    spatial_scale: float,
    group_size: int,
    output_dim: int,
    *,
    out: None = None,
    mapping_channel: None = None,
    handle: Handle | None = None,
) -> tuple[DeviceArray, DeviceArray]: ...
@overload
def ps_roi_pool_forward(  # type: ignore[overload-overlap]
    input: TorchTensor,
    rois: HostArray,
    pooled_height: int,
    pooled_width: int,
    spatial_scale: float,
    group_size: int,
    output_dim: int,
    *,
    out: None = None,
    mapping_channel: None = None,
    handle: Handle | None = None,
) -> tuple[TorchTensor, TorchTensor]: ...
@overload
def ps_roi_pool_forward(
    input: HostArray,
    rois: HostArray,
    pooled_height: int,
    pooled_width: int,
    spatial_scale: float,
    group_size: int,
    output_dim: int,
    *,
    out: None = None,
    mapping_channel: None = None,
    handle: Handle | None = None,
) -> tuple[NDArray[Any], NDArray[Any]]: ...
@overload
def ps_roi_pool_forward(
    input: Array,
    rois: Array,
    pooled_height: int,
    pooled_width: int,
    spatial_scale: float,
    group_size: int,
    output_dim: int,
    *,
    out: Any = None,
    mapping_channel: Any = None,
    handle: Handle | None = None,
) -> tuple[Any, Any]: ...
@overload
def ps_roi_pool_backward(
    top_grad: DeviceArray,
    rois: DeviceArray,
    mapping_channel: DeviceArray,
    pooled_height: int,
    pooled_width: int,
    spatial_scale: float,
    output_dim: int,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def ps_roi_pool_backward(  # type: ignore[overload-overlap]
    top_grad: TorchTensor,
    rois: HostArray,
    mapping_channel: HostArray,
    pooled_height: int,
    pooled_width: int,
    spatial_scale: float,
    output_dim: int,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def ps_roi_pool_backward(
    top_grad: HostArray,
    rois: HostArray,
    mapping_channel: HostArray,
    pooled_height: int,
    pooled_width: int,
    spatial_scale: float,
    output_dim: int,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def ps_roi_pool_backward(
    top_grad: Array,
    rois: Array,
    mapping_channel: Array,
    pooled_height: int,
    pooled_width: int,
    spatial_scale: float,
    output_dim: int,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def ps_roi_pool_backward(
    top_grad: Array,
    rois: Array,
    mapping_channel: Array,
    pooled_height: int,
    pooled_width: int,
    spatial_scale: float,
    output_dim: int,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def psamask_forward(
    x: DeviceArray,
    psa_type: str | int,
    mask_size: int | Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def psamask_forward(  # type: ignore[overload-overlap]
    x: TorchTensor,
    psa_type: str | int,
    mask_size: int | Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def psamask_forward(
    x: HostArray,
    psa_type: str | int,
    mask_size: int | Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def psamask_forward(
    x: Array,
    psa_type: str | int,
    mask_size: int | Sequence[int],
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def psamask_forward(
    x: Array,
    psa_type: str | int,
    mask_size: int | Sequence[int],
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def psamask_backward(
    dy: DeviceArray,
    psa_type: str | int,
    mask_size: int | Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def psamask_backward(  # type: ignore[overload-overlap]
    dy: TorchTensor,
    psa_type: str | int,
    mask_size: int | Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def psamask_backward(
    dy: HostArray,
    psa_type: str | int,
    mask_size: int | Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def psamask_backward(
    dy: Array,
    psa_type: str | int,
    mask_size: int | Sequence[int],
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def psamask_backward(
    dy: Array,
    psa_type: str | int,
    mask_size: int | Sequence[int],
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def box_iou_quadri(
    bbox1: DeviceArray,
    bbox2: DeviceArray,
    mode: int | str = 'iou',
    aligned: bool = False,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def box_iou_quadri(  # type: ignore[overload-overlap]
    bbox1: TorchTensor,
    bbox2: HostArray,
    mode: int | str = 'iou',
    aligned: bool = False,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def box_iou_quadri(
    bbox1: HostArray,
    bbox2: HostArray,
    mode: int | str = 'iou',
    aligned: bool = False,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def box_iou_quadri(
    bbox1: Array,
    bbox2: Array,
    mode: int | str = 'iou',
    aligned: bool = False,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def box_iou_quadri(
    bbox1: Array,
    bbox2: Array,
    mode: int | str = 'iou',
    aligned: bool = False,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def nms_quadri(
    boxes: DeviceArray,
    scores: DeviceArray,
    iou_threshold: float,
    *,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def nms_quadri(  # type: ignore[overload-overlap]
    boxes: TorchTensor,
    scores: HostArray,
    iou_threshold: float,
    *,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def nms_quadri(
    boxes: HostArray,
    scores: HostArray,
    iou_threshold: float,
    *,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def poly_nms(boxes: DeviceArray, iou_threshold: float, *, handle: Handle | None = None) -> DeviceArray: ...
@overload
def poly_nms(  # type: ignore[overload-overlap]
    boxes: TorchTensor,
    iou_threshold: float,
    *,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def poly_nms(boxes: HostArray, iou_threshold: float, *, handle: Handle | None = None) -> NDArray[Any]: ...
@overload
def roi_aware_pool3d_forward(
    rois: DeviceArray,
    pts: DeviceArray,
    pts_feature: DeviceArray,
    pool_method: str | int,
    boxes_num: int,
    pts_num: int,
    channels: int,
    max_pts_each_voxel: int,
    out_x: int,
    out_y: int,
    out_z: int,
    *,
    pooled_features: None = None,
    argmax: None = None,
    pts_idx_of_voxels: None = None,
    handle: Handle | None = None,
) -> tuple[DeviceArray, DeviceArray, DeviceArray]: ...
@overload
def roi_aware_pool3d_forward(  # type: ignore[overload-overlap]
    rois: TorchTensor,
    pts: HostArray,
    pts_feature: HostArray,
    pool_method: str | int,
    boxes_num: int,
    pts_num: int,
    channels: int,
    max_pts_each_voxel: int,
    out_x: int,
    out_y: int,
    out_z: int,
    *,
    pooled_features: None = None,
    argmax: None = None,
    pts_idx_of_voxels: None = None,
    handle: Handle | None = None,
) -> tuple[TorchTensor, TorchTensor, TorchTensor]: ...
@overload
def roi_aware_pool3d_forward(
    rois: HostArray,
    pts: HostArray,
    pts_feature: HostArray,
    pool_method: str | int,
    boxes_num: int,
    pts_num: int,
    channels: int,
    max_pts_each_voxel: int,
    out_x: int,
    out_y: int,
    out_z: int,
    *,
    pooled_features: None = None,
    argmax: None = None,
    pts_idx_of_voxels: None = None,
    handle: Handle | None = None,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]: ...
@overload
def roi_aware_pool3d_forward(
    rois: Array,
    pts: Array,
    pts_feature: Array,
    pool_method: str | int,
    boxes_num: int,
    pts_num: int,
    channels: int,
    max_pts_each_voxel: int,
    out_x: int,
    out_y: int,
    out_z: int,
    *,
    pooled_features: Any = None,
    argmax: Any = None,
    pts_idx_of_voxels: Any = None,
    handle: Handle | None = None,
) -> tuple[Any, Any, Any]: ...
@overload
def roi_aware_pool3d_backward(
    pts_idx_of_voxels: DeviceArray,
    argmax: DeviceArray,
    grad_out: DeviceArray,
    pool_method: str | int,
    boxes_num: int,
    out_x: int,
    out_y: int,
    out_z: int,
    channels: int,
    max_pts_each_voxel: int,
    pts_num: int,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def roi_aware_pool3d_backward(  # type: ignore[overload-overlap]
    pts_idx_of_voxels: TorchTensor,
    argmax: HostArray,
    grad_out: HostArray,
    pool_method: str | int,
    boxes_num: int,
    out_x: int,
    out_y: int,
    out_z: int,
    channels: int,
    max_pts_each_voxel: int,
    pts_num: int,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def roi_aware_pool3d_backward(
    pts_idx_of_voxels: HostArray,
    argmax: HostArray,
    grad_out: HostArray,
    pool_method: str | int,
    boxes_num: int,
    out_x: int,
    out_y: int,
    out_z: int,
    channels: int,
    max_pts_each_voxel: int,
    pts_num: int,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def roi_aware_pool3d_backward(
    pts_idx_of_voxels: Array,
    argmax: Array,
    grad_out: Array,
    pool_method: str | int,
    boxes_num: int,
    out_x: int,
    out_y: int,
    out_z: int,
    channels: int,
    max_pts_each_voxel: int,
    pts_num: int,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def roi_aware_pool3d_backward(
    pts_idx_of_voxels: Array,
    argmax: Array,
    grad_out: Array,
    pool_method: str | int,
    boxes_num: int,
    out_x: int,
    out_y: int,
    out_z: int,
    channels: int,
    max_pts_each_voxel: int,
    pts_num: int,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def roi_crop_forward(
    input: DeviceArray,
    grid: DeviceArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def roi_crop_forward(  # type: ignore[overload-overlap]
    input: TorchTensor,
    grid: HostArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def roi_crop_forward(
    input: HostArray,
    grid: HostArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def roi_crop_forward(input: Array, grid: Array, *, out: Out, handle: Handle | None = None) -> Out: ...
@overload
def roi_crop_forward(input: Array, grid: Array, *, out: Any = None, handle: Handle | None = None) -> Any: ...
@overload
def roi_crop_backward(
    grad_output: DeviceArray,
    grid: DeviceArray,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def roi_crop_backward(  # type: ignore[overload-overlap]
    grad_output: TorchTensor,
    grid: HostArray,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def roi_crop_backward(
    grad_output: HostArray,
    grid: HostArray,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def roi_crop_backward(
    grad_output: Array,
    grid: Array,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def roi_crop_backward(
    grad_output: Array,
    grid: Array,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def roi_point_pool3d(
    points: DeviceArray,
    point_features: DeviceArray,
    boxes3d: DeviceArray,
    batch_size: int,
    pts_num: int,
    boxes_num: int,
    feature_in_len: int,
    sampled_pts_num: int,
    *,
    pooled_features: None = None,
    pooled_empty_flag: None = None,
    handle: Handle | None = None,
) -> tuple[DeviceArray, DeviceArray]: ...
@overload
def roi_point_pool3d(  # type: ignore[overload-overlap]
    points: TorchTensor,
    point_features: HostArray,
    boxes3d: HostArray,
    batch_size: int,
    pts_num: int,
    boxes_num: int,
    feature_in_len: int,
    sampled_pts_num: int,
    *,
    pooled_features: None = None,
    pooled_empty_flag: None = None,
    handle: Handle | None = None,
) -> tuple[TorchTensor, TorchTensor]: ...
@overload
def roi_point_pool3d(
    points: HostArray,
    point_features: HostArray,
    boxes3d: HostArray,
    batch_size: int,
    pts_num: int,
    boxes_num: int,
    feature_in_len: int,
    sampled_pts_num: int,
    *,
    pooled_features: None = None,
    pooled_empty_flag: None = None,
    handle: Handle | None = None,
) -> tuple[NDArray[Any], NDArray[Any]]: ...
@overload
def roi_point_pool3d(
    points: Array,
    point_features: Array,
    boxes3d: Array,
    batch_size: int,
    pts_num: int,
    boxes_num: int,
    feature_in_len: int,
    sampled_pts_num: int,
    *,
    pooled_features: Any = None,
    pooled_empty_flag: Any = None,
    handle: Handle | None = None,
) -> tuple[Any, Any]: ...
@overload
def rotated_feature_align_forward(
    input: DeviceArray,
    bboxes: DeviceArray,
    spatial_scale: float,
    points: int | str = 1,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def rotated_feature_align_forward(  # type: ignore[overload-overlap]
    input: TorchTensor,
    bboxes: HostArray,
    spatial_scale: float,
    points: int | str = 1,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def rotated_feature_align_forward(
    input: HostArray,
    bboxes: HostArray,
    spatial_scale: float,
    points: int | str = 1,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def rotated_feature_align_forward(
    input: Array,
    bboxes: Array,
    spatial_scale: float,
    points: int | str = 1,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def rotated_feature_align_forward(
    input: Array,
    bboxes: Array,
    spatial_scale: float,
    points: int | str = 1,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def rotated_feature_align_backward(
    top_output: DeviceArray,
    bboxes: DeviceArray,
    spatial_scale: float,
    points: int | str = 1,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def rotated_feature_align_backward(  # type: ignore[overload-overlap]
    top_output: TorchTensor,
    bboxes: HostArray,
    spatial_scale: float,
    points: int | str = 1,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def rotated_feature_align_backward(
    top_output: HostArray,
    bboxes: HostArray,
    spatial_scale: float,
    points: int | str = 1,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def rotated_feature_align_backward(
    top_output: Array,
    bboxes: Array,
    spatial_scale: float,
    points: int | str = 1,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def rotated_feature_align_backward(
    top_output: Array,
    bboxes: Array,
    spatial_scale: float,
    points: int | str = 1,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def stack_three_interpolate_forward(
    features: DeviceArray,
    indices: DeviceArray,
    weights: DeviceArray,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def stack_three_interpolate_forward(  # type: ignore[overload-overlap]
    features: TorchTensor,
    indices: HostArray,
    weights: HostArray,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def stack_three_interpolate_forward(
    features: HostArray,
    indices: HostArray,
    weights: HostArray,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def stack_three_interpolate_forward(
    features: Array,
    indices: Array,
    weights: Array,
    *,
    out: Out,
    validate: bool = True,
    handle: Handle | None = None,
) -> Out: ...
@overload
def stack_three_interpolate_forward(
    features: Array,
    indices: Array,
    weights: Array,
    *,
    out: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> Any: ...
@overload
def stack_three_interpolate_backward(
    grad_output: DeviceArray,
    indices: DeviceArray,
    weights: DeviceArray,
    num_features: int,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def stack_three_interpolate_backward(  # type: ignore[overload-overlap]
    grad_output: TorchTensor,
    indices: HostArray,
    weights: HostArray,
    num_features: int,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def stack_three_interpolate_backward(
    grad_output: HostArray,
    indices: HostArray,
    weights: HostArray,
    num_features: int,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def stack_three_interpolate_backward(
    grad_output: Array,
    indices: Array,
    weights: Array,
    num_features: int,
    *,
    out: Out,
    validate: bool = True,
    handle: Handle | None = None,
) -> Out: ...
@overload
def stack_three_interpolate_backward(
    grad_output: Array,
    indices: Array,
    weights: Array,
    num_features: int,
    *,
    out: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> Any: ...
@overload
def sync_batch_norm_stats(
    x: DeviceArray,
    eps: float = 1e-05,
    *,
    mean: None = None,
    invstd: None = None,
    handle: Handle | None = None,
) -> ChannelStats[DeviceArray]: ...
@overload
def sync_batch_norm_stats(  # type: ignore[overload-overlap]
    x: TorchTensor,
    eps: float = 1e-05,
    *,
    mean: None = None,
    invstd: None = None,
    handle: Handle | None = None,
) -> ChannelStats[TorchTensor]: ...
@overload
def sync_batch_norm_stats(
    x: HostArray,
    eps: float = 1e-05,
    *,
    mean: None = None,
    invstd: None = None,
    handle: Handle | None = None,
) -> ChannelStats[NDArray[Any]]: ...
@overload
def sync_batch_norm_stats(
    x: Array,
    eps: float = 1e-05,
    *,
    mean: Any = None,
    invstd: Any = None,
    handle: Handle | None = None,
) -> ChannelStats[Any]: ...
@overload
def sync_batch_norm_gather_stats_with_counts(
    mean_all: DeviceArray,
    invstd_all: DeviceArray,
    count_all: DeviceArray,
    eps: float = 1e-05,
    *,
    mean: None = None,
    invstd: None = None,
    var: None = None,
    handle: Handle | None = None,
) -> GatheredStats[DeviceArray]: ...
@overload
def sync_batch_norm_gather_stats_with_counts(  # type: ignore[overload-overlap]
    mean_all: TorchTensor,
    invstd_all: HostArray,
    count_all: HostArray,
    eps: float = 1e-05,
    *,
    mean: None = None,
    invstd: None = None,
    var: None = None,
    handle: Handle | None = None,
) -> GatheredStats[TorchTensor]: ...
@overload
def sync_batch_norm_gather_stats_with_counts(
    mean_all: HostArray,
    invstd_all: HostArray,
    count_all: HostArray,
    eps: float = 1e-05,
    *,
    mean: None = None,
    invstd: None = None,
    var: None = None,
    handle: Handle | None = None,
) -> GatheredStats[NDArray[Any]]: ...
@overload
def sync_batch_norm_gather_stats_with_counts(
    mean_all: Array,
    invstd_all: Array,
    count_all: Array,
    eps: float = 1e-05,
    *,
    mean: Any = None,
    invstd: Any = None,
    var: Any = None,
    handle: Handle | None = None,
) -> GatheredStats[Any]: ...
@overload
def sync_batch_norm_elemt(
    x: DeviceArray,
    mean: DeviceArray,
    invstd: DeviceArray,
    filter: Array | None = None,
    bias: Array | None = None,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def sync_batch_norm_elemt(  # type: ignore[overload-overlap]
    x: TorchTensor,
    mean: HostArray,
    invstd: HostArray,
    filter: Array | None = None,
    bias: Array | None = None,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def sync_batch_norm_elemt(
    x: HostArray,
    mean: HostArray,
    invstd: HostArray,
    filter: Array | None = None,
    bias: Array | None = None,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def sync_batch_norm_elemt(
    x: Array,
    mean: Array,
    invstd: Array,
    filter: Array | None = None,
    bias: Array | None = None,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def sync_batch_norm_elemt(
    x: Array,
    mean: Array,
    invstd: Array,
    filter: Array | None = None,
    bias: Array | None = None,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def sync_batch_norm_backward_reduce(
    dz: DeviceArray,
    x: DeviceArray,
    mean: DeviceArray,
    invstd: DeviceArray,
    *,
    dfilter: None = None,
    dbias: None = None,
    sum_dy: None = None,
    sum_dy_xmu: None = None,
    handle: Handle | None = None,
) -> ChannelSums[DeviceArray]: ...
@overload
def sync_batch_norm_backward_reduce(  # type: ignore[overload-overlap]
    dz: TorchTensor,
    x: HostArray,
    mean: HostArray,
    invstd: HostArray,
    *,
    dfilter: None = None,
    dbias: None = None,
    sum_dy: None = None,
    sum_dy_xmu: None = None,
    handle: Handle | None = None,
) -> ChannelSums[TorchTensor]: ...
@overload
def sync_batch_norm_backward_reduce(
    dz: HostArray,
    x: HostArray,
    mean: HostArray,
    invstd: HostArray,
    *,
    dfilter: None = None,
    dbias: None = None,
    sum_dy: None = None,
    sum_dy_xmu: None = None,
    handle: Handle | None = None,
) -> ChannelSums[NDArray[Any]]: ...
@overload
def sync_batch_norm_backward_reduce(
    dz: Array,
    x: Array,
    mean: Array,
    invstd: Array,
    *,
    dfilter: Any = None,
    dbias: Any = None,
    sum_dy: Any = None,
    sum_dy_xmu: Any = None,
    handle: Handle | None = None,
) -> ChannelSums[Any]: ...
@overload
def sync_batch_norm_backward_elemt(
    diff_y: DeviceArray,
    x: DeviceArray,
    mean: DeviceArray,
    invstd: DeviceArray,
    filter: Array | None,
    mean_dy: DeviceArray,
    mean_dy_xmu: DeviceArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def sync_batch_norm_backward_elemt(  # type: ignore[overload-overlap]
    diff_y: TorchTensor,
    x: HostArray,
    mean: HostArray,
    invstd: HostArray,
    filter: Array | None,
    mean_dy: HostArray,
    mean_dy_xmu: HostArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def sync_batch_norm_backward_elemt(
    diff_y: HostArray,
    x: HostArray,
    mean: HostArray,
    invstd: HostArray,
    filter: Array | None,
    mean_dy: HostArray,
    mean_dy_xmu: HostArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def sync_batch_norm_backward_elemt(
    diff_y: Array,
    x: Array,
    mean: Array,
    invstd: Array,
    filter: Array | None,
    mean_dy: Array,
    mean_dy_xmu: Array,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def sync_batch_norm_backward_elemt(
    diff_y: Array,
    x: Array,
    mean: Array,
    invstd: Array,
    filter: Array | None,
    mean_dy: Array,
    mean_dy_xmu: Array,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def sync_batch_norm_backward_elemt_v2(
    diff_y: DeviceArray,
    x: DeviceArray,
    mean: DeviceArray,
    invstd: DeviceArray,
    filter: Array | None,
    sum_dy: DeviceArray,
    sum_dy_xmu: DeviceArray,
    count: DeviceArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def sync_batch_norm_backward_elemt_v2(  # type: ignore[overload-overlap]
    diff_y: TorchTensor,
    x: HostArray,
    mean: HostArray,
    invstd: HostArray,
    filter: Array | None,
    sum_dy: HostArray,
    sum_dy_xmu: HostArray,
    count: HostArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def sync_batch_norm_backward_elemt_v2(
    diff_y: HostArray,
    x: HostArray,
    mean: HostArray,
    invstd: HostArray,
    filter: Array | None,
    sum_dy: HostArray,
    sum_dy_xmu: HostArray,
    count: HostArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def sync_batch_norm_backward_elemt_v2(
    diff_y: Array,
    x: Array,
    mean: Array,
    invstd: Array,
    filter: Array | None,
    sum_dy: Array,
    sum_dy_xmu: Array,
    count: Array,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def sync_batch_norm_backward_elemt_v2(
    diff_y: Array,
    x: Array,
    mean: Array,
    invstd: Array,
    filter: Array | None,
    sum_dy: Array,
    sum_dy_xmu: Array,
    count: Array,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def contour_expand(
    kernel_mask: DeviceArray,
    internal_kernel_label: DeviceArray,
    min_kernel_area: int,
    label_count: int,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def contour_expand(  # type: ignore[overload-overlap]
    kernel_mask: TorchTensor,
    internal_kernel_label: HostArray,
    min_kernel_area: int,
    label_count: int,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def contour_expand(
    kernel_mask: HostArray,
    internal_kernel_label: HostArray,
    min_kernel_area: int,
    label_count: int,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def contour_expand(
    kernel_mask: Array,
    internal_kernel_label: Array,
    min_kernel_area: int,
    label_count: int,
    *,
    out: Out,
    validate: bool = True,
    handle: Handle | None = None,
) -> Out: ...
@overload
def contour_expand(
    kernel_mask: Array,
    internal_kernel_label: Array,
    min_kernel_area: int,
    label_count: int,
    *,
    out: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> Any: ...
@overload
def pixel_group(
    score: DeviceArray,
    mask: DeviceArray,
    embedding: DeviceArray,
    kernel_label: DeviceArray,
    kernel_contour: DeviceArray,
    label_count: int,
    distance_threshold: float,
    *,
    out: None = None,
    scores: None = None,
    counts: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> tuple[DeviceArray, DeviceArray, DeviceArray]: ...
@overload
def pixel_group(  # type: ignore[overload-overlap]
    score: TorchTensor,
    mask: HostArray,
    embedding: HostArray,
    kernel_label: HostArray,
    kernel_contour: HostArray,
    label_count: int,
    distance_threshold: float,
    *,
    out: None = None,
    scores: None = None,
    counts: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> tuple[TorchTensor, TorchTensor, TorchTensor]: ...
@overload
def pixel_group(
    score: HostArray,
    mask: HostArray,
    embedding: HostArray,
    kernel_label: HostArray,
    kernel_contour: HostArray,
    label_count: int,
    distance_threshold: float,
    *,
    out: None = None,
    scores: None = None,
    counts: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]: ...
@overload
def pixel_group(
    score: Array,
    mask: Array,
    embedding: Array,
    kernel_label: Array,
    kernel_contour: Array,
    label_count: int,
    distance_threshold: float,
    *,
    out: Any = None,
    scores: Any = None,
    counts: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> tuple[Any, Any, Any]: ...
@overload
def three_interpolate_forward(
    features: DeviceArray,
    indices: DeviceArray,
    weights: DeviceArray,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def three_interpolate_forward(  # type: ignore[overload-overlap]
    features: TorchTensor,
    indices: HostArray,
    weights: HostArray,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def three_interpolate_forward(
    features: HostArray,
    indices: HostArray,
    weights: HostArray,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def three_interpolate_forward(
    features: Array,
    indices: Array,
    weights: Array,
    *,
    out: Out,
    validate: bool = True,
    handle: Handle | None = None,
) -> Out: ...
@overload
def three_interpolate_forward(
    features: Array,
    indices: Array,
    weights: Array,
    *,
    out: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> Any: ...
@overload
def three_interpolate_backward(
    grad_output: DeviceArray,
    indices: DeviceArray,
    weights: DeviceArray,
    num_features: int,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def three_interpolate_backward(  # type: ignore[overload-overlap]
    grad_output: TorchTensor,
    indices: HostArray,
    weights: HostArray,
    num_features: int,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def three_interpolate_backward(
    grad_output: HostArray,
    indices: HostArray,
    weights: HostArray,
    num_features: int,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def three_interpolate_backward(
    grad_output: Array,
    indices: Array,
    weights: Array,
    num_features: int,
    *,
    out: Out,
    validate: bool = True,
    handle: Handle | None = None,
) -> Out: ...
@overload
def three_interpolate_backward(
    grad_output: Array,
    indices: Array,
    weights: Array,
    num_features: int,
    *,
    out: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> Any: ...
@overload
def three_nn_forward(
    unknown: DeviceArray,
    known: DeviceArray,
    *,
    dist2: None = None,
    idx: None = None,
    handle: Handle | None = None,
) -> ThreeNN[DeviceArray]: ...
@overload
def three_nn_forward(  # type: ignore[overload-overlap]
    unknown: TorchTensor,
    known: HostArray,
    *,
    dist2: None = None,
    idx: None = None,
    handle: Handle | None = None,
) -> ThreeNN[TorchTensor]: ...
@overload
def three_nn_forward(
    unknown: HostArray,
    known: HostArray,
    *,
    dist2: None = None,
    idx: None = None,
    handle: Handle | None = None,
) -> ThreeNN[NDArray[Any]]: ...
@overload
def three_nn_forward(
    unknown: Array,
    known: Array,
    *,
    dist2: Any = None,
    idx: Any = None,
    handle: Handle | None = None,
) -> ThreeNN[Any]: ...
@overload
def stack_three_nn(
    unknown: DeviceArray,
    unknown_batch_cnt: DeviceArray,
    known: DeviceArray,
    known_batch_cnt: DeviceArray,
    *,
    dist2: None = None,
    idx: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> ThreeNN[DeviceArray]: ...
@overload
def stack_three_nn(  # type: ignore[overload-overlap]
    unknown: TorchTensor,
    unknown_batch_cnt: HostArray,
    known: HostArray,
    known_batch_cnt: HostArray,
    *,
    dist2: None = None,
    idx: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> ThreeNN[TorchTensor]: ...
@overload
def stack_three_nn(
    unknown: HostArray,
    unknown_batch_cnt: HostArray,
    known: HostArray,
    known_batch_cnt: HostArray,
    *,
    dist2: None = None,
    idx: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> ThreeNN[NDArray[Any]]: ...
@overload
def stack_three_nn(
    unknown: Array,
    unknown_batch_cnt: Array,
    known: Array,
    known_batch_cnt: Array,
    *,
    dist2: Any = None,
    idx: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> ThreeNN[Any]: ...
@overload
def tin_shift_forward(
    input: DeviceArray,
    shifts: DeviceArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def tin_shift_forward(  # type: ignore[overload-overlap]
    input: TorchTensor,
    shifts: HostArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def tin_shift_forward(
    input: HostArray,
    shifts: HostArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def tin_shift_forward(input: Array, shifts: Array, *, out: Out, handle: Handle | None = None) -> Out: ...
@overload
def tin_shift_forward(input: Array, shifts: Array, *, out: Any = None, handle: Handle | None = None) -> Any: ...
@overload
def tin_shift_backward(
    grad_output: DeviceArray,
    shifts: DeviceArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def tin_shift_backward(  # type: ignore[overload-overlap]
    grad_output: TorchTensor,
    shifts: HostArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def tin_shift_backward(
    grad_output: HostArray,
    shifts: HostArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def tin_shift_backward(grad_output: Array, shifts: Array, *, out: Out, handle: Handle | None = None) -> Out: ...
@overload
def tin_shift_backward(grad_output: Array, shifts: Array, *, out: Any = None, handle: Handle | None = None) -> Any: ...
@overload
def roi_align_rotated_forward(
    features: DeviceArray,
    rois: DeviceArray,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    sampling_ratio: int = 0,
    aligned: bool = True,
    clockwise: bool = False,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def roi_align_rotated_forward(  # type: ignore[overload-overlap]
    features: TorchTensor,
    rois: HostArray,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    sampling_ratio: int = 0,
    aligned: bool = True,
    clockwise: bool = False,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def roi_align_rotated_forward(
    features: HostArray,
    rois: HostArray,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    sampling_ratio: int = 0,
    aligned: bool = True,
    clockwise: bool = False,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def roi_align_rotated_forward(
    features: Array,
    rois: Array,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    sampling_ratio: int = 0,
    aligned: bool = True,
    clockwise: bool = False,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def roi_align_rotated_forward(
    features: Array,
    rois: Array,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    sampling_ratio: int = 0,
    aligned: bool = True,
    clockwise: bool = False,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def roi_align_rotated_backward(
    top_grad: DeviceArray,
    rois: DeviceArray,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    sampling_ratio: int,
    aligned: bool,
    clockwise: bool,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def roi_align_rotated_backward(  # type: ignore[overload-overlap]
    top_grad: TorchTensor,
    rois: HostArray,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    sampling_ratio: int,
    aligned: bool,
    clockwise: bool,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def roi_align_rotated_backward(
    top_grad: HostArray,
    rois: HostArray,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    sampling_ratio: int,
    aligned: bool,
    clockwise: bool,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def roi_align_rotated_backward(
    top_grad: Array,
    rois: Array,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    sampling_ratio: int,
    aligned: bool,
    clockwise: bool,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def roi_align_rotated_backward(
    top_grad: Array,
    rois: Array,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    sampling_ratio: int,
    aligned: bool,
    clockwise: bool,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def riroi_align_rotated_forward(
    input: DeviceArray,
    rois: DeviceArray,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    num_samples: int = 0,
    num_orientations: int = 8,
    clockwise: bool = False,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def riroi_align_rotated_forward(  # type: ignore[overload-overlap]
    input: TorchTensor,
    rois: HostArray,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    num_samples: int = 0,
    num_orientations: int = 8,
    clockwise: bool = False,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def riroi_align_rotated_forward(
    input: HostArray,
    rois: HostArray,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    num_samples: int = 0,
    num_orientations: int = 8,
    clockwise: bool = False,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def riroi_align_rotated_forward(
    input: Array,
    rois: Array,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    num_samples: int = 0,
    num_orientations: int = 8,
    clockwise: bool = False,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def riroi_align_rotated_forward(
    input: Array,
    rois: Array,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    num_samples: int = 0,
    num_orientations: int = 8,
    clockwise: bool = False,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def riroi_align_rotated_backward(
    grad_output: DeviceArray,
    rois: DeviceArray,
    spatial_scale: float,
    num_samples: int,
    num_orientations: int,
    clockwise: bool,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def riroi_align_rotated_backward(  # type: ignore[overload-overlap]
    grad_output: TorchTensor,
    rois: HostArray,
    spatial_scale: float,
    num_samples: int,
    num_orientations: int,
    clockwise: bool,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def riroi_align_rotated_backward(
    grad_output: HostArray,
    rois: HostArray,
    spatial_scale: float,
    num_samples: int,
    num_orientations: int,
    clockwise: bool,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def riroi_align_rotated_backward(
    grad_output: Array,
    rois: Array,
    spatial_scale: float,
    num_samples: int,
    num_orientations: int,
    clockwise: bool,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def riroi_align_rotated_backward(
    grad_output: Array,
    rois: Array,
    spatial_scale: float,
    num_samples: int,
    num_orientations: int,
    clockwise: bool,
    batch: int,
    feature_size: Sequence[int],
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def voxel_pooling_forward(
    geom_xyz: DeviceArray,
    input_features: DeviceArray,
    batch_size: int,
    num_points: int,
    num_channels: int,
    voxel_num: Sequence[int],
    *,
    output_features: None = None,
    pos_memo: None = None,
    handle: Handle | None = None,
) -> tuple[DeviceArray, DeviceArray]: ...
@overload
def voxel_pooling_forward(  # type: ignore[overload-overlap]
    geom_xyz: TorchTensor,
    input_features: HostArray,
    batch_size: int,
    num_points: int,
    num_channels: int,
    voxel_num: Sequence[int],
    *,
    output_features: None = None,
    pos_memo: None = None,
    handle: Handle | None = None,
) -> tuple[TorchTensor, TorchTensor]: ...
@overload
def voxel_pooling_forward(
    geom_xyz: HostArray,
    input_features: HostArray,
    batch_size: int,
    num_points: int,
    num_channels: int,
    voxel_num: Sequence[int],
    *,
    output_features: None = None,
    pos_memo: None = None,
    handle: Handle | None = None,
) -> tuple[NDArray[Any], NDArray[Any]]: ...
@overload
def voxel_pooling_forward(
    geom_xyz: Array,
    input_features: Array,
    batch_size: int,
    num_points: int,
    num_channels: int,
    voxel_num: Sequence[int],
    *,
    output_features: Any = None,
    pos_memo: Any = None,
    handle: Handle | None = None,
) -> tuple[Any, Any]: ...
@overload
def voxel_pooling_backward(
    grad_output: DeviceArray,
    pos_memo: DeviceArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def voxel_pooling_backward(  # type: ignore[overload-overlap]
    grad_output: TorchTensor,
    pos_memo: HostArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def voxel_pooling_backward(
    grad_output: HostArray,
    pos_memo: HostArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def voxel_pooling_backward(grad_output: Array, pos_memo: Array, *, out: Out, handle: Handle | None = None) -> Out: ...
@overload
def voxel_pooling_backward(
    grad_output: Array,
    pos_memo: Array,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def voxel_query(
    new_xyz: DeviceArray,
    xyz: DeviceArray,
    new_coords: DeviceArray,
    point_indices: DeviceArray,
    radius: float,
    ranges: Sequence[int],
    nsample: int,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def voxel_query(  # type: ignore[overload-overlap]
    new_xyz: TorchTensor,
    xyz: HostArray,
    new_coords: HostArray,
    point_indices: HostArray,
    radius: float,
    ranges: Sequence[int],
    nsample: int,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def voxel_query(
    new_xyz: HostArray,
    xyz: HostArray,
    new_coords: HostArray,
    point_indices: HostArray,
    radius: float,
    ranges: Sequence[int],
    nsample: int,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def voxel_query(
    new_xyz: Array,
    xyz: Array,
    new_coords: Array,
    point_indices: Array,
    radius: float,
    ranges: Sequence[int],
    nsample: int,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def voxel_query(
    new_xyz: Array,
    xyz: Array,
    new_coords: Array,
    point_indices: Array,
    radius: float,
    ranges: Sequence[int],
    nsample: int,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def voxelization(
    points: DeviceArray,
    voxel_size: DeviceArray,
    coors_range: DeviceArray,
    max_points: int,
    max_voxels: int,
    ndim: int = 3,
    deterministic: bool = True,
    *,
    voxels: None = None,
    coors: None = None,
    num_points_per_voxel: None = None,
    voxel_num: None = None,
    handle: Handle | None = None,
) -> Voxels[DeviceArray]: ...
@overload
def voxelization(  # type: ignore[overload-overlap]
    points: TorchTensor,
    voxel_size: HostArray,
    coors_range: HostArray,
    max_points: int,
    max_voxels: int,
    ndim: int = 3,
    deterministic: bool = True,
    *,
    voxels: None = None,
    coors: None = None,
    num_points_per_voxel: None = None,
    voxel_num: None = None,
    handle: Handle | None = None,
) -> Voxels[TorchTensor]: ...
@overload
def voxelization(
    points: HostArray,
    voxel_size: HostArray,
    coors_range: HostArray,
    max_points: int,
    max_voxels: int,
    ndim: int = 3,
    deterministic: bool = True,
    *,
    voxels: None = None,
    coors: None = None,
    num_points_per_voxel: None = None,
    voxel_num: None = None,
    handle: Handle | None = None,
) -> Voxels[NDArray[Any]]: ...
@overload
def voxelization(
    points: Array,
    voxel_size: Array,
    coors_range: Array,
    max_points: int,
    max_voxels: int,
    ndim: int = 3,
    deterministic: bool = True,
    *,
    voxels: Any = None,
    coors: Any = None,
    num_points_per_voxel: Any = None,
    voxel_num: Any = None,
    handle: Handle | None = None,
) -> Voxels[Any]: ...
@overload
def dynamic_voxelize(
    points: DeviceArray,
    voxel_size: DeviceArray,
    coors_range: DeviceArray,
    *,
    coors: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def dynamic_voxelize(  # type: ignore[overload-overlap]
    points: TorchTensor,
    voxel_size: HostArray,
    coors_range: HostArray,
    *,
    coors: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def dynamic_voxelize(
    points: HostArray,
    voxel_size: HostArray,
    coors_range: HostArray,
    *,
    coors: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def dynamic_voxelize(
    points: Array,
    voxel_size: Array,
    coors_range: Array,
    *,
    coors: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def dynamic_voxelize(
    points: Array,
    voxel_size: Array,
    coors_range: Array,
    *,
    coors: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def yolo_box(
    x: DeviceArray,
    img_size: DeviceArray,
    anchors: DeviceArray,
    class_num: int,
    conf_thresh: float,
    downsample_ratio: int,
    clip_bbox: bool = True,
    scale: float = 1.0,
    iou_aware: bool = False,
    iou_aware_factor: float = 0.5,
    *,
    boxes: None = None,
    scores: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def yolo_box(  # type: ignore[overload-overlap]
    x: TorchTensor,
    img_size: HostArray,
    anchors: HostArray,
    class_num: int,
    conf_thresh: float,
    downsample_ratio: int,
    clip_bbox: bool = True,
    scale: float = 1.0,
    iou_aware: bool = False,
    iou_aware_factor: float = 0.5,
    *,
    boxes: None = None,
    scores: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def yolo_box(
    x: HostArray,
    img_size: HostArray,
    anchors: HostArray,
    class_num: int,
    conf_thresh: float,
    downsample_ratio: int,
    clip_bbox: bool = True,
    scale: float = 1.0,
    iou_aware: bool = False,
    iou_aware_factor: float = 0.5,
    *,
    boxes: None = None,
    scores: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def yolo_box(
    x: Array,
    img_size: Array,
    anchors: Array,
    class_num: int,
    conf_thresh: float,
    downsample_ratio: int,
    clip_bbox: bool = True,
    scale: float = 1.0,
    iou_aware: bool = False,
    iou_aware_factor: float = 0.5,
    *,
    boxes: Any = None,
    scores: Any = None,
    handle: Handle | None = None,
) -> Any: ...
