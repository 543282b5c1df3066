"""yolo_box: boxes and scores of the cells of a map."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Array, Arrays, Problem, TinyCall, close, generator


def build(case: Case) -> Problem:
    """Draw logits, so that about half of the cells have a box."""
    facts, rng = case.parameters, generator(case)
    count, classes, side = facts["anchors"], facts["classes"], facts["side"]
    x = rng.standard_normal((facts["batch"], count * (5 + classes), side, side), np.float32)
    inputs: dict[str, Array] = {
        "x": x,
        "img_size": np.full((facts["batch"], 2), 32 * side, np.int32),
        "anchors": rng.integers(10, 300, 2 * count).astype(np.int32),
    }
    outputs = {
        "boxes": ((facts["batch"], count, 4, side * side), np.dtype(np.float32)),
        "scores": ((facts["batch"], count, classes, side * side), np.dtype(np.float32)),
    }

    def run(out: Arrays) -> Arrays:
        given = (inputs[name] for name in ("x", "img_size", "anchors"))
        function: Any = pymluops.yolo_box
        function(*given, classes, 0.5, 32, boxes=out["boxes"], scores=out["scores"])
        return out

    def check(expected: Arrays, found: Arrays) -> None:
        for name in ("boxes", "scores"):
            close(name, expected[name], found[name], 1e-4)

    return Problem(case, inputs, outputs, run, check)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the map of three anchors and 20 classes."""
    return {"": {"batch": 1, "anchors": 3, "classes": 20, "side": max(1, round((elements / 150) ** 0.5))}}


def tiny() -> list[TinyCall]:
    """Return a call on one cell."""
    arrays = {
        "x": np.zeros((1, 6, 1, 1), np.float32),
        "i": np.array([[10, 20]], np.int32),
        "a": np.array([8, 4], np.int32),
        "b": np.zeros((1, 1, 4, 1), np.float32),
        "s": np.zeros((1, 1, 1, 1), np.float32),
    }
    return [TinyCall("yolo_box", "op(x, i, a, 1, 0.1, 16, boxes=b, scores=s)", arrays)]
