"""points_in_boxes with PyTorch: some points at a time and all boxes."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem

#: Pairs looked at together, which stay in the caches.
_PAIRS = 1 << 18


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the one way."""
    torch: Any = importlib.import_module("torch")
    points, boxes = torch.from_numpy(problem.inputs["points"]), torch.from_numpy(problem.inputs["boxes"])
    out = torch.from_numpy(outputs["out"])

    def run() -> Arrays:
        for b in range(len(points)):
            step = max(1, _PAIRS // boxes.shape[1])
            for start in range(0, points.shape[1], step):
                some = slice(start, start + step)
                held = inside(boxes[b], points[b, some])
                if out.ndim == 3:
                    out[b, some] = held
                    continue
                most, first = held.to(torch.uint8).max(1)
                out[b, some] = torch.where(most > 0, first, -1)
        return outputs

    return {"pairs": run}


def inside(boxes: Any, points: Any, margin: float = 1e-5) -> Any:
    """Return [N, M]: which points boxes hold, with z of their centres."""
    x, y, z = ((points[:, axis, None] - boxes[:, axis]) for axis in range(3))
    cosine, sine = (-boxes[:, 6]).cos(), (-boxes[:, 6]).sin()
    held = (x * cosine - y * sine).abs_() < boxes[:, 3] / 2 + margin
    held &= (x * sine + y * cosine).abs_() < boxes[:, 4] / 2 + margin
    held &= z.abs_() <= boxes[:, 5] / 2
    return held
