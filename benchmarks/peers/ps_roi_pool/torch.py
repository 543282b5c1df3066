"""ps_roi_pool with PyTorch: a matrix product along each axis, with matrices that have the pixels of each bin."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the way with einsum; the gradient is that of PyTorch."""
    torch: Any = importlib.import_module("torch")
    facts = problem.case.parameters
    bins, depth, scale, (height, width) = facts["bins"], facts["depth"], facts["scale"], facts["size"]
    rois = torch.from_numpy(problem.inputs["rois"])
    image = rois[:, 0].long()

    def inside(axis: int, size: int) -> Any:
        low, high = (c.sign() * (c.abs() + 0.5).floor() for c in (rois[:, 1 + axis], rois[:, 3 + axis]))
        start = (low * scale)[:, None]
        step = ((high + 1)[:, None] * scale - start).clamp(min=0.1) / bins
        number = torch.arange(bins)
        first, behind = (number * step + start).floor()[..., None], ((number + 1) * step + start).ceil()[..., None]
        pixel = torch.arange(size)
        return ((pixel >= first) & (pixel < behind)).float()

    def pooled(maps: Any) -> Any:
        rows, columns = inside(1, height), inside(0, width)
        result = torch.zeros(len(rois), bins, bins, depth)
        parts = maps.view(*maps.shape[:3], depth, bins, bins)
        for b in range(len(maps)):
            chosen = image == b
            narrow = torch.einsum("rjw,hwdij->rhdij", columns[chosen], parts[b])
            result[chosen] = torch.einsum("rih,rhdij->rijd", rows[chosen], narrow)
        area = rows.sum(2)[:, :, None] * columns.sum(2)[:, None, :]
        return result / area.clamp(min=1)[..., None]

    def forward() -> Arrays:
        torch.from_numpy(outputs["out"]).copy_(pooled(torch.from_numpy(problem.inputs["input"])))
        number = torch.arange(bins)
        own = torch.arange(depth) * bins * bins + (number[:, None] * bins + number)[..., None]
        torch.from_numpy(outputs["mapping_channel"]).copy_(own.expand(len(rois), bins, bins, depth))
        return outputs

    def backward() -> Arrays:
        maps = torch.zeros(outputs["out"].shape, requires_grad=True)
        (gradient,) = torch.autograd.grad(pooled(maps), maps, torch.from_numpy(problem.inputs["top_grad"]))
        torch.from_numpy(outputs["out"]).copy_(gradient)
        return outputs

    return {"einsum": forward if problem.case.operator.endswith("forward") else backward}
