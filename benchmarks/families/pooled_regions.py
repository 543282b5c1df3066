"""roi_pool: the largest pixel in the bins of regions, and the gradient of the maps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Array, Arrays, Problem, TensorCall, TinyCall, close, generator


def build(case: Case) -> Problem:
    """Make maps no two pixels of which are equal and regions that lie on them, or the gradient of the result."""
    facts, rng = case.parameters, generator(case)
    shape = (facts["batch"], *facts["size"], facts["channels"])
    count = math.prod(shape)
    maps = (rng.permutation(count).reshape(shape) / count).astype(case.dtype)
    rois = regions(rng, facts).astype(case.dtype)
    pooled: Any = pymluops.roi_pool_forward(maps, rois, facts["bins"], facts["scale"])
    result = pooled.output.shape
    if case.operator.endswith("forward"):

        def forward(out: Arrays) -> Arrays:
            pymluops.roi_pool_forward(maps, rois, facts["bins"], facts["scale"], out=out["out"], argmax=out["argmax"])
            return out

        outputs: dict[str, Any] = {"out": (result, maps.dtype), "argmax": (result, np.dtype(np.int32))}
        return Problem(case, {"input": maps, "rois": rois}, outputs, forward, _check)
    gradient = rng.standard_normal(result, np.float32).astype(case.dtype)

    def backward(out: Arrays) -> Arrays:
        pymluops.roi_pool_backward(gradient, rois, pooled.argmax, len(maps), maps.shape[1:3], out=out["out"])
        return out

    inputs = {"grad_output": gradient, "rois": rois, "argmax": pooled.argmax}
    return Problem(case, inputs, {"out": (maps.shape, maps.dtype)}, backward, _check)


def regions(rng: np.random.Generator, facts: Any) -> Array:
    """Return regions [count, 5] in any image, of an eighth to a half of its sides, in pixels of the image."""
    count, extent = facts["regions"], (np.array(facts["size"][::-1]) - 1) / facts["scale"]
    size = rng.uniform(0.125, 0.5, (count, 2)) * extent
    corner = rng.random((count, 2)) * (extent - size)
    return np.column_stack([rng.integers(0, facts["batch"], count), corner, corner + size])


def _check(expected: Arrays, found: Arrays) -> None:
    close("out", expected["out"], found["out"], 1e-5)
    if "argmax" in expected:
        close("argmax", expected["argmax"], found["argmax"], 0.0)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the maps to 32 by 32 with 32 channels, a region for each 16 pixels, then the batch."""
    side = min(32, max(2, round((elements / 8) ** 0.5)))
    channels = min(32, max(1, elements // (2 * side * side)))
    batch = max(1, round(elements / (2 * channels * side * side)))
    return {"": {"batch": batch, "size": [side, side], "channels": channels,
                 "regions": max(1, batch * side * side // 16), "bins": [4, 4], "scale": 0.25}}  # fmt: skip


def tiny() -> list[TinyCall]:
    """Return a call of each operator on a few elements."""
    maps = np.random.default_rng(7).random((1, 2, 2, 4), np.float32)
    rois = np.array([[0, 0, 0, 1, 1]], np.float32)
    best, pixel = pymluops.roi_pool_forward(maps, rois, 1, 1.0)
    size = {"size": (2, 2)}
    return [
        TinyCall("roi_pool_forward", "op(x, r, 1, 1.0, out=o, argmax=m)",
                 {"x": maps, "r": rois, "o": best.copy(), "m": pixel.copy()}, limit=3000.0),
        TinyCall("roi_pool_backward", "op(g, r, m, 1, size, out=o)",
                 {"g": best.copy(), "r": rois, "m": pixel.copy(), "o": np.empty_like(maps)}, size, limit=3000.0),
    ]  # fmt: skip


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors whose channels come first."""
    maps, rois = np.random.default_rng(0).random((1, 4, 4, 8), np.float32), np.array([[0, 0, 0, 2, 2]], np.float32)
    maps_t, rois_t = tensor(maps.transpose(0, 3, 1, 2).copy()), tensor(rois)
    return TensorCall(
        "roi_pool",
        lambda: pymluops.roi_pool_forward(maps, rois, 2, 1.0),
        lambda: ops.roi_pool(maps_t, rois_t, 2, 1.0),
    )
