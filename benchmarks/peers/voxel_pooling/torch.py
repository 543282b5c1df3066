"""voxel_pooling with PyTorch: `index_add_` at the numbers of the pixels, with one behind the last for other points."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the way of the direction."""
    torch: Any = importlib.import_module("torch")
    given = {name: torch.from_numpy(array) for name, array in problem.inputs.items()}
    out = {name: torch.from_numpy(array) for name, array in outputs.items()}
    width, height, depth = problem.case.parameters["voxels"]

    def forward() -> Arrays:
        geom, features = given["geom"].long(), given["features"]
        batch, _, channels = features.shape
        inside = ((geom >= 0) & (geom < torch.tensor([width, height, depth]))).all(2)
        x, y, _ = geom.unbind(2)
        number = torch.arange(batch)[:, None].expand_as(x)
        pixel = torch.where(inside, (number * height + y) * width + x, batch * height * width)
        sums = features.new_zeros(batch * height * width + 1, channels)
        sums.index_add_(0, pixel.flatten(), features.flatten(0, 1))
        out["output_features"].copy_(sums[:-1].view(batch, height, width, channels))
        out["pos_memo"].copy_(torch.where(inside[..., None], torch.stack([number, y, x], 2), -1))
        return outputs

    def backward() -> Arrays:
        grad, memo = given["grad"], given["memo"].long()
        flat = torch.cat([grad.flatten(0, 2), grad.new_zeros(1, grad.shape[3])])
        batch, y, x = memo.unbind(2)
        pixel = torch.where(batch >= 0, (batch * height + y) * width + x, len(flat) - 1)
        torch.index_select(flat, 0, pixel.flatten(), out=out["out"].view(-1, grad.shape[3]))
        return outputs

    return {"index_add": forward} if problem.case.operator.endswith("forward") else {"index_select": backward}
