"""A NaN among the values of a tensor reaches the result, unless docs/torch.md says otherwise."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import pymluops.torch as ours
from support.torch_samples import FUNCTIONS, tensors

NAN = float("nan")

#: Functions with the inputs whose NaN the documents say is left out; the gradient of mmcv's
#: tin_shift names other values than those that the result is made of.
LEFT_OUT = {
    ("border_align", 0),
    ("roi_align-max", 0),
    ("roi_pool", 0),
    ("roiaware_pool3d-max", 2),
    ("modulated_deform_conv2d", 1),
    ("deform_roi_pool", 2),
    ("ms_deform_attn", 3),
    ("prroi_pool", 1),
    ("tin_shift-mmcv", 0),
}


def floating(results: Any) -> list[torch.Tensor]:
    results = results if isinstance(results, tuple) else (results,)
    return [one for one in results if one.is_floating_point()]


def used(name: str, made: tuple[torch.Tensor, ...]) -> dict[int, list[int]]:
    """For each floating input the first elements that the result depends on."""
    asking = [one.clone().requires_grad_() if one.is_floating_point() else one for one in made]
    results = [one for one in floating(FUNCTIONS[name](*asking)) if one.requires_grad]
    if not results:
        return {}
    torch.manual_seed(0)
    weighted = torch.stack([(one * torch.rand_like(one)).sum() for one in results]).sum()
    places = [i for i, one in enumerate(made) if one.is_floating_point()]
    found = torch.autograd.grad(weighted, [asking[i] for i in places], allow_unused=True)
    elements = {
        i: one.flatten().nonzero().flatten()[:20] for i, one in zip(places, found, strict=True) if one is not None
    }
    return {i: one.tolist() for i, one in elements.items()}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_nan_that_counts_is_in_the_result(name: str) -> None:
    made = tensors(name, torch.float32, batch=2)
    for i, elements in used(name, made).items():
        lost = []
        for element in elements:
            given = [one.clone() for one in made]
            given[i].view(-1)[element] = NAN
            if not any(one.isnan().any() for one in floating(FUNCTIONS[name](*given))):
                lost.append(element)
        assert bool(lost) == ((name, i) in LEFT_OUT), (i, lost)


def test_every_exception_is_a_function() -> None:
    assert {name for name, _ in LEFT_OUT} <= set(FUNCTIONS)


@pytest.mark.parametrize("rounded", [False, True])
def test_roi_pool(rounded: bool) -> None:
    """The exception of the table: a NaN at the end counts if corners are rounded."""
    values, region = torch.tensor([[[[1.0, NAN, 3, NAN]]]]), torch.tensor([[0.0, 0, 0, 3, 0]])
    assert ours.roi_pool(values, region, 1, 1.0, rounded).isnan().item() == rounded
    assert ours.roi_pool(values[..., :3], region, 1, 1.0, rounded).item() == 3


def test_maxima_leave_it_out_and_sums_do_not() -> None:
    feats = torch.tensor([[NAN], [2.0], [5.0]], requires_grad=True)
    coors = torch.tensor([[0, 0, 0], [0, 0, 0], [1, 1, 1]], dtype=torch.int32)
    largest, _ = ours.dynamic_scatter(feats, coors, "max")
    assert largest.tolist() == [[2.0], [5.0]]
    for kind in ("sum", "mean"):
        assert ours.dynamic_scatter(feats, coors, kind)[0].isnan().tolist() == [[True], [False]]


def test_losses_and_layers_keep_it() -> None:
    scores = torch.randn(2, 3)
    scores[0, 1] = NAN
    for loss in (ours.sigmoid_focal_loss, ours.softmax_focal_loss):
        given = scores.clone().requires_grad_()
        found = loss(given, torch.tensor([0, 1]), 2.0, 0.25, None, "mean")
        found.backward()
        assert found.isnan() and given.grad is not None and given.grad[0].isnan().any()
    points = torch.rand(1, 3, 2)
    points[0, 0, 0] = NAN
    assert ours.chamfer_distance(points, torch.rand(1, 4, 2))[0].isnan().any()
    boxes = torch.tensor([[[0.0, 0, 2, 2, 0.1], [0, 0, 2, 2, 0.1]]])
    for column in range(5):
        odd = boxes.clone()
        odd[0, 0, column] = NAN
        assert ours.diff_iou_rotated_2d(odd, boxes).isnan().tolist() == [[True, False]]
    maps = torch.randn(2, 3, 4, 4)
    maps[0, 1, 2, 2] = NAN
    assert ours.SyncBatchNorm(3)(maps)[:, 1].isnan().all()
    assert ours.rfft(maps[0, 1]).isnan().any(1).tolist() == [False, False, True, False]


def test_boxes_and_points_with_a_nan() -> None:
    """The last rows of the table."""
    boxes = torch.tensor([[0.0, 0, 1, 1], [0, 0, 1, 1], [5, 5, 6, 6]])
    for suppress in (ours.nms, lambda *given: ours.nms_rotated(torch.nn.functional.pad(boxes, (0, 1)), *given[1:])):
        kept = suppress(boxes, torch.tensor([NAN, 0.5, 0.6]), 0.5)[1]
        assert kept.tolist() == [2, 1]
    turned = torch.tensor([[NAN, 0, 1, 1, 0], [0, 0, 1, 1, 0]])
    assert ours.box_iou_rotated(turned, turned[1:]).tolist() == [[0.0], [1.0]]
    points = torch.tensor([[[NAN, 0.0, 0], [1, 1, 1], [2, 2, 2]]])
    assert ours.knn(2, points, torch.zeros(1, 1, 3)).flatten().tolist() == [1, 2]
    assert ours.three_nn(torch.zeros(1, 1, 3), points)[1].flatten().tolist()[:2] == [1, 2]
    assert ours.ball_query(0.0, 9.0, 2, points, torch.zeros(1, 1, 3)).flatten().tolist() == [1, 2]
