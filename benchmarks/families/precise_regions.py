"""prroi_pool: means of integrals over the bins of regions, and the gradients of maps and regions."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Array, Arrays, Problem, TensorCall, TinyCall, close, generator


def build(case: Case) -> Problem:
    """Make maps and regions that lie on them, and the gradient of the result."""
    facts, rng = case.parameters, generator(case)
    maps = rng.standard_normal((facts["batch"], *facts["size"], facts["channels"]), np.float32).astype(case.dtype)
    rois, scale = regions(rng, facts).astype(case.dtype), facts["scale"]
    result = (len(rois), *facts["bins"], facts["channels"])
    grad = rng.standard_normal(result, np.float32).astype(case.dtype)
    if case.operator == "prroi_pool_forward":

        def forward(out: Arrays) -> Arrays:
            pymluops.prroi_pool_forward(maps, rois, facts["bins"], scale, out=out["out"])
            return out

        return Problem(case, {"input": maps, "rois": rois}, {"out": (result, maps.dtype)}, forward, _check)
    if case.operator == "prroi_pool_backward":

        def backward(out: Arrays) -> Arrays:
            pymluops.prroi_pool_backward(grad, rois, scale, len(maps), maps.shape[1:3], out=out["out"])
            return out

        return Problem(case, {"grad_output": grad, "rois": rois}, {"out": (maps.shape, maps.dtype)}, backward, _check)
    output: Any = pymluops.prroi_pool_forward(maps, rois, facts["bins"], scale)

    def corners(out: Arrays) -> Arrays:
        pymluops.prroi_pool_coor_backward(grad, maps, rois, output, scale, out=out["out"])
        return out

    inputs = {"grad_output": grad, "input": maps, "rois": rois, "output": output}
    return Problem(case, inputs, {"out": (rois.shape, rois.dtype)}, corners, _check)


def regions(rng: np.random.Generator, facts: Any) -> Array:
    """Return regions [count, 5] in any image, of an eighth to a half of its sides, in pixels of the image."""
    count, extent = facts["regions"], np.array(facts["size"][::-1]) / facts["scale"]
    size = rng.uniform(0.125, 0.5, (count, 2)) * extent
    corner = rng.random((count, 2)) * (extent - size)
    return np.column_stack([rng.integers(0, facts["batch"], count), corner, corner + size])


def _check(expected: Arrays, found: Arrays) -> None:
    close("out", expected["out"], found["out"], 1e-3)


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
    pooled: Any = pymluops.prroi_pool_forward(maps, rois, 1, 1.0)
    given = {"x": maps, "r": rois, "o": pooled.copy()}
    back = {"g": pooled.copy(), "r": rois, "o": np.empty_like(maps)}
    corners = {"g": pooled.copy(), "x": maps, "r": rois, "p": pooled, "o": np.empty_like(rois)}
    return [
        TinyCall("prroi_pool_forward", "op(x, r, 1, 1.0, out=o)", given, limit=3000.0),
        TinyCall("prroi_pool_backward", "op(g, r, 1.0, 1, size, out=o)", back, {"size": (2, 2)}, limit=3000.0),
        TinyCall("prroi_pool_coor_backward", "op(g, x, r, p, 1.0, out=o)", corners, limit=3000.0),
    ]


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors whose channels come first."""
    maps, rois = np.random.default_rng(0).random((1, 4, 4, 8), np.float32), np.array([[0, 0, 0, 2, 2]], np.float32)
    maps_t, rois_t = tensor(maps.transpose(0, 3, 1, 2).copy()), tensor(rois)
    return TensorCall(
        "prroi_pool",
        lambda: pymluops.prroi_pool_forward(maps, rois, 2, 1.0),
        lambda: ops.prroi_pool(maps_t, rois_t, 2, 1.0),
    )
