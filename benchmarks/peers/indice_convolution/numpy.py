"""indice_convolution with NumPy: gather, matrix product and addition for each filter cell."""

from __future__ import annotations

import numpy as np

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the composition for the case's operator. The pairs of a cell have different outputs, so `+=` adds all."""
    inputs, out = problem.inputs, outputs["out"]
    cells = list(zip(inputs["indice_pairs"], inputs["indice_num"], strict=True))
    operator = problem.case.operator

    def product() -> Arrays:
        side = 0 if operator == "indice_convolution_forward" else 1
        source = inputs["features" if side == 0 else "outputs"].astype(np.float32)
        total = np.zeros(out.shape, np.float32)
        filters = inputs["filters"].reshape(-1, *inputs["filters"].shape[-2:]).astype(np.float32)
        for cell, (pairs, count) in zip(filters, cells, strict=True):
            total[pairs[1 - side, :count]] += source[pairs[side, :count]] @ (cell if side == 0 else cell.T)
        out[...] = total
        return outputs

    def gradient() -> Arrays:
        features, grad = (inputs[name].astype(np.float32) for name in ("features", "outputs"))
        total = out.reshape(-1, *out.shape[-2:])
        for k, (pairs, count) in enumerate(cells):
            total[k] = features[pairs[0, :count]].T @ grad[pairs[1, :count]]
        return outputs

    return {"gather, matmul, add": gradient if operator.endswith("filter") else product}
