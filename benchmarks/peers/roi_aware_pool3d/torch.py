"""roi_aware_pool3d with PyTorch: pairs of boxes and points in them sorted by their voxels, and reductions by index."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.peers.roi_aware_pool3d._voxels import keys
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the way of the direction; no two features are equal."""
    torch: Any = importlib.import_module("torch")
    given = {name: torch.from_numpy(array) for name, array in problem.inputs.items()}
    out = {name: torch.from_numpy(array) for name, array in outputs.items()}
    facts = problem.case.parameters
    average, slots = facts["method"] == "avg", facts["slots"]

    def forward() -> Arrays:
        rois, pts, feats = given.values()
        pooled, lists = out["pooled_features"].flatten(0, 3), out["pts_idx_of_voxels"].flatten(0, 3)
        voxel, point = keys(torch, rois, pts, facts["out"])
        voxel, order = voxel.long().sort(stable=True)
        point = point[order]
        counts = torch.bincount(voxel, minlength=len(pooled))
        rank = torch.arange(len(voxel)) - (counts.cumsum(0) - counts)[voxel]
        kept = rank < slots - 1
        voxel, point, rank = voxel[kept], point[kept], rank[kept]
        counts.clamp_(max=slots - 1)
        lists.zero_()
        lists[:, 0] = counts
        lists[voxel, rank + 1] = point.int()
        rows, index = feats[point], voxel[:, None].expand(-1, feats.shape[1])
        if average:
            pooled.zero_().index_add_(0, voxel, rows).div_(counts.clamp(min=1)[:, None])
            out["argmax"].zero_()
            return outputs
        pooled.fill_(-torch.inf).scatter_reduce_(0, index, rows, "amax")
        argmax = out["argmax"].flatten(0, 3).fill_(-1)
        pair, channel = torch.where(rows == pooled[voxel])
        argmax[voxel[pair], channel] = point[pair].int()
        pooled[pooled == -torch.inf] = 0
        return outputs

    def backward() -> Arrays:
        lists, argmax, grad = (given[name].flatten(0, 3) for name in ("lists", "argmax", "grad"))
        result = out["out"].zero_()
        if average:
            counts = lists[:, 0]
            mask = torch.arange(1, lists.shape[1]) <= counts[:, None]
            voxel, slot = torch.where(mask)
            point = lists[voxel, slot + 1].long()
            result.index_add_(0, point, (grad / counts.clamp(min=1)[:, None])[voxel])
        else:
            voxel, channel = torch.where(argmax >= 0)
            result.index_put_((argmax[voxel, channel].long(), channel), grad[voxel, channel], accumulate=True)
        return outputs

    return {"sorted": forward if problem.case.operator.endswith("forward") else backward}
