"""mutual_information with numba: a cell after another, tables shared among threads."""

from __future__ import annotations

import math
from typing import Any

from benchmarks.peers import Variants
from benchmarks.peers.numba_support import inlined
from benchmarks.problem import Arrays, Problem
from benchmarks.threads import together


def _forward(px: Any, py: Any, p: Any, ans: Any, begin: int, end: int) -> None:
    for b in range(begin, end):
        for s in range(p.shape[1]):
            for t in range(p.shape[2]):
                x = p[b, s - 1, t] + px[b, s - 1, t] if s > 0 else -math.inf
                y = p[b, s, t - 1] + py[b, s, t - 1] if t > 0 else -math.inf
                high, low = max(x, y), min(x, y)
                p[b, s, t] = high + math.log1p(math.exp(low - high)) if s + t > 0 else 0.0
        ans[b] = p[b, -1, -1]


def _backward(px: Any, py: Any, p: Any, start: Any, px_grad: Any, py_grad: Any, begin: int, end: int) -> None:
    rows, columns = py.shape[1], px.shape[2]
    for b in range(begin, end):
        for s in range(rows - 1, -1, -1):
            for t in range(columns - 1, -1, -1):
                if s < rows - 1:
                    flow = start[b] if t == columns - 1 and s == rows - 2 else 0.0
                    if not (t == columns - 1 and s == rows - 2):
                        flow = (px_grad[b, s + 1, t] if s + 1 < rows - 1 else 0.0) + (
                            py_grad[b, s + 1, t] if t < columns - 1 else 0.0
                        )
                    px_grad[b, s, t] = math.exp(p[b, s, t] + px[b, s, t] - p[b, s + 1, t]) * flow
                if t < columns - 1:
                    flow = start[b] if s == rows - 1 and t == columns - 2 else 0.0
                    if not (s == rows - 1 and t == columns - 2):
                        flow = (px_grad[b, s, t + 1] if s < rows - 1 else 0.0) + (
                            py_grad[b, s, t + 1] if t + 1 < columns - 1 else 0.0
                        )
                    py_grad[b, s, t] = math.exp(p[b, s, t] + py[b, s, t] - p[b, s, t + 1]) * flow


_forwarded, _backwarded = inlined(_forward), inlined(_backward)


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the way of the direction."""
    arrays = [*problem.inputs.values(), *outputs.values()]
    if problem.case.operator.endswith("forward"):
        arrays = [*problem.inputs.values(), outputs["p"], outputs["ans"]]
    function = _forwarded if problem.case.operator.endswith("forward") else _backwarded

    def run() -> Arrays:
        together(lambda begin, end: function(*arrays, begin, end), len(arrays[0]), threads)()
        return outputs

    return {"cells": run}
