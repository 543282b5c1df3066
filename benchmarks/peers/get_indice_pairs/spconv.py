"""get_indice_pairs of spconv, whose CPU build makes the same tables for its sparse convolutions."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.peers.get_indice_pairs._geometry import Geometry
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return spconv's own function with its native algorithm, the one that it has for CPUs."""
    torch: Any = importlib.import_module("torch")
    operators: Any = importlib.import_module("spconv.pytorch.ops")
    native = importlib.import_module("spconv.core").ConvAlgo.Native
    geometry = Geometry(problem)
    indices = torch.from_numpy(geometry.indices)
    kernel, one, zero = ([value] * 3 for value in (geometry.kernel, 1, 0))
    stride = list(geometry.strides)
    padding = list(geometry.padding)

    def call() -> Arrays:
        out, pairs, number = operators.get_indice_pairs(
            indices, geometry.batch, list(geometry.space), native, kernel, stride, padding, one, zero,
            geometry.submanifold, False,
        )  # fmt: skip
        # spconv has the inputs of all filter cells before their outputs; this is a view.
        swapped = pairs.transpose(0, 1)
        if geometry.symmetric:  # it counts half of the filter cells: the others have as many pairs
            half = number[: geometry.volume // 2]
            number = torch.cat([half, number.new_tensor([geometry.rows]), half.flip(0)])
        return {"out_indices": out.numpy(), "indice_pairs": swapped.numpy(), "indice_num": number.numpy()}

    return {"native": call}
