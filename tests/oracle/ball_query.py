"""ball_query: for each centre the first points in a spherical shell around it, in order of their indices."""

from __future__ import annotations

from typing import Any

import numpy as np


def squared_distances(points: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """((x - cx)^2 + (y - cy)^2) + (z - cz)^2, every step rounded to the type of the points."""
    with np.errstate(all="ignore"):
        x, y, z = (np.square(points[:, i] - centre[i]) for i in range(3))
        result: np.ndarray = (x + y) + z
    return result


def ball_query(
    new_xyz: np.ndarray, xyz: np.ndarray, min_radius: float, max_radius: float, nsample: int, idx: np.ndarray
) -> np.ndarray:
    """What idx [B, M, nsample] holds after the call, given what it holds before: centres without a point keep that."""
    result = idx.copy()
    if nsample == 0:
        return result
    with np.errstate(over="ignore"):
        low, high = np.square(np.float32([min_radius, max_radius]))  # ``** 2`` of a scalar is not correctly rounded
    for b, m in np.ndindex(new_xyz.shape[:2]):
        d2 = squared_distances(xyz[b], new_xyz[b, m]).astype(np.float32)
        found = np.flatnonzero((d2 == 0) | ((low <= d2) & (d2 < high)))[:nsample]
        if len(found):
            result[b, m] = found[0]
            result[b, m, : len(found)] = found
    return result


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let the shell hold some of the points, and not all."""
    arguments["min_radius"], arguments["max_radius"] = np.sort(rng.uniform(0, 5, 2)).tolist()
