"""tin_shift with PyTorch: copies of slices, or one gather of rows."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return two ways; neither is always the faster."""
    torch: Any = importlib.import_module("torch")
    source, target = torch.from_numpy(problem.inputs["input"]), torch.from_numpy(outputs["out"])
    shifts = torch.from_numpy(problem.inputs["shifts"])
    batch, steps, channels, positions = source.shape
    groups = shifts.shape[1]
    size = channels // groups
    old = source.view(batch, steps, groups, size * positions)
    new = target.view(batch, steps, groups, size * positions)

    def slices() -> Arrays:
        for b, row in enumerate(shifts.tolist()):
            for g, shift in enumerate(row):
                s = max(-steps, min(shift, steps))
                before, after = old[b, :, g], new[b, :, g]
                if s > 0:
                    after[:s].zero_()
                    after[s:].copy_(before[: steps - s])
                elif s < 0:
                    after[:s].copy_(before[-s:])
                    after[s:].zero_()
                else:
                    after.copy_(before)
        return outputs

    rows, new_rows = old.view(batch * steps * groups, -1), new.view(batch * steps * groups, -1)

    def index_select() -> Arrays:
        time = torch.arange(steps).view(1, steps, 1) - shifts.view(batch, 1, groups)
        lost = (time < 0) | (time >= steps)
        first = torch.arange(batch).view(batch, 1, 1) * steps
        index = (first + time.clamp(0, steps - 1)) * groups + torch.arange(groups)
        torch.index_select(rows, 0, index.view(-1), out=new_rows)
        new_rows.index_fill_(0, lost.view(-1).nonzero().view(-1), 0)
        return outputs

    return {"slices": slices, "index_select": index_select}
