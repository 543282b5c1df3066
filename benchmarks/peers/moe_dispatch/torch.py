"""moe_dispatch with PyTorch: rows copied to, or taken from, their places, and products."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the ways of the direction. All samples go somewhere here, so nothing is masked."""
    torch: Any = importlib.import_module("torch")
    given = {name: torch.from_numpy(array) for name, array in problem.inputs.items()}
    out, capacity = torch.from_numpy(outputs["out"]), problem.case.parameters["capacity"]

    def rows() -> Any:
        return given["indices"].long() * capacity + given["locations"]

    def forward() -> Arrays:
        out.index_copy_(0, rows(), given["gates"][:, None] * given["input"])
        return outputs

    def assigned() -> Arrays:
        out[rows()] = given["gates"][:, None] * given["input"]
        return outputs

    def data() -> Arrays:
        torch.index_select(given["dispatch"], 0, rows(), out=out)
        out.mul_(given["gates"][:, None])
        return outputs

    def gate() -> Arrays:
        torch.sum(given["dispatch"].index_select(0, rows()) * given["input"], 1, out=out)
        return outputs

    def product() -> Arrays:
        values = given["dispatch"].index_select(0, rows())
        out.copy_(torch.bmm(values[:, None], given["input"][:, :, None])[:, 0, 0])
        return outputs

    ways = {
        "forward": {"index_copy": forward, "assignment": assigned},
        "backward_data": {"index_select": data},
        "backward_gate": {"sum": gate, "bmm": product},
    }
    return dict(ways[problem.case.operator.removeprefix("moe_dispatch_")])
