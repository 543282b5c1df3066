"""roi_point_pool3d with NumPy: one box after another, and rows of points and features taken by number."""

from __future__ import annotations

import numpy as np

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the one way."""
    points, features, boxes = problem.inputs.values()
    pooled, empty = outputs["pooled_features"], outputs["pooled_empty_flag"]
    places, rows = points.astype(np.float32), boxes.astype(np.float32)

    def run() -> Arrays:
        for b, m in np.ndindex(empty.shape):
            box = rows[b, m]
            cosine, sine = np.cos(-box[6]), np.sin(-box[6])
            x, y, z = (places[b] - box[:3]).T
            held = np.abs(z - box[5] / 2) <= box[5] / 2
            held &= np.abs(x * cosine - y * sine) < box[3] / 2
            held &= np.abs(x * sine + y * cosine) < box[4] / 2
            found = np.flatnonzero(held)[: pooled.shape[2]]
            empty[b, m] = not len(found)
            if not len(found):
                pooled[b, m] = 0
                continue
            chosen = np.resize(found, pooled.shape[2])
            pooled[b, m, :, :3], pooled[b, m, :, 3:] = points[b, chosen], features[b, chosen]
        return outputs

    return {"boxes": run}
