"""dynamic_point_to_voxel: the voxels that points make, their features, and the gradient of the points' features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from pymluops.oracle.refusals import BAD_PARAM, Check, Refusals, bad
from pymluops.oracle.ways import Way

#: Operators whose float results are sums, which a device may round or order in its own way.
SUMS = ("dynamic_point_to_voxel_forward", "dynamic_scatter_forward")

#: Only the C function finds out how many voxels there are.
LEFT_TO_C = ("voxel_feats_desc",)
#: The number of voxels follows from the contents, and tells how many rows there must be.
DECIDING = ("coors",)

_NAMES = {0: "sum", 1: "mean", 2: "max"}


class Voxels(NamedTuple):
    """The results, rows of voxels behind the last one included."""

    feats: np.ndarray
    coors: np.ndarray
    mapping: np.ndarray
    counts: np.ndarray
    number: np.ndarray


def marked(coors: np.ndarray) -> np.ndarray:
    """The rows, those with a negative number -1 three times."""
    found = coors.copy()
    found[(coors < 0).any(axis=1)] = -1
    return found


def scatter(feats: np.ndarray, coors: np.ndarray, reduce: str | int, rows: int | None = None) -> Voxels:
    """Voxels in the ascending order of their places, a point at a time."""
    reduce = _NAMES.get(reduce, reduce)  # type: ignore[call-overload]
    points = [tuple(row) for row in coors.tolist()]
    places = sorted({place for place in points if min(place) >= 0})
    rows = len(feats) if rows is None else rows
    values = np.full((rows, feats.shape[1]), -np.inf if reduce == "max" else 0, feats.dtype)
    found, counts = np.full((rows, 3), -1, np.int32), np.zeros(rows, np.int32)
    mapping = np.full(len(feats), -1, np.int32)
    for voxel, place in enumerate(places):
        found[voxel] = place
        for i in (i for i, other in enumerate(points) if other == place):
            mapping[i] = voxel
            counts[voxel] += 1
            with np.errstate(all="ignore"):
                if reduce == "max":
                    values[voxel] = np.where(feats[i] > values[voxel], feats[i], values[voxel])
                else:
                    values[voxel] += feats[i]
        if reduce == "mean":
            with np.errstate(all="ignore"):
                values[voxel] /= feats.dtype.type(counts[voxel])
    return Voxels(values, found, mapping, counts, np.array([len(places)], np.int32))


def gradient(
    grad: np.ndarray, feats: np.ndarray, values: np.ndarray, mapping: np.ndarray, counts: np.ndarray,
    reduce: str | int, number: int | None = None,
) -> np.ndarray:  # fmt: skip
    """The gradient of the features [N, C]; voxels from `number` on are none."""
    reduce = _NAMES.get(reduce, reduce)  # type: ignore[call-overload]
    number = len(grad) if number is None else min(number, len(grad))
    found, taken = np.zeros(feats.shape, grad.dtype), np.zeros(grad.shape, bool)
    for i, voxel in enumerate(mapping.tolist()):
        if not 0 <= voxel < number:
            continue
        if reduce == "max":
            first = (feats[i] == values[voxel]) & ~taken[voxel]
            found[i][first] = grad[voxel][first]
            taken[voxel] |= first
        else:
            with np.errstate(all="ignore"):
                found[i] = grad[voxel] / grad.dtype.type(counts[voxel] if reduce == "mean" else 1)
    return found


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let points share places, some have none, and the arguments of a gradient belong together."""
    if "coors" in arguments:
        _place(arguments["coors"], arguments.get("max_voxels", len(arguments["coors"])), rng)
        return
    feats, values = arguments["feats"], arguments["voxel_feats"]
    mapping = arguments["point2voxel_map"]
    mapping[...] = rng.integers(-1, max(len(values), 1), len(mapping))
    feats[...] = rng.integers(-3, 4, feats.shape)
    for voxel in range(len(values)):
        mine = feats[mapping == voxel]
        values[voxel] = mine.max(axis=0) if len(mine) else -np.inf
    arguments["voxel_points_count"][...] = [max((mapping == voxel).sum(), 1) for voxel in range(len(values))]
    if "voxel_num" in arguments:
        arguments["voxel_num"][...] = len(values)


