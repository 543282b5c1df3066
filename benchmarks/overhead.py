"""Overhead of a call: tiny arrays, with ``out=``.

Next to each operator stands a custom operator of PyTorch in C++ that checks its arguments and
computes the same, and a Cython function that takes the same kind of arguments and does nothing.
Both are compiled here if there are a compiler and the packages; that takes a minute.
`torch_overhead` measures the functions for tensors of PyTorch.
"""

from __future__ import annotations

import importlib
import tempfile
import timeit
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import pymluops
from benchmarks import overhead_builds, torch_overhead
from benchmarks.cases import FAMILIES
from benchmarks.families import tiny
from benchmarks.problem import TinyCall, WrongResultError
from benchmarks.summary import spread
from benchmarks.timing import nanoseconds

_CALLS, _ROUNDS = 2000, 31


def tiny_calls() -> list[TinyCall]:
    """Return a call of each operator on a few elements."""
    return [call for family in FAMILIES for call in tiny(family)]


def run_overhead(quick: bool) -> tuple[list[dict[str, Any]], list[str]]:
    """Return nanoseconds a call for each operator, and a note for each thing that is missing."""
    notes: list[str] = []
    with tempfile.TemporaryDirectory(prefix="pymluops-bench-") as folder:
        torch_namespace = overhead_builds.torch_operators(Path(folder), notes)
        empty = overhead_builds.empty_function(Path(folder), notes)
        entries = [_measure(call, torch_namespace, empty, quick) for call in tiny_calls()]
    tensors, missing = torch_overhead.run(quick)
    return entries + tensors, notes + missing


def _measure(call: TinyCall, torch_namespace: Any, empty: Any, quick: bool) -> dict[str, Any]:
    names = call.values
    timers = {"pymluops": _timer(call.statement, {**names, **call.arrays, "op": getattr(pymluops, call.operator)})}
    if torch_namespace is not None and hasattr(torch_namespace, call.operator):
        timers["torch"] = _torch_timer(call, torch_namespace, names)
    if empty is not None:
        timers["cython"] = _timer(call.statement, {**names, **call.arrays, "op": empty})
    times = nanoseconds(timers, _CALLS, 5 if quick else _ROUNDS)
    return {
        "operator": call.operator,
        "nanoseconds": {name: spread(values) for name, values in times.items()},
        "limit": call.limit,
    }


def _timer(statement: str, names: Mapping[str, Any]) -> timeit.Timer:
    return timeit.Timer(statement, globals=dict(names))


def _torch_timer(call: TinyCall, namespace: Any, names: Mapping[str, Any]) -> timeit.Timer:
    """Check that the PyTorch operator computes the same before it is timed."""
    torch: Any = importlib.import_module("torch")
    operator = getattr(namespace, call.operator).default
    exec(call.statement, {**names, **call.arrays, "op": getattr(pymluops, call.operator)})
    expected = {name: call.arrays[name].copy() for name in ("o", "a") if name in call.arrays}
    tensors = {name: torch.from_numpy(array.copy()) for name, array in call.arrays.items()}
    tensors["o"].fill_(-77)
    exec(call.torch_statement, {**names, **tensors, "op": operator})
    for name, array in expected.items():
        if not np.allclose(array, tensors[name].numpy(), atol=1e-5):
            raise WrongResultError(f"{call.operator}: the PyTorch operator computes something else")
    return _timer(call.torch_statement, {**names, **tensors, "op": operator})


def judge(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return whether calls cost little enough, and less than those of PyTorch."""
    verdicts = []
    for entry in entries:
        times = entry["nanoseconds"]
        ours = times["pymluops"]["median"]
        rules = {"nanoseconds a call": (ours, entry["limit"])}
        if "torch" in times:
            rules["nanoseconds against PyTorch's"] = (ours, times["torch"]["median"])
        if "beyond" in entry:
            rules = {"nanoseconds beyond the function for arrays": (entry["beyond"], entry["limit"])}
        for rule, (found, limit) in rules.items():
            if limit is not None:
                verdicts.append(
                    {"case": f"{entry['operator']} on tiny arrays", "threads": None, "rule": rule, "found": found,
                     "limit": limit, "holds": found <= limit}
                )  # fmt: skip
    return verdicts
