"""ps_roi_pool: means of the bins of regions, each bin in channels of its own, and the gradient of the maps."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Array, Arrays, Problem, TensorCall, TinyCall, close, generator


def build(case: Case) -> Problem:
    """Make maps and regions that lie on them, or the gradient of the result."""
    facts, rng = case.parameters, generator(case)
    batch, bins, depth, scale = (facts[name] for name in ("batch", "bins", "depth", "scale"))
    maps = rng.standard_normal((batch, *facts["size"], bins * bins * depth), np.float32).astype(case.dtype)
    rois = regions(rng, batch, facts["size"], facts["regions"], scale).astype(case.dtype)
    result = (len(rois), bins, bins, depth)
    if case.operator.endswith("forward"):
        return _forward(case, maps, rois, result)
    gradient = rng.standard_normal(result, np.float32).astype(case.dtype)
    _, mapping = pymluops.ps_roi_pool_forward(maps, rois, bins, bins, scale, bins, depth)
    return _backward(case, gradient, rois, mapping, maps.shape)


def regions(rng: np.random.Generator, batch: int, size: list[int], count: int, scale: float) -> Array:
    """Return regions [count, 5] in any image, with two corners drawn evenly from the map, in pixels of the image."""
    corners = np.sort(rng.random((count, 2, 2)) * size[::-1], axis=1).reshape(count, 4) / scale
    return np.column_stack([rng.integers(0, batch, count), corners])


def _forward(case: Case, maps: Array, rois: Array, result: tuple[int, ...]) -> Problem:
    _, bins, _, depth = result

    def run(out: Arrays) -> Arrays:
        pymluops.ps_roi_pool_forward(
            maps, rois, bins, bins, case.parameters["scale"], bins, depth,
            out=out["out"], mapping_channel=out["mapping_channel"],
        )  # fmt: skip
        return out

    def check(expected: Arrays, found: Arrays) -> None:
        close("out", expected["out"], found["out"], 1e-5)
        close("mapping_channel", expected["mapping_channel"], found["mapping_channel"], 0.0)

    outputs = {"out": (result, maps.dtype), "mapping_channel": (result, np.dtype(np.int32))}
    return Problem(case, {"input": maps, "rois": rois}, outputs, run, check)


def _backward(case: Case, gradient: Array, rois: Array, mapping: Array, shape: tuple[int, ...]) -> Problem:
    _, bins, _, depth = gradient.shape

    def run(out: Arrays) -> Arrays:
        pymluops.ps_roi_pool_backward(
            gradient, rois, mapping, bins, bins, case.parameters["scale"], depth, shape[0], shape[1:3], out=out["out"]
        )
        return out

    def check(expected: Arrays, found: Arrays) -> None:
        close("out", expected["out"], found["out"], 1e-5)

    inputs = {"top_grad": gradient, "rois": rois, "mapping_channel": mapping}
    return Problem(case, inputs, {"out": (shape, gradient.dtype)}, run, check)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the maps to 14 by 14 with 8 channels for each of 7 x 7 bins, a region for each pixel, then the batch."""
    bins = 7 if elements > 20000 else 2
    side = min(14, max(2, round((elements / (2 * bins * bins)) ** 0.5)))
    depth = min(8, max(1, round(elements / (2 * bins * bins * side * side))))
    batch = max(1, round(elements / (2 * depth * bins * bins * side * side)))
    return {"": {"batch": batch, "size": [side, side], "regions": batch * side * side, "bins": bins, "depth": depth,
                 "scale": 0.0625}}  # fmt: skip


def tiny() -> list[TinyCall]:
    """Return a call of each operator on a few elements."""
    maps = np.random.default_rng(7).random((1, 2, 2, 4), np.float32)
    rois = np.array([[0, 0, 0, 1, 1]], np.float32)
    pooled, channels = pymluops.ps_roi_pool_forward(maps, rois, 2, 2, 1.0, 2, 1)
    return [
        TinyCall("ps_roi_pool_forward", "op(x, r, 2, 2, 1.0, 2, 1, out=o, mapping_channel=m)",
                 {"x": maps, "r": rois, "m": channels.copy(), "o": pooled.copy()}),
        TinyCall("ps_roi_pool_backward", "op(x, r, m, 2, 2, 1.0, 1, 1, size, out=o)",
                 {"x": pooled, "r": rois, "m": channels, "o": np.empty_like(maps)}, {"size": (2, 2)}),
    ]  # fmt: skip


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors whose channels come first."""
    maps = np.random.default_rng(0).random((1, 4, 4, 8), np.float32)
    rois = np.array([[0, 0, 0, 2, 2]], np.float32)
    maps_t, rois_t = tensor(maps.transpose(0, 3, 1, 2).copy()), tensor(rois)
    return TensorCall(
        "ps_roi_pool",
        lambda: pymluops.ps_roi_pool_forward(maps, rois, 2, 2, 1.0, 2, 2),
        lambda: ops.ps_roi_pool(maps_t, rois_t, 2),
    )
