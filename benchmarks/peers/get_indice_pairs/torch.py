"""get_indice_pairs with PyTorch: a search in sorted cell numbers, or a dense grid where one is small enough."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.peers import Variants
from benchmarks.peers.get_indice_pairs._geometry import Geometry
from benchmarks.problem import Arrays, Problem

#: A grid with more cells than this costs more than a sort.
_MOST_CELLS = 1 << 26


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the way that suits the mode."""
    torch: Any = importlib.import_module("torch")
    geometry = Geometry(problem)
    indices = torch.from_numpy(geometry.indices)
    if geometry.symmetric:
        return {"sorted search": lambda: _submanifold(torch, geometry, indices)}
    ways: dict[str, Callable[[], Arrays]] = {"unique": lambda: _strided(torch, geometry, indices, False)}
    if geometry.cells <= _MOST_CELLS:
        ways["dense grid"] = lambda: _strided(torch, geometry, indices, True)
    return ways


def _submanifold(torch: Any, geometry: Geometry, indices: Any) -> Arrays:
    volume, rows, half = geometry.volume, geometry.rows, geometry.kernel // 2
    depth, height, width = geometry.space
    n, d, h, w = indices.long().unbind(1)
    cell, order = torch.sort(((n * depth + d) * height + h) * width + w)
    d, h, w = (axis[order] for axis in (d, h, w))
    small = order.int()
    pairs = torch.full((volume, 2, rows), -1, dtype=torch.int32)
    number = torch.zeros(volume, dtype=torch.int32)
    for k in range(volume // 2 + 1):
        a, b, c = (int(i) - half for i in np.unravel_index(k, (geometry.kernel,) * 3))
        wanted = cell - ((a * height + b) * width + c)
        at = torch.searchsorted(cell, wanted).clamp_(max=rows - 1)
        hit = cell[at] == wanted
        for axis, shift, size in ((d, a, depth), (h, b, height), (w, c, width)):
            if shift > 0:
                hit &= axis >= shift
            elif shift < 0:
                hit &= axis < size + shift
        sources, targets = small[hit], small[at[hit]]
        count = len(sources)
        pairs[k, 0, :count], pairs[k, 1, :count] = sources, targets
        pairs[volume - 1 - k, 0, :count], pairs[volume - 1 - k, 1, :count] = targets, sources
        number[k] = number[volume - 1 - k] = count
    return {"out_indices": indices.clone().numpy(), "indice_pairs": pairs.numpy(), "indice_num": number.numpy()}


def _strided(torch: Any, geometry: Geometry, indices: Any, dense: bool) -> Arrays:
    depth, height, width = geometry.out_space
    columns = indices.long().unbind(1)
    tables = [torch.from_numpy(table).long() for table in geometry.tables()]
    axes = [table[:, column] for table, column in zip(tables, columns[1:], strict=True)]
    sources, cells = [], []
    for a, b, c in np.ndindex(*(geometry.kernel,) * 3):
        d, h, w = axes[0][a], axes[1][b], axes[2][c]
        valid = (d >= 0) & (h >= 0) & (w >= 0)
        cell = ((columns[0] * depth + d) * height + h) * width + w
        sources.append(valid.nonzero().view(-1))
        cells.append(cell[valid])
    if dense:
        grid = torch.zeros(geometry.cells, dtype=torch.int32)
        for part in cells:
            grid[part] = 1
        found = grid.nonzero().view(-1)
        grid.cumsum_(0)
        targets = [grid[part] - 1 for part in cells]
    else:
        found, place = torch.unique(torch.cat(cells), return_inverse=True)
        targets = list(place.split([len(part) for part in cells]))
    pairs = torch.full((geometry.volume, 2, geometry.rows), -1, dtype=torch.int32)
    for k, (row, target) in enumerate(zip(sources, targets, strict=True)):
        pairs[k, 0, : len(row)], pairs[k, 1, : len(row)] = row, target
    out = torch.stack(torch.unravel_index(found, (geometry.batch, *geometry.out_space)), 1).int()
    number = torch.tensor([len(row) for row in sources], dtype=torch.int32)
    return {"out_indices": out.numpy(), "indice_pairs": pairs.numpy(), "indice_num": number.numpy()}
