"""psamask: a mask around every position, spread over the map."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Arrays, Problem, TensorCall, TinyCall, generator, same_bits


def build(case: Case) -> Problem:
    """Make masks, or a gradient. Only mask cells that fall on the map are read forward and map cells backward."""
    facts = case.parameters
    batch, height, width = facts["shape"]
    mask, mode = facts["mask"], facts["mode"]
    masks, maps = (batch, height, width, mask * mask), (batch, height, width, height * width)
    forward = case.operator.endswith("forward")
    name, source, target = ("x", masks, maps) if forward else ("dy", maps, masks)
    array = generator(case).standard_normal(source, np.float32)
    read = batch * counting(height, mask) * counting(width, mask) * array.itemsize
    operator = getattr(pymluops, case.operator)

    def run(out: Arrays) -> Arrays:
        operator(array, mode, mask, out=out["out"])
        return out

    return Problem(case, {name: array}, {"out": (target, array.dtype)}, run, same_bits, read)


def counting(size: int, mask: int) -> int:
    """Return how many pairs of position and mask cell fall on the map, along one axis."""
    reach = (mask - 1) >> 1
    return sum(min(mask, size + reach - i) - max(0, reach - i) for i in range(size))


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow a square map and with it the mask that covers it: five times the side to the power of four."""
    side = max(1, round((elements / 5) ** 0.25))
    return {mode: {"shape": [1, side, side], "mask": 2 * side - 1, "mode": mode} for mode in ("collect", "distribute")}


def tiny() -> list[TinyCall]:
    """Return a call of each operator on a few elements."""
    rng = np.random.default_rng(7)
    masks, maps = rng.random((1, 2, 2, 9), np.float32), rng.random((1, 2, 2, 4), np.float32)
    return [
        TinyCall("psamask_forward", "op(x, 0, 3, out=o)", {"x": masks, "o": np.empty_like(maps)}),
        TinyCall("psamask_backward", "op(x, 0, 3, out=o)", {"x": maps, "o": np.empty_like(masks)}),
    ]


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors as mmcv would give them."""
    masks = np.random.default_rng(0).random((1, 2, 2, 9), np.float32)
    first = tensor(masks.transpose(0, 3, 1, 2).copy())
    return TensorCall(
        "psa_mask", lambda: pymluops.psamask_forward(masks, 0, (3, 3)), lambda: ops.psa_mask(first, 0, (3, 3))
    )
