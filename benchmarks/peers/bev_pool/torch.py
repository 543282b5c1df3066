"""bev_pool with PyTorch: rows added to their cells, and rows of the gradient looked up."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return two ways to add, or one to look up; every row lies in an interval."""
    torch: Any = importlib.import_module("torch")
    geometry, out = torch.from_numpy(problem.inputs["geometry"]), torch.from_numpy(outputs["out"])
    _, depth, height, width = problem.case.parameters["grid"]
    channels = problem.case.parameters["channels"]

    def cells() -> Any:
        h, w, d, b = geometry.long().unbind(1)
        return ((b * depth + d) * height + h) * width + w

    def forward(scatter: bool) -> Arrays:
        rows, flat = torch.from_numpy(problem.inputs["features"]), out.view(-1, channels).zero_()
        if scatter:
            flat.scatter_add_(0, cells()[:, None].expand(-1, channels), rows)
        else:
            flat.index_add_(0, cells(), rows)
        return outputs

    def backward() -> Arrays:
        gradient = torch.from_numpy(problem.inputs["grad_output"]).view(-1, channels)
        torch.index_select(gradient, 0, cells(), out=out)
        return outputs

    if problem.case.operator.endswith("forward"):
        return {"scatter_add": lambda: forward(True), "index_add": lambda: forward(False)}
    return {"index_select": backward}
