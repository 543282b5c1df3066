"""ball_query with SciPy: a k-d tree of the points."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the one way; there is none for float16, whose rounded distances a tree does not know."""
    if problem.case.dtype == "float16":
        return {}
    spatial: Any = importlib.import_module("scipy.spatial")
    centres, points, out = problem.inputs["new_xyz"], problem.inputs["xyz"], outputs["out"]
    # The tree takes points at the distance itself as well.
    radius = np.nextafter(np.float32(problem.case.parameters["radius"]), np.float32(0))

    def run() -> Arrays:
        for b in range(len(centres)):
            tree = spatial.cKDTree(points[b])
            found = tree.query_ball_point(centres[b], radius, return_sorted=True, workers=threads)
            for row, numbers in zip(out[b], found, strict=True):
                some = numbers[: len(row)]
                row[:] = some[0] if some else 0
                row[: len(some)] = some
        return outputs

    return {"cKDTree": run}
