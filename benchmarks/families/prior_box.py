"""prior_box: boxes of the cells of a map."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Arrays, Problem, TinyCall, close, generator


def build(case: Case) -> Problem:
    """Draw sizes and ratios; the first ratio is 1."""
    facts, rng = case.parameters, generator(case)
    side, sizes, ratios = facts["side"], facts["sizes"], facts["ratios"]
    least = rng.uniform(10, 200, sizes).astype(np.float32)
    inputs: dict[str, Any] = {
        "min_sizes": least,
        "aspect_ratios": np.concatenate([[1], rng.uniform(1.5, 4, ratios - 1)]).astype(np.float32),
        "variances": np.array([0.1, 0.1, 0.2, 0.2], np.float32),
        "max_sizes": least * 2,
    }
    shape = (side, side, sizes * (ratios + 1), 4)
    outputs = {"out": (shape, np.dtype(np.float32)), "var": (shape, np.dtype(np.float32))}

    function: Any = pymluops.prior_box

    def run(out: Arrays) -> Arrays:
        numbers = (side, side, 8 * side, 8 * side, 8.0, 8.0, 0.5, True, True)
        function(*inputs.values(), *numbers, out=out["out"], var=out["var"])
        return out

    def check(expected: Arrays, found: Arrays) -> None:
        for name in ("out", "var"):
            close(name, expected[name], found[name], 1e-5)

    return Problem(case, inputs, outputs, run, check)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the map of eight boxes a cell."""
    return {"": {"side": max(1, round((elements / 64) ** 0.5)), "sizes": 2, "ratios": 3}}


def tiny() -> list[TinyCall]:
    """Return a call on one cell."""
    arrays = {
        "s": np.array([4], np.float32),
        "r": np.array([1], np.float32),
        "v": np.ones(4, np.float32),
        "m": np.zeros(0, np.float32),
        "o": np.zeros((1, 1, 1, 4), np.float32),
        "w": np.zeros((1, 1, 1, 4), np.float32),
    }
    return [TinyCall("prior_box", "op(s, r, v, m, 1, 1, 8, 8, 8.0, 8.0, out=o, var=w)", arrays)]
