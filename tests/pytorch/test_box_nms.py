"""nms, soft_nms and nms_match for tensors of PyTorch, whose results are as long as there are boxes to keep."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import pymluops
import pymluops.torch as ours
from pymluops.oracle import box_nms as oracle
from pymluops.oracle.plane_boxes import random_boxes
from support.torch_samples import all_equal


def made(count: int = 30, dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng(3)
    boxes, scores = random_boxes(rng, count), rng.random(count).round(2)
    return torch.from_numpy(boxes).to(dtype), torch.from_numpy(scores).to(dtype)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("offset", [0, 1])
def test_kept_boxes(dtype: torch.dtype, offset: int) -> None:
    boxes, scores = made(dtype=dtype)
    computed = (boxes if dtype == torch.float64 else boxes.float()).numpy()
    wanted = oracle.suppression(computed, scores.double().numpy(), 0.25, offset)
    found, numbers = ours.nms(boxes, scores, 0.25, offset)
    assert numbers.dtype == torch.int64 and numbers.tolist() == wanted
    all_equal(found, torch.cat([boxes[wanted], scores[wanted, None]], 1))


def test_thresholds_of_scores_and_numbers() -> None:
    boxes, scores = made()
    everything = ours.nms(boxes, scores, 0.25)[1]
    assert ours.nms(boxes, scores, 0.25, max_num=3)[1].tolist() == everything[:3].tolist()
    high = ours.nms(boxes, scores, 0.25, score_threshold=0.5)[1]
    assert high.tolist() == [i for i in everything.tolist() if scores[i] > 0.5]


@pytest.mark.parametrize("method", ["naive", "linear", "gaussian"])
def test_lowered_scores(method: str) -> None:
    boxes, scores = made(dtype=torch.float32)
    dets, numbers = ours.soft_nms(boxes, scores, 0.25, 0.5, 0.1, method)
    expected = pymluops.soft_nms(boxes.numpy(), scores.numpy(), 0.25, 0.5, 0.1, method)
    assert numbers.dtype == torch.int64 and numbers.tolist() == expected[1].tolist()
    all_equal(dets, torch.from_numpy(expected[0]))
    assert ours.soft_nms(boxes.double(), scores.double(), 0.25, 0.5, 0.1, method)[0].dtype == torch.float64


def test_groups() -> None:
    boxes, scores = made()
    dets = torch.cat([boxes, scores[:, None]], 1)
    matches, order = oracle.match(dets.numpy(), 0.25)
    wanted = [[number for number in order if matches[number] == kept] for kept in order if matches[kept] == kept]
    assert [group.tolist() for group in ours.nms_match(dets, 0.25)] == wanted
    assert ours.nms_match(dets[:0], 0.25) == []


def test_gradients_flow_to_the_kept_boxes() -> None:
    boxes, scores = (one.requires_grad_() for one in made())
    found, numbers = ours.nms(boxes, scores, 0.25)
    found.sum().backward()
    kept = torch.zeros(len(boxes), dtype=torch.float64).index_fill(0, numbers, 1)
    assert boxes.grad is not None and scores.grad is not None
    all_equal(scores.grad, kept)
    all_equal(boxes.grad, kept[:, None].expand(-1, 4))


def test_no_boxes() -> None:
    boxes, scores = made()
    found, numbers = ours.nms(boxes[:0], scores[:0], 0.5)
    assert found.shape == (0, 5) and numbers.shape == (0,)
    assert ours.soft_nms(boxes[:0], scores[:0])[0].shape == (0, 5)


def test_a_compiled_program_has_the_number_of_its_own_boxes() -> None:
    compiled = torch.compile(lambda *given: ours.nms(*given, 0.25), backend="aot_eager", dynamic=True)
    for count in (30, 12):
        boxes, scores = made(count, torch.float32)
        for found, wanted in zip(compiled(boxes, scores), ours.nms(boxes, scores, 0.25), strict=True):
            all_equal(found, wanted)


def test_refused() -> None:
    boxes, scores = made()
    with pytest.raises(ValueError, match="soft_nms: method: expected 'naive', 'linear' or 'gaussian'"):
        ours.soft_nms(boxes, scores, method="hard")
    with pytest.raises(ValueError, match="nms2d: scores: "):
        ours.nms(boxes, scores[:3], 0.5)
    with pytest.raises(ValueError, match="nms2d: offset: "):
        ours.nms(boxes, scores, 0.5, 2)
