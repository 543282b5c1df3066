"""get_indice_pairs: which input row meets which output row under every cell of a sparse convolution's filter.

Two independent writings of the same rule: :func:`by_rule` walks rows and cells and keeps a dictionary,
:func:`vectorised` works on whole columns and is quick enough for hundreds of thousands of rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

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
