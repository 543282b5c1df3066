"""three_interpolate with numba: whole rows of a channel, or blocks of channels with the index read once a block.

float16 is read and written as its bits and computed in float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers import Variants
from benchmarks.peers.numba_support import contracting, float_to_half, half_to_float, inlined, prange
from benchmarks.problem import Arrays, Problem

u = np.uint64

#: Channels of a block: one vector register of float32 on most machines.
_LANES = 16

#: Points whose gradients are turned round at a time.
_TILE = 64


@inlined
def _load(target: Any, source: Any, start: int, size: int) -> None:
    """Read float32 values, or the bits of float16."""
    if source.itemsize == 2:
        for i in range(size):
            target[u(i)] = half_to_float(source[u(start + i)])
    else:
        for i in range(size):
            target[u(i)] = source[u(start + i)]


@inlined
def _columns(indices: Any, weights: Any, b: int, points: int, columns: Any, parts: Any) -> None:
    """Split a batch's index and weights into three rows each."""
    for n in range(points):
        for i in range(3):
            place = u((b * points + n) * 3 + i)
            columns[u(i * points + n)] = indices[place]
            if weights.itemsize == 2:
                parts[u(i * points + n)] = half_to_float(weights[place])
            else:
                parts[u(i * points + n)] = weights[place]


def _forward_rows(source: Any, indices: Any, weights: Any, out: Any, sizes: Any) -> None:
    batch, channels, features, points = sizes
    columns = np.empty((batch, 3 * points), np.uint32)
    parts = np.empty((batch, 3 * points), np.float32)
    for b in prange(batch):
        _columns(indices, weights, b, points, columns[b], parts[b])
    blocks = (channels + 15) // 16
    for task in prange(batch * blocks):
        b, block = task // blocks, task % blocks
        row = np.empty(features, np.float32)
        column, part = columns[b], parts[b]
        for c in range(block * 16, min(channels, block * 16 + 16)):
            _load(row, source, (b * channels + c) * features, features)
            to = (b * channels + c) * points
            for n in range(points):
                first, second, third = u(n), u(points + n), u(2 * points + n)
                value = row[column[first]] * part[first]
                value += row[column[second]] * part[second]
                value += row[column[third]] * part[third]
                if out.itemsize == 2:
                    out[u(to + n)] = float_to_half(value)
                else:
                    out[u(to + n)] = value


def _backward_rows(source: Any, indices: Any, weights: Any, out: Any, sizes: Any) -> None:
    batch, channels, features, points = sizes
    columns = np.empty((batch, 3 * points), np.uint32)
    parts = np.empty((batch, 3 * points), np.float32)
    for b in prange(batch):
        _columns(indices, weights, b, points, columns[b], parts[b])
    for task in prange(batch * channels):
        b = task // channels
        column, part = columns[b], parts[b]
        row, total = np.empty(points, np.float32), np.zeros(features, np.float32)
        _load(row, source, task * points, points)
        for n in range(points):
            for i in range(3):
                place = u(i * points + n)
                total[column[place]] += part[place] * row[u(n)]
        _store(out, task * features, total, features)


@inlined
def _store(out: Any, to: int, values: Any, size: int) -> None:
    if out.itemsize == 2:
        for i in range(size):
            out[u(to + i)] = float_to_half(values[u(i)])
    else:
        for i in range(size):
            out[u(to + i)] = values[u(i)]


def _backward_blocks(source: Any, indices: Any, weights: Any, out: Any, sizes: Any) -> None:
    """Sixteen channels at a time: their sums lie side by side, so that a point's three additions are vectors."""
    batch, channels, features, points = sizes
    blocks = channels // 16
    for task in prange(batch * blocks):
        b, first = task // blocks, task % blocks * 16
        total = np.zeros(features * 16, np.float32)
        row = np.empty(64, np.float32)
        tile = np.empty(64 * 16, np.float32)
        for start in range(0, points, 64):
            count = min(64, points - start)
            for c in range(16):
                _load(row, source, (b * channels + first + c) * points + start, count)
                for n in range(count):
                    tile[u(n * 16 + c)] = row[u(n)]
            for n in range(count):
                for i in range(3):
                    place = u((b * points + start + n) * 3 + i)
                    at = np.int64(indices[place]) * 16
                    weight = half_to_float(weights[place]) if weights.itemsize == 2 else weights[place]
                    for c in range(16):
                        total[u(at + c)] += weight * tile[u(n * 16 + c)]
        for c in range(16):
            to = (b * channels + first + c) * features
            for m in range(features):
                value = total[u(m * 16 + c)]
                if out.itemsize == 2:
                    out[u(to + m)] = float_to_half(value)
                else:
                    out[u(to + m)] = value


_by_rows = {True: contracting(_forward_rows), False: contracting(_backward_rows)}
_by_blocks = contracting(_backward_blocks)


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the loops for the direction."""
    forward = problem.case.operator.endswith("forward")
    facts = problem.case.parameters
    sizes = tuple(facts[name] for name in ("batch", "channels", "features", "points"))
    source = _bits(problem.inputs["features" if forward else "grad_output"])
    indices, weights = problem.inputs["indices"].reshape(-1), _bits(problem.inputs["weights"])
    out = _bits(outputs["out"])

    def rows() -> Arrays:
        _by_rows[forward](source, indices, weights, out, sizes)
        return outputs

    def blocks() -> Arrays:
        _by_blocks(source, indices, weights, out, sizes)
        return outputs

    if forward or facts["channels"] % _LANES:
        return {"rows": rows}
    return {"rows": rows, "blocks of channels": blocks}


def _bits(array: Any) -> Any:
    """Return a flat view; float16 as uint16."""
    return (array.view(np.uint16) if array.dtype == np.float16 else array).reshape(-1)
