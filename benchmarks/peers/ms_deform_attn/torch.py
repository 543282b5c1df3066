"""ms_deform_attn with PyTorch: a grid_sample for each map, and autograd for the gradients."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the one way of the direction."""
    torch: Any = importlib.import_module("torch")
    given = {name: torch.from_numpy(array) for name, array in problem.inputs.items()}
    leaves = [given[name] for name in ("value", "sampling_loc", "attn_weight")]
    maps = problem.inputs["spatial_shapes"].tolist()

    def forward() -> Arrays:
        with torch.no_grad():
            torch.from_numpy(outputs["out"]).copy_(attention(torch, maps, *leaves))
        return outputs

    def backward() -> Arrays:
        tracked = [leaf.detach().requires_grad_() for leaf in leaves]
        gradients = torch.autograd.grad(attention(torch, maps, *tracked), tracked, given["grad_output"])
        for name, gradient in zip(("grad_value", "grad_sampling_loc", "grad_attn_weight"), gradients, strict=True):
            torch.from_numpy(outputs[name]).copy_(gradient)
        return outputs

    return {"grid_sample": forward if problem.case.operator.endswith("forward") else backward}


def attention(torch: Any, maps: list[list[int]], value: Any, places: Any, weights: Any) -> Any:
    """Return the weighted sums [B, Q, M, C]; heads are images of their own."""
    batch, _, heads, channels = value.shape
    queries = places.shape[1]
    grids = (2 * places - 1).permute(3, 0, 2, 1, 4, 5).flatten(1, 2)  # [L, B*M, Q, P, 2]
    parts = weights.permute(3, 0, 2, 1, 4).flatten(1, 2).unsqueeze(2)  # [L, B*M, 1, Q, P]
    total: Any = 0
    start = 0
    for level, (height, width) in enumerate(maps):
        image = value[:, start : start + height * width].permute(0, 2, 3, 1).reshape(-1, channels, height, width)
        sampled = torch.nn.functional.grid_sample(image, grids[level], align_corners=False)
        total = total + (sampled * parts[level]).sum(3)
        start += height * width
    return total.view(batch, heads, channels, queries).permute(0, 3, 1, 2)
