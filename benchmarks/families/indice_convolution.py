"""indice_convolution: products of a sparse convolution, forward and both gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.families.get_indice_pairs import call_arguments, sites
from benchmarks.problem import Arrays, Problem, TinyCall, close, generator

#: What each operator reads besides the pairs, and writes.
_ROLES = {
    "indice_convolution_forward": (("features", "filters"), "outputs"),
    "indice_convolution_backward_data": (("outputs", "filters"), "features"),
    "indice_convolution_backward_filter": (("features", "outputs"), "filters"),
}


def build(case: Case) -> Problem:
    """Make the sites and their pairs, then values. The bytes are those of each array once."""
    facts, rng = case.parameters, generator(case)
    found = pymluops.get_indice_pairs(sites(case), **call_arguments(facts))
    pairs, num = found.indice_pairs, found.indice_num.astype(np.int64)
    rows, kernel, channels = len(found.out_indices), (facts["kernel"],) * 3, (facts["in"], facts["out"])
    shapes = {
        "features": (pairs.shape[2], channels[0]),
        "filters": (*kernel, *channels),
        "outputs": (rows, channels[1]),
    }
    names, written = _ROLES[case.operator]
    values = {name: rng.normal(0, 1, shapes[name]).astype(case.dtype) for name in names}
    first, second = values.values()

    def run(out: Arrays) -> Arrays:
        if case.operator == "indice_convolution_forward":
            pymluops.indice_convolution_forward(first, second, pairs, num, rows, out=out["out"])
        elif case.operator == "indice_convolution_backward_data":
            pymluops.indice_convolution_backward_data(first, second, pairs, num, out=out["out"])
        else:
            pymluops.indice_convolution_backward_filter(first, second, pairs, num, kernel, out=out["out"])
        return out

    def check(expected: Arrays, got: Arrays) -> None:
        close("out", expected["out"], got["out"], 1e-4 if case.dtype == "float32" else 4e-3)

    read = sum(array.nbytes for array in values.values()) + int(num.sum()) * 8  # of the pairs, those that there are
    inputs = {**values, "indice_pairs": pairs, "indice_num": num}
    return Problem(case, inputs, {"out": (shapes[written], np.dtype(case.dtype))}, run, check, read)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the number of rows in a space that has place for all; small ones have few channels."""
    channels, per_row, filters = ((4, 4), 62, 27 * 16) if elements < 100_000 else ((16, 32), 102, 27 * 512)
    common = {"rows": max(4, round((elements - filters) / per_row)), "batch": 1, "space": [41, 400, 352], "kernel": 3,
              "padding": [1, 1, 1], "sites": "uniform", "in": channels[0], "out": channels[1]}  # fmt: skip
    return {"submanifold": {**common, "stride": 1, "submanifold": True}}


def tiny() -> list[TinyCall]:
    """Return a call of each operator on two rows with one filter cell."""
    one, pairs = np.ones((2, 1), np.float32), np.array([[[0, 1], [0, 1]]], np.int32)
    arrays = {"x": one, "y": one.copy(), "w": np.ones((1, 1, 1, 1, 1), np.float32), "p": pairs, "n": np.array([2]),
              "o": one.copy(), "g": np.ones((1, 1, 1, 1, 1), np.float32)}  # fmt: skip
    statements = {
        "indice_convolution_forward": "op(x, w, p, n, 2, out=o)",
        "indice_convolution_backward_data": "op(x, w, p, n, out=o)",
        "indice_convolution_backward_filter": "op(x, y, p, n, 1, out=g)",
    }
    return [TinyCall(name, statement, arrays, limit=None) for name, statement in statements.items()]
