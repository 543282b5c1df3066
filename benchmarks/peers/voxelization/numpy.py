"""voxelization with NumPy: cells as single numbers, whose first points tell the order of the voxels."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers import Variants
from benchmarks.problem import Array, Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the way with `numpy.unique`."""
    points, size, extent = problem.inputs.values()

    def cells() -> tuple[Array, Array]:
        grid = np.round((extent[3:] - extent[:3]) / size)
        place = np.floor((points[:, :3] - extent[:3]) / size)
        inside: Any = ((place >= 0) & (place < grid)).all(axis=1)
        return place, inside

    def each() -> Arrays:
        place, inside = cells()
        outputs["coors"][...] = np.where(inside[:, None], place[:, ::-1], -1)
        return outputs

    def voxels() -> Arrays:
        place, inside = cells()
        kept = np.flatnonzero(inside)
        _gather(points, kept, place[kept].astype(np.int64), outputs)
        return outputs

    return {"unique": each if problem.case.operator == "dynamic_voxelize" else voxels}


def _gather(points: Array, kept: Array, place: Array, outputs: Arrays) -> None:
    """Number the voxels in the order of their first points, and the points of each."""
    rows, most = outputs["voxels"].shape[:2]
    keys: Any = (place[:, 0] << 42) | (place[:, 1] << 21) | place[:, 2]
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    number = np.empty(len(first), np.int64)
    number[np.argsort(first, kind="stable")] = np.arange(len(first))
    voxel = number[inverse]
    order = np.argsort(voxel, kind="stable")
    starts = np.searchsorted(voxel[order], np.arange(len(first)))
    rank = np.empty(len(voxel), np.int64)
    rank[order] = np.arange(len(voxel)) - starts[voxel[order]]
    for array in outputs.values():
        array.fill(0)
    fits = (voxel < rows) & (rank < most)
    outputs["voxels"][voxel[fits], rank[fits]] = points[kept[fits]]
    found = min(len(first), rows)
    outputs["coors"][:found] = place[np.sort(first)[:found], ::-1]
    outputs["num_points_per_voxel"][:found] = np.minimum(np.bincount(voxel, minlength=found)[:found], most)
    outputs["voxel_num"][0] = found
