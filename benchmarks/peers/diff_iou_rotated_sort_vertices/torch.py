"""diff_iou_rotated_sort_vertices with PyTorch: angles, sorted."""

from __future__ import annotations

import importlib
import math
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the one way."""
    torch: Any = importlib.import_module("torch")
    vertices, mask, count = (torch.from_numpy(array) for array in problem.inputs.values())
    out, places = torch.from_numpy(outputs["out"]), torch.arange(9)

    def run() -> Arrays:
        angle = torch.atan2(vertices[..., 1], vertices[..., 0]) % (2 * math.pi)
        order = torch.where(mask, angle, math.inf).argsort(-1)[..., :9]
        corners = count[..., None]
        pad = 8 + mask[..., 8:].to(torch.int8).argmin(-1, keepdim=True)
        order = torch.where(places < corners, order, torch.where(places == corners, order[..., :1], pad))
        out.copy_(torch.where(corners < 3, pad, order))
        return outputs

    return {"argsort": run}
