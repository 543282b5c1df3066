"""voxelization with numba: one loop over the points and a dense table of cells, as detectors in Python have it."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers import Variants
from benchmarks.peers.numba_support import inlined, parallel, prange
from benchmarks.problem import Arrays, Problem


def _each(points: Any, size: Any, extent: Any, grid: Any, coors: Any) -> None:
    for i in prange(len(points)):
        inside = True
        for axis in range(3):
            place = np.floor((points[i, axis] - extent[axis]) / size[axis])
            inside = inside and place >= 0 and place < grid[axis]
            coors[i, 2 - axis] = np.int32(place)
        if not inside:
            coors[i, 0] = coors[i, 1] = coors[i, 2] = -1


def _voxels(points: Any, size: Any, extent: Any, grid: Any, table: Any, voxels: Any, coors: Any, counts: Any) -> Any:
    rows, most = voxels.shape[0], voxels.shape[1]
    cell = np.zeros(3, np.int32)
    found = 0
    for i in range(len(points)):
        inside = True
        for axis in range(3):
            place = np.floor((points[i, axis] - extent[axis]) / size[axis])
            inside = inside and place >= 0 and place < grid[axis]
            cell[2 - axis] = np.int32(place) if inside else 0
        if not inside:
            continue
        voxel = table[cell[0], cell[1], cell[2]]
        if voxel < 0:
            if found == rows:
                continue
            voxel = found
            found += 1
            table[cell[0], cell[1], cell[2]] = voxel
            coors[voxel] = cell
        if counts[voxel] < most:
            voxels[voxel, counts[voxel]] = points[i]
            counts[voxel] += 1
    for voxel in range(found):  # the table stays for the next scan
        table[coors[voxel, 0], coors[voxel, 1], coors[voxel, 2]] = -1
    return found


_COMPILED: dict[str, Any] = {}


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the loop; the table is made once, as a program with many scans would."""
    points, size, extent = problem.inputs.values()
    grid = np.round((extent[3:] - extent[:3]) / size).astype(np.int64)
    if not _COMPILED:
        _COMPILED.update(each=parallel(_each), voxels=inlined(_voxels))

    def each() -> Arrays:
        _COMPILED["each"](points, size, extent, grid, outputs["coors"])
        return outputs

    if problem.case.operator == "dynamic_voxelize":
        return {"loop": each}
    table = np.full(grid[::-1], -1, np.int32)

    def voxels() -> Arrays:
        for array in outputs.values():
            array.fill(0)
        rows, coors, counts = (outputs[name] for name in ("voxels", "coors", "num_points_per_voxel"))
        outputs["voxel_num"][0] = _COMPILED["voxels"](points, size, extent, grid, table, rows, coors, counts)
        return outputs

    return {"loop": voxels}
