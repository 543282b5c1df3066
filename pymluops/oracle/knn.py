"""knn: the k nearest points of each place, and their squared distances."""

from __future__ import annotations

import numpy as np

from pymluops.oracle.refusals import Refusals


def nearest(points: np.ndarray, places: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """dist2 [B, M, k] in the type of the points and idx [B, M, k] int32.

    Distances ((x - px)^2 + (y - py)^2) + (z - pz)^2 are computed and compared in float32, those of
    float64 in float64, and rounded when they are stored. Those that are NaN, or infinite in the
    type of the result, do not count. The first of equals comes first.
    """
    dtype = points.dtype
    real = np.float64 if dtype == np.float64 else np.float32
    dist2 = np.full((*places.shape[:2], k), np.inf, dtype)
    idx = np.zeros((*places.shape[:2], k), np.int32)
    for b, m in np.ndindex(places.shape[:2]):
        with np.errstate(all="ignore"):
            x, y, z = ((points[b, :, i].astype(real) - real(places[b, m, i])) ** 2 for i in range(3))
            d2 = (x + y) + z
            counts = np.flatnonzero(np.isfinite(d2.astype(dtype)))
        found = counts[np.argsort(d2[counts], kind="stable")][:k]
        dist2[b, m, : len(found)] = d2[found].astype(dtype)
        idx[b, m, : len(found)] = found
    return dist2, idx


def in_double(_name: str, points: np.ndarray, places: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The results for float64 points."""
    return nearest(points, places, k)


REFUSALS = {"mluopsExtKnn": Refusals(empty={"N": "new_xyz dist2 idx"})}
