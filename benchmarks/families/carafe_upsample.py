"""carafe: maps enlarged by weighted sums of windows, and the gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Arrays, Problem, TensorCall, TinyCall, close, generator


def build(case: Case) -> Problem:
    """Make maps, weights, and the gradient of the result."""
    facts, rng = case.parameters, generator(case)
    (height, width), scale = facts["size"], facts["scale"]
    large = facts["batch"], height * scale, width * scale
    shapes = {
        "input": (facts["batch"], height, width, facts["channels"]),
        "mask": (*large, facts["groups"] * facts["kernel"] ** 2),
        "grad_output": (*large, facts["channels"]),
    }
    forward = case.operator == "carafe_forward"
    numbers = facts["kernel"], facts["groups"], scale
    given = {
        name: rng.standard_normal(shape, np.float32).astype(case.dtype)
        for name, shape in shapes.items()
        if name != "grad_output" or not forward
    }
    operator = getattr(pymluops, case.operator)

    def run(out: Arrays) -> Arrays:
        operator(*given.values(), *numbers, **out)
        return out

    def check(expected: Arrays, found: Arrays) -> None:
        for name, array in expected.items():
            close(name, array, found[name], 1e-4)

    dtype = np.dtype(case.dtype)
    written = {"out": "grad_output"} if forward else {"grad_input": "input", "grad_mask": "mask"}
    return Problem(case, given, {name: (shapes[of], dtype) for name, of in written.items()}, run, check)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the maps."""
    channels = 8 if elements < 100_000 else 64
    side = max(1, round((elements / (5 * channels + 100)) ** 0.5))
    return {"": {"batch": 1, "size": [side, side], "channels": channels, "kernel": 5, "groups": 1, "scale": 2}}


def tiny() -> list[TinyCall]:
    """Return a call of each operator on two pixels."""
    maps, mask = np.ones((1, 1, 2, 4), np.float32), np.ones((1, 1, 2, 9), np.float32)
    names = {"x": maps, "m": mask, "g": maps.copy(), "o": maps.copy(), "dm": mask.copy()}
    return [
        TinyCall("carafe_forward", "op(x, m, 3, 1, 1, out=o)", names),
        TinyCall("carafe_backward", "op(x, m, g, 3, 1, 1, grad_input=o, grad_mask=dm)", names),
    ]


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors whose channels come first."""
    rng = np.random.default_rng(0)
    maps, mask = rng.random((1, 2, 2, 4), np.float32), rng.random((1, 4, 4, 9), np.float32)
    first = [tensor(array.transpose(0, 3, 1, 2).copy()) for array in (maps, mask)]
    return TensorCall(
        "carafe", lambda: pymluops.carafe_forward(maps, mask, 3, 1, 2), lambda: ops.carafe(*first, 3, 1, 2)
    )
