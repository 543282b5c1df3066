"""roi_crop with PyTorch: grid_sample, and its gradient."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return a way with maps in channels_last memory, and one that brings the channels to the front first."""
    torch: Any = importlib.import_module("torch")
    grid, out = torch.from_numpy(problem.inputs["grid"]), torch.from_numpy(outputs["out"])
    batch = problem.case.parameters["batch"]
    points = grid.flip(-1).reshape(batch, -1, grid.shape[2], 2)  # the regions of an image below each other

    def sample(maps: Any) -> Any:
        return torch.nn.functional.grid_sample(maps, points, align_corners=True)

    def forward(contiguous: bool) -> Arrays:
        maps = torch.from_numpy(problem.inputs["input"]).permute(0, 3, 1, 2)
        found = sample(maps.contiguous() if contiguous else maps)
        out.copy_(found.permute(0, 2, 3, 1).reshape(out.shape))
        return outputs

    def backward(contiguous: bool) -> Arrays:
        given = torch.from_numpy(problem.inputs["grad_output"])
        gradient = given.reshape(*points.shape[:3], -1).permute(0, 3, 1, 2)
        maps = torch.zeros(out.shape).permute(0, 3, 1, 2)
        found = torch.ops.aten.grid_sampler_2d_backward(
            gradient.contiguous() if contiguous else gradient,
            maps.contiguous() if contiguous else maps,
            points, 0, 0, True, [True, False],
        )[0]  # fmt: skip
        out.copy_(found.permute(0, 2, 3, 1))
        return outputs

    way = forward if problem.case.operator.endswith("forward") else backward
    return {"channels last": lambda: way(False), "channels first": lambda: way(True)}
