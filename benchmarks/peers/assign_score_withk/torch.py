"""assign_score_withk with PyTorch: gathered features and a product, and the gradients by index_add."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the one way."""
    torch: Any = importlib.import_module("torch")
    given = {name: torch.from_numpy(array) for name, array in problem.inputs.items()}
    out = {name: torch.from_numpy(array) for name, array in outputs.items()}
    points, centers, scores, numbers = (given[name] for name in ("points", "centers", "scores", "knn_idx"))
    neighbours = numbers.long().flatten(1)
    middles = numbers[..., :1].expand_as(numbers).long().flatten(1)

    def apart(b: int) -> Any:
        rows = points[b].index_select(0, neighbours[b]) - centers[b].index_select(0, middles[b])
        return rows.reshape(*numbers.shape[1:], *points.shape[2:])

    def forward() -> Arrays:
        for b in range(len(points)):
            out["out"][b] = torch.einsum("nkmo,nkm->onk", apart(b), scores[b])
        return outputs

    def backward() -> Arrays:
        grad = given["grad_output"]
        for name in ("grad_points", "grad_centers"):
            out[name].zero_()
        for b in range(len(points)):
            out["grad_scores"][b] = torch.einsum("nkmo,onk->nkm", apart(b), grad[b])
            part = torch.einsum("nkm,onk->nkmo", scores[b], grad[b]).flatten(0, 1)
            out["grad_points"][b].index_add_(0, neighbours[b], part)
            out["grad_centers"][b].index_add_(0, middles[b], part, alpha=-1)
        return outputs

    return {"einsum": forward if problem.case.operator.endswith("forward") else backward}
