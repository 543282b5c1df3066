"""dynamic_point_to_voxel with PyTorch: places as single numbers, and reductions by index."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return ways with `index_add_`, `scatter_reduce_` and `segment_reduce`; places fit into 21 bits."""
    torch: Any = importlib.import_module("torch")
    given = {name: torch.from_numpy(array) for name, array in problem.inputs.items()}
    out = {name: torch.from_numpy(array) for name, array in outputs.items()}
    reduce = problem.case.parameters["reduce"]
    if problem.case.operator.endswith("backward"):
        mean = reduce == "mean" and problem.case.operator == "dynamic_scatter_backward"
        return {"index_select": lambda: _backward(torch, given, out, mean, outputs)}

    def forward(way: str) -> Arrays:
        coors, feats = given["coors"].long(), given["feats"]
        keys = (coors[:, 0] << 42) | (coors[:, 1] << 21) | coors[:, 2]
        unique, inverse, counts = torch.unique(keys, return_inverse=True, return_counts=True)
        number = len(unique)
        found = out["voxel_feats"][:number]
        if way == "segment":
            order = torch.argsort(inverse, stable=True)
            torch_reduce = torch.segment_reduce(feats[order], reduce, lengths=counts)
            found.copy_(torch_reduce)
        elif reduce == "max":
            rows = inverse[:, None].expand_as(feats)
            found.fill_(-torch.inf).scatter_reduce_(0, rows, feats, "amax", include_self=True)
        else:
            found.zero_().index_add_(0, inverse, feats).div_(counts[:, None])
        mask = (1 << 21) - 1
        out["voxel_coors"][:number] = torch.stack([unique >> 42, unique >> 21 & mask, unique & mask], 1)
        out["point2voxel_map"].copy_(inverse)
        out["voxel_points_count"][:number] = counts
        out["voxel_num"][0] = number
        out["voxel_feats"][number:] = -torch.inf if reduce == "max" else 0
        out["voxel_coors"][number:], out["voxel_points_count"][number:] = -1, 0
        return outputs

    return {"index": lambda: forward("index"), "segment": lambda: forward("segment")}


def _backward(torch: Any, given: Any, out: Any, mean: bool, outputs: Arrays) -> Arrays:
    grad, feats, values, mapping, counts = given.values()
    index = mapping.long()
    if mean:
        torch.index_select(grad / counts[:, None], 0, index, out=out["out"])
    else:  # no two features are equal
        torch.mul(grad[index], feats == values[index], out=out["out"])
    return outputs
