"""A legal call of every public function of pymluops.torch that takes integers or bools, all of them by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch

import pymluops.torch as ours


def _boxes(count: int) -> torch.Tensor:
    corners = torch.rand(count, 2) * 4
    return torch.cat([corners, corners + 1 + torch.rand(count, 2) * 3], 1)


def _regions(count: int, columns: int = 5) -> torch.Tensor:
    regions = torch.rand(count, columns) * 3 + 1
    regions[:, 0] = 0
    return regions


def _pairs() -> dict[str, Any]:
    """Three inputs, two outputs and a filter of two cells: what the functions of sparse layers take."""
    pairs = torch.tensor([[[0, 1, 2], [0, 1, 0]], [[2, 1, -1], [1, 0, -1]]], dtype=torch.int32)
    return {"indice_pairs": pairs, "indice_pair_num": torch.tensor([3, 2], dtype=torch.int32), "num_activate_out": 2}


def _convolution() -> dict[str, Any]:
    return {"features": torch.rand(3, 4), "filters": torch.rand(2, 1, 1, 4, 4), **_pairs()}


def _inverse() -> dict[str, Any]:
    return {**_convolution(), "features": torch.rand(2, 4), "num_activate_out": 3}


def _sub_manifold() -> dict[str, Any]:
    pairs = torch.tensor([[[0, 1, -1], [1, 0, -1]], [[0, 1, 2], [0, 1, 2]], [[1, 0, -1], [0, 1, -1]]])
    counts = torch.tensor([2, 3, 2], dtype=torch.int32)
    given = {"indice_pairs": pairs.int(), "indice_pair_num": counts, "num_activate_out": 3}
    return {"features": torch.rand(3, 4), "filters": torch.rand(3, 1, 1, 4, 4), **given}


def _signal(complex_: bool) -> dict[str, Any]:
    return {"input": torch.rand(4, 4, dtype=torch.complex64 if complex_ else torch.float32), "n": 4, "dim": 1}


def _sizes(**more: Any) -> dict[str, Any]:
    return {"output_size": 2, "spatial_scale": 1.0, **more}


def _upsampling() -> dict[str, Any]:
    masks = torch.rand(1, 9, 4, 4).softmax(1)
    return {"features": torch.rand(1, 2, 2, 2), "masks": masks, "kernel_size": 3, "group_size": 1, "scale_factor": 2}


def _deformed(masked: bool) -> dict[str, Any]:
    given = {"input": torch.rand(1, 2, 4, 4), "offset": torch.rand(1, 18, 4, 4), "weight": torch.rand(2, 2, 3, 3)}
    sizes: dict[str, Any] = {"stride": 1, "padding": 1, "dilation": 1, "groups": 1, "deform_groups": 1}
    if masked:
        return {**given, "mask": torch.rand(1, 9, 4, 4), **sizes}
    return {**given, **sizes, "bias": False, "im2col_step": 32}


def _window(steps: int = 1) -> dict[str, Any]:
    sizes: dict[str, Any] = {"input_size": [6, 6], "kernel_size": [3, 3], "stride": [2, 2], "padding": [1, 1]}
    return {**sizes, "dilation": [1, 1]} | ({"output_padding": [0, 0]} if steps == 2 else {})


#: For each function its arguments, made anew.
CALLS: dict[str, Callable[[], dict[str, Any]]] = {
    "ball_query": lambda: {
        "min_radius": 0.0,
        "max_radius": 1.0,
        "sample_num": 2,
        "xyz": torch.rand(1, 6, 3),
        "center_xyz": torch.rand(1, 2, 3),
    },
    "batch_norm_backward_reduce": lambda: {
        "grad_out": torch.rand(2, 3, 2, 2),
        "input": torch.rand(2, 3, 2, 2),
        "mean": torch.rand(3),
        "invstd": torch.rand(3) + 1,
        "weight": torch.rand(3),
        "input_g": True,
        "weight_g": True,
        "bias_g": True,
    },
    "batched_nms": lambda: {
        "boxes": _boxes(3),
        "scores": torch.rand(3),
        "idxs": torch.tensor([0, 1, 0]),
        "nms_cfg": {"type": "nms", "iou_threshold": 0.5},
        "class_agnostic": False,
    },
    "bbox_overlaps": lambda: {"bboxes1": _boxes(3), "bboxes2": _boxes(3), "aligned": False, "offset": 0},
    "bev_pool": lambda: {
        "features": torch.rand(3, 4),
        "geometry": torch.zeros(3, 4, dtype=torch.int32),
        "interval_lengths": torch.tensor([3], dtype=torch.int32),
        "interval_starts": torch.tensor([0], dtype=torch.int32),
        "batch": 1,
        "depth": 1,
        "height": 2,
        "width": 2,
    },
    "bezier_align": lambda: {
        "input": torch.rand(1, 2, 6, 6),
        "rois": _regions(2, 17),
        **_sizes(sampling_ratio=2, aligned=True),
    },
    "border_align": lambda: {"input": torch.rand(1, 8, 4, 4), "boxes": _boxes(2)[None], "pool_size": 2},
    "box_iou_quadri": lambda: {"bboxes1": torch.rand(2, 8), "bboxes2": torch.rand(2, 8), "aligned": False},
    "box_iou_rotated": lambda: {
        "bboxes1": torch.rand(2, 5),
        "bboxes2": torch.rand(2, 5),
        "aligned": False,
        "clockwise": True,
    },
    "carafe": _upsampling,
    "carafe_naive": _upsampling,
    "correlation": lambda: {
        "input1": torch.rand(1, 2, 6, 6),
        "input2": torch.rand(1, 2, 6, 6),
        "kernel_size": 1,
        "max_displacement": 1,
        "stride": 1,
        "padding": 0,
        "dilation": 1,
        "dilation_patch": 1,
    },
    "deform_conv2d": lambda: _deformed(False),
    "deform_roi_pool": lambda: {
        "input": torch.rand(1, 2, 6, 6),
        "rois": _regions(2),
        "offset": None,
        **_sizes(sampling_ratio=2),
    },
    "fft": lambda: _signal(True),
    "furthest_point_sample": lambda: {"points_xyz": torch.rand(1, 6, 3), "num_points": 2},
    "furthest_point_sample_with_dist": lambda: {"points_dist": torch.rand(1, 6, 6), "num_points": 2},
    "get_conv_output_size": _window,
    "get_deconv_output_size": lambda: _window(2),
    "get_indice_pairs": lambda: {
        "indices": torch.tensor([[0, 1, 1], [0, 2, 2]], dtype=torch.int32),
        "batch_size": 1,
        "spatial_shape": [4, 4],
        "ksize": 3,
        "stride": 1,
        "padding": 1,
        "dilation": 1,
        "out_padding": 0,
        "subm": False,
        "transpose": False,
    },
    "ifft": lambda: _signal(True),
    "indice_avgpool": lambda: {"features": torch.rand(3, 4), **_pairs()},
    "indice_conv": _convolution,
    "indice_inverse_conv": _inverse,
    "indice_maxpool": lambda: {"features": torch.rand(3, 4), **_pairs(), "true_maximum": False},
    "indice_subm_conv": _sub_manifold,
    "irfft": lambda: _signal(True),
    "knn": lambda: {"k": 2, "xyz": torch.rand(1, 6, 3), "center_xyz": torch.rand(1, 2, 3), "transposed": False},
    "load_state_dict": lambda: {
        "module": ours.SubMConv2d(2, 2, 3),
        "state_dict": ours.SubMConv2d(2, 2, 3).state_dict(),
        "strict": True,
    },
    "masked_conv2d": lambda: {
        "features": torch.rand(1, 2, 4, 4),
        "mask": torch.ones(1, 4, 4),
        "weight": torch.rand(2, 2, 3, 3),
        "bias": torch.rand(2),
        "padding": 1,
        "stride": 1,
    },
    "modulated_deform_conv2d": lambda: _deformed(True),
    "moe_dispatch": lambda: {
        "gates": torch.rand(3),
        "indices": torch.tensor([0, 1, 0], dtype=torch.int32),
        "locations": torch.tensor([0, 0, 1], dtype=torch.int32),
        "input": torch.rand(3, 4),
        "capacity": 2,
        "num_experts": 2,
    },
    "ms_deform_attn": lambda: {
        "value": torch.rand(1, 4, 1, 2),
        "value_spatial_shapes": torch.tensor([[2, 2]]),
        "value_level_start_index": torch.tensor([0]),
        "sampling_locations": torch.rand(1, 3, 1, 1, 2, 2),
        "attention_weights": torch.rand(1, 3, 1, 1, 2),
        "im2col_step": 64,
    },
    "mutual_information_recursion": lambda: {
        "px": torch.rand(1, 2, 4),
        "py": torch.rand(1, 3, 3),
        "return_grad": False,
    },
    "nms": lambda: {"boxes": _boxes(3), "scores": torch.rand(3), "iou_threshold": 0.5, "offset": 0, "max_num": 2},
    "nms_bev": lambda: {
        "boxes": torch.rand(3, 5) + torch.tensor([0.0, 0, 2, 2, 0]),
        "scores": torch.rand(3),
        "thresh": 0.5,
        "pre_max_size": 3,
        "post_max_size": 2,
    },
    "nms_rotated": lambda: {
        "dets": torch.rand(3, 5) + 1,
        "scores": torch.rand(3),
        "iou_threshold": 0.5,
        "clockwise": True,
    },
    "prroi_pool": lambda: {"input": torch.rand(1, 2, 6, 6), "rois": _regions(2), **_sizes()},
    "ps_roi_pool": lambda: {"input": torch.rand(1, 4, 6, 6), "rois": _regions(2), **_sizes()},
    "psa_mask": lambda: {"input": torch.rand(1, 9, 4, 4), "psa_type": 0, "mask_size": 3},
    "rfft": lambda: _signal(False),
    "riroi_align_rotated": lambda: {
        "input": torch.rand(1, 8, 6, 6),
        "rois": _regions(2, 6),
        **_sizes(num_samples=2, num_orientations=4, clockwise=False),
    },
    "roi_align": lambda: {
        "input": torch.rand(1, 2, 6, 6),
        "rois": _regions(2),
        **_sizes(sampling_ratio=2, aligned=True),
    },
    "roi_align_rotated": lambda: {
        "input": torch.rand(1, 2, 6, 6),
        "rois": _regions(2, 6),
        **_sizes(sampling_ratio=2, aligned=True, clockwise=False),
    },
    "roi_pool": lambda: {"input": torch.rand(1, 2, 6, 6), "rois": _regions(2), **_sizes(rounded=True)},
    "roiaware_pool3d": lambda: {
        "rois": torch.rand(2, 7) + 1,
        "pts": torch.rand(6, 3),
        "pts_feature": torch.rand(6, 4),
        "out_size": 2,
        "max_pts_per_voxel": 4,
        "mode": 0,
    },
    "roipoint_pool3d": lambda: {
        "points": torch.rand(1, 6, 3),
        "point_features": torch.rand(1, 6, 4),
        "boxes3d": torch.rand(1, 2, 7) + 1,
        "num_sampled_points": 3,
    },
    "rotated_feature_align": lambda: {
        "features": torch.rand(1, 2, 4, 4),
        "best_rbboxes": torch.rand(1, 4, 4, 5),
        "spatial_scale": 1.0,
        "points": 1,
    },
    "soft_nms": lambda: {"boxes": _boxes(3), "scores": torch.rand(3), "offset": 0},
    "stack_ball_query": lambda: {
        "max_radius": 1.0,
        "sample_num": 2,
        "xyz": torch.rand(6, 3),
        "center_xyz": torch.rand(2, 3),
        "xyz_batch_cnt": torch.tensor([6], dtype=torch.int32),
        "center_xyz_batch_cnt": torch.tensor([2], dtype=torch.int32),
    },
    "stack_furthest_point_sample": lambda: {
        "xyz": torch.rand(6, 3),
        "xyz_batch_cnt": torch.tensor([6], dtype=torch.int32),
        "num_samples": torch.tensor([2], dtype=torch.int32),
        "total_samples": 2,
    },
    "voxel_pooling": lambda: {
        "geom_xyz": torch.zeros(1, 3, 3, dtype=torch.int32),
        "input_features": torch.rand(1, 3, 4),
        "voxel_num": [2, 2, 1],
    },
    "voxel_query": lambda: {
        "new_xyz": torch.rand(2, 3),
        "xyz": torch.rand(6, 3),
        "new_coords": torch.zeros(2, 4, dtype=torch.int32),
        "point_indices": torch.zeros(1, 2, 2, 2, dtype=torch.int32),
        "radius": 1.0,
        "z_range": 1,
        "y_range": 1,
        "x_range": 1,
        "nsample": 2,
    },
    "voxelization": lambda: {
        "points": torch.rand(6, 4),
        "voxel_size": [0.5, 0.5, 0.5],
        "coors_range": [0, 0, 0, 1, 1, 1],
        "max_points": 3,
        "max_voxels": 4,
        "deterministic": True,
    },
}


def call(name: str, **changed: Any) -> Any:
    """The result of a function, with some arguments changed; the tensors are the same in every call."""
    torch.manual_seed(1)
    return getattr(ours, name)(**{**CALLS[name](), **changed})


def kinds(name: str) -> dict[str, str]:
    """The annotations of those arguments of a public function that are integers, sequences of them or bools."""
    annotated = {one.name: str(one.annotation) for one in inspect.signature(getattr(ours, name)).parameters.values()}
    return {key: text for key, text in annotated.items() if "int" in text or "bool" in text}
