"""roi_crop: bilinear samples of maps at the points of grids, and the gradient of the maps."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Array, Arrays, Problem, TensorCall, TinyCall, close, generator


def build(case: Case) -> Problem:
    """Make maps, or the gradient of samples, and grids whose points lie on the maps."""
    facts, rng = case.parameters, generator(case)
    batch, size, channels = facts["batch"], tuple(facts["size"]), facts["channels"]
    grid = rng.uniform(-1, 1, (facts["regions"], *facts["points"], 2)).astype(case.dtype)
    maps, samples = (batch, *size, channels), (*grid.shape[:3], channels)
    forward = case.operator.endswith("forward")
    given = rng.standard_normal(maps if forward else samples, np.float32).astype(case.dtype)

    def run(out: Arrays) -> Arrays:
        if forward:
            pymluops.roi_crop_forward(given, grid, out=out["out"])
        else:
            pymluops.roi_crop_backward(given, grid, batch, size, out=out["out"])
        return out

    def check(expected: Arrays, found: Arrays) -> None:
        close("out", expected["out"], found["out"], 1e-5)

    read = _pixels_read(grid, batch, size) * channels * given.itemsize + grid.nbytes if forward else None
    inputs = {"input" if forward else "grad_output": given, "grid": grid}
    return Problem(case, inputs, {"out": (samples if forward else maps, given.dtype)}, run, check, read)


def _pixels_read(grid: Array, batch: int, size: tuple[int, ...]) -> int:
    """Return how many pixels are a corner of a point."""
    low = np.floor((grid.astype(np.float64) + 1) / 2 * (np.array(size) - 1)).astype(int)
    image = np.arange(len(grid))[:, None, None] // (len(grid) // batch)
    seen = np.zeros((batch, size[0] + 1, size[1] + 1), bool)
    for down, right in np.ndindex(2, 2):
        seen[image, low[..., 0] + down, low[..., 1] + right] = True
    return int(np.count_nonzero(seen[:, : size[0], : size[1]]))


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the maps to 32 by 32 with 256 channels, sampled at half as many points, then the batch."""
    side = min(32, max(2, round((elements / 1.5) ** 0.25)))
    channels = min(256, max(1, round(elements / (1.5 * side * side))))
    batch = max(1, round(elements / (1.5 * channels * side * side)))
    return {"": {"batch": batch, "size": [side, side], "regions": batch, "points": [side, max(1, side // 2)],
                 "channels": channels}}  # fmt: skip


def tiny() -> list[TinyCall]:
    """Return a call of each operator on a few elements."""
    maps, grid = np.random.default_rng(7).random((1, 2, 2, 8), np.float32), np.zeros((1, 1, 2, 2), np.float32)
    samples = pymluops.roi_crop_forward(maps, grid)
    return [
        TinyCall("roi_crop_forward", "op(x, g, out=o)", {"x": maps, "g": grid, "o": samples.copy()}),
        TinyCall("roi_crop_backward", "op(x, g, 1, size, out=o)",
                 {"x": samples, "g": grid, "o": np.empty_like(maps)}, {"size": (2, 2)}),
    ]  # fmt: skip


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors whose channels come first."""
    maps, grid = np.random.default_rng(0).random((1, 4, 4, 8), np.float32), np.zeros((1, 1, 2, 2), np.float32)
    maps_t, grid_t = tensor(maps.transpose(0, 3, 1, 2).copy()), tensor(grid)
    return TensorCall("roi_crop", lambda: pymluops.roi_crop_forward(maps, grid), lambda: ops.roi_crop(maps_t, grid_t))
