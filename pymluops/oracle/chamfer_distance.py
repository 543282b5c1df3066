"""chamfer_distance: nearest points of two clouds in a plane, and the gradients of both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pymluops.oracle.refusals import Refusals
from pymluops.oracle.ways import Way

#: Operators whose float results are sums, which a device may round or order in its own way.
SUMS = ("chamfer_distance_backward",)


def nearest(points: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Squared distances [B, N] in the type of the points, every step rounded to it, and numbers [B, N]."""
    distances = np.zeros(points.shape[:2], points.dtype)
    numbers = np.zeros(points.shape[:2], np.int32)
    if others.shape[1] == 0:
        return distances, numbers
    for b, n in np.ndindex(points.shape[:2]):
        with np.errstate(all="ignore"):
            x, y = (np.square(others[b, :, axis] - points[b, n, axis]) for axis in range(2))
            squared = x + y
        counts = np.flatnonzero(~np.isnan(squared))
        if len(counts):
            numbers[b, n] = counts[np.argmin(squared[counts])]
        distances[b, n] = squared[numbers[b, n]]
    return distances, numbers


def forward(xyz1: np.ndarray, xyz2: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Distances and numbers of both directions."""
    (dist1, idx1), (dist2, idx2) = nearest(xyz1, xyz2), nearest(xyz2, xyz1)
    return dist1, dist2, idx1, idx2


def backward(
    xyz1: np.ndarray, xyz2: np.ndarray, idx1: np.ndarray, idx2: np.ndarray, grad1: np.ndarray, grad2: np.ndarray,
    real: type = np.float64,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Gradients of both clouds, added up in `real` in the order of the first points, then of the second ones."""
    clouds = [xyz1.astype(real), xyz2.astype(real)]
    results = [np.zeros(cloud.shape, real) for cloud in clouds]
    with np.errstate(all="ignore"):
        for own, numbers, grads in ((0, idx1, grad1), (1, idx2, grad2)):
            other = 1 - own
            for b, n in np.ndindex(numbers.shape):
                number = numbers[b, n]
                if not 0 <= number < clouds[other].shape[1]:
                    continue
                part = real(grads[b, n]) * real(2) * (clouds[own][b, n] - clouds[other][b, number])
                results[own][b, n] += part
                results[other][b, number] -= part
    return results[0], results[1]


def in_double(name: str, *given: Any) -> Any:
    """The results for float64 points."""
    return forward(*given) if name == "chamfer_distance_forward" else backward(*given)


def ways(size: int) -> Iterator[Way]:
    """Clouds of one size, of very different ones, and many small ones."""
    for name in ("chamfer_distance_forward", "chamfer_distance_backward"):
        yield Way(name, "alike", {"B": 2, "N": 40 * size, "M": 43 * size})
        yield Way(name, "few against many", {"B": 1, "N": 5, "M": 100 * size})
        yield Way(name, "many batches", {"B": 5 * size, "N": 9, "M": 7})


REFUSALS = {
    "mluopsExtChamferDistanceForward": Refusals(
        order="handle objects ranks shapes packed types indexable data overlap",
        empty={"B": "", "N": "xyz2 dist2 idx2", "M": "xyz1 dist1 idx1"},
    ),
    "mluopsExtChamferDistanceBackward": Refusals(
        order="handle objects ranks shapes packed types indexable data overlap",
        empty={"B": "", "N": "xyz2 idx2 grad_dist2 grad_xyz2", "M": "xyz1 idx1 grad_dist1 grad_xyz1"},
    ),
}
