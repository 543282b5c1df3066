"""moe_dispatch: rows of experts from samples, and the gradients of samples and gates."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Array, Arrays, Problem, TensorCall, TinyCall, close, generator

_NAMES = ("samples", "capacity", "hidden", "experts")


def build(case: Case) -> Problem:
    """Let each sample go to a place of its own, so that all rows are written."""
    samples, capacity, hidden, experts = (case.parameters[name] for name in _NAMES)
    rng = generator(case)
    rows = rng.permutation(experts * capacity)[:samples]
    inputs: dict[str, Array] = {
        "gates": rng.random(samples, np.float32),
        "indices": (rows // capacity).astype(np.int32),
        "locations": (rows % capacity).astype(np.int32),
        "input": rng.standard_normal((samples, hidden), np.float32),
        "dispatch": rng.standard_normal((experts * capacity, hidden), np.float32),
    }
    unused = {"forward": "dispatch", "backward_data": "input", "backward_gate": "gates"}
    kind = case.operator.removeprefix("moe_dispatch_")
    del inputs[unused[kind]]
    shapes = {"forward": (experts * capacity, hidden), "backward_data": (samples, hidden), "backward_gate": (samples,)}
    function: Any = getattr(pymluops, case.operator)

    def run(out: Arrays) -> Arrays:
        function(*inputs.values(), samples, capacity, hidden, experts, out=out["out"])
        return out

    def check(expected: Arrays, found: Arrays) -> None:
        close("out", expected["out"], found["out"], 1e-4)

    return Problem(case, inputs, {"out": (shapes[kind], np.float32)}, run, check)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the samples to 512 values each, then their number."""
    hidden = min(512, max(1, elements // 8))
    capacity = max(1, elements // (4 * hidden))
    return {"": {"samples": 2 * capacity, "capacity": capacity, "hidden": hidden, "experts": 2}}


def tiny() -> list[TinyCall]:
    """Return a call of each operator on two samples."""
    given = {"g": np.ones(2, np.float32), "i": np.zeros(2, np.int32), "l": np.arange(2, dtype=np.int32)}
    rows = np.ones((2, 4), np.float32)
    data, gate = {**given, "x": rows, "o": rows.copy()}, {"i": given["i"], "l": given["l"], "x": rows}
    return [
        TinyCall("moe_dispatch_forward", "op(g, i, l, x, 2, 2, 4, 1, out=o)", data),
        TinyCall("moe_dispatch_backward_data", "op(g, i, l, x, 2, 2, 4, 1, out=o)", data),
        TinyCall(
            "moe_dispatch_backward_gate", "op(i, l, x, d, 2, 2, 4, 1, out=o)",
            {**gate, "d": rows.copy(), "o": given["g"].copy()},
        ),
    ]  # fmt: skip


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call on two samples."""
    gates, values = np.ones(2, np.float32), np.ones((2, 4), np.float32)
    indices, locations = np.zeros(2, np.int32), np.arange(2, dtype=np.int32)
    given = [tensor(array) for array in (gates, indices, locations, values)]
    return TensorCall(
        "moe_dispatch",
        lambda: pymluops.moe_dispatch_forward(gates, indices, locations, values, 2, 2, 4, 1),
        lambda: ops.moe_dispatch(*given, 2, 1),
    )
