"""Numbers of any kind where the functions want integers, and calls that a trace would not see."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pymluops.mmcv._extension import implemented

pytest.importorskip("torch")


def calls(torch: Any, ext: ModuleType) -> dict[str, Callable[[Callable[[int], Any]], Any]]:
    """Calls that return what they compute; `n` makes each integer among the arguments."""

    def written(name: str, *arguments: Any) -> Any:
        getattr(ext, name)(*arguments)
        return arguments

    rand, whole = torch.rand, lambda *shape: torch.zeros(shape, dtype=torch.int32)
    maps, boxes, masks, spread = rand(1, 8, 4, 4), rand(1, 3, 4), rand(1, 6, 4, 5), rand(1, 20, 4, 5)
    points, near, weights, centres = rand(2, 3, 7), whole(2, 5, 3), rand(2, 5, 3), rand(2, 4, 3)
    sizes, starts = torch.tensor([[2, 2]]), torch.tensor([0])
    attention = rand(3, 4, 1, 2), sizes, starts, rand(3, 3, 1, 1, 2, 2), rand(3, 3, 1, 1, 2)
    corners = rand(3, 8)
    cells = torch.tensor([0, 3, 1]), torch.tensor([1, 0, 2])
    upright = torch.cat([rand(3, 2), rand(3, 2) + 1], 1)
    dets, bank = rand(3, 5), (rand(2, 3, 2, 7), rand(2, 3, 2, 7))
    rows = torch.tensor([[0, 1, 1, 1], [0, 1, 2, 1]], dtype=torch.int32)
    features, filters, pairs, counts = rand(2, 3), rand(1, 1, 1, 3, 4), whole(1, 2, 2), whole(1)
    cubes = [4, 4, 4], [4, 4, 4], [3, 3, 3], [1, 1, 1], [1, 1, 1], [1, 1, 1], [0, 0, 0]

    lrelu = 1.0, 0.2, 0.5  # gain, slope, clamp
    voxels = whole(2, 1, 1, 1, 2), whole(2, 1, 1, 1, 4), rand(2, 1, 1, 1, 2)

    def psa(n: Any) -> tuple[Any, ...]:
        return n(1), n(1), n(4), n(5), n(3), n(2), n(1), n(0)

    def assigned(n: Any) -> tuple[Any, ...]:
        return n(2), n(3), n(4), n(2), n(5), n(7), n(0)

    flow = rand(1, 2, 4, 5)

    def correlated(n: Any) -> tuple[Any, ...]:
        return n(1), n(1), n(3), n(3), n(1), n(0), n(1), n(1), n(1), n(2), n(1), n(1)

    return {
        "correlation_forward": lambda n: written(
            "correlation_forward", flow, flow, rand(1, 3, 3, 6, 5), *correlated(n)
        ),
        "correlation_backward": lambda n: written(
            "correlation_backward", torch.ones(1, 3, 3, 6, 5), flow, flow, flow + 0, flow + 0, *correlated(n)
        ),
        "psamask_forward": lambda n: written("psamask_forward", masks, spread, *psa(n)),
        "psamask_backward": lambda n: written("psamask_backward", spread, masks, *psa(n)),
        "border_align_forward": lambda n: written(
            "border_align_forward", maps, boxes, rand(1, 2, 3, 4), whole(1, 2, 3, 4), n(3)
        ),
        "border_align_backward": lambda n: written(
            "border_align_backward", torch.ones(1, 2, 3, 4), boxes, whole(1, 2, 3, 4), rand(1, 8, 4, 4), n(3)
        ),
        "three_interpolate_forward": lambda n: written(
            "three_interpolate_forward", points, near, weights, rand(2, 3, 5), n(2), n(3), n(7), n(5)
        ),
        "three_interpolate_backward": lambda n: written(
            "three_interpolate_backward", torch.ones(2, 3, 5), near, weights, rand(2, 3, 7), n(2), n(3), n(5), n(7)
        ),
        "three_nn_forward": lambda n: written(
            "three_nn_forward", weights, centres, rand(2, 5, 3), whole(2, 5, 3), n(2), n(5), n(4)
        ),
        "ball_query_forward": lambda n: written(
            "ball_query_forward", centres, weights, whole(2, 4, 3), n(2), n(5), n(4), 0.0, 1.0, n(3)
        ),
        "stack_ball_query_forward": lambda n: written(
            "stack_ball_query_forward", centres[0], whole(1) + 4, weights[0], whole(1) + 5, whole(4, 3), 1.0, n(3)
        ),
        "furthest_point_sampling_forward": lambda n: written(
            "furthest_point_sampling_forward", weights, rand(2, 5), whole(2, 3), n(2), n(5), n(3)
        ),
        "furthest_point_sampling_with_dist_forward": lambda n: written(
            "furthest_point_sampling_with_dist_forward", rand(2, 5, 5), rand(2, 5), whole(2, 3), n(2), n(5), n(3)
        ),
        "gather_points_forward": lambda n: written(
            "gather_points_forward", points, near[..., 0].clone(), rand(2, 3, 5), n(2), n(3), n(7), n(5)
        ),
        "gather_points_backward": lambda n: written(
            "gather_points_backward", rand(2, 3, 5), near[..., 0].clone(), rand(2, 3, 7), n(2), n(3), n(7), n(5)
        ),
        "group_points_forward": lambda n: written(
            "group_points_forward", points, near, rand(2, 3, 5, 3), n(2), n(3), n(7), n(5), n(3)
        ),
        "group_points_backward": lambda n: written(
            "group_points_backward", rand(2, 3, 5, 3), near, rand(2, 3, 7), n(2), n(3), n(7), n(5), n(3)
        ),
        "stack_group_points_forward": lambda n: written(
            "stack_group_points_forward",
            points[0],
            whole(1) + 3,
            near[0],
            whole(1) + 5,
            rand(5, 7, 3),
            n(1),
            n(7),
            n(5),
            n(3),
        ),
        "stack_group_points_backward": lambda n: written(
            "stack_group_points_backward",
            rand(5, 7, 3),
            near[0],
            whole(1) + 5,
            whole(1) + 3,
            rand(3, 7),
            n(1),
            n(7),
            n(5),
            n(3),
            n(3),
        ),
        "knn_forward": lambda n: written(
            "knn_forward", weights, centres, whole(2, 4, 3), rand(2, 4, 3), n(2), n(5), n(4), n(3)
        ),
        "ms_deform_attn_forward": lambda n: ext.ms_deform_attn_forward(*attention, n(3)),
        "get_indice_pairs_3d_forward": lambda n: ext.get_indice_pairs_3d_forward(
            rows, n(1), *[[n(one) for one in numbers] for numbers in cubes], n(0), n(0)
        ),
        "indice_conv_forward": lambda n: ext.indice_conv_forward(features, filters, pairs, counts, n(2), n(0), n(0)),
        "indice_conv_backward": lambda n: ext.indice_conv_backward(
            features, filters, rand(2, 4), pairs, counts, n(0), n(0)
        ),
        "assign_score_withk_forward": lambda n: written(
            "assign_score_withk_forward", *bank, rand(2, 4, 5, 2), whole(2, 4, 5).long(), rand(2, 7, 4, 5), *assigned(n)
        ),
        "box_iou_rotated": lambda n: written("box_iou_rotated", dets, dets, rand(3), n(1), True),
        "bbox_overlaps": lambda n: written("bbox_overlaps", upright, upright, rand(3), n(1), True, n(0)),
        "box_iou_quadri": lambda n: written("box_iou_quadri", corners, corners, rand(3), n(1), True),
        "nms_quadri": lambda n: ext.nms_quadri(corners, rand(3), whole(3), corners, 0.5, n(0)),
        "contour_expand": lambda n: torch.tensor(
            ext.contour_expand(torch.ones(2, 3, 3, dtype=torch.uint8), whole(3, 3), n(0), n(2))
        ),
        "pixel_group": lambda n: [
            torch.tensor(row)
            for row in ext.pixel_group(
                rand(3, 3),
                torch.ones(3, 3, dtype=torch.bool),
                rand(3, 3, 2),
                whole(3, 3),
                torch.ones(3, 3, dtype=torch.uint8),
                n(2),
                0.5,
            )
        ],
        "nms": lambda n: ext.nms(dets[:, :4], rand(3), 0.5, n(1)),
        "softnms": lambda n: ext.softnms(dets[:, :4], rand(3), rand(3, 5), 0.5, 0.5, 0.1, n(1), n(0)),
        "nms_rotated": lambda n: ext.nms_rotated(dets, rand(3), whole(3), dets, whole(0), 0.5, n(0)),
        "hard_voxelize_forward": lambda n: written(
            "hard_voxelize_forward",
            rand(9, 4),
            torch.ones(3),
            torch.tensor([0.0, 0, 0, 2, 2, 2]),
            rand(2, 3, 4),
            whole(2, 3),
            whole(2),
            torch.tensor(0),
            n(3),
            n(2),
            n(3),
            True,
        ),
        "dynamic_voxelize_forward": lambda n: written(
            "dynamic_voxelize_forward", rand(9, 4), torch.ones(3), torch.tensor([0.0, 0, 0, 2, 2, 2]), whole(9, 3), n(3)
        ),
        "roiaware_pool3d_forward": lambda n: written(
            "roiaware_pool3d_forward", rand(2, 7), rand(9, 3), rand(9, 2), *voxels, n(1)
        ),
        "roiaware_pool3d_backward": lambda n: written(
            "roiaware_pool3d_backward", voxels[1], voxels[0], voxels[2], rand(9, 2), n(1)
        ),
        "deform_conv_forward": lambda n: written(
            "deform_conv_forward",
            *(maps, rand(2, 8, 1, 1), rand(1, 2, 4, 4), rand(1, 2, 4, 4), rand(0), rand(0)),
            *(n(one) for one in (1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1)),
        ),
        "modulated_deform_conv_forward": lambda n: written(
            "modulated_deform_conv_forward",
            *(maps, rand(2, 8, 1, 1), rand(2), rand(0), rand(1, 2, 4, 4), rand(1, 1, 4, 4), rand(1, 2, 4, 4), rand(0)),
            *(n(one) for one in (1, 1, 1, 1, 0, 0, 1, 1, 1, 1)),
            True,
        ),
        "carafe_naive_forward": lambda n: written(
            "carafe_naive_forward", maps, rand(1, 9, 8, 8), rand(1, 8, 8, 8), n(3), n(1), n(2)
        ),
        "carafe_forward": lambda n: written(
            "carafe_forward",
            *(maps, rand(1, 9, 8, 8), rand(1, 8, 4, 4), rand(1, 8, 8, 8), rand(1, 9, 8, 8), rand(1, 8, 8, 8)),
            *(n(3), n(1), n(2)),
        ),
        "upfirdn2d": lambda n: ext.upfirdn2d(
            maps, rand(2, 2), *(n(one) for one in (1, 2, 2, 1, 1, 0, 0, 2)), True, 1.0
        ),
        "filtered_lrelu": lambda n: ext.filtered_lrelu(
            maps, rand(2), rand(2), rand(8), rand(0), *(n(one) for one in (2, 1, 0, 1, 2, 1, 0, 0)), *lrelu, True, False
        ),
        "filtered_lrelu_act_": lambda n: written(
            "filtered_lrelu_act_", rand(1, 2, 3, 4), rand(0), n(0), n(0), *lrelu, True
        ),
        "bias_act": lambda n: ext.bias_act(maps, rand(8), rand(0), rand(0), rand(0), n(0), n(1), n(3), 0.2, 1.0, 3.0),
        "fused_bias_leakyrelu": lambda n: ext.fused_bias_leakyrelu(maps, rand(8), rand(0), n(3), n(0), 0.2, 1.0),
        **region_calls(torch, written),
        "masked_im2col_forward": lambda n: written(
            "masked_im2col_forward", maps[:1], *cells, rand(32, 3), *map(n, (2, 2, 1, 1))
        ),
        "masked_col2im_forward": lambda n: written(
            "masked_col2im_forward", rand(8, 3), *cells, maps[:1], *map(n, (4, 4, 8))
        ),
        "indice_maxpool_forward": lambda n: ext.indice_maxpool_forward(features, pairs, counts, n(2)),
        "sync_bn_forward_output": lambda n: written(
            "sync_bn_forward_output", points, *rand(6, 3), rand(2, 3, 7), rand(3), rand(2, 3, 7), 1e-5, 0.5, n(2)
        ),
    }


NAMES = (
    *("psamask_forward", "psamask_backward", "border_align_forward", "border_align_backward"),
    *("three_interpolate_forward", "three_interpolate_backward", "three_nn_forward", "ball_query_forward"),
    *("stack_ball_query_forward", "ms_deform_attn_forward", "get_indice_pairs_3d_forward", "indice_conv_forward"),
    *("indice_conv_backward", "indice_maxpool_forward", "box_iou_rotated", "nms_rotated", "assign_score_withk_forward"),
    *("contour_expand", "pixel_group"),
    *("nms", "softnms", "bbox_overlaps", "box_iou_quadri", "nms_quadri"),
    "furthest_point_sampling_forward",
    *("furthest_point_sampling_with_dist_forward", "gather_points_forward", "gather_points_backward"),
    *("group_points_forward", "group_points_backward", "stack_group_points_forward", "stack_group_points_backward"),
    *("knn_forward", "deform_conv_forward", "modulated_deform_conv_forward", "carafe_forward", "carafe_naive_forward"),
    *("upfirdn2d", "filtered_lrelu", "filtered_lrelu_act_", "bias_act", "fused_bias_leakyrelu"),
    *("hard_voxelize_forward", "dynamic_voxelize_forward", "roiaware_pool3d_forward", "roiaware_pool3d_backward"),
    *("roi_align_rotated_forward", "roi_align_rotated_backward"),
    *("riroi_align_rotated_forward", "riroi_align_rotated_backward"),
    *("roi_align_forward", "roi_align_backward", "roi_pool_forward", "roi_pool_backward"),
    *("masked_im2col_forward", "masked_col2im_forward"),
    *("prroi_pool_forward", "prroi_pool_backward", "prroi_pool_coor_backward"),
    *("deform_roi_pool_forward", "deform_roi_pool_backward"),
    *("rotated_feature_align_forward", "rotated_feature_align_backward"),
    *("bezier_align_forward", "bezier_align_backward"),
    *("correlation_forward", "correlation_backward"),
    *("masked_im2col_forward", "masked_col2im_forward", "sync_bn_forward_output"),
)


def region_calls(torch: Any, written: Any) -> dict[str, Callable[[Callable[[int], Any]], Any]]:
    """Calls of functions that pool regions."""
    maps, rois, pooled = torch.rand(1, 2, 5, 5), torch.tensor([[0.0, 0, 0, 3, 3]]), torch.rand(1, 2, 2, 2)
    turned, box_each = torch.tensor([[0, 2.5, 2, 3, 2, 0.5]]), torch.rand(1, 5, 5, 5)
    turned = torch.tensor([[0, 2.5, 2, 3, 2, 0.5]])
    curved = torch.tensor([[0.0, 0, 0, 1, 1, 2, 1, 3, 0, 3, 3, 2, 4, 1, 4, 0, 3]])

    def aligned(n: Any) -> tuple[Any, ...]:
        return n(2), n(2), 1.0, n(2), n(0), n(1)

    return {
        "roi_align_forward": lambda n: written(
            "roi_align_forward", maps, rois, pooled, pooled + 0, pooled + 0, *aligned(n)
        ),
        "roi_align_rotated_forward": lambda n: written(
            "roi_align_rotated_forward", maps, turned, pooled, n(2), n(2), 1.0, n(2), n(1), n(0)
        ),
        "roi_align_rotated_backward": lambda n: written(
            "roi_align_rotated_backward", pooled, turned, maps + 0, n(2), n(2), 1.0, n(2), n(1), n(0)
        ),
        "riroi_align_rotated_forward": lambda n: written(
            "riroi_align_rotated_forward", maps, turned, pooled, n(2), n(2), 1.0, n(2), n(2), n(0)
        ),
        "riroi_align_rotated_backward": lambda n: written(
            "riroi_align_rotated_backward", pooled, turned, maps + 0, n(2), n(2), 1.0, n(2), n(2), n(0)
        ),
        "rotated_feature_align_forward": lambda n: written(
            "rotated_feature_align_forward", maps, box_each, maps + 0, 1.0, n(5)
        ),
        "rotated_feature_align_backward": lambda n: written(
            "rotated_feature_align_backward", maps, box_each, maps + 0, 1.0, n(5)
        ),
        "roi_pool_forward": lambda n: written("roi_pool_forward", maps, rois, pooled, pooled.int(), n(2), n(2), 1.0),
        "roi_pool_backward": lambda n: written(
            "roi_pool_backward", pooled, rois, pooled.int(), maps + 0, n(2), n(2), 1.0
        ),
        "prroi_pool_forward": lambda n: written("prroi_pool_forward", maps, rois, pooled, n(2), n(2), 1.0),
        "prroi_pool_backward": lambda n: written("prroi_pool_backward", pooled, rois, maps + 0, n(2), n(2), 1.0),
        "prroi_pool_coor_backward": lambda n: written(
            "prroi_pool_coor_backward", pooled, pooled, maps, rois, rois + 0, n(2), n(2), 1.0
        ),
        "bezier_align_forward": lambda n: written(
            "bezier_align_forward", maps, curved, pooled + 0, n(2), n(2), 1.0, n(2), n(1)
        ),
        "bezier_align_backward": lambda n: written(
            "bezier_align_backward", pooled, curved, maps + 0, n(2), n(2), 1.0, n(2), n(1)
        ),
        "deform_roi_pool_forward": lambda n: written(
            "deform_roi_pool_forward", maps, rois, pooled, pooled + 0, n(2), n(2), 1.0, n(2), 0.1
        ),
        "deform_roi_pool_backward": lambda n: written(
            "deform_roi_pool_backward", pooled, maps, rois, pooled, maps + 0, pooled + 0, n(2), n(2), 1.0, n(2), 0.1
        ),
        "roi_align_backward": lambda n: written(
            "roi_align_backward", pooled, rois, pooled + 0, pooled + 0, maps + 0, *aligned(n)
        ),
    }


def flat(found: Any) -> list[Any]:
    return [found] if hasattr(found, "numel") else [one for one in found if hasattr(one, "numel") and one.ndim]


@pytest.mark.parametrize("kind", ["int64", "uint8", "array", "tensor", "whole float"])
@pytest.mark.parametrize("name", NAMES)
def test_integers_of_every_kind(torch: Any, ext: ModuleType, name: str, kind: str) -> None:
    kinds: dict[str, Callable[[int], Any]] = {
        "int64": np.int64,
        "uint8": np.uint8,
        "array": np.array,
        "tensor": torch.tensor,
        "whole float": float,
    }
    torch.manual_seed(0)
    wanted = flat(calls(torch, ext)[name](int))
    torch.manual_seed(0)
    found = flat(calls(torch, ext)[name](kinds[kind]))
    assert wanted
    for one, other in zip(found, wanted, strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_integer_is_refused_by_name(torch: Any, ext: ModuleType, name: str) -> None:
    call = calls(torch, ext)[name]
    for wrong in (lambda n: n + 0.5, str, lambda n: None, lambda n: float("nan"), lambda n: [n]):
        with pytest.raises(RuntimeError, match=rf"^{name}: \w+: expected an integer, got "):
            call(wrong)


def test_every_function_with_integers_is_here() -> None:
    """But for those that share their code with another one."""
    twins = {"get_indice_pairs_2d_forward", "get_indice_pairs_4d_forward", "fused_indice_conv_forward"}
    twins |= {
        "assign_score_withk_backward",
        "get_indice_pairs_2d_backward",
        "get_indice_pairs_3d_backward",
        "ms_deform_attn_backward",
        "deform_conv_backward_input",
        "deform_conv_backward_parameters",
        "modulated_deform_conv_backward",
        "carafe_backward",
        "carafe_naive_backward",
    }
    with_integers = {
        name
        for name, function in implemented().items()
        if any(of.annotation == "int" for of in inspect.signature(function).parameters.values())
    }
    assert with_integers - twins == set(NAMES)


def test_a_trace_that_would_keep_the_result_is_refused(torch: Any, ext: ModuleType) -> None:
    from torch._subclasses import FakeTensorMode
    from torch.fx.experimental.proxy_tensor import make_fx

    def shift(clip: Any, shifts: Any) -> Any:
        output = torch.zeros_like(clip)
        ext.tin_shift_forward(clip, shifts, output)
        return output

    clip, shifts = torch.rand(1, 3, 4, 2), torch.tensor([[1, 0]], dtype=torch.int32)
    text = r"tin_shift_forward: make_fx and torch\.export cannot .*; take those of pymluops\.torch, or torch\.compile"
    for mode in ("real", "fake", "symbolic"):
        with pytest.raises(RuntimeError, match=text):
            make_fx(shift, tracing_mode=mode)(clip, shifts)
    with FakeTensorMode() as mode, pytest.raises(RuntimeError, match=text):
        shift(mode.from_tensor(clip), mode.from_tensor(shifts))
    torch._dynamo.reset()
    compiled = torch.compile(shift, backend="eager")
    for values in (clip, torch.rand_like(clip)):
        assert torch.equal(compiled(values, shifts), shift(values, shifts))


@pytest.mark.parametrize("packed", [False, True])
def test_tensors_with_a_pending_negation(torch: Any, ext: ModuleType, packed: bool) -> None:
    """The imaginary part of a conjugate is one."""

    def negated() -> Any:
        if packed:
            return torch._neg_view(-torch.arange(24.0).reshape(1, 2, 4, 3))
        return torch.complex(torch.zeros(1, 2, 4, 3), -torch.arange(24.0).reshape(1, 2, 4, 3)).conj().imag

    values, output, shift = negated(), negated(), torch.tensor([[1]], dtype=torch.int32)
    assert values.is_neg() and values.is_contiguous() == packed
    ext.tin_shift_forward(values, shift, output)
    assert not output[0, 0].any() and torch.equal(output[0, 1], values[0, 0])
    assert torch.equal(output[0, 1], torch.arange(12.0).reshape(4, 3))
