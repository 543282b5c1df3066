"""bbox_overlaps: overlaps of all pairs of upright boxes."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Array, Arrays, Problem, TensorCall, TinyCall, WrongResultError, generator


def build(case: Case) -> Problem:
    """Draw boxes of usual sizes in a square whose side grows with the root of their number."""
    facts, rng = case.parameters, generator(case)
    first, second = (boxes(rng, facts[name], facts["spread"]).astype(case.dtype) for name in ("rows", "columns"))

    def run(out: Arrays) -> Arrays:
        pymluops.bbox_overlaps(first, second, out=out["out"])
        return out

    outputs = {"out": ((len(first), len(second)), np.dtype(case.dtype))}
    return Problem(case, {"bbox1": first, "bbox2": second}, outputs, run, check)


def boxes(rng: np.random.Generator, count: int, spread: float) -> Array:
    """Return boxes [count, 4] with sides of 1 to 5 in a square of this side."""
    corners = rng.uniform(0, spread, (count, 2))
    return np.concatenate([corners, corners + rng.uniform(1, 5, (count, 2))], 1).astype(np.float32)


def check(expected: Arrays, found: Arrays) -> None:
    """Compare the parts, which are between 0 and 1."""
    worst = float(np.abs(expected["out"].astype(np.float64) - found["out"]).max(initial=0))
    if not worst < 5e-3:
        raise WrongResultError(f"out: differs by {worst:.2g}")


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow a square table."""
    side = max(2, round(elements**0.5))
    return {"": {"rows": side, "columns": side, "spread": 4 * side**0.5}}


def tiny() -> list[TinyCall]:
    """Return a call on three boxes."""
    rows = boxes(np.random.default_rng(7), 3, 4)
    arrays = {"x": rows, "y": rows.copy(), "o": np.zeros((3, 3), np.float32)}
    return [TinyCall("bbox_overlaps", "op(x, y, 0, False, 0, out=o)", arrays, limit=8000.0)]


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors."""
    rows = boxes(np.random.default_rng(0), 2, 4)
    given = tensor(rows)
    return TensorCall(
        "bbox_overlaps", lambda: pymluops.bbox_overlaps(rows, rows), lambda: ops.bbox_overlaps(given, given)
    )
