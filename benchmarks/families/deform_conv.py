"""deform_conv: deformable convolutions with 3 x 3 cells, forward and the gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Arrays, Problem, TensorCall, TinyCall, close, generator

#: What each operator takes and writes, in the order of its arguments.
ROLES = {
    "deform_conv_forward": ("filter input offset mask", "out"),
    "deform_conv_backward_data": ("filter input offset mask grad_output", "grad_input grad_offset grad_mask"),
    "deform_conv_backward_weight": ("input offset mask grad_output", "out"),
    "deform_conv_backward": (
        "filter input offset mask grad_output", "grad_input grad_offset grad_mask grad_filter"
    ),
}  # fmt: skip


def build(case: Case) -> Problem:
    """Make maps, offsets of about a pixel, masks, and the gradient of the result.

    No sample lies at a pixel, where the gradient of its place jumps and rounding decides.
    """
    facts, rng = case.parameters, generator(case)
    groups, cells = facts["deformable_group"], 9
    channels = facts["in"] // facts["conv_group"]
    maps = facts["batch"], *facts["size"]
    shapes = {
        "filter": (facts["out"], 3, 3, channels),
        "input": (*maps, facts["in"]),
        "offset": (*maps, 2 * groups * cells),
        "mask": (*maps, groups * cells),
        "grad_output": (*maps, facts["out"]),
    }
    given, written = (names.split() for names in ROLES[case.operator])
    values = {name: rng.standard_normal(shapes[name], np.float32).astype(case.dtype) for name in given}
    values["mask"] = np.abs(values["mask"])
    values["offset"] = (np.floor(values["offset"] * 64) + 0.5).astype(case.dtype) / 64
    kept = {"out": "grad_output" if case.operator == "deform_conv_forward" else "filter"}
    outputs = {name: (shapes[kept.get(name, name.removeprefix("grad_"))], np.dtype(case.dtype)) for name in written}
    sizes = (3, channels) if case.operator == "deform_conv_backward_weight" else ()
    numbers = 1, 1, 1, facts["conv_group"], facts["deformable_group"]
    operator = getattr(pymluops, case.operator)

    def run(out: Arrays) -> Arrays:
        operator(*values.values(), *sizes, *numbers, **out)
        return out

    def check(expected: Arrays, found: Arrays) -> None:
        for name, array in expected.items():
            close(name, array, found[name], 1e-4)

    return Problem(case, values, outputs, run, check)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the maps, with as many channels going out as coming in."""
    channels = 8 if elements < 100_000 else 32
    side = max(1, round((max(elements - 9 * channels**2, 1) / (2 * channels + 27)) ** 0.5))
    return {"": {"batch": 1, "size": [side, side], "in": channels, "out": channels, "conv_group": 1,
                 "deformable_group": 1}}  # fmt: skip


def tiny() -> list[TinyCall]:
    """Return a call of each operator on two pixels."""
    one = np.ones((1, 1, 1, 1), np.float32)
    names = {"w": one, "x": np.ones((1, 1, 2, 1), np.float32), "p": np.zeros((1, 1, 2, 2), np.float32)}
    names |= {"m": names["x"].copy(), "g": names["x"].copy(), "o": names["x"].copy(), "f": one.copy()}
    names |= {"dx": names["x"].copy(), "dp": names["p"].copy(), "dm": names["x"].copy()}
    data = "grad_input=dx, grad_offset=dp, grad_mask=dm"
    statements = {
        "deform_conv_forward": "op(w, x, p, m, out=o)",
        "deform_conv_backward_data": f"op(w, x, p, m, g, {data})",
        "deform_conv_backward_weight": "op(x, p, m, g, 1, 1, out=f)",
        "deform_conv_backward": f"op(w, x, p, m, g, {data}, grad_filter=f)",
    }
    return [TinyCall(name, statement, names, limit=None) for name, statement in statements.items()]


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors whose channels come first."""
    rng = np.random.default_rng(0)
    filters, maps = rng.random((4, 1, 1, 4), np.float32), rng.random((1, 4, 4, 4), np.float32)
    offset, mask = rng.random((1, 4, 4, 2), np.float32), rng.random((1, 4, 4, 1), np.float32)
    first = [tensor(array.transpose(0, 3, 1, 2).copy()) for array in (maps, offset, mask, filters)]
    return TensorCall(
        "modulated_deform_conv2d",
        lambda: pymluops.deform_conv_forward(filters, maps, offset, mask),
        lambda: ops.modulated_deform_conv2d(*first),
    )
