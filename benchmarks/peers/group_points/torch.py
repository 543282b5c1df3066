"""group_points with PyTorch: gather and scatter_add, rows of stacked features by index."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the way for the operator."""
    torch: Any = importlib.import_module("torch")
    forward, out = problem.case.operator.endswith("forward"), torch.from_numpy(outputs["out"])
    given = torch.from_numpy(problem.inputs["features" if forward else "grad_output"])
    idx, facts = torch.from_numpy(problem.inputs["idx"]), problem.case.parameters
    if problem.case.operator.startswith("stack"):
        return {"rows": _rows(torch, facts, forward, given, idx, out)}
    channels = given.shape[1]

    def places() -> Any:
        return idx.long().flatten(1)[:, None].expand(-1, channels, -1)

    def pick() -> Arrays:
        torch.gather(given, 2, places(), out=out.view(*out.shape[:2], -1))
        return outputs

    def add() -> Arrays:
        # Halves are added up in float32.
        sums = torch.zeros(out.shape, dtype=torch.float32)
        sums.scatter_add_(2, places(), given.flatten(2).float())
        out.copy_(sums)
        return outputs

    return {"gather": pick} if forward else {"scatter_add": add}


def _rows(torch: Any, facts: Any, forward: bool, given: Any, idx: Any, out: Any) -> Any:
    """Return the way for stacked features, whose indices begin with each batch."""
    batch, points, groups = (facts[name] for name in ("batch", "points", "groups"))
    first = torch.arange(0, batch * points, points).repeat_interleave(groups)[:, None]

    def pick() -> Arrays:
        out.copy_(given[idx.long() + first].transpose(1, 2))
        return {"out": out.numpy()}

    def add() -> Arrays:
        rows = given.transpose(1, 2).reshape(-1, given.shape[1]).float()
        sums = torch.zeros(out.shape, dtype=torch.float32)
        out.copy_(sums.index_add_(0, (idx.long() + first).flatten(), rows))
        return {"out": out.numpy()}

    return pick if forward else add
