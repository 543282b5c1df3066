"""rotated_feature_align with PyTorch: grid_sample at the places of all boxes of an image, and sums."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem
from benchmarks.torch_regions import ways


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the ways of the direction; gradients are those of PyTorch."""
    torch: Any = importlib.import_module("torch")
    facts = problem.case.parameters
    boxes, (height, width) = torch.from_numpy(problem.inputs["boxes"]), facts["size"]
    if boxes.dtype == torch.float16:
        return {}

    def places() -> Any:
        y, x, long, high = (boxes[..., i] * facts["scale"] for i in range(4))
        if facts["points"] == 1:
            return y[..., None], x[..., None]
        sine, cosine = boxes[..., 4].sin() / 2, boxes[..., 4].cos() / 2
        signs = ((1, 1), (-1, 1), (-1, -1), (1, -1))
        return (
            torch.stack([y, *(y + a * sine * long + b * cosine * high for a, b in signs)], -1),
            torch.stack([x, *(x + a * cosine * long - b * sine * high for a, b in signs)], -1),
        )

    def aligned(maps: Any) -> Any:
        y, x = places()
        inside = (y >= -1) & (y <= height) & (x >= -1) & (x <= width)
        grid = torch.stack([2 * x / max(width - 1, 1) - 1, 2 * y / max(height - 1, 1) - 1], -1).flatten(1, 2)
        found = torch.nn.functional.grid_sample(maps, grid, padding_mode="border", align_corners=True)
        found = found * inside.flatten(1, 2)[:, None]
        return maps + found.sum(-1).unflatten(2, (height, width))

    return ways(torch, aligned, dict(problem.inputs), outputs)
