"""contour_expand and pixel_group: regions of text that grow from kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Arrays, Problem, TinyCall, WrongResultError, generator

CHANNELS, DISTANCE = 4, 3.0


def build(case: Case) -> Problem:
    """Draw a map with kernels of 4 x 4 pixels, one in each square of 16 x 16."""
    arrays, count = maps(generator(case), case.operator, case.parameters["side"])
    if case.operator == "contour_expand":
        table: dict[str, Any] = {"out": (arrays["label"].shape, np.dtype(np.int32))}
        return Problem(case, arrays, table, lambda out: _expand(arrays, count, out), check)
    shape = arrays["label"].shape
    outputs: dict[str, Any] = {
        "out": (shape, np.dtype(np.int32)),
        "scores": ((count,), np.dtype(np.float32)),
        "counts": ((count,), np.dtype(np.int32)),
    }

    def run(out: Arrays) -> Arrays:
        function: Any = pymluops.pixel_group
        function(*arrays.values(), count, DISTANCE, **out)
        return out

    return Problem(case, arrays, outputs, run, check)


def maps(rng: np.random.Generator, operator: str, side: int) -> tuple[Arrays, int]:
    """Return the inputs of an operator, and the number of labels."""
    rows, columns = np.indices((side, side))
    squares = side // 16 + 1
    kernel = (rows % 16 < 4) & (columns % 16 < 4)
    label = np.where(kernel, 1 + rows // 16 * squares + columns // 16, 0).astype(np.int32)
    count = 1 + squares * squares
    text = rng.random((side, side)) < 0.9
    if operator == "contour_expand":
        return {"masks": np.stack([text, kernel]), "label": label}, count
    embedding = rng.normal(size=(side, side, CHANNELS)).astype(np.float32)
    score = rng.random((side, side), np.float32)
    return {"score": score, "mask": text, "embedding": embedding, "label": label, "contour": kernel}, count


def _expand(arrays: Arrays, count: int, out: Arrays) -> Arrays:
    pymluops.contour_expand(arrays["masks"], arrays["label"], 1, count, out=out["out"])
    return out


def check(expected: Arrays, found: Arrays) -> None:
    """Compare the labels and counts, and the scores to rounding."""
    for name, array in expected.items():
        if not np.allclose(array, found[name], rtol=1e-5, atol=1e-6):
            raise WrongResultError(f"{name}: differs")


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the side of the map."""
    return {"": {"side": max(4, round((elements / 4) ** 0.5))}}


def tiny() -> list[TinyCall]:
    """Return a call on a small map."""
    arrays, count = maps(np.random.default_rng(7), "contour_expand", 4)
    given = {"m": arrays["masks"], "l": arrays["label"], "o": np.zeros((4, 4), np.int32)}
    return [TinyCall("contour_expand", f"op(m, l, 1, {count}, out=o)", given, limit=8000.0)]
