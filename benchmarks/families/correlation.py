"""correlation: products of two maps at several displacements, and the gradients of both."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Arrays, Problem, TensorCall, TinyCall, close, generator


def build(case: Case) -> Problem:
    """Make two maps, or the gradient of their products as well."""
    facts, rng = case.parameters, generator(case)
    far, step, kernel, stride = facts["far"], facts["step"], facts["kernel"], facts["stride"]
    shape, patch = (facts["batch"], facts["channels"], *facts["size"]), 2 * far + 1
    size = tuple((n - 1) // stride + 1 for n in facts["size"])  # padding makes kernels fit
    result = (facts["batch"], patch, patch, *size)
    maps = {name: rng.standard_normal(shape, np.float32).astype(case.dtype) for name in ("input1", "input2")}
    numbers = (kernel, patch, stride, kernel // 2, 1, step)
    if case.operator == "correlation_forward":

        def forward(out: Arrays) -> Arrays:
            pymluops.correlation_forward(maps["input1"], maps["input2"], size, *numbers, out=out["out"])
            return out

        return Problem(case, maps, {"out": (result, maps["input1"].dtype)}, forward, _check)
    grad = rng.standard_normal(result, np.float32).astype(case.dtype)

    operator: Any = pymluops.correlation_backward

    def backward(out: Arrays) -> Arrays:
        operator(grad, maps["input1"], maps["input2"], *numbers, **out)
        return out

    written = {"grad_input1": (shape, grad.dtype), "grad_input2": (shape, grad.dtype)}
    return Problem(case, {"grad_output": grad, **maps}, written, backward, _check)


def _check(expected: Arrays, found: Arrays) -> None:
    for name, array in expected.items():
        close(name, array, found[name], 1e-3)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the maps to 32 by 32 with 32 channels, then the batch, with 25 displacements."""
    side = min(32, max(2, round((elements / 30) ** 0.5)))
    channels = min(32, max(1, elements // (30 * side * side)))
    batch = max(1, round(elements / ((2 * channels + 25) * side * side)))
    return {"": {"batch": batch, "channels": channels, "size": [side, side], "far": 2, "step": 1, "kernel": 1,
                 "stride": 1}}  # fmt: skip


def tiny() -> list[TinyCall]:
    """Return a call of each operator on a few elements."""
    maps = np.random.default_rng(7).random((1, 2, 2, 2), np.float32)
    names = {"x": maps, "y": maps.copy(), "g": np.ones((1, 1, 1, 2, 2), np.float32)}
    return [
        TinyCall("correlation_forward", "op(x, y, s, out=o)", {**names, "o": names["g"].copy()}, {"s": (2, 2)},
                 limit=5000.0),
        TinyCall("correlation_backward", "op(g, x, y, grad_input1=a, grad_input2=b)",
                 {**names, "a": maps.copy(), "b": maps.copy()}, limit=6000.0),
    ]  # fmt: skip


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors."""
    maps = np.random.default_rng(0).random((1, 2, 4, 4), np.float32)
    maps_t = tensor(maps)
    return TensorCall(
        "correlation",
        lambda: pymluops.correlation_forward(maps, maps, (4, 4), patch_size=3),
        lambda: ops.correlation(maps_t, maps_t),
    )
