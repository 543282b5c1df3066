"""A deformable convolution by its formula, and arguments of one."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch


def draw(*shape: int, seed: int = 0) -> Any:
    return torch.from_numpy(np.random.default_rng(seed).uniform(-1, 1, shape))


def convolved(input: Any, offset: Any, mask: Any, weight: Any, bias: Any) -> Any:
    """A deformable convolution of 3 x 3 with stride 2 and padding 1, by bilinear samples of each tap."""
    height, width = input.shape[2:]
    rows, columns = offset.shape[2:]
    total = bias.view(1, -1, 1, 1)
    for tap in range(9):
        y = torch.arange(rows).view(1, -1, 1) * 2.0 - 1 + tap // 3 + offset[:, 2 * tap]
        x = torch.arange(columns).view(1, 1, -1) * 2.0 - 1 + tap % 3 + offset[:, 2 * tap + 1]
        grid = torch.stack([(2 * x + 1) / width - 1, (2 * y + 1) / height - 1], -1)
        samples = torch.nn.functional.grid_sample(input, grid, align_corners=False) * mask[:, tap, None]
        total = total + torch.einsum("bchw,oc->bohw", samples, weight[:, :, tap // 3, tap % 3])
    return total


def tensors() -> list[Any]:
    input, weight, bias = draw(2, 3, 5, 6), draw(4, 3, 3, 3, seed=1), draw(4, seed=2)
    offset, mask = draw(2, 18, 3, 3, seed=3) * 0.7, draw(2, 9, 3, 3, seed=4).abs()
    return [input, offset, mask, weight, bias]
