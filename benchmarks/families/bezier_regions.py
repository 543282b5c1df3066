"""bezier_align: bilinear samples between two curves, and the gradient of the maps."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Array, Arrays, Problem, TensorCall, TinyCall, close, generator


def build(case: Case) -> Problem:
    """Make maps and regions that lie on them, or the gradient of the result."""
    facts, rng = case.parameters, generator(case)
    shape = (facts["batch"], *facts["size"], facts["channels"])
    result = (facts["regions"], *facts["bins"], facts["channels"])
    rois, numbers = regions(rng, facts).astype(case.dtype), (facts["scale"], facts["ratio"], True)
    if case.operator == "bezier_align_forward":
        maps = rng.standard_normal(shape, np.float32).astype(case.dtype)

        def forward(out: Arrays) -> Arrays:
            pymluops.bezier_align_forward(maps, rois, facts["bins"], *numbers, out=out["out"])
            return out

        return Problem(case, {"input": maps, "rois": rois}, {"out": (result, maps.dtype)}, forward, _check)
    grad = rng.standard_normal(result, np.float32).astype(case.dtype)

    def backward(out: Arrays) -> Arrays:
        pymluops.bezier_align_backward(grad, rois, *numbers, shape[0], shape[1:3], out=out["out"])
        return out

    return Problem(case, {"grad_output": grad, "rois": rois}, {"out": (shape, grad.dtype)}, backward, _check)


def regions(rng: np.random.Generator, facts: Any) -> Array:
    """Return regions [count, 17] in any image, bent lines of text of an eighth to a half of its sides."""
    count, extent = facts["regions"], np.array(facts["size"][::-1]) / facts["scale"]
    size = rng.uniform(0.125, 0.5, (count, 1, 2)) * extent
    corner = rng.uniform(0.05, 0.45, (count, 1, 2)) * extent
    part = np.array([[k / 3, 0] for k in range(4)] + [[1 - k / 3, 1] for k in range(4)])
    points = corner + (part + rng.uniform(-0.1, 0.1, (count, 8, 2))) * size
    return np.column_stack([rng.integers(0, facts["batch"], count), points.reshape(count, 16)])


def _check(expected: Arrays, found: Arrays) -> None:
    close("out", expected["out"], found["out"], 1e-3)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the maps to 32 by 32 with 32 channels, a region for each 16 pixels, then the batch."""
    side = min(32, max(2, round((elements / 8) ** 0.5)))
    channels = min(32, max(1, elements // (2 * side * side)))
    batch = max(1, round(elements / (2 * channels * side * side)))
    return {"": {"batch": batch, "size": [side, side], "channels": channels,
                 "regions": max(1, batch * side * side // 16), "bins": [4, 4], "scale": 0.25, "ratio": 2}}  # fmt: skip


def tiny() -> list[TinyCall]:
    """Return a call of each operator on a few elements."""
    maps = np.random.default_rng(7).random((1, 2, 2, 4), np.float32)
    rois, pooled = np.array([[0, *[0, 0] * 4, *[1, 1] * 4]], np.float32), np.ones((1, 1, 1, 4), np.float32)
    given = {"x": maps, "r": rois, "o": pooled.copy()}
    back = {"g": pooled, "r": rois, "o": np.empty_like(maps)}
    return [
        TinyCall("bezier_align_forward", "op(x, r, 1, 1.0, 1, out=o)", given, limit=3000.0),
        TinyCall(
            "bezier_align_backward", "op(g, r, 1.0, 1, True, 1, size, out=o)", back, {"size": (2, 2)}, limit=4000.0
        ),
    ]


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors whose channels come first."""
    maps = np.random.default_rng(0).random((1, 4, 4, 8), np.float32)
    rois = np.array([[0, *[0, 0] * 4, *[3, 3] * 4]], np.float32)
    maps_t, rois_t = tensor(maps.transpose(0, 3, 1, 2).copy()), tensor(rois)
    return TensorCall(
        "bezier_align",
        lambda: pymluops.bezier_align_forward(maps, rois, 2, 1.0, 2),
        lambda: ops.bezier_align(maps_t, rois_t, 2, 1.0, 2),
    )
