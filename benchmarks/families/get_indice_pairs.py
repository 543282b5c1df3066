"""get_indice_pairs: which rows meet in a sparse convolution. The call makes its results, as a user's call does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.coordinates import lidar_sites, strided_lidar_sites, uniform_sites
from benchmarks.problem import Array, Arrays, Problem, TinyCall, WrongResultError, generator


def build(case: Case) -> Problem:
    """Make the sites. What must be written depends on how many sites the result has, so this calls the operator."""
    facts = case.parameters
    indices = sites(case)
    arguments = call_arguments(facts)

    def run(_: Arrays) -> Arrays:
        return pymluops.get_indice_pairs(indices, **arguments)._asdict()

    written = sum(array.nbytes for array in run({}).values())
    return Problem(case, {"indices": indices}, {}, run, check, written=written)


def call_arguments(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keyword arguments of the call."""
    return {
        "batch_size": facts["batch"],
        "spatial_shape": tuple(facts["space"]),
        "kernel_size": facts["kernel"],
        "stride": facts["stride"],
        "padding": tuple(facts["padding"]),
        "subm": facts["submanifold"],
    }


def sites(case: Case) -> Array:
    """Return the rows of coordinates of a case."""
    facts = case.parameters
    rows, batch, space = facts["rows"], facts["batch"], tuple(facts["space"])
    if facts["sites"] == "uniform":
        return uniform_sites(rows, batch, space, generator(case))
    make = lidar_sites if facts["submanifold"] else strided_lidar_sites
    return make(rows, batch, space)


def output_space(facts: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the size of the space that the outputs lie in."""
    if facts["submanifold"]:
        return tuple(facts["space"])
    axes = zip(facts["space"], facts["padding"], strides(facts), strict=True)
    return tuple((size + 2 * pad - facts["kernel"]) // stride + 1 for size, pad, stride in axes)


def strides(facts: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the stride along each axis."""
    stride = facts["stride"]
    return (stride,) * 3 if isinstance(stride, int) else tuple(stride)


def check(expected: Arrays, found: Arrays) -> None:
    """Compare up to order: others may number the outputs, and list a filter cell's pairs, in any order."""
    for name in ("indice_num", "out_indices", "indice_pairs"):
        if expected[name].shape != found[name].shape:
            shapes = f"{list(found[name].shape)} instead of {list(expected[name].shape)}"
            raise WrongResultError(f"{name}: shape {shapes}")
    if not np.array_equal(expected["indice_num"], found["indice_num"]):
        raise WrongResultError("indice_num: other numbers of pairs")
    rank, other_rank = _ranks(expected["out_indices"]), _ranks(found["out_indices"])
    rows, other_rows = (np.argsort(r, kind="stable") for r in (rank, other_rank))
    if not np.array_equal(expected["out_indices"][rows], found["out_indices"][other_rows]):
        raise WrongResultError("out_indices: other sites")
    for k, count in enumerate(expected["indice_num"]):
        ours = _canonical(expected["indice_pairs"][k, :, :count], rank)
        theirs = _canonical(found["indice_pairs"][k, :, :count], other_rank)
        if not np.array_equal(ours, theirs) or (found["indice_pairs"][k, :, count:] != -1).any():
            raise WrongResultError(f"indice_pairs: filter cell {k} has other pairs")


def _ranks(sites: Array) -> Array:
    """Return for each row its place among all rows in ascending order."""
    order = np.lexsort(sites.T[::-1])
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    return ranks


def _canonical(pairs: Array, rank: Array) -> Array:
    if pairs.size and (pairs.min() < 0 or pairs[1].max() >= len(rank)):
        raise WrongResultError("indice_pairs: a row that is none")
    both = np.stack([pairs[0], rank[pairs[1]]])
    return both[:, np.lexsort(both[::-1])]


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the number of rows in a space that has place for all."""
    common = {"rows": max(4, round(elements / 62)), "batch": 4, "space": [41, 1440, 1440], "kernel": 3,
              "padding": [1, 1, 1], "sites": "uniform"}  # fmt: skip
    return {
        "submanifold": {**common, "stride": 1, "submanifold": True},
        "strided": {**common, "stride": 2, "submanifold": False},
    }


def tiny() -> list[TinyCall]:
    """Return a call on two rows. It makes its results, so it has no limit."""
    sites = np.array([[0, 0, 0, 0], [0, 0, 0, 1]], np.int32)
    statement = "op(x, batch_size=1, spatial_shape=size, kernel_size=3, padding=1, subm=True)"
    return [TinyCall("get_indice_pairs", statement, {"x": sites}, {"size": (1, 1, 4)}, None)]
