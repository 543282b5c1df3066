"""points_in_polygons with PyTorch: all edges of all polygons, one after another."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the one way; points on borders, which are rare among random ones, are not looked for."""
    torch: Any = importlib.import_module("torch")
    points, polygons = (torch.from_numpy(array) for array in problem.inputs.values())
    out = torch.from_numpy(outputs["out"])

    def run() -> Arrays:
        x, y = points[:, :1], points[:, 1:]
        corners = polygons.reshape(-1, 4, 2)
        odd = torch.zeros(out.shape, dtype=torch.bool)
        for end in range(4):
            end_x, end_y = corners[:, end].unbind(1)
            begin_x, begin_y = corners[:, end - 1].unbind(1)
            passes = (y > end_y) != (y > begin_y)
            odd ^= passes & (end_x + (y - end_y) * (begin_x - end_x) / (begin_y - end_y) > x)
        out.copy_(odd)
        return outputs

    return {"edges": run}
