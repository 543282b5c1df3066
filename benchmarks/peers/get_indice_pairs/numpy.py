"""get_indice_pairs with NumPy: a search in sorted cell numbers, or a dense grid where one is small enough."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.peers import Variants
from benchmarks.peers.get_indice_pairs._geometry import Geometry
from benchmarks.problem import Array, Arrays, Problem

#: A grid with more cells than this costs more than a sort.
_MOST_CELLS = 1 << 26


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the way that suits the mode."""
    geometry = Geometry(problem)
    if geometry.symmetric:
        return {"sorted search": lambda: _submanifold(geometry)}
    ways: dict[str, Callable[[], Arrays]] = {"unique": lambda: _strided(geometry, _numbered_by_unique)}
    if geometry.cells <= _MOST_CELLS:
        ways["dense grid"] = lambda: _strided(geometry, _numbered_by_grid)
    return ways


def _submanifold(geometry: Geometry) -> Arrays:
    """Sort the cells once; neighbours of sorted cells are searched in order, and each found pair serves two offsets."""
    indices, volume, rows = geometry.indices, geometry.volume, geometry.rows
    depth, height, width = geometry.space
    n, d, h, w = (indices[:, i].astype(np.int64) for i in range(4))
    cell = ((n * depth + d) * height + h) * width + w
    order = np.argsort(cell)
    cell, place = cell[order], indices[order]
    pairs = np.full((volume, 2, rows), -1, np.int32)
    number = np.zeros(volume, np.int32)
    half = geometry.kernel // 2
    for k in range(volume // 2 + 1):
        shift = np.array(np.unravel_index(k, (geometry.kernel,) * 3)) - half
        # Row l under filter cell k reaches the place that lies `shift` before it.
        target = place[:, 1:] - shift
        inside = np.flatnonzero(((target >= 0) & (target < geometry.space)).all(axis=1))
        wanted = cell[inside] - ((shift[0] * height + shift[1]) * width + shift[2])
        at = np.minimum(np.searchsorted(cell, wanted), rows - 1)
        hit = cell[at] == wanted
        sources, targets = order[inside[hit]], order[at[hit]]
        count = len(sources)
        pairs[k, 0, :count], pairs[k, 1, :count] = sources, targets
        pairs[volume - 1 - k, 0, :count], pairs[volume - 1 - k, 1, :count] = targets, sources
        number[k] = number[volume - 1 - k] = count
    return {"out_indices": indices.copy(), "indice_pairs": pairs, "indice_num": number}


def _strided(geometry: Geometry, numbered: Callable[[list[Array], int], tuple[list[Array], Array]]) -> Arrays:
    """Find each row's output cell under each filter cell, then number the cells that occur."""
    indices, rows = geometry.indices, geometry.rows
    _, height, width = geometry.out_space
    n = indices[:, 0].astype(np.int64) * geometry.out_space[0]
    axes = [table[:, indices[:, 1 + axis]] for axis, table in enumerate(geometry.tables())]
    sources: list[Array] = []
    cells: list[Array] = []
    for a, b, c in np.ndindex(*(geometry.kernel,) * 3):
        d, h, w = axes[0][a], axes[1][b], axes[2][c]
        row = np.flatnonzero((d >= 0) & (h >= 0) & (w >= 0))
        sources.append(row)
        cells.append(((n[row] + d[row]) * height + h[row]) * width + w[row])
    targets, found = numbered(cells, geometry.cells)
    pairs = np.full((geometry.volume, 2, rows), -1, np.int32)
    for k, (row, target) in enumerate(zip(sources, targets, strict=True)):
        pairs[k, 0, : len(row)], pairs[k, 1, : len(row)] = row, target
    out = np.stack(np.unravel_index(found, (geometry.batch, *geometry.out_space)), axis=1).astype(np.int32)
    number = np.array([len(row) for row in sources], np.int32)
    return {"out_indices": out, "indice_pairs": pairs, "indice_num": number}


def _numbered_by_unique(cells: list[Array], _: int) -> tuple[list[Array], Array]:
    found, place = np.unique(np.concatenate(cells), return_inverse=True)
    return np.split(place, np.cumsum([len(part) for part in cells])[:-1]), found


def _numbered_by_grid(cells: list[Array], size: int) -> tuple[list[Array], Array]:
    grid = np.zeros(size, bool)
    for part in cells:
        grid[part] = True
    number = np.cumsum(grid, dtype=np.int32)
    return [number[part] - 1 for part in cells], np.flatnonzero(grid)
