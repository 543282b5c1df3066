"""diff_iou_rotated_sort_vertices: vertices in the order of their angles, by repeated selection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pymluops.oracle.refusals import Check, Refusals, bad

#: Batches may be missing where there are no polygons.
LEFT_TO_C = ("vertices_desc",)


def _less(a: tuple[Any, Any], b: tuple[Any, Any]) -> bool:
    """Whether one angle is less than another, in the type of the coordinates."""
    real = type(a[0])
    epsilon = real(1e-8)
    if abs(a[0] - b[0]) < epsilon and abs(a[1] - b[1]) < epsilon:
        return False
    if a[1] > 0 and b[1] < 0:
        return True
    if a[1] < 0 and b[1] > 0:
        return False
    parts = [abs(x) * x / (x * x + y * y + epsilon) for x, y in (a, b)]
    difference = parts[0] - parts[1]
    if a[1] > 0 and b[1] > 0:
        return bool(difference > epsilon)
    return bool(a[1] < 0 and b[1] < 0 and difference < epsilon)


def _order(vertices: np.ndarray, mask: np.ndarray, count: int) -> list[int]:
    real = vertices.dtype.type
    pad = next((k for k in range(8, 24) if not mask[k]), 0)
    order = [pad] * 9
    if count < 3:
        return order
    corners, last = min(count, 8), None
    for place in range(corners):
        best, take = (real(1), real(-1e-8)), 0
        for k in range(24):
            vertex = vertices[k, 0], vertices[k, 1]
            if mask[k] and _less(vertex, best) and (last is None or _less(last, vertex)):
                best, take = vertex, k
        order[place] = take
        last = vertices[take, 0], vertices[take, 1]
    order[corners] = order[0]
    if corners == 8 and sum(one == other for one in order[:4] for other in order[4:8]) == 4:
        order[4:] = [order[0], pad, pad, pad, pad]
    return order


def forward(vertices: np.ndarray, mask: np.ndarray, num_valid: np.ndarray) -> np.ndarray:
    """[B, N, 9]."""
    result = np.zeros((*num_valid.shape, 9), np.int32)
    with np.errstate(all="ignore"):
        for place in np.ndindex(*num_valid.shape):
            result[place] = _order(vertices[place], mask[place], int(num_valid[place]))
    return result


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let some points of each polygon be its vertices."""
    mask = rng.random(arguments["mask"].shape) < rng.uniform(0, 0.5)
    arguments["mask"][...] = mask
    arguments["num_valid"][...] = np.minimum(mask.sum(-1), 8)


def in_double(_name: str, vertices: np.ndarray, mask: np.ndarray, num_valid: np.ndarray) -> np.ndarray:
    """The results for float64 vertices."""
    return forward(vertices, mask, num_valid)


#: A call on a few values has one phase, and so does not look at the clock.
ONE_PHASE = True


def _batches(_problem: Any, sizes: Mapping[str, int]) -> dict[str, list[Check]]:
    return {"batches": [bad(sizes.get("B") != 0 or sizes.get("N") == 0, "vertices_desc")]}


REFUSALS = {
    "mluOpDiffIouRotatedSortVerticesForward": Refusals(
        order="handle objects ranks packed types shapes indexable batches empty data overlap", checks=_batches
    )
}
