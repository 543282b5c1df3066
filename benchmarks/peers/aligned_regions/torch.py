"""roi_align with PyTorch: grid_sample at the samples of all regions of an image, and a reduction."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem
from benchmarks.torch_regions import samples, single, ways


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the ways of the direction; gradients are those of PyTorch. A sample each pixel has none."""
    torch: Any = importlib.import_module("torch")
    facts, operator = problem.case.parameters, problem.case.operator
    ratio = facts["ratio"]
    if not ratio or "max_backward" in operator:
        return {}
    rois, (rows, columns) = single(torch, problem.inputs["rois"]), facts["bins"]
    largest = "max" in operator

    def pooled(maps: Any) -> Any:
        left, top, right, bottom = (rois[:, 1 + i, None] * facts["scale"] - 0.5 for i in range(4))
        steps = [(torch.arange(count * ratio) + 0.5).to(rois.dtype) / ratio for count in (rows, columns)]
        y = top + steps[0] * ((bottom - top) / rows)
        x = left + steps[1] * ((right - left) / columns)
        shape = (len(rois), rows * ratio, columns * ratio)
        found = samples(torch, maps, rois[:, 0].long(), y[:, :, None].expand(shape), x[:, None].expand(shape))
        if ratio == 1:
            return found
        pool = torch.nn.functional.max_pool2d if largest else torch.nn.functional.avg_pool2d
        return pool(found, ratio)

    return ways(torch, pooled, dict(problem.inputs), outputs)
