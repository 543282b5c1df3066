"""chamfer_distance with PyTorch: all squared distances of some points, and their minima; gradients by scatter_add."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem

#: Distances computed at once, which stay in the caches.
_CELLS = 1 << 18


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the one way."""
    torch: Any = importlib.import_module("torch")
    given = [torch.from_numpy(array) for array in problem.inputs.values()]
    out = {name: torch.from_numpy(array) for name, array in outputs.items()}

    def forward() -> Arrays:
        for b in range(len(given[0])):
            for own, other, number in ((given[0][b], given[1][b], 1), (given[1][b], given[0][b], 2)):
                _nearest(torch, own, other, out[f"dist{number}"][b], out[f"idx{number}"][b])
        return outputs

    def backward() -> Arrays:
        xyz1, xyz2, idx1, idx2, grad1, grad2 = given
        out["grad_xyz1"].zero_()
        out["grad_xyz2"].zero_()
        for own, other, idx, grad, number in ((xyz1, xyz2, idx1, grad1, 1), (xyz2, xyz1, idx2, grad2, 2)):
            places = idx.long()[..., None].expand(-1, -1, 2)
            part = 2 * grad[..., None] * (own - other.gather(1, places))
            out[f"grad_xyz{number}"].add_(part)
            out[f"grad_xyz{3 - number}"].scatter_add_(1, places, -part)
        return outputs

    return {"scatter_add": backward} if problem.case.operator.endswith("backward") else {"min": forward}


def _nearest(torch: Any, own: Any, other: Any, dist: Any, idx: Any) -> None:
    x, y = other.t().contiguous()
    step = max(1, _CELLS // len(other))
    for start in range(0, len(own), step):
        rows = own[start : start + step]
        squared = (x - rows[:, :1]).square_().add_((y - rows[:, 1:]).square_())
        least, place = squared.min(1)
        dist[start : start + step], idx[start : start + step] = least, place
