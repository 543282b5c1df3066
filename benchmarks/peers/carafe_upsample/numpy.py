"""carafe with NumPy: shifted maps times cells of the weights."""

from __future__ import annotations

import numpy as np

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the way for the direction, with one thread of Python."""
    facts = problem.case.parameters
    (height, width), scale, kernel, groups = facts["size"], facts["scale"], facts["kernel"], facts["groups"]
    batch, before = facts["batch"], (facts["kernel"] - 1) // 2
    weights = problem.inputs["mask"].reshape(batch, height, scale, width, scale, groups, kernel**2, 1)

    def run() -> Arrays:
        padded = np.pad(problem.inputs["input"], ((0, 0), (before, before), (before, before), (0, 0)))
        padded = padded.reshape(*padded.shape[:3], groups, -1)
        shape = batch, height, scale, width, scale, groups, facts["channels"] // groups
        forward = problem.case.operator == "carafe_forward"
        total, d_mask = np.zeros(shape, np.float32), np.zeros(weights.shape, np.float32)
        d_padded, grad = np.zeros_like(padded), problem.inputs.get("grad_output", total).reshape(shape)
        for cell in range(kernel**2):
            row, column = divmod(cell, kernel)
            window = np.s_[:, row : row + height, column : column + width]
            part = padded[window][:, :, None, :, None]
            if forward:
                total += part * weights[..., cell, :]
            else:
                d_mask[..., cell, 0] = (part * grad).sum(-1)
                d_padded[window] += (weights[..., cell, :] * grad).sum((2, 4))
        if forward:
            outputs["out"][...] = total.reshape(outputs["out"].shape)
        else:
            inside = np.s_[:, before : before + height, before : before + width]
            outputs["grad_input"][...] = d_padded[inside].reshape(outputs["grad_input"].shape)
            outputs["grad_mask"][...] = d_mask.reshape(outputs["grad_mask"].shape)
        return outputs

    return {"shifted maps": run}
