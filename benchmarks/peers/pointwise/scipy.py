"""pointwise with SciPy: the logarithm of the gamma function."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the one way, or none."""
    special: Any = importlib.import_module("scipy.special")
    x, out = problem.inputs.get("x"), outputs["out"]

    def run() -> Arrays:
        special.gammaln(x, out=out)
        return outputs

    return {"gammaln": run} if problem.case.operator == "lgamma" and out.dtype != "float16" else {}
