"""nms_rotated for tensors of PyTorch, whose results are as long as there are boxes to keep."""

from __future__ import annotations

import pytest
import torch

import pymluops
import pymluops.torch as ours
from pymluops.oracle.nms_rotated import nms_rotated as keep
from pymluops.oracle.rotated_rectangles import random_rectangles
from support.torch_samples import all_equal


def made(count: int = 30, seed: int = 3) -> tuple[torch.Tensor, torch.Tensor]:
    import numpy as np

    rng = np.random.default_rng(seed)
    return torch.from_numpy(random_rectangles(rng, count)), torch.from_numpy(rng.random(count))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_kept_boxes(dtype: torch.dtype) -> None:
    dets, scores = (one.to(dtype) for one in made())
    computed = dets if dtype == torch.float64 else dets.float()
    wanted = keep(computed.numpy(), scores.double().numpy(), 0.25)
    found, numbers = ours.nms_rotated(dets, scores, 0.25)
    assert numbers.dtype == torch.int64 and numbers.tolist() == wanted
    all_equal(found, torch.cat([dets[wanted], scores[wanted, None]], 1))
    mirrored = dets * dets.new_tensor([1, 1, 1, 1, -1])
    assert ours.nms_rotated(mirrored, scores, 0.25, clockwise=False)[1].tolist() == wanted
    labels = torch.arange(len(dets))
    assert ours.nms_rotated(dets, scores, 0.25, labels)[1].tolist() == wanted


def test_gradients_flow_through_the_kept_rows() -> None:
    dets, scores = (one.requires_grad_() for one in made())
    found, numbers = ours.nms_rotated(dets, scores, 0.25)
    found.sum().backward()
    assert dets.grad is not None and scores.grad is not None
    rows = torch.zeros(len(scores)).index_fill_(0, numbers, 1).double()
    all_equal(scores.grad, rows)
    all_equal(dets.grad, rows[:, None].expand(-1, 5))


def test_programs_keep_another_number_of_boxes() -> None:
    class Program(torch.nn.Module):
        def forward(self, dets: torch.Tensor, scores: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return ours.nms_rotated(dets, scores, 0.25)

    program = torch.export.export(Program(), made()).module()
    torch._dynamo.reset()
    compiled = torch.compile(Program(), backend="eager")
    for seed in (3, 4, 5):
        arguments = made(seed=seed)
        for one in (program, compiled):
            all_equal(one(*arguments), ours.nms_rotated(*arguments, 0.25))


def test_no_boxes_and_refused_ones() -> None:
    found, numbers = ours.nms_rotated(torch.zeros(0, 5), torch.zeros(0), 0.5)
    assert found.shape == (0, 6) and numbers.shape == (0,)
    for dets, scores in ((torch.rand(3, 4), torch.rand(3)), (torch.rand(3, 5), torch.rand(2))):
        with pytest.raises(pymluops.BadParamError, match="nms_rotated: "):
            ours.nms_rotated(dets, scores, 0.5)
