"""rotated_feature_align: maps plus samples at the places of the box of each pixel, and the gradient of the maps."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Array, Arrays, Problem, TensorCall, TinyCall, close, generator


def build(case: Case) -> Problem:
    """Make maps, or the gradient of the result, and boxes near their pixels."""
    facts, rng = case.parameters, generator(case)
    shape, numbers = (facts["batch"], *facts["size"], facts["channels"]), (facts["scale"], facts["points"])
    given = rng.standard_normal(shape, np.float32).astype(case.dtype)
    boxes = boxes_of(rng, facts).astype(case.dtype)
    operator: Any = getattr(pymluops, case.operator)

    def run(out: Arrays) -> Arrays:
        operator(given, boxes, *numbers, out=out["out"])
        return out

    name = "input" if case.operator.endswith("forward") else "grad_output"
    return Problem(case, {name: given, "boxes": boxes}, {"out": (shape, given.dtype)}, run, _check)


def boxes_of(rng: np.random.Generator, facts: Any) -> Array:
    """Return boxes [B, H, W, 5] around the pixels, two to eight pixels long, as a detector refines them."""
    batch, (height, width) = facts["batch"], facts["size"]
    pixel = np.stack(np.meshgrid(np.arange(height), np.arange(width), indexing="ij"), -1)
    shape = (batch, height, width, 2)
    centre, size = pixel + rng.uniform(-1.5, 1.5, shape), rng.uniform(2, 8, shape)
    angle = rng.uniform(-np.pi, np.pi, (*shape[:3], 1))
    return np.concatenate([centre / facts["scale"], size / facts["scale"], angle], -1)


def _check(expected: Arrays, found: Arrays) -> None:
    close("out", expected["out"], found["out"], 1e-3)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the maps to 32 by 32 with 64 channels, then the batch."""
    side = min(32, max(2, round((elements / 8) ** 0.5)))
    channels = min(64, max(1, elements // (8 * side * side)) * 4)
    batch = max(1, round(elements / (2 * channels * side * side)))
    return {"": {"batch": batch, "size": [side, side], "channels": channels, "scale": 0.125, "points": 5}}


def tiny() -> list[TinyCall]:
    """Return a call of each operator on a few elements."""
    maps = np.random.default_rng(7).random((1, 2, 2, 4), np.float32)
    given = {"x": maps, "b": np.ones((1, 2, 2, 5), np.float32), "o": np.empty_like(maps)}
    return [
        TinyCall("rotated_feature_align_forward", "op(x, b, 1.0, 1, out=o)", given, limit=3000.0),
        TinyCall("rotated_feature_align_backward", "op(x, b, 1.0, 1, out=o)", given, limit=4000.0),
    ]


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors whose channels come first."""
    maps = np.random.default_rng(0).random((1, 4, 4, 8), np.float32)
    boxes = np.ones((1, 4, 4, 5), np.float32)
    maps_t, boxes_t = tensor(maps.transpose(0, 3, 1, 2).copy()), tensor(boxes)
    return TensorCall(
        "rotated_feature_align",
        lambda: pymluops.rotated_feature_align_forward(maps, boxes, 1.0, 1),
        lambda: ops.rotated_feature_align(maps_t, boxes_t, 1.0, 1),
    )
