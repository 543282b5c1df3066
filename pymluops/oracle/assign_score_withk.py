"""assign_score_withk: weighted features of neighbours, and the gradients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pymluops.oracle.refusals import Refusals
from pymluops.oracle.ways import Way

#: Operators whose float results are sums, which a device may round or order in its own way.
SUMS = ("assign_score_withk_forward", "assign_score_withk_backward")


def _neighbours(numbers: np.ndarray, count: int) -> Iterator[tuple[int, int, int, int, int]]:
    """b, n, k and the numbers of neighbour and centre, where both are some of `count` points."""
    for b, n, k in np.ndindex(numbers.shape):
        neighbour, centre = int(numbers[b, n, k]), int(numbers[b, n, 0])
        if 0 <= neighbour < count and 0 <= centre < count:
            yield b, n, k, neighbour, centre


def forward(
    points: np.ndarray, centers: np.ndarray, scores: np.ndarray, numbers: np.ndarray, real: type = np.float64
) -> np.ndarray:
    """[B, O, N1, K], added up in `real` in the order of m."""
    batch, count, matrices, channels = points.shape
    result = np.zeros((batch, channels, *numbers.shape[1:]), real)
    points, centers, scores = (array.astype(real) for array in (points, centers, scores))
    with np.errstate(all="ignore"):
        for b, n, k, neighbour, centre in _neighbours(numbers, count):
            for m in range(matrices):
                score = scores[b, n, k, m]
                result[b, :, n, k] += points[b, neighbour, m] * score - centers[b, centre, m] * score
    return result


def backward(
    grad: np.ndarray, points: np.ndarray, centers: np.ndarray, scores: np.ndarray, numbers: np.ndarray,
    real: type = np.float64,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Gradients of points, centers and scores, added up in `real` in the order of n, k and o."""
    grad, points, centers, scores = (array.astype(real) for array in (grad, points, centers, scores))
    results = np.zeros_like(points), np.zeros_like(centers), np.zeros_like(scores)
    with np.errstate(all="ignore"):
        for b, n, k, neighbour, centre in _neighbours(numbers, points.shape[1]):
            for m in range(points.shape[2]):
                score = scores[b, n, k, m]
                results[0][b, neighbour, m] += score * grad[b, :, n, k]
                results[1][b, centre, m] -= score * grad[b, :, n, k]
                for o in range(points.shape[3]):
                    apart = points[b, neighbour, m, o] - centers[b, centre, m, o]
                    results[2][b, n, k, m] += apart * grad[b, o, n, k]
    return results


def in_double(name: str, *given: Any) -> Any:
    """The results for float64 values."""
    return forward(*given) if name == "assign_score_withk_forward" else backward(*given)


def ways(size: int) -> Iterator[Way]:
    """Many centres, many channels, and many matrices."""
    for name in ("assign_score_withk_forward", "assign_score_withk_backward"):
        few = {"B": 2, "N0": 30, "K": 9}
        yield Way(name, "many centres", {**few, "N1": 2 * size, "M": 4, "O": 8})
        yield Way(name, "many channels", {**few, "N1": 3, "M": 2, "O": 4 * size})
        yield Way(name, "many matrices", {**few, "N1": 3, "M": 2 * size, "O": 5})


_SHAPES = "handle objects ranks shapes packed types indexable data overlap"
REFUSALS = {
    "mluopsExtAssignScoreWithkForward": Refusals(
        order=_SHAPES,
        empty={"B": "", "O": "", "N1": "", "K": "", "N0": "scores knn_idx output", "M": "knn_idx output"},
    ),
    "mluopsExtAssignScoreWithkBackward": Refusals(
        order=_SHAPES,
        empty={
            "B": "", "M": "", "N0": "grad_output scores knn_idx grad_scores", "O": "scores knn_idx grad_scores",
            "N1": "points centers grad_points grad_centers", "K": "points centers grad_points grad_centers",
        },
    ),
}  # fmt: skip
