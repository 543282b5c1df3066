"""Furthest point sampling: the next pick has the greatest distance from all picks before it, of several the first.

A distance is ((x - px)^2 + (y - py)^2) + (z - pz)^2, computed in float32 for float16. Points with a
coordinate that is not finite, or whose squared norm is at most a number, are picked only first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pymluops.oracle.stacked import slices


def real_of(array: np.ndarray) -> type:
    """The type to compute in."""
    return np.float64 if array.dtype == np.float64 else np.float32


def picks(
    points: int, number: int, candidates: np.ndarray, start: np.ndarray, distances_from: Any
) -> tuple[np.ndarray, np.ndarray]:
    """The least distances [points] and the picks [number]; `distances_from` returns a row for a pick."""
    least, found = start.copy(), np.zeros(number, np.int32)
    numbers = np.arange(points)[candidates]
    for i in range(1, number):
        row = distances_from(found[i - 1])
        smaller = candidates & (row < least)
        least[smaller] = row[smaller]
        if len(numbers) and least[numbers].max() > -1:
            found[i] = numbers[np.argmax(least[numbers])]
    return least, found


def sample(points: np.ndarray, number: int, most: float = np.inf, norm: float = -1.0) -> tuple[np.ndarray, np.ndarray]:
    """For one cloud [N, 3]."""
    real = real_of(points)
    wide = points.astype(real)
    with np.errstate(all="ignore"):
        norms = (wide[:, 0] ** 2 + wide[:, 1] ** 2) + wide[:, 2] ** 2
        candidates = np.isfinite(wide).all(1) & ~(norms.astype(np.float64) <= norm)

        def distances(pick: int) -> np.ndarray:
            x, y, z = ((wide[:, axis] - wide[pick, axis]) ** 2 for axis in range(3))
            found: np.ndarray = (x + y) + z
            return found

        least, found = picks(len(points), number, candidates, np.full(len(points), most, real), distances)
        return least.astype(points.dtype), found


def sample_by_matrix(matrix: np.ndarray, number: int, most: float = np.inf) -> tuple[np.ndarray, np.ndarray]:
    """For one matrix [N, N] of distances."""
    wide, size = matrix.astype(real_of(matrix)), len(matrix)
    with np.errstate(all="ignore"):
        start = np.full(size, most, wide.dtype)
        least, found = picks(size, number, np.ones(size, bool), start, lambda pick: wide[pick])
        return least.astype(matrix.dtype), found


def sample_stack(
    points: np.ndarray, counts: np.ndarray, numbers: np.ndarray, total: int, most: float = np.inf
) -> tuple[np.ndarray, np.ndarray]:
    """For stacked clouds [N, 3]; picks are rows, -1 where there is no point."""
    least, found = np.zeros(len(points), points.dtype), np.full(total, -1, np.int32)
    for rows, places in zip(slices(counts, len(points)), slices(numbers, total), strict=True):
        if rows.stop > rows.start:
            least[rows], some = sample(points[rows], places.stop - places.start, most)
            found[places] = some + np.int32(rows.start)
    return least, found


def of_batches(one: Any, arrays: np.ndarray, *numbers: Any) -> tuple[np.ndarray, np.ndarray]:
    """The results of a function of one cloud for each of a batch."""
    least, found = zip(*(one(array, *numbers) for array in arrays), strict=True)
    return np.stack(least), np.stack(found)


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let stacked batches have all points and all picks."""
    if "xyz_batch_cnt" not in arguments:
        return
    counts, numbers = arguments["xyz_batch_cnt"], arguments["num_samples"]
    shares = np.ones(len(counts)) / len(counts)
    counts[...] = rng.multinomial(len(arguments["xyz"]), shares)
    there = (counts > 0) / np.count_nonzero(counts)
    numbers[...] = rng.multinomial(arguments["total_samples"], there)


def in_double(name: str, *given: Any) -> tuple[np.ndarray, np.ndarray]:
    """The results of an operator for float64 arrays and the scalars of the description."""
    if name == "furthest_point_sampling":
        return of_batches(sample, *given)
    if name == "furthest_point_sampling_with_dist":
        return of_batches(sample_by_matrix, *given)
    return sample_stack(*given)
