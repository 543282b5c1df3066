"""bev_pool: sums of the rows of intervals for the cells of a grid, and the gradient of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Array, Arrays, Problem, TensorCall, TinyCall, close, generator


def build(case: Case) -> Problem:
    """Make rows that lie on a part of the cells, sorted by cell, as a model hands them over."""
    facts, rng = case.parameters, generator(case)
    grid, channels = tuple(facts["grid"]), facts["channels"]
    geometry, lengths, starts = _rows(grid, facts["rows"], facts["cells"], rng)
    forward = case.operator.endswith("forward")
    cells, rows = (*grid, channels), (len(geometry), channels)
    given = rng.standard_normal(rows if forward else cells, np.float32)

    def run(out: Arrays) -> Arrays:
        if forward:
            pymluops.bev_pool_forward(given, geometry, lengths, starts, grid, out=out["out"])
        else:
            pymluops.bev_pool_backward(given, geometry, lengths, starts, out=out["out"])
        return out

    def check(expected: Arrays, found: Arrays) -> None:
        close("out", expected["out"], found["out"], 1e-4)

    inputs = {
        "features" if forward else "grad_output": given, "geometry": geometry, "interval_lengths": lengths,
        "interval_starts": starts,
    }  # fmt: skip
    places = len(lengths) * (2 * 4 + 16)  # one row of the geometry for each interval
    read = places + (given.nbytes if forward else len(lengths) * channels * 4)
    return Problem(case, inputs, {"out": (cells if forward else rows, given.dtype)}, run, check, read)


def _rows(grid: tuple[int, ...], rows: int, cells: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Return geometry, lengths and starts of rows on some cells."""
    batches, depth, height, width = grid
    chosen = rng.permutation(batches * depth * height * width)[:cells]
    cell = np.sort(rng.choice(chosen, rows))
    b, d, h, w = np.unravel_index(cell, (batches, depth, height, width))
    starts = np.flatnonzero(np.diff(cell, prepend=-1)).astype(np.int32)
    lengths = np.diff(starts, append=rows).astype(np.int32)
    return np.stack([h, w, d, b], 1).astype(np.int32), lengths, starts


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the channels to 80, then rows and grid together."""
    channels = min(80, max(1, elements // 4))
    rows = max(2, elements // channels // 2)
    side = max(1, round(rows**0.5))
    return {"": {"grid": [1, 1, side, side], "rows": rows, "cells": max(1, side * side // 2), "channels": channels}}


def tiny() -> list[TinyCall]:
    """Return a call of each operator on a few elements."""
    rows, geometry = np.ones((3, 4), np.float32), np.zeros((3, 4), np.int32)
    lengths, starts = np.array([3], np.int32), np.array([0], np.int32)
    cells = pymluops.bev_pool_forward(rows, geometry, lengths, starts, (1, 1, 1, 1))
    given = {"g": geometry, "l": lengths, "s": starts}
    return [
        TinyCall("bev_pool_forward", "op(x, g, l, s, size, out=o)", {"x": rows, **given, "o": cells.copy()},
                 {"size": (1, 1, 1, 1)}),
        TinyCall("bev_pool_backward", "op(x, g, l, s, out=o)", {"x": cells, **given, "o": np.empty_like(rows)}),
    ]  # fmt: skip


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors."""
    arrays = (np.ones((3, 4), np.float32), np.zeros((3, 4), np.int32), np.array([3], np.int32), np.array([0], np.int32))
    tensors = [tensor(array) for array in arrays]
    return TensorCall(
        "bev_pool",
        lambda: pymluops.bev_pool_forward(*arrays, (1, 1, 1, 1)),
        lambda: ops.bev_pool(*tensors, 1, 1, 1, 1),
    )
