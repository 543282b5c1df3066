"""Overhead of a call on tiny tensors: each function of `pymluops.torch` next to the one for NumPy arrays.

Both make their results. What one takes beyond the other is the difference of their lowest tenths.
"""

from __future__ import annotations

import importlib
import importlib.util
import timeit
from typing import Any

from benchmarks.cases import FAMILIES
from benchmarks.families import tiny_tensors
from benchmarks.problem import TensorCall
from benchmarks.summary import spread
from benchmarks.timing import nanoseconds

#: Nanoseconds that a function for tensors may take beyond the one for arrays.
LIMIT = 3000.0
_CALLS, _ROUNDS = 200, 200


def tiny_calls() -> list[TensorCall]:
    """Return a call of each function that a family has for tensors."""
    ops: Any = importlib.import_module("pymluops.torch")
    tensor: Any = importlib.import_module("torch").from_numpy
    return [call for family in FAMILIES for call in tiny_tensors(family, ops, tensor)]


def run(quick: bool) -> tuple[list[dict[str, Any]], list[str]]:
    """Return nanoseconds a call with tensors and with arrays, and a note if PyTorch is missing."""
    if importlib.util.find_spec("torch") is None:
        return [], ["no calls on tiny tensors: torch is missing"]
    return [_measure(call, quick) for call in tiny_calls()], []


def _measure(call: TensorCall, quick: bool) -> dict[str, Any]:
    timers = {"numpy": timeit.Timer(call.arrays), "pymluops": timeit.Timer(call.tensors)}
    times = nanoseconds(timers, _CALLS, 5 if quick else _ROUNDS)
    # The lowest tenth has few turns that another process interrupted, which would count more than
    # the difference.
    ours, arrays = (sorted(times[key])[len(times[key]) // 10] for key in ("pymluops", "numpy"))
    return {
        "operator": f"torch.{call.function}",
        "nanoseconds": {key: spread(values) for key, values in times.items()},
        "beyond": ours - arrays,
        "limit": LIMIT,
    }
