"""furthest_point_sampling with numba: a loop over all points for each pick, in which they are compared too."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers import Variants
from benchmarks.peers.numba_support import parallel, prange
from benchmarks.problem import Arrays, Problem


def _sample(xyz: Any, least: Any, idx: Any) -> None:
    for b in prange(xyz.shape[0]):
        least[b, :] = np.inf
        pick = 0
        for i in range(idx.shape[1]):
            idx[b, i] = pick
            if i + 1 == idx.shape[1]:
                break
            x, y, z = xyz[b, pick, 0], xyz[b, pick, 1], xyz[b, pick, 2]
            furthest, greatest = 0, np.float32(-1)
            for k in range(xyz.shape[1]):
                dx, dy, dz = xyz[b, k, 0] - x, xyz[b, k, 1] - y, xyz[b, k, 2] - z
                distance = min(least[b, k], (dx * dx + dy * dy) + dz * dz)
                least[b, k] = distance
                if distance > greatest:
                    furthest, greatest = k, distance
            pick = furthest


def _sample_by_matrix(dist: Any, least: Any, idx: Any) -> None:
    for b in prange(dist.shape[0]):
        least[b, :] = np.inf
        pick = 0
        for i in range(idx.shape[1]):
            idx[b, i] = pick
            if i + 1 == idx.shape[1]:
                break
            furthest, greatest = 0, np.float32(-1)
            for k in range(dist.shape[1]):
                distance = min(least[b, k], dist[b, pick, k])
                least[b, k] = distance
                if distance > greatest:
                    furthest, greatest = k, distance
            pick = furthest


_compiled, _compiled_by_matrix = parallel(_sample), parallel(_sample_by_matrix)


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the one way; float16 is computed in float32."""
    by_matrix = "dist" in problem.inputs
    given = problem.inputs["dist" if by_matrix else "xyz"].astype(np.float32)
    least = np.empty(given.shape[:2], np.float32)

    def run() -> Arrays:
        (_compiled_by_matrix if by_matrix else _compiled)(given, least, outputs["idx"])
        outputs["dist2"][...] = least
        return outputs

    return {"loops": run}
