"""get_indice_pairs with numba: a hash table searched for half of the offsets, and a dense grid for strides.

The table of the sub-manifold mode is filled by all threads at once: each puts in the rows whose
slot lies in its part.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers import Variants
from benchmarks.peers.get_indice_pairs._geometry import Geometry
from benchmarks.peers.numba_support import inlined, parallel, prange
from benchmarks.problem import Arrays, Problem

u = np.uint64

#: A dense grid of this many cells takes 1 GB; beyond it there is no numba peer for strides.
_MOST_CELLS = 1 << 28


@inlined
def _slot(cell: Any, shift: Any) -> Any:
    """Fibonacci hashing: neighbours come to lie far apart."""
    return (u(cell) * u(0x9E3779B97F4A7C15)) >> shift


def _fill_table(cells: Any, keys: Any, values: Any, shift: Any) -> None:
    rows = cells.size
    part = keys.size // 8
    for p in prange(8):
        low, high = u(p * part), u((p + 1) * part)
        for row in range(rows):
            cell = cells[row]
            slot = _slot(cell, shift)
            if low <= slot < high:
                # Look on inside this part only, so that no other thread writes there.
                while keys[slot] != -1:
                    slot += u(1)
                    if slot == high:
                        slot = low
                keys[slot] = cell
                values[slot] = row


def _submanifold(indices: Any, space: Any, kernel: Any, cells: Any, keys: Any, values: Any, shift: Any,
                 partner: Any, counts: Any, pairs: Any) -> None:  # fmt: skip
    """Search for half of the offsets, some rows a task; then write both directions of every pair."""
    rows, half = indices.shape[0], kernel // 2
    depth, height, width = space
    offsets = kernel * kernel * kernel // 2
    part = u(keys.size // 8)
    chunks = counts.shape[1]
    for chunk in prange(chunks):
        first, last = chunk * rows // chunks, (chunk + 1) * rows // chunks
        for k in range(offsets):
            a, b, c = k // kernel // kernel - half, k // kernel % kernel - half, k % kernel - half
            delta = (a * height + b) * width + c
            found = 0
            for row in range(first, last):
                d, h, w = indices[row, 1] - a, indices[row, 2] - b, indices[row, 3] - c
                other: Any = np.int32(-1)
                if 0 <= d < depth and 0 <= h < height and 0 <= w < width:
                    cell = cells[row] - delta
                    slot = _slot(cell, shift)
                    high = (slot // part + u(1)) * part
                    while keys[slot] != -1:
                        if keys[slot] == cell:
                            other = values[slot]
                            break
                        slot += u(1)
                        if slot == high:
                            slot -= part
                partner[k, u(row)] = other
                found += other >= 0
            counts[k, chunk] = found
    for task in prange(offsets * chunks):
        k, chunk = task // chunks, task % chunks
        at = 0
        for before in range(chunk):
            at += counts[k, before]
        for row in range(chunk * rows // chunks, (chunk + 1) * rows // chunks):
            other = partner[k, row]
            if other >= 0:
                pairs[k, 0, at], pairs[k, 1, at] = row, other
                pairs[2 * offsets - k, 0, at], pairs[2 * offsets - k, 1, at] = other, row
                at += 1
        if chunk == chunks - 1:
            pairs[k, 0, at:], pairs[k, 1, at:] = -1, -1
            pairs[2 * offsets - k, 0, at:], pairs[2 * offsets - k, 1, at:] = -1, -1
    for row in prange(rows):
        pairs[offsets, 0, row], pairs[offsets, 1, row] = row, row


def _cell_numbers(indices: Any, space: Any, cells: Any) -> None:
    depth, height, width = space
    for row in prange(indices.shape[0]):
        n, d, h, w = indices[row, 0], indices[row, 1], indices[row, 2], indices[row, 3]
        cells[row] = ((np.int64(n) * depth + d) * height + h) * width + w


def _mark(indices: Any, reached: Any, counts: Any, space: Any, grid: Any) -> None:
    """Mark the output cells. Threads may mark the same cell; they write the same value.

    `reached` has for each axis and coordinate the filter cells and outputs that go with it,
    `counts` how many.
    """
    depth, height, width = space
    for row in prange(indices.shape[0]):
        n, i, j, k = indices[row, 0], indices[row, 1], indices[row, 2], indices[row, 3]
        for a in range(counts[0][i]):
            for b in range(counts[1][j]):
                line = ((np.int64(n) * depth + reached[0][i, a, 1]) * height + reached[1][j, b, 1]) * width
                for c in range(counts[2][k]):
                    grid[u(line + reached[2][k, c, 1])] = 1


def _number(grid: Any, starts: Any) -> int:
    """Count the marked cells of each part of the grid and return how many there are before each."""
    parts = starts.size - 1
    for part in prange(parts):
        total = 0
        for cell in range(part * grid.size // parts, (part + 1) * grid.size // parts):
            total += grid[u(cell)]
        starts[part + 1] = total
    for part in range(parts):
        starts[part + 1] += starts[part]
    return int(starts[parts])


def _name(grid: Any, starts: Any, space: Any, out: Any) -> None:
    """Write the coordinates of the marked cells, and their numbers into the grid."""
    depth, height, width = space
    parts = starts.size - 1
    for part in prange(parts):
        number = starts[part]
        for cell in range(part * grid.size // parts, (part + 1) * grid.size // parts):
            if grid[u(cell)]:
                line = cell // width
                out[number, 0], out[number, 1] = line // height // depth, line // height % depth
                out[number, 2], out[number, 3] = line % height, cell % width
                grid[u(cell)] = number
                number += 1


def _pair(indices: Any, reached: Any, counts: Any, space: Any, kernel: int, grid: Any, pairs: Any, found: Any) -> None:
    """Write the pairs, some rows a task: count each filter cell's, then write them after those of earlier rows."""
    depth, height, width = space
    rows, chunks, volume = indices.shape[0], found.shape[0], found.shape[1]
    for chunk in prange(chunks):
        at = np.zeros(volume, np.int64)
        for row in range(chunk * rows // chunks, (chunk + 1) * rows // chunks):
            i, j, k = indices[row, 1], indices[row, 2], indices[row, 3]
            for a in range(counts[0][i]):
                for b in range(counts[1][j]):
                    line = (reached[0][i, a, 0] * kernel + reached[1][j, b, 0]) * kernel
                    for c in range(counts[2][k]):
                        at[u(line + reached[2][k, c, 0])] += 1
        found[chunk] = at
    for chunk in prange(chunks):
        at = np.zeros(volume, np.int64)
        for before in range(chunk):
            at += found[before]
        for row in range(chunk * rows // chunks, (chunk + 1) * rows // chunks):
            n, i, j, k = indices[row, 0], indices[row, 1], indices[row, 2], indices[row, 3]
            for a in range(counts[0][i]):
                for b in range(counts[1][j]):
                    line = (reached[0][i, a, 0] * kernel + reached[1][j, b, 0]) * kernel
                    first = ((np.int64(n) * depth + reached[0][i, a, 1]) * height + reached[1][j, b, 1]) * width
                    for c in range(counts[2][k]):
                        cell = u(line + reached[2][k, c, 0])
                        place = u(at[cell])
                        pairs[cell, 0, place] = row
                        pairs[cell, 1, place] = grid[u(first + reached[2][k, c, 1])]
                        at[cell] += 1
    for cell in prange(volume):
        last = 0
        for chunk in range(chunks):
            last += found[chunk, cell]
        pairs[cell, 0, last:] = -1
        pairs[cell, 1, last:] = -1


_fill_table_parallel, _submanifold_parallel, _cells_parallel = (
    parallel(_fill_table), parallel(_submanifold), parallel(_cell_numbers)
)  # fmt: skip
_mark_parallel, _number_parallel, _name_parallel, _pair_parallel = (
    parallel(_mark), parallel(_number), parallel(_name), parallel(_pair)
)  # fmt: skip


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the way that suits the mode."""
    geometry = Geometry(problem)
    if geometry.symmetric:
        return {"hash": lambda: _by_hash(geometry, threads)}
    return {"dense grid": lambda: _by_grid(geometry, threads)} if geometry.cells <= _MOST_CELLS else {}


def _by_hash(geometry: Geometry, threads: int) -> Arrays:
    indices, rows, volume = geometry.indices, geometry.rows, geometry.volume
    bits = max(10, int(2 * rows - 1).bit_length())  # so that no part can be full
    shift = u(64 - bits)
    cells = np.empty(rows, np.int32 if geometry.cells < 2**31 else np.int64)
    keys, values = np.full(1 << bits, -1, cells.dtype), np.empty(1 << bits, np.int32)
    _cells_parallel(indices, geometry.space, cells)
    _fill_table_parallel(cells, keys, values, shift)
    partner = np.empty((volume // 2, rows), np.int32)
    counts = np.zeros((volume // 2, 4 * threads), np.int64)
    pairs = np.empty((volume, 2, rows), np.int32)
    _submanifold_parallel(indices, geometry.space, geometry.kernel, cells, keys, values, shift, partner, counts, pairs)
    half = counts.sum(axis=1)
    number = np.concatenate([half, [rows], half[::-1]]).astype(np.int32)
    return {"out_indices": indices.copy(), "indice_pairs": pairs, "indice_num": number}


def _by_grid(geometry: Geometry, threads: int) -> Arrays:
    indices = geometry.indices
    reached, counts = _reached(geometry)
    grid = np.zeros(geometry.cells, np.int32)
    _mark_parallel(indices, reached, counts, geometry.out_space, grid)
    starts = np.zeros(4 * threads + 1, np.int64)
    out = np.empty((_number_parallel(grid, starts), 4), np.int32)
    _name_parallel(grid, starts, geometry.out_space, out)
    pairs = np.empty((geometry.volume, 2, geometry.rows), np.int32)
    found = np.empty((4 * threads, geometry.volume), np.int64)
    _pair_parallel(indices, reached, counts, geometry.out_space, geometry.kernel, grid, pairs, found)
    number = found.sum(axis=0).astype(np.int32)
    return {"out_indices": out, "indice_pairs": pairs, "indice_num": number}


def _reached(geometry: Geometry) -> tuple[Any, Any]:
    """Return for each axis which filter cells a coordinate meets, with the outputs, [size, kernel, 2], and how many."""
    reached, counts = [], []
    for table in geometry.tables():
        valid = (table >= 0).T
        order = np.argsort(~valid, axis=1, kind="stable")
        reached.append(np.stack([order, np.take_along_axis(table.T, order, axis=1)], axis=2))
        counts.append(valid.sum(axis=1))
    return tuple(reached), tuple(counts)
