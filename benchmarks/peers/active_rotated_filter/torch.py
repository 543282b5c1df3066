"""active_rotated_filter with PyTorch: the inverse of the table as an index, and a product with a matrix of moves."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the ways of the direction."""
    torch: Any = importlib.import_module("torch")
    facts = problem.case.parameters
    filters, planes, rotations = facts["filters"], facts["planes"], facts["rotations"]
    cells = facts["orientations"] * facts["side"] ** 2
    out, indices = torch.from_numpy(outputs["out"]), torch.from_numpy(problem.inputs["indices"])
    places = indices.view(cells, rotations).T.long() - 1  # [R, E]

    def gathered() -> Arrays:
        plain = torch.from_numpy(problem.inputs["input"]).view(filters, planes, cells)
        found = plain[:, :, places.argsort(1)]  # [O, I, R, E]
        out.view(filters, rotations, planes, cells).copy_(found.transpose(1, 2))
        return outputs

    def selected() -> Arrays:
        plain = torch.from_numpy(problem.inputs["input"]).view(filters * planes, cells)
        for q, sources in enumerate(places.argsort(1)):
            part = plain.index_select(1, sources).view(filters, planes, cells)
            out.view(filters, rotations, planes, cells)[:, q].copy_(part)
        return outputs

    def collected() -> Arrays:
        rotated = torch.from_numpy(problem.inputs["grad_output"]).view(filters, rotations, planes, cells)
        sums: Any = sum(rotated[:, q].index_select(2, at) for q, at in enumerate(places))
        out.copy_(sums.view(out.shape))
        return outputs

    def multiplied() -> Arrays:
        rotated = torch.from_numpy(problem.inputs["grad_output"]).view(filters, rotations, planes, cells)
        moves = (places[..., None] == torch.arange(cells)).to(rotated.dtype)
        out.copy_(torch.einsum("oqie,qle->oil", rotated, moves).view(out.shape))
        return outputs

    if problem.case.operator == "active_rotated_filter_forward":
        return {"an index": gathered, "an index for each rotation": selected}
    if out.dtype == torch.float16:  # added up in float16
        return {}
    return {"an index for each rotation": collected, "a product": multiplied}
