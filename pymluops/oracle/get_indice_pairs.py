"""get_indice_pairs: which input row meets which output row under every cell of a sparse convolution's filter.

Two independent writings of the same rule: :func:`by_rule` walks rows and cells and keeps a
dictionary, :func:`vectorised` works on whole columns and is quick enough for hundreds of thousands
of rows.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pymluops.oracle.refusals import BAD_PARAM, Check, Refusals, bad
from pymluops.oracle.ways import Way

Triple = tuple[int, int, int]


@dataclass(frozen=True)
class Geometry:
    """Shape of one sparse convolution; every triple is depth, height, width."""

    batch: int
    space: Triple
    kernel: Triple
    stride: Triple = (1, 1, 1)
    padding: Triple = (0, 0, 0)
    dilation: Triple = (1, 1, 1)
    subm: bool = False
    given_out: Triple | None = None

    @property
    def out(self) -> Triple:
        """Output space: as given, else the input's (sub-manifold), else by the convolution formula."""
        if self.given_out is not None:
            return self.given_out
        if self.subm:
            return self.space
        sizes = zip(self.space, self.kernel, self.stride, self.padding, self.dilation, strict=True)
        return tuple((i + 2 * p - d * (k - 1) - 1) // s + 1 for i, k, s, p, d in sizes)

    @property
    def cells(self) -> int:
        """Number of filter cells, K."""
        return int(np.prod(self.kernel))


#: Outputs of which only the first rows are written.
PARTLY = ("out_indices",)


class Pairs(NamedTuple):
    """The three results; out_indices has exactly the rows found."""

    out_indices: np.ndarray
    indice_pairs: np.ndarray
    indice_num: np.ndarray


def by_rule(indices: np.ndarray, geometry: Geometry) -> Pairs:
    """Row after row, cell after cell, as the rule reads."""
    g = geometry
    rows = [tuple(int(v) for v in row) for row in indices]
    found: list[list[tuple[int, tuple[int, ...]]]] = []
    for cell in itertools.product(*map(range, g.kernel)):
        hits = []
        for number, (n, *site) in enumerate(rows):
            reached = [i + p - k * d for i, p, k, d in zip(site, g.padding, cell, g.dilation, strict=True)]
            if any(r % s for r, s in zip(reached, g.stride, strict=True)):
                continue
            target = tuple(r // s for r, s in zip(reached, g.stride, strict=True))
            if all(0 <= t < size for t, size in zip(target, g.out, strict=True)):
                hits.append((number, (n, *target)))
        found.append(hits)
    if g.subm:
        row_of: dict[tuple[int, ...], int] = {}
        for number, row in enumerate(rows):
            row_of.setdefault(row, number)  # the lowest of equal rows
        outputs = rows
    else:
        outputs = sorted({target for hits in found for _, target in hits})
        row_of = {target: number for number, target in enumerate(outputs)}
    pairs = np.full((g.cells, 2, len(rows)), -1, np.int32)
    counts = np.zeros(g.cells, np.int32)
    for k, hits in enumerate(found):
        kept = [(number, row_of[target]) for number, target in hits if target in row_of]
        counts[k] = len(kept)
        for slot, (number, row) in enumerate(kept):
            pairs[k, :, slot] = number, row
    return Pairs(np.array(outputs, np.int32).reshape(-1, 4), pairs, counts)


def vectorised(indices: np.ndarray, geometry: Geometry) -> Pairs:
    """The same on whole columns, with linear site numbers in 64 bits."""
    g = geometry
    columns = indices.astype(np.int64).T
    candidates = []
    for cell in itertools.product(*map(range, g.kernel)):
        valid = np.ones(columns.shape[1], bool)
        number = columns[0]
        for axis in range(3):
            reached = columns[axis + 1] + g.padding[axis] - cell[axis] * g.dilation[axis]
            target = reached // g.stride[axis]
            valid &= (target * g.stride[axis] == reached) & (target >= 0) & (target < g.out[axis])
            number = number * g.out[axis] + target
        row = np.flatnonzero(valid)
        candidates.append((row, number[row]))
    if g.subm:
        own = np.ravel_multi_index(tuple(columns), (g.batch, *g.space)) if columns.size else columns[0]
        sites, first = np.unique(own, return_index=True)
        outputs = indices.astype(np.int32)
    else:
        sites = np.unique(np.concatenate([number for _, number in candidates]))
        first = np.arange(len(sites))
        outputs = np.stack(np.unravel_index(sites, (g.batch, *g.out)), 1).astype(np.int32)
    pairs = np.full((g.cells, 2, columns.shape[1]), -1, np.int32)
    counts = np.zeros(g.cells, np.int32)
    for k, (row, number) in enumerate(candidates):
        place = np.searchsorted(sites, number)
        known = place < len(sites)
        known[known] = sites[place[known]] == number[known]
        counts[k] = known.sum()
        pairs[k, 0, : counts[k]] = row[known]
        pairs[k, 1, : counts[k]] = first[place[known]]
    return Pairs(outputs, pairs, counts)


def large(rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Arguments of the Python function with many rows, some of them repeated, in both modes."""
    space = (21, 60, 60)
    indices = rng.integers(0, (2, *space), (20_000, 4)).astype(np.int32)
    for subm in (False, True):
        yield {
            "indices": indices, "batch_size": 2, "spatial_shape": space, "kernel_size": 3, "stride": 1 if subm else 2,
            "padding": 1, "subm": subm,
        }  # fmt: skip


def make(rng: np.random.Generator, most: int) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Arguments of the C function: arrays, shapes and types of the outputs, and values of the descriptor."""
    space, kernel = tuple(rng.integers(3, most + 4, 3).tolist()), tuple(rng.integers(1, 4, 3).tolist())
    subm = bool(rng.integers(2))
    window = {} if subm else {"stride": tuple(rng.integers(1, 3, 3).tolist()), "padding": (1, 1, 1)}
    geometry = Geometry(2, space, kernel, subm=subm, **window)  # type: ignore[arg-type]
    rows = int(rng.integers(5, 8 + 2 * most))
    indices = rng.integers(0, (2, *space), (rows, 4)).astype(np.int32)
    return _made(indices, geometry)


def _made(indices: np.ndarray, geometry: Geometry) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    rows, sites = len(indices), geometry.batch * math.prod(geometry.out)
    room = rows if geometry.subm else min(geometry.cells * rows, sites)
    shapes = {"out_indices": (room, 4), "indice_pairs": (geometry.cells, 2, rows), "indice_num": (geometry.cells,)}
    settings = {
        "dimNb": 5, "batch_size": geometry.batch, "pad": geometry.padding, "stride": geometry.stride,
        "dilation": geometry.dilation, "input_space": geometry.space, "filter_space": geometry.kernel,
        "output_space": geometry.out, "sub_m": int(geometry.subm), "transpose": 0, "inverse": 0,
    }  # fmt: skip
    outputs = {name: (shape, "int32") for name, shape in shapes.items()}
    return {"indices": indices}, outputs, {"sparse_conv_desc": settings}


# ---- ways through the kernels --------------------------------------------------------------------


class _Sparse(NamedTuple):
    """A sparse convolution of one batch: space, filter, stride of all axes (0: sub-manifold), and its rows."""

    label: str
    space: Triple
    kernel: Triple
    stride: int
    rows: int
    ascending: bool  # sorted distinct rows; else every tenth has the place of another one


def _way(sparse: _Sparse) -> Way:
    rng = np.random.default_rng(7)
    places = np.empty(0, np.int64)
    while len(places) < sparse.rows:
        more = rng.integers(0, math.prod(sparse.space), sparse.rows - len(places))
        places = np.unique(np.concatenate([places, more]))
    if not sparse.ascending:
        rng.shuffle(places)
        places[10::10] = places[3:-7:10][: len(places[10::10])]
    indices = np.stack([np.zeros_like(places), *np.unravel_index(places, sparse.space)], 1).astype(np.int32)
    stride = max(sparse.stride, 1)
    padding = tuple((size - 1) // 2 for size in sparse.kernel)
    geometry = Geometry(1, sparse.space, sparse.kernel, (stride,) * 3, padding, subm=sparse.stride == 0)
    return Way("get_indice_pairs", sparse.label, made=_made(indices, geometry))


def _sparse_ways(rows: int) -> list[_Sparse]:
    """Every way, with about this number of rows."""
    side = int(rows ** (1 / 3)) + 2
    dense, spread, wide = (side, side, 2 * side), (4 * side, 8 * side, 8 * side), (50, 40000, 40000)
    return [
        _Sparse("default, all words", dense, (3, 3, 3), 2, rows, False),
        _Sparse("default, words with marks", spread, (3, 3, 3), 2, rows, False),
        _Sparse("default, row by row", spread, (2, 2, 13), 1, rows // 8, False),
        _Sparse("sub-manifold, all words", dense, (3, 3, 3), 0, rows, True),
        _Sparse("sub-manifold, rows that share places", spread, (3, 3, 3), 0, rows, False),
        _Sparse("sub-manifold, large filter", (side, 2 * side, 2 * side), (3, 3, 13), 0, rows // 8, True),
        _Sparse("default, sorted", wide, (3, 3, 3), 2, rows // 4, False),
        _Sparse("default, sorted, ascending", wide, (3, 3, 3), 2, rows // 4, True),
        _Sparse("default, sorted, wide lines", (1, 1, 1 << 30), (1, 1, 20), 1, rows // 8, False),
        _Sparse("sub-manifold, sorted", wide, (3, 3, 3), 0, rows // 4, False),
        _Sparse("sub-manifold, sorted, two words a row", (1 << 20,) * 3, (3, 3, 3), 0, rows // 4, False),
    ]


def ways(size: int) -> Iterator[Way]:
    """Every way."""
    return map(_way, _sparse_ways(size * 40))


def phases() -> Iterator[Way]:
    """Every way, with enough rows that each phase can be interrupted in the middle."""
    return map(_way, _sparse_ways(280_000))


def endless() -> Iterator[Way]:
    """Filters with many cells."""
    yield _way(_Sparse("sorted", (1, 1, 1 << 30), (1, 1, 100), 1, 40000, False))
    yield _way(_Sparse("many filter cells", (64, 128, 128), (28, 28, 28), 1, 3500, False))
    yield _way(_Sparse("sub-manifold, large filter", (21, 21, 21), (21, 21, 21), 0, 9000, True))


# ---- refusals ------------------------------------------------------------------------------------

_UNSET = {
    **dict.fromkeys(("pad", "stride", "dilation", "input_space", "filter_space", "output_space"), (0, 0, 0)),
    "batch_size": 0,
    "sub_m": 0,
}


def _settings(problem: Any) -> dict[str, Any]:
    found = problem.settings["sparse_conv_desc"]
    return _UNSET if found.get("desc") == "unset" else found


def _symbols(problem: Any) -> dict[str, int]:
    return {"K": int(np.prod(_settings(problem)["filter_space"], dtype=object))}


def _checks(problem: Any, sizes: Mapping[str, int]) -> dict[str, list[Check]]:
    """The settings, and the rows of small arrays."""
    g = _settings(problem)
    axes = list(zip(g["pad"], g["stride"], g["dilation"], strict=True))
    inputs, outputs = (g["batch_size"] * int(np.prod(g[key], dtype=object)) for key in ("input_space", "output_space"))
    geometry = [
        bad(sizes.get("L", 0) <= inputs, "indices_desc", "sparse_conv_desc"),
        bad(all(pad >= 0 and step >= 1 and gap >= 1 for pad, step, gap in axes), "sparse_conv_desc"),
        bad(all(gap == 1 or step == 1 for _, step, gap in axes), "sparse_conv_desc"),
        bad(sizes.get("rows", 0) <= outputs, "out_indices_desc"),
    ]
    plain = tuple(g["input_space"]) == tuple(g["output_space"]) and all(s == d == 1 for _, s, d in axes)
    found = {"geometry": geometry, "sub_manifold": [bad(plain or not g["sub_m"], "sparse_conv_desc")]}
    indices = problem.tensors["indices"]
    if all(check.holds for check in geometry) and indices.nbytes <= _SMALL and len(indices.dims or ()) == 2:
        found["rows"] = _row_checks(problem, indices, g)
    return found


#: Bytes of indices that are looked at.
_SMALL = 1 << 20


def _row_checks(problem: Any, indices: Any, g: Mapping[str, Any]) -> list[Check]:
    """Coordinates in range, and room for all output rows."""
    rows = np.zeros(indices.dims, np.int32)
    if indices.content is not None and indices.content.nbytes == indices.nbytes:
        rows = indices.content.reshape(rows.shape)
    if rows.shape[1] != 4:
        return []
    limits = np.array([g["batch_size"], *g["input_space"]])
    inside = bool(((rows >= 0) & (rows < limits)).all())
    needed = len(rows) if g["sub_m"] else len(output_sites(rows, g))
    room = (problem.tensors["out_indices"].dims or (0,))[0]
    return [bad(inside, "indices"), Check(room >= needed, BAD_PARAM, ("out_indices_desc", "out_indices"), needed)]


def output_sites(rows: np.ndarray, g: Mapping[str, Any]) -> set[tuple[int, ...]]:
    """The distinct output places that any row reaches through any filter cell."""
    sites = set()
    for row, *cells in itertools.product(rows.tolist(), *(range(size) for size in g["filter_space"])):
        site = [row[0]]
        for axis, cell in enumerate(cells):
            at = row[axis + 1] + g["pad"][axis] - cell * g["dilation"][axis]
            step, limit = g["stride"][axis], g["output_space"][axis]
            if at % step or not 0 <= at // step < limit:
                break
            site.append(at // step)
        else:
            sites.add(tuple(site))
    return sites


def _set(**values: Any) -> dict[tuple[str, str], Any]:
    return {("sparse_conv_desc", name): value for name, value in values.items()}


_FAULTS: dict[str, dict[tuple[str, str], Any]] = {
    "sparse_conv_desc never set": _set(desc="unset"),
    "more rows than cells": _set(input_space=(1, 1, 1)),
    "stride and dilation on one axis": _set(stride=(1, 2, 1), dilation=(1, 2, 1)),
    "cells of another filter": _set(filter_space=(1, 7, 11)),
    "more output rows than cells": {("out_indices", "dims"): (10**6, 4)},
    "sub-manifold, another output space": _set(sub_m=1, output_space=(99, 99, 99)),
    "sub-manifold, stride": _set(sub_m=1, stride=(1, 1, 2)),
    "sub-manifold, dilation": _set(sub_m=7, dilation=(2, 1, 1)),
}
_KINDS = "ranks shapes geometry packed indexable types sub_manifold"
REFUSALS = {
    "mluOpGetIndicePairs": Refusals(
        f"handle objects {_KINDS} empty data workspace overlap rows", symbols=_symbols, checks=_checks, faults=_FAULTS
    ),
    "mluOpGetIndicePairsWorkspaceSize": Refusals(
        f"handle objects pointer empty {_KINDS}", symbols=_symbols, checks=_checks, faults=_FAULTS
    ),
}
