"""stack_three_interpolate with PyTorch: sums of bags of three rows, and rows added by index."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the way for the direction; float16 is computed in float32."""
    torch: Any = importlib.import_module("torch")
    forward, out = problem.case.operator.endswith("forward"), torch.from_numpy(outputs["out"])
    given = torch.from_numpy(problem.inputs["features" if forward else "grad_output"])
    indices, weights = (torch.from_numpy(problem.inputs[name]) for name in ("indices", "weights"))

    def interpolate() -> Arrays:
        sums = torch.nn.functional.embedding_bag(
            indices.long(), given.float(), mode="sum", per_sample_weights=weights.float()
        )
        out.copy_(sums)
        return outputs

    def add() -> Arrays:
        sums = torch.zeros(out.shape, dtype=torch.float32)
        for neighbour in range(3):
            rows = given.float() * weights[:, neighbour : neighbour + 1].float()
            sums.index_add_(0, indices[:, neighbour].long(), rows)
        out.copy_(sums)
        return outputs

    return {"embedding_bag": interpolate} if forward else {"index_add": add}
