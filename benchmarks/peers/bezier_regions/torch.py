"""bezier_align with PyTorch: grid_sample at the samples of all regions of an image, and means."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem
from benchmarks.torch_regions import samples, ways


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the ways of the direction; gradients are those of PyTorch."""
    torch: Any = importlib.import_module("torch")
    facts, ratio, (rows, columns) = (
        problem.case.parameters,
        problem.case.parameters["ratio"],
        problem.case.parameters["bins"],
    )
    rois = torch.from_numpy(problem.inputs["rois"])
    if rois.dtype == torch.float16:
        return {}

    def pooled(maps: Any) -> Any:
        points = rois[:, 1:].unflatten(1, (8, 2)) * facts["scale"]
        curves = torch.stack([points[:, :4], points[:, 4:].flip(1)], 1)
        size = (curves[:, :, 0] - curves[:, :, 3]).abs().amax(1)
        u, v = torch.arange(columns) / columns, (torch.arange(rows) / rows)[:, None, None]
        weights = torch.stack([(1 - u) ** 3, 3 * u * (1 - u) ** 2, 3 * u**2 * (1 - u), u**3])
        top, bottom = torch.einsum("kj,rckd->crjd", weights, curves)[:, :, None]
        centre = (v * bottom + (1 - v) * top - 0.5).repeat_interleave(ratio, 1).repeat_interleave(ratio, 2)
        part = (torch.arange(ratio) + 0.5) / ratio - 0.5
        x = centre[..., 0] + (size[:, :1] / columns * part).repeat(1, columns)[:, None]
        y = centre[..., 1] + (size[:, 1:] / rows * part).repeat(1, rows)[:, :, None]
        found = samples(torch, maps, rois[:, 0].long(), y, x)
        return torch.nn.functional.avg_pool2d(found, ratio) if ratio > 1 else found

    return ways(torch, pooled, dict(problem.inputs), outputs)
