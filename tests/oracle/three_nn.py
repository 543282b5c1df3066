"""three_nn: the three nearest known points of each unknown point, and their squared distances."""

from __future__ import annotations

import numpy as np


def forward(unknown: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """dist2 [B, N, 3] in the type of the points and idx [B, N, 3] int32.

    Distances ((x - ux)^2 + (y - uy)^2) + (z - uz)^2 are computed and compared in float32, and rounded when they are
    stored. Those that are NaN, or infinite in the type of the result, do not count. The first of equals comes first.
    """
    dtype = unknown.dtype
    dist2 = np.full((*unknown.shape[:2], 3), np.inf, dtype)
    idx = np.zeros((*unknown.shape[:2], 3), np.int32)
    for b, n in np.ndindex(unknown.shape[:2]):
        with np.errstate(all="ignore"):
            x, y, z = ((known[b, :, i].astype(np.float32) - np.float32(unknown[b, n, i])) ** 2 for i in range(3))
            d2 = (x + y) + z
            counts = np.flatnonzero(np.isfinite(d2.astype(dtype)))
        nearest = counts[np.argsort(d2[counts], kind="stable")][:3]
        dist2[b, n, : len(nearest)] = d2[nearest].astype(dtype)
        idx[b, n, : len(nearest)] = nearest
    return dist2, idx
