"""masked_conv with PyTorch: a padded map, indexed by the cells of all windows, and all windows unfolded."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the ways for the direction."""
    torch: Any = importlib.import_module("torch")
    kernel, before = problem.case.parameters["kernel"], problem.case.parameters["kernel"] // 2
    given = {name: torch.from_numpy(array) for name, array in problem.inputs.items()}
    out, steps = torch.from_numpy(outputs["out"]), torch.arange(kernel)
    rows, columns = given["mask_h_idx"].long(), given["mask_w_idx"].long()

    def indexed() -> Arrays:
        padded = torch.nn.functional.pad(given["feature"][0], (before,) * 4)
        out.copy_(padded[:, rows + steps[:, None, None], columns + steps[:, None]].view(out.shape))
        return outputs

    def unfolded() -> Arrays:
        windows = torch.nn.functional.unfold(given["feature"], kernel, padding=before)
        torch.index_select(windows[0], 1, rows * given["feature"].shape[3] + columns, out=out)
        return outputs

    def scattered() -> Arrays:
        out.zero_()
        out[0][:, rows, columns] = given["col"]
        return outputs

    if problem.case.operator == "masked_im2col_forward":
        return {"indices": indexed, "unfolded windows": unfolded}
    return {"indices": scattered}
