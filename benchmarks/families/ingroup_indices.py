"""ingroup_indices: for each value the number of equal ones before it."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Arrays, Problem, TensorCall, TinyCall, generator, same_bits


def build(case: Case) -> Problem:
    """Make groups of random sizes; `spread` is the distance of their numbers."""
    facts, rng = case.parameters, generator(case)
    groups = (rng.integers(0, facts["groups"], facts["count"]) * facts["spread"]).astype(np.int32)

    def run(out: Arrays) -> Arrays:
        pymluops.ingroup_indices(groups, out=out["out"])
        return out

    def check(expected: Arrays, found: Arrays) -> None:
        same_bits(expected, found)

    return Problem(case, {"groups": groups}, {"out": (groups.shape, np.int32)}, run, check)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the number of values, in groups of 20."""
    count = max(1, elements // 2)
    return {"": {"count": count, "groups": max(1, count // 20), "spread": 1}}


def tiny() -> list[TinyCall]:
    """Return a call on a few elements."""
    groups = np.array([1, 0, 1, 1], np.int32)
    return [TinyCall("ingroup_indices", "op(x, out=o)", {"x": groups, "o": groups.copy()})]


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors."""
    groups = np.array([1, 0, 1, 1], np.int32)
    groups_t = tensor(groups)
    return TensorCall(
        "ingroup_indices", lambda: pymluops.ingroup_indices(groups), lambda: ops.ingroup_indices(groups_t)
    )
