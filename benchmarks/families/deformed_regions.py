"""deform_roi_pool: bilinear samples in bins that offsets move, and the gradients of maps and offsets."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Array, Arrays, Problem, TensorCall, TinyCall, close, generator


def build(case: Case) -> Problem:
    """Make maps, regions that lie on them and offsets, and the gradient of the result."""
    facts, rng = case.parameters, generator(case)
    maps = rng.standard_normal((facts["batch"], *facts["size"], facts["channels"]), np.float32).astype(case.dtype)
    rois = regions(rng, facts).astype(case.dtype)
    offset = rng.standard_normal((len(rois), 2, *facts["bins"]), np.float32).astype(case.dtype)
    numbers = facts["scale"], facts["ratio"], facts["gamma"]
    result = (len(rois), *facts["bins"], facts["channels"])
    given = {"input": maps, "rois": rois, "offset": offset}
    if case.operator == "deform_roi_pool_forward":

        def forward(out: Arrays) -> Arrays:
            pymluops.deform_roi_pool_forward(maps, rois, offset, facts["bins"], *numbers, out=out["out"])
            return out

        return Problem(case, given, {"out": (result, maps.dtype)}, forward, _check)
    grad = rng.standard_normal(result, np.float32).astype(case.dtype)
    bins: Any = () if "exact" in case.operator else (facts["bins"],)
    run: Any = getattr(pymluops, case.operator)

    def backward(out: Arrays) -> Arrays:
        run(grad, maps, rois, offset, *bins, *numbers, grad_input=out["grad_input"], grad_offset=out["grad_offset"])
        return out

    outputs = {"grad_input": (maps.shape, maps.dtype), "grad_offset": (offset.shape, maps.dtype)}
    return Problem(case, {"grad_output": grad, **given}, outputs, backward, _check)


def regions(rng: np.random.Generator, facts: Any) -> Array:
    """Return regions [count, 5] in any image, of an eighth to a half of its sides, in pixels of the image."""
    count, extent = facts["regions"], np.array(facts["size"][::-1]) / facts["scale"]
    size = rng.uniform(0.125, 0.5, (count, 2)) * extent
    corner = rng.random((count, 2)) * (extent - size)
    return np.column_stack([rng.integers(0, facts["batch"], count), corner, corner + size])


def _check(expected: Arrays, found: Arrays) -> None:
    for name, array in expected.items():
        close(name, array, found[name], 1e-3)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the maps to 32 by 32 with 32 channels, a region for each 16 pixels, then the batch."""
    side = min(32, max(2, round((elements / 8) ** 0.5)))
    channels = min(32, max(1, elements // (2 * side * side)))
    batch = max(1, round(elements / (2 * channels * side * side)))
    return {"": {"batch": batch, "size": [side, side], "channels": channels, "gamma": 0.1,
                 "regions": max(1, batch * side * side // 16), "bins": [4, 4], "scale": 0.25, "ratio": 2}}  # fmt: skip


def tiny() -> list[TinyCall]:
    """Return a call of each operator on a few elements."""
    maps = np.random.default_rng(7).random((1, 2, 2, 4), np.float32)
    rois, offset = np.array([[0, 0, 0, 1, 1]], np.float32), np.zeros((1, 2, 1, 1), np.float32)
    pooled = np.ones((1, 1, 1, 4), np.float32)
    given = {"x": maps, "r": rois, "d": offset, "o": pooled.copy()}
    back = {"g": pooled, "x": maps, "r": rois, "d": offset, "o": np.empty_like(maps), "p": np.empty_like(offset)}
    results = "grad_input=o, grad_offset=p"
    return [
        TinyCall("deform_roi_pool_forward", "op(x, r, d, 1, 1.0, 1, 0.1, out=o)", given, limit=3000.0),
        TinyCall("deform_roi_pool_backward", f"op(g, x, r, d, 1, 1.0, 1, 0.1, {results})", back, limit=4000.0),
        TinyCall("deform_roi_pool_exact_backward", f"op(g, x, r, d, 1.0, 1, 0.1, {results})", back, limit=4000.0),
    ]


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors whose channels come first."""
    maps, rois = np.random.default_rng(0).random((1, 4, 4, 8), np.float32), np.array([[0, 0, 0, 2, 2]], np.float32)
    offset = np.zeros((1, 2, 2, 2), np.float32)
    maps_t, rois_t, offset_t = tensor(maps.transpose(0, 3, 1, 2).copy()), tensor(rois), tensor(offset)
    return TensorCall(
        "deform_roi_pool",
        lambda: pymluops.deform_roi_pool_forward(maps, rois, offset, 2, 1.0, 2),
        lambda: ops.deform_roi_pool(maps_t, rois_t, offset_t, 2, 1.0, 2),
    )
