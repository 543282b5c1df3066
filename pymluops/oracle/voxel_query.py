"""voxel_query: the first points in a ball around each centre, cell by cell along z, y and x."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from pymluops.oracle.refusals import Refusals
from pymluops.oracle.ways import Way


def voxel_query(
    new_xyz: np.ndarray,
    xyz: np.ndarray,
    new_coords: np.ndarray,
    cells: np.ndarray,
    radius: float,
    ranges: tuple[int, int, int],
    count: int,
) -> np.ndarray:
    """[M, count] of centres, points and cells; distances in the type of the points."""
    real = xyz.dtype.type
    out = np.zeros((len(new_xyz), count), np.int32)
    with np.errstate(all="ignore"):
        limit = real(radius) * real(radius)
        for row, (centre, (batch, *own)) in enumerate(zip(new_xyz, new_coords.tolist(), strict=True)):
            found: list[int] = []
            spans = [
                range(max(at - span, 0), max(0, min(at + span + 1, size)))
                for at, span, size in zip(own, ranges, cells.shape[1:], strict=True)
            ]
            for place in product(*spans) if 0 <= batch < len(cells) else ():
                point = int(cells[(batch, *place)])
                if not 0 <= point < len(xyz):
                    continue
                x, y, z = np.square(xyz[point] - centre)
                if (x + y) + z <= limit and len(found) < count:
                    found.append(point)
            out[row] = found[0] if found else 0
            out[row, : len(found)] = found
            if not found:
                out[row, 0] = -1
    return out


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let most cells have a point, and most centres lie in the grid."""
    cells, coords = arguments["point_indices"], arguments["new_coords"]
    cells[...] = rng.integers(-2, len(arguments["xyz"]) + 1, cells.shape)
    for column, size in enumerate(cells.shape):
        coords[:, column] = rng.integers(0, size + 1, len(coords))
    arguments["radius"] = float(rng.uniform(0, 4))


def in_double(_name: str, *given: Any) -> np.ndarray:
    """The results for float64 points and the scalars of the description."""
    new_xyz, xyz, coords, cells, radius, z, y, x, count = given
    return voxel_query(new_xyz, xyz, coords, cells, radius, (z, y, x), count)


def ways(size: int) -> Iterator[Way]:
    """Many centres, and many cells for each."""
    grid = {"B": 2, "Z": 5, "Y": 20, "X": 20}
    yield Way("voxel_query", "many centres", {**grid, "M": size * 20, "N": 300, "nsample": 8}, {"ranges": (1, 1, 1)})
    wide = {"B": 1, "Z": 20, "Y": 40, "X": 5 * size, "M": 30, "N": 300, "nsample": 200}
    yield Way("voxel_query", "many cells", wide, {"ranges": (20, 40, 5 * size)})


_ORDER = "handle objects scalars types ranks packed shapes indexable positive data overlap"
REFUSALS = {"mluopsExtVoxelQuery": Refusals(order=_ORDER)}
