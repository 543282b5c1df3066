"""prroi_pool with PyTorch: products of each region's image with the shares of its pixels along both axes."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem
from benchmarks.torch_regions import ways


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the ways of the direction; gradients are those of PyTorch."""
    torch: Any = importlib.import_module("torch")
    facts, inputs = problem.case.parameters, problem.inputs
    given = torch.from_numpy(inputs["rois"])

    def shares(low: Any, length: Any, bins: int, size: int) -> Any:
        begin = low[:, None, None] + torch.arange(bins)[:, None] * (length / bins)[:, None, None] - torch.arange(size)
        end = begin + (length / bins)[:, None, None]
        up, top, down, bottom = begin.clamp(-1, 0), end.clamp(-1, 0), begin.clamp(0, 1), end.clamp(0, 1)
        return (top - up) * (1 + (up + top) / 2) + (bottom - down) * (1 - (down + bottom) / 2)

    def pooled(maps: Any, rois: Any = given) -> Any:
        left, top, right, bottom = (rois[:, 1 + i] * facts["scale"] for i in range(4))
        (rows, columns), (height, width) = facts["bins"], facts["size"]
        down, across = shares(top, bottom - top, rows, height), shares(left, right - left, columns, width)
        area = (bottom - top) / rows * ((right - left) / columns)
        sums = [down[r] @ maps[image] @ across[r].T for r, image in enumerate(rois[:, 0].long().tolist())]
        return torch.stack(sums) / area[:, None, None, None]

    if problem.case.operator != "prroi_pool_coor_backward":
        return ways(torch, pooled, dict(inputs), outputs)

    def corners() -> Arrays:
        maps, grad = (torch.from_numpy(inputs[name]).permute(0, 3, 1, 2) for name in ("input", "grad_output"))
        rois = given.clone().requires_grad_()
        (found,) = torch.autograd.grad(pooled(maps.contiguous(), rois), rois, grad)
        torch.from_numpy(outputs["out"]).copy_(found)
        return outputs

    return {"channels first": corners}
