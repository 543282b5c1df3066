"""ingroup_indices with PyTorch: a stable sort, and the distance from the first of each group."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the sort."""
    torch: Any = importlib.import_module("torch")
    groups, out = torch.from_numpy(problem.inputs["groups"]), torch.from_numpy(outputs["out"])

    def sort() -> Arrays:
        ordered, order = groups.sort(stable=True)
        places = torch.arange(len(groups), dtype=torch.int32)
        first = torch.ones(len(groups), dtype=torch.bool)
        first[1:] = ordered[1:] != ordered[:-1]
        out[order] = places - torch.where(first, places, 0).cummax(0).values
        return outputs

    return {"stable sort": sort}
