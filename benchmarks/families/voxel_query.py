"""voxel_query: the points in the cells around centres that lie in a ball around them."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Array, Arrays, Problem, TensorCall, TinyCall, generator, same_bits


def build(case: Case) -> Problem:
    """Make points in cells of size 1, one in each of some cells, and centres in cells of the same grid."""
    facts, rng = case.parameters, generator(case)
    arrays = _arrays(tuple(facts["grid"]), facts["points"], facts["centres"], rng)
    centres, points, coords, cells = arrays.values()
    radius, ranges, count = facts["radius"], tuple(facts["ranges"]), facts["nsample"]

    def run(out: Arrays) -> Arrays:
        pymluops.voxel_query(centres, points, coords, cells, radius, ranges, count, out=out["out"])
        return out

    def check(expected: Arrays, found: Arrays) -> None:
        same_bits(expected, found)

    outputs = {"out": ((facts["centres"], facts["nsample"]), np.int32)}
    return Problem(case, arrays, outputs, run, check)


def _arrays(grid: tuple[int, ...], points: int, centres: int, rng: np.random.Generator) -> dict[str, Array]:
    cells = np.full(grid, -1, np.int32)
    chosen = rng.permutation(cells.size)[:points]
    cells.reshape(-1)[chosen] = np.arange(len(chosen))
    places = np.stack(np.unravel_index(chosen, grid), 1)
    own = np.stack([rng.integers(0, size, centres) for size in grid], 1).astype(np.int32)
    within = [(part[:, 3:0:-1] + rng.random((len(part), 3))).astype(np.float32) for part in (own, places)]
    return {"new_xyz": within[0], "xyz": within[1], "new_coords": own, "point_indices": cells}


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the grid, and points and centres with it, whose neighbourhood stays."""
    side = max(2, round((elements / 3) ** (1 / 3)))
    count = max(1, side**3 // 8)
    facts = {"grid": [1, side, side, side], "points": count, "centres": count, "radius": 2.0, "ranges": [1, 1, 1]}
    return {"": {**facts, "nsample": 4}}


def tiny() -> list[TinyCall]:
    """Return a call on a few elements."""
    arrays = _arrays((1, 2, 2, 2), 4, 2, np.random.default_rng(3))
    given = dict(zip("abcd", arrays.values(), strict=True))
    out = np.empty((2, 3), np.int32)
    call = "op(a, b, c, d, 2.0, ranges, 3, out=o)"
    return [TinyCall("voxel_query", call, {**given, "o": out}, {"ranges": (1, 1, 1)})]


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors."""
    centres, points, coords, cells = _arrays((1, 2, 2, 2), 4, 2, np.random.default_rng(3)).values()
    tensors = [tensor(array) for array in (centres, points, coords, cells)]
    return TensorCall(
        "voxel_query",
        lambda: pymluops.voxel_query(centres, points, coords, cells, 2.0, (1, 1, 1), 3),
        lambda: ops.voxel_query(*tensors, 2.0, 1, 1, 1, 3),
    )
