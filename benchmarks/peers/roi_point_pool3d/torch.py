"""roi_point_pool3d with PyTorch: all pairs of boxes and points, the smallest numbers that count, and a gather."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the one way."""
    torch: Any = importlib.import_module("torch")
    points, features, boxes = (torch.from_numpy(array) for array in problem.inputs.values())
    pooled, empty = (torch.from_numpy(outputs[name]) for name in ("pooled_features", "pooled_empty_flag"))
    samples, count = pooled.shape[2], points.shape[1]

    def run() -> Arrays:
        places, rows = points.float(), boxes.float()
        half = rows[..., 3:6, None] / 2
        x, y, z = (places[:, None, :, axis] - rows[..., axis, None] for axis in range(3))
        cosine, sine = (-rows[..., 6, None]).cos(), (-rows[..., 6, None]).sin()
        held = (z - half[:, :, 2]).abs_() <= half[:, :, 2]
        held &= (x * cosine - y * sine).abs_() < half[:, :, 0]
        held &= (x * sine + y * cosine).abs_() < half[:, :, 1]
        numbers = torch.where(held, torch.arange(count, dtype=torch.int32), count)
        most = min(samples, count)
        first = numbers.topk(most, dim=2, largest=False, sorted=True).values
        found = (first < count).sum(2, keepdim=True)
        empty.copy_(found[..., 0] == 0)
        chosen = first.gather(2, torch.arange(samples) % found.clamp(min=1)).clamp_(max=count - 1).long()
        batch = torch.arange(len(points))[:, None, None]
        pooled[..., :3], pooled[..., 3:] = points[batch, chosen], features[batch, chosen]
        pooled[found[..., 0] == 0] = 0
        return outputs

    return {"topk": run}
