"""points_in_boxes with numba: a loop over the points, and over the boxes until one holds the point."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers import Variants
from benchmarks.peers.numba_support import inlined, parallel, prange
from benchmarks.problem import Arrays, Problem


@inlined
def _held(box: Any, turn: Any, x: Any, y: Any, z: Any) -> Any:
    if abs(z - box[2]) > box[5] / np.float32(2):
        return False
    dx, dy = x - box[0], y - box[1]
    if abs(dx * turn[0] - dy * turn[1]) >= box[3] / np.float32(2) + np.float32(1e-5):
        return False
    return abs(dx * turn[1] + dy * turn[0]) < box[4] / np.float32(2) + np.float32(1e-5)


def _first(points: Any, boxes: Any, turns: Any, out: Any) -> None:
    for i in prange(points.shape[0] * points.shape[1]):
        b, n = i // points.shape[1], i % points.shape[1]
        found = -1
        for m in range(boxes.shape[1]):
            if _held(boxes[b, m], turns[b, m], points[b, n, 0], points[b, n, 1], points[b, n, 2]):
                found = m
                break
        out[b, n] = found


def _every(points: Any, boxes: Any, turns: Any, out: Any) -> None:
    for i in prange(points.shape[0] * points.shape[1]):
        b, n = i // points.shape[1], i % points.shape[1]
        for m in range(boxes.shape[1]):
            out[b, n, m] = _held(boxes[b, m], turns[b, m], points[b, n, 0], points[b, n, 1], points[b, n, 2])


_COMPILED: dict[str, Any] = {}


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the loop; sines and cosines are NumPy's."""
    points, boxes, out = problem.inputs["points"], problem.inputs["boxes"], outputs["out"]
    if not _COMPILED:
        _COMPILED.update(first=parallel(_first), every=parallel(_every))
    name = "every" if out.ndim == 3 else "first"

    def run() -> Arrays:
        turns = np.stack([np.cos(-boxes[..., 6]), np.sin(-boxes[..., 6])], 2)
        _COMPILED[name](points, boxes, turns, out)
        return outputs

    return {"loop": run}
