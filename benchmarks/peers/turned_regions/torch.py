"""turned_regions with PyTorch: grid_sample at the samples of all regions of an image, and means."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem
from benchmarks.torch_regions import samples, ways


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the ways of the direction; gradients are those of PyTorch."""
    torch: Any = importlib.import_module("torch")
    facts, turning = problem.case.parameters, problem.case.operator.startswith("riroi")
    ratio, (rows, columns) = facts["ratio"], facts["bins"]
    rois = torch.from_numpy(problem.inputs["rois"])
    if rois.dtype == torch.float16:
        return {}

    def pooled(maps: Any) -> Any:
        x, y, width, height = (rois[:, 1 + i, None, None] * facts["scale"] for i in range(4))
        if turning:
            width, height = width.clamp(min=1), height.clamp(min=1)
        else:
            x, y = x - 0.5, y - 0.5
        sine, cosine = rois[:, 5, None, None].sin(), rois[:, 5, None, None].cos()
        up, right = (
            (torch.arange(count * ratio) + 0.5).to(rois.dtype) / (count * ratio) - 0.5 for count in (rows, columns)
        )
        up, right = up[:, None] * height, right[None] * width
        found = samples(torch, maps, rois[:, 0].long(), up * cosine - right * sine + y, up * sine + right * cosine + x)
        means = torch.nn.functional.avg_pool2d(found, ratio) if ratio > 1 else found
        return _mixed(means) if turning else means

    def _mixed(means: Any) -> Any:
        count = facts["orientations"]
        number = rois[:, 5] * count / (2 * torch.pi)
        part = (number - number.floor())[:, None, None, None, None]
        lower = torch.remainder(torch.arange(count) - number.floor().long()[:, None], count)
        parts = means.unflatten(1, (-1, count))
        first, second = (
            parts.gather(2, place[:, None, :, None, None].expand_as(parts)) for place in (lower, (lower + 1) % count)
        )
        return (first * (1 - part) + second * part).flatten(1, 2)

    return ways(torch, pooled, dict(problem.inputs), outputs)
