"""indice_convolution with PyTorch: gather, matrix product and index_add for each filter cell."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the composition for the case's operator; indices are of PyTorch's kind beforehand."""
    torch: Any = importlib.import_module("torch")
    num = problem.inputs["indice_num"]
    pairs = [
        tuple(torch.from_numpy(side[:count]).long() for side in cell)
        for cell, count in zip(problem.inputs["indice_pairs"], num, strict=True)
    ]
    arrays = {name: torch.from_numpy(array) for name, array in problem.inputs.items() if not name.startswith("indice")}
    out = torch.from_numpy(outputs["out"])
    operator = problem.case.operator

    def forward() -> Arrays:
        convolve(arrays["features"], arrays["filters"].flatten(0, 2), pairs, out)
        return outputs

    def backward_data() -> Arrays:
        cells = arrays["filters"].flatten(0, 2)
        out.zero_()
        for cell, (targets, sources) in zip(cells, pairs, strict=True):
            out.index_add_(0, targets, arrays["outputs"][sources] @ cell.t())
        return outputs

    def backward_filter() -> Arrays:
        for cell, (sources, targets) in zip(out.flatten(0, 2), pairs, strict=True):
            torch.mm(arrays["features"][sources].t(), arrays["outputs"][targets], out=cell)
        return outputs

    ways = {
        "indice_convolution_forward": forward,
        "indice_convolution_backward_data": backward_data,
        "indice_convolution_backward_filter": backward_filter,
    }
    return {"gather, mm, index_add": ways[operator]}


def convolve(features: Any, cells: Any, pairs: Any, out: Any) -> Any:
    """Write the outputs; `pairs` has the rows of features and outputs for each filter cell."""
    out.zero_()
    for cell, (sources, targets) in zip(cells, pairs, strict=True):
        out.index_add_(0, targets, features[sources] @ cell)
    return out


def gradients(features: Any, cells: Any, pairs: Any, grad: Any, first: Any, second: Any) -> None:
    """Write the gradients of features, if `first` is not None, and of the cells; they share a gather."""
    if first is not None:
        first.zero_()
    for k, (sources, targets) in enumerate(pairs):
        part = grad[targets]
        if first is not None:
            first.index_add_(0, sources, part @ cells[k].t())
        second[k].addmm_(features[sources].t(), part, beta=0)
