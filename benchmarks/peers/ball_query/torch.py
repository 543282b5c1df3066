"""ball_query with PyTorch: squared distances of some centres to all points, and the smallest indices that count."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem

#: Distances computed at once, which stay in the caches.
_CELLS = 1 << 18


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the one way. The differences are rounded like those of the operator, which a matrix product is not."""
    torch: Any = importlib.import_module("torch")
    centres, points = (torch.from_numpy(problem.inputs[name]) for name in ("new_xyz", "xyz"))
    out = torch.from_numpy(outputs["out"])
    radius = torch.tensor(problem.case.parameters["radius"], dtype=torch.float32)

    def run() -> Arrays:
        for b in range(len(centres)):
            planes = points[b].t().contiguous()
            step = max(1, _CELLS // planes.shape[1])
            for start in range(0, centres.shape[1], step):
                _some(torch, centres[b, start : start + step], planes, radius, out[b, start : start + step])
        return outputs

    return {"topk": run}


def _some(torch: Any, centres: Any, planes: Any, radius: Any, out: Any) -> None:
    """Find the points of some centres."""
    x, y, z = ((planes[axis] - centres[:, axis : axis + 1]).square_() for axis in range(3))
    near = x.add_(y).add_(z) < radius * radius
    count = planes.shape[1]
    numbers = torch.where(near, torch.arange(count, dtype=torch.int32), count)
    most = min(out.shape[1], count)
    found = torch.topk(numbers, most, dim=1, largest=False, sorted=True).values
    first = found[:, :1] % count  # 0 where there is no point
    out[:, :most] = torch.where(found == count, first, found)
    out[:, most:] = first
