"""knn with SciPy: a k-d tree of the points."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the one way."""
    spatial: Any = importlib.import_module("scipy.spatial")
    xyz, new_xyz, k = problem.inputs["xyz"], problem.inputs["new_xyz"], problem.case.parameters["k"]
    numbers = list(range(1, k + 1))

    def run() -> Arrays:
        for b in range(len(xyz)):
            distances, idx = spatial.cKDTree(xyz[b]).query(new_xyz[b], k=numbers, workers=threads)
            outputs["dist2"][b], outputs["idx"][b] = np.square(distances), idx
        return outputs

    return {"cKDTree": run}
