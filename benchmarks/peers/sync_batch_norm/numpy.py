"""The steps of batch normalisation with NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.families.sync_batch_norm import EPS
from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the one way, with one thread of Python."""
    operator, given = problem.case.operator.removeprefix("sync_batch_norm_"), problem.inputs

    def wide(name: str) -> Any:
        return given[name][:, None]

    def run() -> Arrays:
        found: tuple[Any, ...]
        if operator == "stats":
            x = given["x"].astype(np.float32, copy=False)
            found = x.mean((0, 2)), 1 / np.sqrt(x.var((0, 2)) + np.float32(EPS))
        elif operator == "gather_stats_with_counts":
            counts = given["count_all"][:, None]
            total = counts.sum()
            mean = (given["mean_all"] * counts).sum(0) / total
            own = 1 / given["invstd_all"] ** 2 - EPS + (given["mean_all"] - mean) ** 2
            var = (own * counts).sum(0) / total
            found = mean, 1 / np.sqrt(var + EPS), var * total / (total - 1)
        elif operator == "elemt":
            scale = wide("invstd") * wide("filter")
            found = (given["x"] * scale + (wide("bias") - wide("mean") * scale),)
        elif operator == "backward_reduce":
            total = given["dy"].sum((0, 2))
            products = np.einsum("ncs,ncs->c", given["dy"], given["x"]) - total * given["mean"]
            found = products * given["invstd"], total, total, products
        else:
            scale = wide("invstd") * wide("filter")
            factor = wide("invstd") ** 2 * wide("mean_dy_xmu")
            rest = (wide("mean") * factor - wide("mean_dy")) * scale
            found = (given["dy"] * scale - given["x"] * (factor * scale) + rest,)
        for array, values in zip(outputs.values(), found, strict=True):
            array[...] = values
        return outputs

    return {"arrays": run}
