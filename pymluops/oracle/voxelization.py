"""voxelization: the points of each cell of a grid, a point at a time; and the cell of each point.

Cells are computed in the type of the points, half in float32, as quotients that are rounded once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pymluops.oracle.refusals import Check, Refusals, bad
from pymluops.oracle.ways import Way

_MOST = 2.0**31


def grid(voxel_size: np.ndarray, coors_range: np.ndarray) -> list[float]:
    """The number of cells along x, y and z, 0 where size or range is not finite and positive."""
    found = []
    for axis in range(3):
        low, high, size = coors_range[axis], coors_range[3 + axis], voxel_size[axis]
        with np.errstate(all="ignore"):
            extent, finite = high - low, np.isfinite(high - low) and np.isfinite(low)
            cells = np.floor(float(extent / size) + 0.5) if finite and extent > 0 and size > 0 else 0.0
        found.append(min(float(cells), _MOST))
    return found


def cells(points: np.ndarray, voxel_size: np.ndarray, coors_range: np.ndarray) -> np.ndarray:
    """[N, 3] int32: z, y, x, or -1 three times."""
    if points.dtype == np.float16:
        points, voxel_size, coors_range = (a.astype(np.float32) for a in (points, voxel_size, coors_range))
    sizes = grid(voxel_size, coors_range)
    found = np.full((len(points), 3), -1, np.int32)
    for i, row in enumerate(points):
        with np.errstate(all="ignore"):
            at = [float(np.floor((row[axis] - coors_range[axis]) / voxel_size[axis])) for axis in range(3)]
        if all(0 <= place < size for place, size in zip(at, sizes, strict=True)):
            found[i] = [int(place) for place in reversed(at)]
    return found


def voxels(
    points: np.ndarray, voxel_size: np.ndarray, coors_range: np.ndarray, max_points: int, max_voxels: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(voxels, coors, num_points_per_voxel, voxel_num)."""
    rows = np.zeros((max_voxels, max_points, points.shape[1]), points.dtype)
    coors, counts = np.zeros((max_voxels, 3), np.int32), np.zeros(max_voxels, np.int32)
    known: dict[tuple[int, ...], int] = {}
    for point, cell in zip(points, map(tuple, cells(points, voxel_size, coors_range).tolist()), strict=True):
        if cell[0] < 0 or not max_points:
            continue
        if cell not in known:
            if len(known) == max_voxels:
                continue
            coors[len(known)] = cell
            known[cell] = len(known)
        voxel = known[cell]
        if counts[voxel] < max_points:
            rows[voxel, counts[voxel]] = point
            counts[voxel] += 1
    return rows, coors, counts, np.array([len(known)], np.int32)


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let the points lie on a small grid and beside it, several in most cells."""
    dtype = arguments["points"].dtype
    arguments["voxel_size"][...] = np.array([0.5, 0.7, 1.5]).astype(dtype)
    arguments["coors_range"][...] = np.array([-1, -1.4, 0, 1, 1.4, 3]).astype(dtype)
    arguments["points"][:, :3] = rng.uniform(-1.6, 3.2, (len(arguments["points"]), 3))
    if "deterministic" in arguments:
        arguments["deterministic"] = True


def in_double(name: str, points: np.ndarray, size: np.ndarray, extent: np.ndarray, *scalars: Any) -> Any:
    """The results of an operator for float64 arrays and the scalars of the description."""
    if name == "dynamic_voxelize":
        return cells(points, size, extent)
    return voxels(points, size, extent, scalars[0], scalars[1])


# ---- ways through the kernels --------------------------------------------------------------------


def _spread(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    arguments["voxel_size"][...], arguments["coors_range"][...] = 1, [0, 0, 0, 40, 40, 10]
    arguments["points"][:, :3] = rng.uniform(-1, 1.02, (len(arguments["points"]), 3)) * [40, 40, 10]


def ways(size: int) -> Iterator[Way]:
    """A grid with few points in each cell, for which a table is filled, and cells one by one."""
    rows, scalars = 200 * size, {"ndim": 3, "deterministic": True}
    yield Way(
        "voxelization", "few points a voxel", {"N": rows, "F": 4, "max_points": 3, "max_voxels": rows // 3},
        scalars, change=_spread,
    )  # fmt: skip
    yield Way("dynamic_voxelize", "all points", {"N": 3 * rows, "F": 3}, change=_spread)


# ---- refusals ------------------------------------------------------------------------------------


def _checks(problem: Any, sizes: Mapping[str, int]) -> dict[str, list[Check]]:
    """The flag, a workspace that is there before its size matters, and the types that have a size in double too."""
    values, found = problem.values, dict[str, list[Check]]()
    found["flag"] = [bad(bool(values.get("deterministic", True)), "deterministic")]
    if "workspace" in values:
        found["present"] = [bad(values["workspace"] == "ok" or values["workspace_size"] == 0, "workspace")]
    names = ("points", "voxel_size", "coors_range", "voxels")
    kinds = [_KINDS.get(problem.tensors[name].dtype, problem.tensors[name].dtype) for name in names]
    kinds = ["FLOAT" if problem.tensors[name].dims is None else kind for name, kind in zip(names, kinds, strict=True)]
    alike = all(kind in ("FLOAT", "DOUBLE") and kind == kinds[0] for kind in kinds)
    found["reals"] = [bad(alike, *(f"{name}_desc" for name in names))]
    return found


#: Types by their numbers.
_KINDS = {2: "FLOAT", 14: "DOUBLE"}
_FAULTS = {
    "not deterministic": {("deterministic", "value"): False},
    "two coordinates": {("NDim", "value"): 2},
    "points with two columns": {("points", "dims"): (5, 2), ("voxels", "dims"): (2, 2, 2)},
}
_EMPTY = {"max_points": "", "max_voxels": ""}
_SHAPES = "flag ranks shapes scalars packed"
REFUSALS = {
    "mluOpVoxelization": Refusals(
        order=f"handle objects {_SHAPES} types indexable positive present data workspace overlap",
        empty=_EMPTY,
        checks=_checks,
        faults=_FAULTS,
    ),
    "mluOpGetVoxelizationWorkspaceSize": Refusals(
        order=f"handle objects pointer {_SHAPES} reals types:coors types:num_points_per_voxel types:voxel_num "
        "indexable positive",
        empty=_EMPTY,
        checks=_checks,
        faults=_FAULTS,
    ),
    "mluopsExtDynamicVoxelize": Refusals(
        order="handle objects ranks shapes packed types indexable data overlap", empty={"N": ""}
    ),
}
