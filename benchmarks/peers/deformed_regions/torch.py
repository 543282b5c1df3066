"""deform_roi_pool with PyTorch: grid_sample at the samples of all regions of an image, and means."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem
from benchmarks.torch_regions import samples, ways


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the ways of the direction; gradients are those of PyTorch, which are the exact ones."""
    torch: Any = importlib.import_module("torch")
    facts, inputs = problem.case.parameters, problem.inputs
    ratio, (rows, columns) = facts["ratio"], facts["bins"]
    rois, given = torch.from_numpy(inputs["rois"]), torch.from_numpy(inputs["offset"])
    if rois.dtype == torch.float16 or problem.case.operator == "deform_roi_pool_backward":
        return {}

    def pooled(maps: Any, offset: Any = given) -> Any:
        left, top, right, bottom = (rois[:, 1 + i, None, None] * facts["scale"] - 0.5 for i in range(4))
        moved = (offset * facts["gamma"]).repeat_interleave(ratio, 2).repeat_interleave(ratio, 3)
        up, across = ((torch.arange(count * ratio) + 0.5).to(rois.dtype) / (count * ratio) for count in (rows, columns))
        y = top + (bottom - top) * (up[:, None] + moved[:, 1])
        x = left + (right - left) * (across[None] + moved[:, 0])
        found = samples(torch, maps, rois[:, 0].long(), y, x)
        return torch.nn.functional.avg_pool2d(found, ratio) if ratio > 1 else found

    if problem.case.operator == "deform_roi_pool_forward":
        return ways(torch, pooled, dict(inputs), outputs)

    def gradients(contiguous: bool) -> Arrays:
        maps, grad = (torch.from_numpy(inputs[name]).permute(0, 3, 1, 2) for name in ("input", "grad_output"))
        maps = (maps.contiguous() if contiguous else maps).detach().requires_grad_()
        offset = given.detach().requires_grad_()
        found = torch.autograd.grad(pooled(maps, offset), (maps, offset), grad)
        torch.from_numpy(outputs["grad_input"]).copy_(found[0].permute(0, 2, 3, 1))
        torch.from_numpy(outputs["grad_offset"]).copy_(found[1])
        return outputs

    return {"channels last": lambda: gradients(False), "channels first": lambda: gradients(True)}
