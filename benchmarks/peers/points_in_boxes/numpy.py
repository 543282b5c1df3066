"""points_in_boxes with NumPy: all points of a cloud and one box after another."""

from __future__ import annotations

import numpy as np

from benchmarks.peers import Variants
from benchmarks.problem import Array, Arrays, Problem


def inside(box: Array, points: Array) -> Array:
    """Return which points [N, 3] a box holds, with z of its centre and a margin of 1e-5."""
    cosine, sine = np.cos(-box[6]), np.sin(-box[6])
    x, y, z = (points - box[:3]).T
    held: Array = np.abs(x * cosine - y * sine) < box[3] / 2 + np.float32(1e-5)
    held &= np.abs(x * sine + y * cosine) < box[4] / 2 + np.float32(1e-5)
    held &= np.abs(z) <= box[5] / 2
    return held


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the one way."""
    points, boxes, out = problem.inputs["points"], problem.inputs["boxes"], outputs["out"]

    def run() -> Arrays:
        for b in range(len(points)):
            if out.ndim == 3:
                for m, box in enumerate(boxes[b]):
                    out[b, :, m] = inside(box, points[b])
                continue
            out[b] = -1
            for m in range(boxes.shape[1] - 1, -1, -1):
                out[b, inside(boxes[b, m], points[b])] = m
        return outputs

    return {"boxes": run}
