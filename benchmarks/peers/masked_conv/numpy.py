"""masked_conv with NumPy: a padded map, indexed by the cells of all windows."""

from __future__ import annotations

import numpy as np

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the way for the direction, with one thread of Python."""
    kernel, rows, columns = (
        problem.case.parameters["kernel"], problem.inputs["mask_h_idx"], problem.inputs["mask_w_idx"],
    )  # fmt: skip
    before = kernel // 2
    steps = np.arange(kernel)

    def gather() -> Arrays:
        padded = np.pad(problem.inputs["feature"][0], ((0, 0), (before, before), (before, before)))
        windows = padded[:, rows + steps[:, None, None], columns + steps[:, None]]
        outputs["out"][...] = windows.reshape(outputs["out"].shape)
        return outputs

    def scatter() -> Arrays:
        outputs["out"][...] = 0
        outputs["out"][0][:, rows, columns] = problem.inputs["col"]
        return outputs

    return {"indices": gather if problem.case.operator == "masked_im2col_forward" else scatter}
