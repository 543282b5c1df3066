"""deform_conv with PyTorch: columns of the whole map by grid_sample, and a product with the filter."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.families.deform_conv import ROLES
from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return a way with channels in front, as PyTorch has them; autograd finds the gradients."""
    torch: Any = importlib.import_module("torch")
    facts, first = problem.case.parameters, (0, 3, 1, 2)
    batch, (height, width) = facts["batch"], facts["size"]
    group, deformable = facts["conv_group"], facts["deformable_group"]
    given = {name: torch.from_numpy(array).permute(first).contiguous() for name, array in problem.inputs.items()}
    if "filter" not in given:
        given["filter"] = torch.zeros(facts["out"], facts["in"] // group, 3, 3)
    rows = torch.arange(height).view(-1, 1) + torch.arange(-1, 2).repeat_interleave(3).view(-1, 1, 1)
    columns = torch.arange(width) + torch.arange(-1, 2).repeat(3).view(-1, 1, 1)

    def convolve(filter: Any, maps: Any, offset: Any, mask: Any) -> Any:
        shifts = offset.view(batch, deformable, 9, 2, height, width)
        y = (shifts[:, :, :, 0] + rows) * (2 / (height - 1)) - 1
        x = (shifts[:, :, :, 1] + columns) * (2 / (width - 1)) - 1
        grid = torch.stack((x, y), -1).view(batch * deformable, 9 * height, width, 2)
        parts = maps.view(batch * deformable, -1, height, width)
        found = torch.nn.functional.grid_sample(parts, grid, align_corners=True)
        found = found.view(batch, deformable, -1, 9, height, width) * mask.view(batch, deformable, 1, 9, height, width)
        product = filter.view(group, facts["out"] // group, -1) @ found.view(batch, group, -1, height * width)
        return product.view(batch, facts["out"], height, width)

    def last(name: str, found: Any) -> None:
        torch.from_numpy(outputs[name]).copy_(found.detach().permute(0, 2, 3, 1))

    names = ROLES[problem.case.operator][1].split()
    wanted = {"out": "filter", **{f"grad_{name}": name for name in ("input", "offset", "mask", "filter")}}

    def forward() -> Arrays:
        with torch.no_grad():
            last("out", convolve(given["filter"], given["input"], given["offset"], given["mask"]))
        return outputs

    def backward() -> Arrays:
        leaves = {name: given[name].detach().requires_grad_(f"grad_{name}" in names or
                                                           (name == "filter" and names == ["out"]))
                  for name in ("filter", "input", "offset", "mask")}  # fmt: skip
        found = convolve(*leaves.values())
        gradients = torch.autograd.grad(found, [leaves[wanted[name]] for name in names], given["grad_output"])
        for name, gradient in zip(names, gradients, strict=True):
            last(name, gradient)
        return outputs

    return {"grid_sample": forward if problem.case.operator == "deform_conv_forward" else backward}
