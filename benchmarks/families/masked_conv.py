"""masked_conv: windows around cells of a map as columns, and columns back to cells."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Arrays, Problem, TensorCall, TinyCall, generator, same_bits


def build(case: Case) -> Problem:
    """Make a map, or columns, and different cells in their order."""
    facts, rng = case.parameters, generator(case)
    channels, (height, width), kernel = facts["channels"], facts["size"], facts["kernel"]
    cells = np.sort(rng.choice(height * width, facts["cells"], replace=False))
    places = {"mask_h_idx": (cells // width).astype(np.int32), "mask_w_idx": (cells % width).astype(np.int32)}
    maps, windows = (1, channels, height, width), (channels * kernel**2, len(cells))
    forward = case.operator == "masked_im2col_forward"
    operator: Any = getattr(pymluops, case.operator)
    numbers = (kernel, kernel // 2) if forward else ((height, width),)
    name, shape = ("feature", maps) if forward else ("col", (channels, len(cells)))
    given = {name: rng.standard_normal(shape, np.float32).astype(case.dtype), **places}

    def run(out: Arrays) -> Arrays:
        operator(*given.values(), *numbers, out=out["out"])
        return out

    written = windows if forward else maps
    read = None
    if forward:  # the cells of all windows, each once
        seen = np.zeros((height + kernel, width + kernel), bool)
        for i, j in np.ndindex(kernel, kernel):
            seen[places["mask_h_idx"] + i, places["mask_w_idx"] + j] = True
        before = kernel // 2
        inside = int(np.count_nonzero(seen[before : before + height, before : before + width]))
        read = inside * channels * given[name].itemsize + 8 * len(cells)
    return Problem(case, given, {"out": (written, given[name].dtype)}, run, same_bits, read)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the map, with a tenth of its cells in the mask."""
    channels = 8 if elements < 100_000 else 64
    side = max(2, round((elements / channels) ** 0.5))
    return {"": {"channels": channels, "size": [side, side], "kernel": 3, "cells": max(1, side * side // 10)}}


def tiny() -> list[TinyCall]:
    """Return a call of each operator on two cells."""
    maps, cells = np.ones((1, 2, 2, 3), np.float32), np.arange(2, dtype=np.int32)
    columns = pymluops.masked_im2col_forward(maps, cells, cells, 1, 0)
    names = {"x": maps, "c": columns, "k": cells}
    return [
        TinyCall("masked_im2col_forward", "op(x, k, k, 1, 0, out=o)", {**names, "o": columns.copy()}),
        TinyCall("masked_col2im_forward", "op(c, k, k, (2, 3), out=o)", {**names, "o": maps.copy()}),
    ]


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors, which also multiplies with the filter."""
    rng = np.random.default_rng(0)
    maps, mask, weight = rng.random((1, 2, 4, 4), np.float32), np.eye(4, dtype=np.float32)[None], np.ones((3, 18))
    given = tensor(maps), tensor(mask), tensor(weight.astype(np.float32).reshape(3, 2, 3, 3))
    cells = np.arange(4, dtype=np.int32)

    def with_arrays() -> Any:
        columns = weight.astype(np.float32) @ pymluops.masked_im2col_forward(maps, cells, cells, 3, 1)
        return pymluops.masked_col2im_forward(columns, cells, cells, (4, 4))

    return TensorCall("masked_conv2d", with_arrays, lambda: ops.masked_conv2d(*given, None, 1))
