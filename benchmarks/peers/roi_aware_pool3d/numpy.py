"""roi_aware_pool3d with NumPy: pairs of boxes and points in them sorted by their voxels, and reductions of rows."""

from __future__ import annotations

import numpy as np

from benchmarks.peers import Variants
from benchmarks.peers.roi_aware_pool3d._voxels import keys
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the way of the direction; no two features are equal."""
    if problem.case.operator.endswith("backward"):
        return {"add.at": lambda: _backward(problem, outputs)}
    return {"sorted": lambda: _forward(problem, outputs)}


def _forward(problem: Problem, outputs: Arrays) -> Arrays:
    rois, pts, feats = problem.inputs.values()
    facts = problem.case.parameters
    slots, channels = facts["slots"], feats.shape[1]
    pooled = outputs["pooled_features"].reshape(-1, channels)
    argmax, lists = outputs["argmax"].reshape(-1, channels), outputs["pts_idx_of_voxels"].reshape(-1, slots)
    voxel, point = keys(np, rois, pts, facts["out"])
    voxel = voxel.astype(np.int64)
    order = np.argsort(voxel, kind="stable")
    voxel, point = voxel[order], point[order]
    counts = np.bincount(voxel, minlength=len(pooled))
    rank = np.arange(len(voxel)) - (np.cumsum(counts) - counts)[voxel]
    kept = rank < slots - 1
    voxel, point, rank = voxel[kept], point[kept], rank[kept]
    counts = np.minimum(counts, slots - 1)
    lists.fill(0)
    lists[:, 0] = counts
    lists[voxel, rank + 1] = point
    pooled.fill(0)
    argmax.fill(0 if facts["method"] == "avg" else -1)
    starts = np.flatnonzero(np.diff(voxel, prepend=-1))
    if not len(voxel):
        return outputs
    rows, found = feats[point], voxel[starts]
    if facts["method"] == "avg":
        pooled[found] = np.add.reduceat(rows, starts, axis=0) / counts[found, None]
    else:
        pooled[found] = np.maximum.reduceat(rows, starts, axis=0)
        pair, channel = np.nonzero(rows == pooled[voxel])
        argmax[voxel[pair], channel] = point[pair]
    return outputs


def _backward(problem: Problem, outputs: Arrays) -> Arrays:
    lists, argmax, grad = (array.reshape(-1, array.shape[-1]) for array in problem.inputs.values())
    out = outputs["out"]
    out.fill(0)
    if problem.case.parameters["method"] == "avg":
        voxel, slot = np.nonzero(np.arange(1, lists.shape[1]) <= lists[:, :1])
        np.add.at(out, lists[voxel, slot + 1], grad[voxel] / lists[voxel, :1])
    else:
        voxel, channel = np.nonzero(argmax >= 0)
        np.add.at(out, (argmax[voxel, channel], channel), grad[voxel, channel])
    return outputs
