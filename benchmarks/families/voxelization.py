"""voxelization: the points of each cell of a grid, and the cell of each point."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Array, Arrays, Problem, TensorCall, TinyCall, generator, same_bits
from benchmarks.scans import street


def build(case: Case) -> Problem:
    """Make a scan, and the grid of a detector; points stay away from the faces of cells, where roundings differ."""
    facts = case.parameters
    size, extent = (np.array(facts[name], np.float32) for name in ("size", "range"))
    points = away_from_faces(street(generator(case), facts["points"], facts["features"]), size, extent)
    points = points.astype(case.dtype)
    inputs = {"points": points, "voxel_size": size.astype(case.dtype), "coors_range": extent.astype(case.dtype)}
    if case.operator == "dynamic_voxelize":
        return _cells(case, inputs)
    arrays = (inputs["points"], inputs["voxel_size"], inputs["coors_range"])
    most, rows = facts["max_points"], facts["max_voxels"]

    def run(out: Arrays) -> Arrays:
        given: dict[str, Any] = {**out}
        pymluops.voxelization(*arrays, most, rows, **given)
        return out

    whole = np.dtype(np.int32)
    outputs = {
        "voxels": ((rows, most, points.shape[1]), points.dtype), "coors": ((rows, 3), whole),
        "num_points_per_voxel": ((rows,), whole), "voxel_num": ((1,), whole),
    }  # fmt: skip
    return Problem(case, inputs, outputs, run, same_bits)


def away_from_faces(points: Array, size: Array, extent: Array) -> Array:
    """Return the points, those within a hundredth of a cell of a face moved a tenth of one."""
    place = (points[:, :3] - extent[:3]) / size
    near = np.abs(place - np.round(place)) < 0.01
    moved = points.copy()
    moved[:, :3] += near * 0.1 * size
    return moved


def _cells(case: Case, inputs: Arrays) -> Problem:
    arrays = (inputs["points"], inputs["voxel_size"], inputs["coors_range"])

    def run(out: Arrays) -> Arrays:
        pymluops.dynamic_voxelize(*arrays, coors=out["coors"])
        return out

    outputs = {"coors": ((len(inputs["points"]), 3), np.dtype(np.int32))}
    return Problem(case, inputs, outputs, run, same_bits)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the scan, with room for a voxel of two points for each four of them."""
    points = max(4, elements // 7)
    grid = {"size": [0.2, 0.2, 0.4], "range": [-51.2, -51.2, -3, 51.2, 51.2, 1]}
    return {"": {"points": points, "features": 4, "max_points": 2, "max_voxels": max(1, points // 4), **grid}}


def tiny() -> list[TinyCall]:
    """Return a call of each operator on three points."""
    points = np.array([[0.5, 0.5, 0.5], [1.5, 0.5, 0.5], [0.2, 0.1, 0.1]], np.float32)
    grid = {"s": np.ones(3, np.float32), "r": np.array([0, 0, 0, 2, 1, 1], np.float32)}
    found = pymluops.voxelization(points, grid["s"], grid["r"], 2, 3)
    outputs = dict(zip("vcnm", (array.copy() for array in found), strict=True))
    statement = "op(x, s, r, 2, 3, voxels=v, coors=c, num_points_per_voxel=n, voxel_num=m)"
    return [
        TinyCall("voxelization", statement, {"x": points, **grid, **outputs}, limit=4000.0),
        TinyCall("dynamic_voxelize", "op(x, s, r, coors=c)", {"x": points, **grid, "c": outputs["c"].copy()}),
    ]


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors, which makes the tensors of the grid each time."""
    points, size, extent = np.ones((3, 4), np.float32), np.ones(3, np.float32), np.array([0, 0, 0, 2, 2, 2], np.float32)
    points_t = tensor(points)
    return TensorCall(
        "voxelization",
        lambda: pymluops.voxelization(points, size, extent, 2, 3),
        lambda: ops.voxelization(points_t, [1, 1, 1], [0, 0, 0, 2, 2, 2], 2, 3),
    )
