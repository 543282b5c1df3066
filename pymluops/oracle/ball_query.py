"""ball_query: for each centre the first points in a spherical shell around it, in order of their indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from pymluops.oracle.refusals import Refusals
from pymluops.oracle.stacked import slices


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


def stack_ball_query(
    new_xyz: np.ndarray, new_counts: np.ndarray, xyz: np.ndarray, counts: np.ndarray, max_radius: float, nsample: int
) -> np.ndarray:
    """[M, nsample]: of each batch the points nearer than a radius, -1 and zeros where there is none."""
    result = np.zeros((len(new_xyz), nsample), np.int32)
    with np.errstate(over="ignore"):
        limit = np.square(np.float64(max_radius) if xyz.dtype == np.float64 else np.float32(max_radius))
    for centres, points in zip(slices(new_counts, len(new_xyz)), slices(counts, len(xyz)), strict=True):
        for row in range(centres.start, centres.stop):
            d2 = squared_distances(xyz[points], new_xyz[row]).astype(limit.dtype)
            found = np.flatnonzero(d2 < limit)[:nsample]
            result[row, :] = found[0] if len(found) else 0
            result[row, : len(found)] = found
            if not len(found):
                result[row, 0] = -1
    return result


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let the shell hold some of the points, and not all, and stacked batches have all points."""
    if "min_radius" in arguments:
        arguments["min_radius"], arguments["max_radius"] = np.sort(rng.uniform(0, 5, 2)).tolist()
        return
    for name in ("new_xyz", "xyz"):
        counts = arguments[f"{name}_batch_cnt"]
        counts[...] = rng.multinomial(len(arguments[name]), np.ones(len(counts)) / len(counts))


def in_double(name: str, *given: Any) -> np.ndarray:
    """The results for float64 points and an output made of zeros."""
    if name == "stack_ball_query":
        return stack_ball_query(*given)
    centres, points, low, high, count = given
    result = np.zeros((*centres.shape[:2], count), np.int32)
    for b, m in np.ndindex(centres.shape[:2]):
        d2 = ((points[b] - centres[b, m]) ** 2).sum(-1)
        found = np.flatnonzero((d2 == 0) | ((low**2 <= d2) & (d2 < high**2)))[:count]
        if len(found):
            result[b, m] = found[0]
            result[b, m, : len(found)] = found
    return result


REFUSALS = {
    "mluOpBallQuery": Refusals(
        order="scalars handle objects ranks shapes packed types indexable positive data overlap",
        empty={"N": "", "nsample": ""},
    ),
    "mluopsExtStackBallQuery": Refusals(empty={"N": "new_xyz new_xyz_batch_cnt xyz_batch_cnt idx"}),
}
