"""box_iou_quadri, nms_quadri and poly_nms for tensors of PyTorch."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import pymluops.torch as ours
from pymluops.oracle import quadri_boxes as oracle
from support.torch_samples import all_equal


def made(count: int = 20, seed: int = 3) -> tuple[torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng(seed)
    return torch.from_numpy(oracle.random_quadrilaterals(rng, count)), torch.from_numpy(rng.random(count))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16], ids=str)
def test_values(dtype: torch.dtype) -> None:
    boxes, scores = (one.to(dtype) for one in made())
    computed = (boxes if dtype == torch.float64 else boxes.float()).numpy()
    wanted = torch.from_numpy(oracle.pairs(computed, computed)).to(dtype)
    tolerances = {"rtol": 0.0, "atol": max(1e-14, torch.finfo(dtype).eps)}
    all_equal(ours.box_iou_quadri(boxes, boxes), wanted, **tolerances)
    all_equal(ours.box_iou_quadri(boxes, boxes, aligned=True), wanted.diagonal(), **tolerances)
    kept = oracle.suppression(computed, scores.double().numpy(), 0.25)
    found, numbers = ours.nms_quadri(boxes, scores, 0.25)
    assert numbers.dtype == torch.int64 and numbers.tolist() == kept
    all_equal(found, torch.cat([boxes[kept], scores[kept, None]], 1))
    scored = torch.cat([boxes, scores[:, None]], 1)
    rows = np.column_stack([computed, scores.double().numpy().astype(computed.dtype)])
    assert ours.poly_nms(scored, 0.3003).tolist() == oracle.poly_suppression(rows, 0.3003)


def test_gradients_flow_to_the_kept_boxes() -> None:
    boxes, scores = (one.requires_grad_() for one in made())
    found, numbers = ours.nms_quadri(boxes, scores, 0.25)
    found.sum().backward()
    assert scores.grad is not None
    all_equal(scores.grad, torch.zeros(20, dtype=torch.float64).index_fill(0, numbers, 1))
    assert not ours.box_iou_quadri(boxes, boxes).requires_grad


def test_empty_and_refused() -> None:
    boxes, scores = made()
    assert ours.box_iou_quadri(boxes[:0], boxes[:0], aligned=True).shape == (0,)
    assert ours.nms_quadri(boxes[:0], scores[:0], 0.5)[0].shape == (0, 9)
    with pytest.raises(ValueError, match="box_iou_quadri: mode: expected 'iou' or 'iof'"):
        ours.box_iou_quadri(boxes, boxes, "giou")
    with pytest.raises(ValueError, match="nms_quadri: scores: "):
        ours.nms_quadri(boxes, scores[:3], 0.5)
