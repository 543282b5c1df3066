"""Suppression of boxes in space for tensors of PyTorch, whose results are as long as there are boxes to keep."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

import pymluops
import pymluops.torch as ours
from pymluops.oracle import boxes3d as oracle
from support.torch_samples import all_equal

FUNCTIONS: dict[str, Callable[..., torch.Tensor]] = {"nms3d": ours.nms3d, "nms3d_normal": ours.nms3d_normal}
every_function = pytest.mark.parametrize("name", FUNCTIONS)


def made(count: int = 30, seed: int = 3) -> tuple[torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng(seed)
    boxes = oracle.random_boxes(rng, count)
    boxes[:, :2], boxes[:, 3:5], boxes[:, 6] = rng.integers(0, 5, (count, 2)), 2, rng.integers(0, 2, count) / 8
    return torch.from_numpy(boxes), torch.from_numpy(rng.random(count))


@every_function
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_kept_boxes(name: str, dtype: torch.dtype) -> None:
    boxes, scores = (one.to(dtype) for one in made())
    found = FUNCTIONS[name](boxes.requires_grad_(), scores, 0.4)
    assert found.dtype == torch.int64
    wanted = oracle.suppression(name, boxes.detach().double().numpy(), scores.double().numpy(), 0.4)
    assert found.tolist() == wanted


@every_function
def test_programs_keep_another_number_of_boxes(name: str) -> None:
    class Program(torch.nn.Module):
        def forward(self, boxes: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
            return FUNCTIONS[name](boxes, scores, 0.4)

    program = torch.export.export(Program(), made()).module()
    torch._dynamo.reset()
    compiled = torch.compile(Program(), backend="eager")
    for seed in (3, 4, 5):
        arguments = made(seed=seed)
        for one in (program, compiled):
            all_equal(one(*arguments), FUNCTIONS[name](*arguments, 0.4))


@every_function
def test_no_boxes_and_refused_ones(name: str) -> None:
    assert FUNCTIONS[name](torch.zeros(0, 7), torch.zeros(0), 0.5).shape == (0,)
    for boxes, scores in ((torch.rand(3, 6), torch.rand(3)), (torch.rand(3, 7), torch.rand(2))):
        with pytest.raises(pymluops.BadParamError, match=f"{name}: "):
            FUNCTIONS[name](boxes, scores, 0.5)
