"""tin_shift: blocks of channels copied along time."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Arrays, Problem, TensorCall, TinyCall, generator, same_bits


def build(case: Case) -> Problem:
    """Make a clip and shifts. Only the frames that are still there after the shift must be read."""
    facts, rng = case.parameters, generator(case)
    batch, steps, channels, positions = shape = tuple(facts["shape"])
    groups = facts["groups"]
    if "shifts" in facts:
        shifts = np.tile(np.array(facts["shifts"], np.int32), (batch, 1))
    else:
        shifts = rng.integers(-facts["largest_shift"], facts["largest_shift"] + 1, (batch, groups), dtype=np.int32)
    clip = rng.standard_normal(shape, np.float32).astype(case.dtype)
    frames = int(np.maximum(steps - np.abs(shifts), 0).sum())
    read = frames * (channels // groups) * positions * clip.itemsize + shifts.nbytes
    operator = getattr(pymluops, case.operator)

    def run(out: Arrays) -> Arrays:
        operator(clip, shifts, out=out["out"])
        return out

    return Problem(case, {"input": clip, "shifts": shifts}, {"out": (shape, clip.dtype)}, run, same_bits, read)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the number of positions."""
    return {"": {"shape": [1, 8, 64, max(1, round(elements / 1024))], "groups": 8, "largest_shift": 2}}


def tiny() -> list[TinyCall]:
    """Return a call of each operator on a few elements."""
    clip, shifts = np.random.default_rng(7).random((1, 3, 4, 2), np.float32), np.array([[1, -1]], np.int32)
    arrays = {"x": clip, "s": shifts, "o": np.empty_like(clip)}
    return [TinyCall(f"tin_shift_{direction}", "op(x, s, out=o)", arrays) for direction in ("forward", "backward")]


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors as mmcv would give them."""
    clip, shifts = np.random.default_rng(0).random((1, 2, 4, 3), np.float32), np.array([[1, -1]], np.int32)
    clip_t, shifts_t = tensor(clip), tensor(shifts)
    return TensorCall(
        "tin_shift", lambda: pymluops.tin_shift_forward(clip, shifts), lambda: ops.tin_shift(clip_t, shifts_t)
    )
