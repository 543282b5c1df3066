"""logspace with NumPy's own, which computes in float64."""

from __future__ import annotations

import numpy as np

from benchmarks.families.logspace import RANGE
from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the one way."""

    def run() -> Arrays:
        outputs["out"][...] = np.logspace(*RANGE, len(outputs["out"]))
        return outputs

    return {"function": run}