def _place(coors: np.ndarray, voxels: int, rng: np.random.Generator) -> None:
    """Places of at most so many voxels; rows of points in none are -1 three times, which no call changes."""
    places = np.concatenate([rng.integers(0, 50, (max(min(voxels, len(coors) // 2 + 1), 0), 3)), [[-1, -1, -1]]])
    coors[...] = places[rng.integers(0, len(places), len(coors))]


def in_double(name: str, *given: Any) -> Any:
    """The results of an operator for float64 arrays and the scalars of the description."""
    if name == "dynamic_point_to_voxel_forward":
        feats, coors, reduce, rows = given
        return marked(coors), *scatter(feats, coors, reduce, rows)
    if name == "dynamic_scatter_forward":
        return tuple(scatter(*given))
    grad, feats, values, mapping, counts, *rest = given
    number = int(rest[0][0]) if name == "dynamic_point_to_voxel_backward" else None
    return gradient(grad, feats, values, mapping, counts, rest[-1], number)


# ---- ways through the kernels --------------------------------------------------------------------


def _wide(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Places whose three numbers do not fit into one of 64 bits."""
    places = rng.integers(0, 2**31 - 1, (len(arguments["coors"]) // 3 + 1, 3))
    arguments["coors"][...] = places[rng.integers(0, len(places), len(arguments["coors"]))]


def ways(size: int) -> Iterator[Way]:
    """Places with one key and with two, every reduction, few voxels and many channels."""
    rows = 150 * size
    for reduce in ("mean", "max"):
        sizes = {"N": rows, "C": 5, "V": rows}
        yield Way("dynamic_point_to_voxel_forward", reduce, sizes, {"reduce_type": reduce})
    yield Way("dynamic_scatter_forward", "sum, wide", {"N": rows, "C": 4}, {"reduce_type": "sum"}, change=_wide)
    yield Way("dynamic_scatter_forward", "max", {"N": 20, "C": 40 * size}, {"reduce_type": "max"})
    sizes = {"N": rows, "V": rows // 3, "C": 5}
    yield Way("dynamic_point_to_voxel_backward", "max", sizes, {"reduce_type": "max"})
    for reduce in ("mean", "max"):
        yield Way("dynamic_scatter_backward", reduce, sizes, {"reduce_type": reduce})


# ---- refusals ------------------------------------------------------------------------------------


def _room(problem: Any, sizes: Mapping[str, int]) -> dict[str, list[Check]]:
    """There are rows for all voxels."""
    coors, rows = problem.tensors["coors"], sizes.get("V", 0)
    content = coors.content
    if coors.dims is None or len(coors.dims) != 2 or coors.dims[1] != 3 or coors.nbytes > 1 << 20:
        return {}
    places = np.zeros(coors.dims, np.int32)
    if content is not None and content.nbytes == coors.nbytes:
        places = content.reshape(coors.dims)
    needed = len(np.unique(places[(places >= 0).all(axis=1)], axis=0))
    return {"room": [Check(rows >= needed, BAD_PARAM, ("voxel_feats_desc",), needed)]}


def _reductions(problem: Any, sizes: Mapping[str, int]) -> dict[str, list[Check]]:
    return {"reduction": [bad(problem.values.get("reduce_type") in (1, 2), "reduce_type")]}


_PACKED = "handle objects ranks packed types scalars shapes indexable"
REFUSALS = {
    "mluOpDynamicPointToVoxelForward": Refusals(
        order=f"{_PACKED} workspace data overlap room", empty={"N": "", "C": ""}, checks=_room
    ),
    "mluOpDynamicPointToVoxelBackward": Refusals(
        order="handle objects packed types ranks shapes scalars indexable data workspace overlap",
        empty={"N": "", "C": "", "V": "feats point2voxel_map voxel_num grad_feats"},
    ),
}
