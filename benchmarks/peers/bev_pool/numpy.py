"""bev_pool with NumPy: sums between the starts of intervals, and rows repeated."""

from __future__ import annotations

import numpy as np

from benchmarks.peers import Variants
from benchmarks.problem import Array, Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the way for the direction, in one thread; intervals follow each other."""
    forward = problem.case.operator.endswith("forward")
    starts, lengths = problem.inputs["interval_starts"], problem.inputs["interval_lengths"]

    def add() -> Arrays:
        cells = outputs["out"].reshape(-1, outputs["out"].shape[4])
        cells[...] = 0
        cells[_cells(problem)] = np.add.reduceat(problem.inputs["features"], starts, axis=0)
        return outputs

    def spread() -> Arrays:
        gradient = problem.inputs["grad_output"]
        rows = gradient.reshape(-1, gradient.shape[4])[_cells(problem)]
        outputs["out"][...] = np.repeat(rows, lengths, axis=0)
        return outputs

    return {"reduceat": add} if forward else {"repeat": spread}


def _cells(problem: Problem) -> Array:
    """Return the number of the cell of each interval."""
    h, w, d, b = problem.inputs["geometry"][problem.inputs["interval_starts"]].T.astype(np.int64)
    _, depth, height, width = problem.case.parameters["grid"]
    cells: Array = ((b * depth + d) * height + h) * width + w
    return cells
