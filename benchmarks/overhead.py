"""Overhead of a call: tiny arrays, with ``out=``.

Next to each operator stands a custom operator of PyTorch in C++ that checks its arguments and computes the same, and a
Cython function that takes the same kind of arguments and does nothing. Both are compiled here if there are a compiler
and the packages; that takes a minute.
"""

from __future__ import annotations

import importlib
import tempfile
import timeit
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import pymluops
from benchmarks import overhead_builds
from benchmarks.problem import Array, WrongResultError
from benchmarks.summary import spread

LIMIT_NS = 2000.0

_CALLS, _ROUNDS = 2000, 31


@dataclass(frozen=True)
class TinyCall:
    """A statement that calls an operator, the arrays it names, and the array that it writes."""

    operator: str
    statement: str
    arrays: Mapping[str, Array]
    limit: float | None = LIMIT_NS

    @property
    def torch_statement(self) -> str:
        """The same call of the PyTorch operator: positional arguments, the outputs last."""
        return self.statement.replace("out=", "").replace("argmax_idx=", "")


def tiny_calls() -> list[TinyCall]:
    """Return a call of each operator on a few elements. get_indice_pairs makes its results, so it has no limit."""
    rng = np.random.default_rng(7)
    clip, shifts = rng.random((1, 3, 4, 2), np.float32), np.array([[1, -1]], np.int32)
    masks, maps = rng.random((1, 2, 2, 9), np.float32), rng.random((1, 2, 2, 4), np.float32)
    features, weights = rng.random((1, 2, 4), np.float32), rng.random((1, 3, 3), np.float32)
    named, gradient = rng.integers(0, 4, (1, 3, 3), np.int32), rng.random((1, 2, 3), np.float32)
    image, boxes = rng.random((1, 2, 2, 8), np.float32), np.array([[[0, 0, 1, 1], [0.2, 0.1, 0.9, 0.6]]], np.float32)
    pulled, where = pymluops.border_align_forward(image, boxes, 2)
    shifted = {"x": clip, "s": shifts, "o": np.empty_like(clip)}
    sites = np.array([[0, 0, 0, 0], [0, 0, 0, 1]], np.int32)
    return [
        TinyCall("tin_shift_forward", "op(x, s, out=o)", shifted),
        TinyCall("tin_shift_backward", "op(x, s, out=o)", shifted),
        TinyCall("psamask_forward", "op(x, 0, 3, out=o)", {"x": masks, "o": np.empty_like(maps)}),
        TinyCall("psamask_backward", "op(x, 0, 3, out=o)", {"x": maps, "o": np.empty_like(masks)}),
        TinyCall("three_interpolate_forward", "op(x, i, w, out=o)",
                 {"x": features, "i": named, "w": weights, "o": np.empty_like(gradient)}),
        TinyCall("three_interpolate_backward", "op(x, i, w, 4, out=o)",
                 {"x": gradient, "i": named, "w": weights, "o": np.empty_like(features)}),
        TinyCall("border_align_forward", "op(x, b, 2, out=o, argmax_idx=a)",
                 {"x": image, "b": boxes, "a": np.empty_like(where), "o": np.empty_like(pulled)}),
        TinyCall("border_align_backward", "op(x, b, a, 2, size, out=o)",
                 {"x": pulled, "b": boxes, "a": where, "o": np.empty_like(image)}),
        TinyCall("get_indice_pairs", "op(x, batch_size=1, spatial_shape=size, kernel_size=3, padding=1, subm=True)",
                 {"x": sites}, None),
    ]  # fmt: skip


def run_overhead(quick: bool) -> tuple[list[dict[str, Any]], list[str]]:
    """Return nanoseconds a call for each operator, and a note for each thing that is missing."""
    notes: list[str] = []
    with tempfile.TemporaryDirectory(prefix="pymluops-bench-") as folder:
        torch_namespace = overhead_builds.torch_operators(Path(folder), notes)
        empty = overhead_builds.empty_function(Path(folder), notes)
        entries = [_measure(call, torch_namespace, empty, quick) for call in tiny_calls()]
    return entries, notes


def _measure(call: TinyCall, torch_namespace: Any, empty: Any, quick: bool) -> dict[str, Any]:
    names = {"size": (1, 1, 4) if call.limit is None else (2, 2)}
    timers = {"pymluops": _timer(call.statement, {**names, **call.arrays, "op": getattr(pymluops, call.operator)})}
    if torch_namespace is not None and call.limit is not None:
        timers["torch"] = _torch_timer(call, torch_namespace, names)
    if empty is not None:
        timers["cython"] = _timer(call.statement, {**names, **call.arrays, "op": empty})
    times: dict[str, list[float]] = {name: [] for name in timers}
    for _ in range(5 if quick else _ROUNDS):
        for name, timer in timers.items():
            timer.timeit(_CALLS // 10)
            times[name].append(timer.timeit(_CALLS) / _CALLS * 1e9)
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
        limits = {"nanoseconds a call": entry["limit"]}
        if "torch" in times:
            limits["nanoseconds against PyTorch's"] = times["torch"]["median"]
        for rule, limit in limits.items():
            if limit is not None:
                verdicts.append(
                    {"case": f"{entry['operator']} on tiny arrays", "threads": None, "rule": rule, "found": ours,
                     "limit": limit, "holds": ours <= limit}
                )  # fmt: skip
    return verdicts
