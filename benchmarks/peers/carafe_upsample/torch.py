"""carafe with PyTorch: shifted maps times cells of the weights, and unfolded windows times weights."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return both ways with channels in front; autograd finds the gradients."""
    torch: Any = importlib.import_module("torch")
    facts, first = problem.case.parameters, (0, 3, 1, 2)
    (height, width), scale, kernel, groups = facts["size"], facts["scale"], facts["kernel"], facts["groups"]
    given = {name: torch.from_numpy(array).permute(first).contiguous() for name, array in problem.inputs.items()}
    batch, channels, before = facts["batch"], facts["channels"], (facts["kernel"] - 1) // 2
    shape = batch, channels, height * scale, width * scale

    def shifted(maps: Any, mask: Any) -> Any:
        padded = torch.nn.functional.pad(maps, (before,) * 4)
        weights = mask.view(batch, groups, kernel**2, 1, height, scale, width, scale)
        total: Any = 0
        for cell in range(kernel**2):
            row, column = divmod(cell, kernel)
            part = padded[:, :, row : row + height, column : column + width]
            total = total + part.reshape(batch, groups, -1, height, 1, width, 1) * weights[:, :, cell]
        return total.reshape(shape)

    def unfolded(maps: Any, mask: Any) -> Any:
        windows = torch.nn.functional.unfold(maps, kernel, padding=before)
        windows = windows.view(batch, groups, channels // groups, kernel**2, height, 1, width, 1)
        weights = mask.view(batch, groups, 1, kernel**2, height, scale, width, scale)
        return torch.einsum("ngckhswt,ngdkhuwv->ngchuwv", windows, weights).reshape(shape)

    def last(name: str, found: Any) -> None:
        torch.from_numpy(outputs[name]).copy_(found.detach().permute(0, 2, 3, 1))

    def run(way: Any) -> Arrays:
        if problem.case.operator == "carafe_forward":
            with torch.no_grad():
                last("out", way(given["input"], given["mask"]))
            return outputs
        leaves = [given[name].detach().requires_grad_() for name in ("input", "mask")]
        gradients = torch.autograd.grad(way(*leaves), leaves, given["grad_output"])
        for name, gradient in zip(("grad_input", "grad_mask"), gradients, strict=True):
            last(name, gradient)
        return outputs

    return {"shifted maps": lambda: run(shifted), "unfolded windows": lambda: run(unfolded)}
