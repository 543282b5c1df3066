"""voxel_query with NumPy: all cells around some centres at a time, and the first of those that count."""

from __future__ import annotations

import numpy as np

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem
from benchmarks.threads import together


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the way; blocks of centres are shared among threads of Python."""
    facts, out = problem.case.parameters, outputs["out"]
    centres, points, coords, cells = problem.inputs.values()
    padding = [(0, 0), *((size, size) for size in facts["ranges"])]
    steps = np.stack(np.meshgrid(*(np.arange(2 * size + 1) for size in facts["ranges"]), indexing="ij"), -1)
    steps = steps.reshape(-1, 3)
    limit, count = np.float32(facts["radius"]) ** 2, facts["nsample"]

    def run() -> Arrays:
        padded = np.pad(cells, padding, constant_values=-1)

        def work(start: int, stop: int) -> None:
            for low in range(start * len(out) // threads, stop * len(out) // threads, 256):
                part = slice(low, min(low + 256, stop * len(out) // threads))
                z, y, x = (coords[part, 1:, None] + steps.T[None]).transpose(1, 0, 2)
                found = padded[coords[part, :1], z, y, x]
                inside = found >= 0
                gap = points[np.where(inside, found, 0)] - centres[part, None]
                inside &= (gap[..., 0] ** 2 + gap[..., 1] ** 2) + gap[..., 2] ** 2 <= limit
                order = np.argsort(~inside, 1, kind="stable")[:, :count]
                rows = np.take_along_axis(found, order, 1)
                right = np.take_along_axis(inside, order, 1)
                out[part] = 0
                out[part, : rows.shape[1]] = np.where(right, rows, np.where(right[:, :1], rows[:, :1], 0))
                out[part, rows.shape[1] :] = np.where(right[:, :1], rows[:, :1], 0)
                out[part, 0] = np.where(right[:, 0], rows[:, 0], -1)

        together(work, threads, threads)()
        return outputs

    return {"blocks": run}
