"""Arguments of a call of every function of the extension that reads tensors by their memory."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from .test_arguments import calls

__all__ = ["TELL_SIZES", "WITHOUT", "arguments"]

#: Functions whose tensors say by their shapes what they are: a line or a plane of taps, an axis of
#: biases, places.
WITHOUT = (
    "bias_act",
    "filtered_lrelu",
    "filtered_lrelu_act_",
    "upfirdn2d",
    "get_compiler_version",
    "get_compiling_cuda_version",
    *(f"get_indice_pairs_{ndim}d_forward" for ndim in (2, 3, 4)),
    *(f"get_indice_pairs_{ndim}d_backward" for ndim in (2, 3)),
)

#: The tensors of each function that tell sizes that nothing else tells, so that they have the dims
#: they should have.
TELL_SIZES = {
    "assign_score_withk_forward": "",
    "bbox_overlaps": "bboxes2",
    "bezier_align_backward": "grad_input",
    "bezier_align_forward": "input",
    "border_align_backward": "grad_input",
    "border_align_forward": "input",
    "box_iou_quadri": "boxes2",
    "box_iou_rotated": "boxes2",
    "carafe_naive_forward": "features",
    "contour_expand": "kernel_mask",
    "convex_giou": "",
    "correlation_backward": "grad_output",
    "correlation_forward": "output",
    "deform_conv_backward_input": "weight",
    "deform_conv_backward_parameters": "input gradWeight",
    "deform_conv_forward": "input weight",
    "deform_roi_pool_forward": "input",
    "diff_iou_rotated_sort_vertices_forward": "",
    "dynamic_point_to_voxel_forward": "feats",
    "dynamic_voxelize_forward": "points",
    "fused_bias_leakyrelu": "input",
    "fused_indice_conv_forward": "features filters indicePairs",
    "hard_voxelize_forward": "points",
    "indice_conv_backward": "features filters outGrad indicePairs",
    "indice_conv_forward": "features filters indicePairs",
    "indice_maxpool_backward": "features indicePairs",
    "indice_maxpool_forward": "features indicePairs",
    "masked_col2im_forward": "im",
    "masked_im2col_forward": "im",
    "min_area_polygons": "",
    "modulated_deform_conv_backward": "",
    "modulated_deform_conv_forward": "input weight",
    "ms_deform_attn_forward": "value",
    "nms_match": "dets",
    "nms_quadri": "dets",
    "nms_rotated": "dets",
    "pixel_group": "embedding",
    "points_in_boxes_all_forward": "",
    "points_in_boxes_part_forward": "boxes_tensor",
    "prroi_pool_backward": "grad_input",
    "prroi_pool_coor_backward": "input",
    "prroi_pool_forward": "input",
    "riroi_align_rotated_backward": "bottom_grad",
    "riroi_align_rotated_forward": "features",
    "roi_align_backward": "grad_input",
    "roi_align_forward": "input",
    "roi_align_rotated_backward": "grad_output",  # as mmcv's binding calls the gradient of the maps
    "roi_align_rotated_forward": "input",
    "roi_pool_backward": "grad_input",
    "roi_pool_forward": "input",
    "roiaware_pool3d_backward": "pts_idx_of_voxels grad_in",
    "roiaware_pool3d_forward": "pts_idx_of_voxels",
    "roipoint_pool3d_forward": "pts_feature pooled_features",
    "stack_ball_query_forward": "xyz_tensor",
    "stack_group_points_forward": "features_tensor",
    "sync_bn_forward_mean": "input",
    "sync_bn_forward_var": "input",
    "tin_shift_backward": "shift",
    "tin_shift_forward": "shift",
}


def arguments(torch: Any, ext: ModuleType) -> dict[str, tuple[Any, ...]]:
    """Return the arguments of a call of each function."""
    found: dict[str, tuple[Any, ...]] = {}

    class Recorder(ModuleType):
        def __getattr__(self, name: str) -> Any:
            return lambda *given: found.setdefault(name, given) and getattr(ext, name)(*given)

    for call in calls(torch, Recorder("recorder")).values():
        call(int)
    return {**found, **_others(torch, found)}


def _others(torch: Any, found: dict[str, tuple[Any, ...]]) -> dict[str, tuple[Any, ...]]:
    """Return those that `calls` does not have."""
    rand = torch.rand

    def whole(*shape: int) -> Any:
        return torch.zeros(shape, dtype=torch.int32)

    flow, mask = rand(2, 8, 4, 4), rand(2, 9, 8, 8)
    boxes = torch.cat([rand(2, 4, 3) * 4, rand(2, 4, 3) + 1, rand(2, 4, 1)], 2)
    cloud, flat, quads, sets = rand(2, 9, 3) * 4, rand(2, 5, 2), rand(3, 8), rand(3, 18)
    near = torch.tensor([[0, 1, 2, 1, 0], [2, 2, 1, 0, 3]], dtype=torch.int32)
    scores, classes, weights = rand(5, 3), torch.tensor([0, 2, 1, 1, 0]), rand(3)
    values, channel = rand(2, 3, 7), torch.ones(3)
    convolution = [*found["deform_conv_forward"][6:]]
    data, filters, offset = found["deform_conv_forward"][0], found["deform_conv_forward"][1], rand(1, 2, 4, 4)
    out, none = rand(1, 2, 4, 4), rand(0)
    modulated = found["modulated_deform_conv_forward"]
    bank, ranks = found["assign_score_withk_forward"], found["indice_conv_forward"]
    attention = found["ms_deform_attn_forward"]
    filter_, table = rand(2, 3, 2, 3, 3), torch.arange(1, 19, dtype=torch.int32).reshape(2, 3, 3, 1).repeat(1, 1, 1, 4)
    clip, shifts = rand(2, 3, 4, 5), torch.tensor([[1, 0], [-1, 2]], dtype=torch.int32)
    kept = torch.zeros(4, dtype=torch.int64), torch.zeros((), dtype=torch.int64)
    sampled = found["roiaware_pool3d_forward"]
    return {
        "active_rotated_filter_backward": (rand(8, 6, 3, 3), table, filter_.clone()),
        "active_rotated_filter_forward": (filter_, table, rand(8, 6, 3, 3)),
        "assign_score_withk_backward": (
            rand(2, 7, 4, 5), *bank[:4], rand(2, 3, 2, 7), rand(2, 3, 2, 7), rand(2, 4, 5, 2), *bank[5:],
        ),
        "carafe_backward": (
            rand(2, 8, 8, 8), flow, mask, rand(2, 8, 8, 8), rand(2, 8, 8, 8), rand(2, 8, 4, 4), rand(2, 9, 8, 8),
            rand(2, 8, 4, 4), rand(2, 9, 8, 8), 3, 1, 2,
        ),
        "carafe_naive_backward": (rand(2, 8, 8, 8), flow, mask, rand(2, 8, 4, 4), rand(2, 9, 8, 8), 3, 1, 2),
        "chamfer_distance_backward": (
            flat, flat + 1, near, near.flip(1), rand(2, 5), rand(2, 5), rand(2, 5, 2), rand(2, 5, 2),
        ),
        "chamfer_distance_forward": (flat, flat + 1, rand(2, 5), rand(2, 5), whole(2, 5), whole(2, 5)),
        "convex_giou": (sets, quads, rand(3, 19)),
        "convex_iou": (sets, quads, rand(3, 3)),
        "deform_conv_backward_input": (data, offset, out, data + 0, offset + 0, filters, none, *convolution),
        "deform_conv_backward_parameters": (
            data, offset, out, filters + 0, none, none, *convolution[:-1], 1.0, convolution[-1],
        ),
        "diff_iou_rotated_sort_vertices_forward": (rand(2, 3, 24, 2), rand(2, 3, 24) > 0.6, whole(2, 3) + 4),
        "dynamic_point_to_voxel_backward": (
            rand(5, 3), rand(4, 3), rand(5, 3), rand(4, 3), near[1], whole(4) + 1, "mean",
        ),
        "dynamic_point_to_voxel_forward": (rand(5, 3), whole(5, 3) + near[0][:, None], "sum"),
        "fused_indice_conv_forward": (*ranks[:2], rand(4), *ranks[2:]),
        "indice_maxpool_backward": (rand(2, 3), rand(2, 3), rand(2, 3), *ranks[2:4]),
        "iou3d_boxes_overlap_bev_forward": (boxes[0], boxes[1], rand(4, 4)),
        "iou3d_nms3d_forward": (boxes[0], *kept, 0.1),
        "iou3d_nms3d_normal_forward": (boxes[0], *kept, 0.1),
        "min_area_polygons": (sets, rand(3, 8)),
        "modulated_deform_conv_backward": (
            *modulated[:3], none, *modulated[4:6], none, modulated[0] + 0, modulated[1] + 0, modulated[2] + 0,
            modulated[4] + 0, modulated[5] + 0, out, *modulated[8:],
        ),
        "ms_deform_attn_backward": (
            *attention[:5], rand(3, 3, 2), attention[0] + 0, attention[3] + 0, attention[4] + 0, attention[5],
        ),
        "nms_match": (torch.cat([rand(4, 2), rand(4, 2) + 1, rand(4, 1)], 1), 0.5),
        "points_in_boxes_all_forward": (boxes, cloud, whole(2, 9, 4)),
        "points_in_boxes_cpu_forward": (boxes[0], cloud[0], whole(4, 9)),
        "points_in_boxes_part_forward": (boxes, cloud, whole(2, 9)),
        "points_in_polygons_forward": (flat[0], quads, rand(5, 3)),
        "roiaware_pool3d_backward": (*sampled[4:5], sampled[3], sampled[5], rand(9, 2), 0),
        "roipoint_pool3d_forward": (cloud, boxes, rand(2, 9, 2), rand(2, 4, 6, 5), whole(2, 4)),
        "sigmoid_focal_loss_backward": (scores, classes, weights, rand(5, 3), 2.0, 0.25),
        "sigmoid_focal_loss_forward": (scores, classes, weights, rand(5, 3), 2.0, 0.25),
        "softmax_focal_loss_backward": (scores, classes, weights, rand(5), rand(5, 3), 2.0, 0.25),
        "softmax_focal_loss_forward": (scores, classes, weights, rand(5), 2.0, 0.25),
        "sync_bn_backward_data": (values, channel, rand(3), rand(3), rand(2, 3, 7), channel, rand(2, 3, 7)),
        "sync_bn_backward_param": (values, rand(2, 3, 7), rand(3), rand(3)),
        "sync_bn_forward_mean": (values, rand(3)),
        "sync_bn_forward_var": (values, rand(3), rand(3)),
        "tin_shift_backward": (clip, shifts, rand(2, 3, 4, 5)),
        "tin_shift_forward": (clip, shifts, rand(2, 3, 4, 5)),
    }  # fmt: skip
