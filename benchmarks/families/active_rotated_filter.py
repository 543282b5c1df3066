"""active_rotated_filter: the rotations of filters, and the gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Arrays, Problem, TensorCall, TinyCall, close, generator, same_bits


def build(case: Case) -> Problem:
    """Make filters, or the gradient of their rotations, and a table of different places in each rotation."""
    facts, rng = case.parameters, generator(case)
    filters, planes, side, rotations = facts["filters"], facts["planes"], facts["side"], facts["rotations"]
    cells = facts["orientations"] * side * side
    columns = [rng.permutation(cells) + 1 for _ in range(rotations)]
    indices = np.stack(columns, 1).astype(np.int32).reshape(facts["orientations"], side, side, rotations)
    plain = (filters, planes, facts["orientations"], side, side)
    rotated = (filters * rotations, planes * facts["orientations"], side, side)
    forward = case.operator == "active_rotated_filter_forward"
    given = rng.standard_normal(plain if forward else rotated, np.float32).astype(case.dtype)
    numbers = () if forward else ((filters, planes),)
    operator: Any = getattr(pymluops, case.operator)

    def run(out: Arrays) -> Arrays:
        operator(given, indices, *numbers, out=out["out"])
        return out

    name = "input" if forward else "grad_output"
    check = same_bits if forward else _check
    out = {"out": (rotated if forward else plain, given.dtype)}
    return Problem(case, {name: given, "indices": indices}, out, run, check)


def _check(expected: Arrays, found: Arrays) -> None:
    close("out", expected["out"], found["out"], 1e-3)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the planes to 64, then the filters, with the table that detectors of ships and planes have."""
    planes = min(64, max(1, elements // 300))
    filters = max(1, elements // (81 * planes))
    return {"": {"filters": filters, "planes": planes, "orientations": 1, "side": 3, "rotations": 8}}


def tiny() -> list[TinyCall]:
    """Return a call of each operator on a few elements."""
    filters, table = np.ones((1, 1, 1, 1, 1), np.float32), np.ones((1, 1, 1, 2), np.int32)
    rotated = pymluops.active_rotated_filter_forward(filters, table)
    names = {"x": filters, "g": rotated, "i": table}
    return [
        TinyCall("active_rotated_filter_forward", "op(x, i, out=o)", {**names, "o": rotated.copy()}),
        TinyCall("active_rotated_filter_backward", "op(g, i, n, out=o)", {**names, "o": filters.copy()}, {"n": (1, 1)}),
    ]


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors."""
    filters, table = np.ones((2, 3, 1, 3, 3), np.float32), np.ones((1, 3, 3, 8), np.int32)
    filters_t, table_t = tensor(filters), tensor(table)
    return TensorCall(
        "active_rotated_filter",
        lambda: pymluops.active_rotated_filter_forward(filters, table),
        lambda: ops.active_rotated_filter(filters_t, table_t),
    )
