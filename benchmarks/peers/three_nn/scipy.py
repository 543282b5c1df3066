"""three_nn with SciPy: a k-d tree of the known points."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the one way."""
    spatial: Any = importlib.import_module("scipy.spatial")
    unknown, known = problem.inputs["unknown"], problem.inputs["known"]

    def run() -> Arrays:
        for b in range(len(unknown)):
            distances, idx = spatial.cKDTree(known[b]).query(unknown[b], k=3, workers=threads)
            outputs["dist2"][b], outputs["idx"][b] = np.square(distances), idx
        return outputs

    return {"cKDTree": run}
