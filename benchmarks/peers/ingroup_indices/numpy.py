"""ingroup_indices with NumPy: a stable sort, and the distance from the first of each group."""

from __future__ import annotations

import numpy as np

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the sort, in one thread."""
    groups, out = problem.inputs["groups"], outputs["out"]

    def sort() -> Arrays:
        order = np.argsort(groups, kind="stable")
        ordered, places = groups[order], np.arange(len(groups), dtype=np.int32)
        first = np.append(True, ordered[1:] != ordered[:-1])
        out[order] = places - np.maximum.accumulate(np.where(first, places, 0))
        return outputs

    return {"stable sort": sort}
