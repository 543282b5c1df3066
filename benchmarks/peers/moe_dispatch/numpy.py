"""moe_dispatch with NumPy: rows at their places, and products. All samples go somewhere here."""

from __future__ import annotations

import numpy as np

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the way of the direction."""
    given, out = problem.inputs, outputs["out"]
    capacity = problem.case.parameters["capacity"]

    def run() -> Arrays:
        rows = given["indices"] * capacity + given["locations"]
        match problem.case.operator.removeprefix("moe_dispatch_"):
            case "forward":
                out[rows] = given["gates"][:, None] * given["input"]
            case "backward_data":
                np.multiply(given["dispatch"][rows], given["gates"][:, None], out=out)
            case _:
                np.einsum("ij,ij->i", given["dispatch"][rows], given["input"], out=out)
        return outputs

    return {"rows": run}
