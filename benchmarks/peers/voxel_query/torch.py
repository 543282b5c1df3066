"""voxel_query with PyTorch: all cells around some centres at a time, and the first of those that count."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem

#: Centres that are looked at together.
_BLOCK = 1024


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the way."""
    torch: Any = importlib.import_module("torch")
    facts, out = problem.case.parameters, torch.from_numpy(outputs["out"])
    centres, points, coords, cells = (torch.from_numpy(array) for array in problem.inputs.values())
    sides = [size for span in reversed(facts["ranges"]) for size in (span, span)]
    steps = torch.cartesian_prod(*(torch.arange(2 * span + 1) for span in facts["ranges"])).view(-1, 3)
    limit, count = facts["radius"] ** 2, facts["nsample"]

    def run() -> Arrays:
        padded = torch.nn.functional.pad(cells, sides, value=-1)
        for low in range(0, len(out), _BLOCK):
            part = slice(low, low + _BLOCK)
            z, y, x = (coords[part, 1:, None] + steps.t()[None]).unbind(1)
            found = padded[coords[part, :1].long(), z.long(), y.long(), x.long()]
            inside = found >= 0
            gap = points[torch.where(inside, found, 0).long()] - centres[part, None]
            inside &= (gap[..., 0] ** 2 + gap[..., 1] ** 2) + gap[..., 2] ** 2 <= limit
            order = (~inside).to(torch.uint8).sort(dim=1, stable=True).indices[:, :count]
            right, rows = inside.gather(1, order), found.gather(1, order)
            first = torch.where(right[:, :1], rows[:, :1], 0)
            out[part] = first
            out[part, : rows.shape[1]] = torch.where(right, rows, first)
            out[part, 0] = torch.where(right[:, 0], rows[:, 0], -1)
        return outputs

    return {"blocks": run}
