"""ms_deform_attn: weighted sums of bilinear samples from several maps, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Array, Arrays, Problem, TensorCall, TinyCall, close, generator

#: Of the largest value. Sums of many terms in another order differ by rounding.
_TOLERANCE = 2e-5


def build(case: Case) -> Problem:
    """Draw values, samples all over the maps, and weights that sum to 1 for each query and head."""
    facts, rng = case.parameters, generator(case)
    inputs = _inputs(facts, rng)
    batch, queries, heads = inputs["attn_weight"].shape[:3]
    shape = (batch, queries, heads, facts["channels"])
    value, shapes, starts, places, weights = inputs.values()
    if case.operator.endswith("forward"):
        outputs = {"out": (shape, np.dtype(np.float32))}

        def run(out: Arrays) -> Arrays:
            pymluops.ms_deform_attn_forward(value, shapes, starts, places, weights, batch, out=out["out"])
            return out
    else:
        inputs["grad_output"] = gradient = rng.standard_normal(shape, np.float32)
        outputs = {
            f"grad_{name}": (inputs[name].shape, np.dtype(np.float32))
            for name in ("value", "sampling_loc", "attn_weight")
        }

        def run(out: Arrays) -> Arrays:
            pymluops.ms_deform_attn_backward(
                value, shapes, starts, places, weights, gradient, batch, grad_value=out["grad_value"],
                grad_sampling_loc=out["grad_sampling_loc"], grad_attn_weight=out["grad_attn_weight"],
            )  # fmt: skip
            return out

    def check(expected: Arrays, found: Arrays) -> None:
        for name, array in expected.items():
            close(name, array, found[name], _TOLERANCE)

    return Problem(case, inputs, outputs, run, check)


def _inputs(facts: Any, rng: np.random.Generator) -> dict[str, Array]:
    batch, heads, channels, queries, points = (
        facts[name] for name in ("batch", "heads", "channels", "queries", "points")
    )
    shapes = np.array(facts["maps"], np.int32).reshape(-1, 2)
    sizes = shapes.prod(axis=1)
    places = (batch, queries, heads, len(shapes), points)
    weights = rng.random(places, np.float32) + np.float32(0.1)
    return {
        "value": rng.standard_normal((batch, int(sizes.sum()), heads, channels), np.float32),
        "spatial_shapes": shapes,
        "level_start_index": (np.cumsum(sizes) - sizes).astype(np.int32),
        "sampling_loc": rng.random((*places, 2), np.float32),
        "attn_weight": weights / weights.sum(axis=(3, 4), keepdims=True),
    }


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow two maps and as many queries as there are keys, with 8 heads of 32 channels where that fits."""
    heads, channels = (8, 32) if elements >= 50_000 else (1, 4)
    side = max(2, round((elements / (heads * (2 * channels + 24) * 1.25)) ** 0.5) // 2 * 2)
    queries = side * side + side * side // 4
    maps = [[side, side], [side // 2, side // 2]]
    return {"": {"batch": 1, "heads": heads, "channels": channels, "queries": queries, "points": 4, "maps": maps}}


def tiny() -> list[TinyCall]:
    """Return a call of each operator on a map of 2 x 2."""
    facts = {"batch": 1, "heads": 1, "channels": 2, "queries": 1, "points": 1, "maps": [[2, 2]]}
    inputs = _inputs(facts, np.random.default_rng(7))
    names = dict(zip("vhlxw", inputs.values(), strict=True))
    out = np.ones((1, 1, 1, 2), np.float32)
    gradients = {"a": np.empty_like(names["v"]), "b": np.empty_like(names["x"]), "c": np.empty_like(names["w"])}
    backward = "op(v, h, l, x, w, o, 1, grad_value=a, grad_sampling_loc=b, grad_attn_weight=c)"
    return [
        TinyCall("ms_deform_attn_forward", "op(v, h, l, x, w, 1, out=o)", {**names, "o": out}, {}, None),
        TinyCall("ms_deform_attn_backward", backward, {**names, "o": out, **gradients}, {}, None),
    ]


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors as mmcv would give them."""
    facts = {"batch": 1, "heads": 1, "channels": 2, "queries": 1, "points": 1, "maps": [[2, 2]]}
    value, sizes, starts, places, parts = _inputs(facts, np.random.default_rng(0)).values()
    value_t, places_t, parts_t = tensor(value), tensor(places), tensor(parts)
    sizes_t, starts_t = tensor(sizes).long(), tensor(starts).long()
    return TensorCall(
        "ms_deform_attn",
        lambda: pymluops.ms_deform_attn_forward(value, sizes, starts, places, parts, 64),
        lambda: ops.ms_deform_attn(value_t, sizes_t, starts_t, places_t, parts_t, 64),
    )
