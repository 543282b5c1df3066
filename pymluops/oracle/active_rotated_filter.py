"""active_rotated_filter: the rotations of filters, cells moved by a table, and the gradient.

Filters are [O, I, r, k, k]; a plane has E = r * k * k cells. For rotation q, cell l goes to place
indices[l, q], from 1 to E, of plane i of filter o * R + q, and nowhere if there is no such place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pymluops.oracle.refusals import Refusals
from pymluops.oracle.ways import Way

#: Operators whose float results are sums, which a device may round or order in its own way.
SUMS = ("active_rotated_filter_backward",)
#: Values of symbols that have few.
SIZES = {"r": (1, 2, 4), "k": (1, 3), "R": (2, 4, 8)}

#: The places of the cells of a kernel of 3 x 3 in eight rotations by 45 degrees.
STANDARD = np.array(
    [
        [1, 2, 3, 6, 9, 8, 7, 4], [2, 3, 6, 9, 8, 7, 4, 1], [3, 6, 9, 8, 7, 4, 1, 2],
        [4, 1, 2, 3, 6, 9, 8, 7], [5] * 8, [6, 9, 8, 7, 4, 1, 2, 3],
        [7, 4, 1, 2, 3, 6, 9, 8], [8, 7, 4, 1, 2, 3, 6, 9], [9, 8, 7, 4, 1, 2, 3, 6],
    ],
    np.int32,
)  # fmt: skip


def forward(filters: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """[O * R, I * r, k, k]; a place that no cell goes to is 0, and of several cells the last one stays."""
    count, planes, *cells = filters.shape
    size, rotations = int(np.prod(cells)), indices.shape[3]
    flat, table = filters.reshape(count, planes, size), indices.reshape(size, rotations)
    result = np.zeros((count, rotations, planes, size), filters.dtype)
    for cell, q in np.ndindex(size, rotations):
        if 1 <= table[cell, q] <= size:
            result[:, q, :, table[cell, q] - 1] = flat[:, :, cell]
    return result.reshape(count * rotations, planes * cells[0], *cells[1:])


def backward(grad: np.ndarray, indices: np.ndarray, count: int, planes: int) -> np.ndarray:
    """[O, I, r, k, k], added up in the order of the rotations; half in float32."""
    real = np.float64 if grad.dtype == np.float64 else np.float32
    size, rotations = int(np.prod(indices.shape[:3])), indices.shape[3]
    flat, table = grad.reshape(count, rotations, planes, size), indices.reshape(size, rotations)
    result = np.zeros((count, planes, size), real)
    with np.errstate(all="ignore"):
        for cell, q in np.ndindex(size, rotations):
            if 1 <= table[cell, q] <= size:
                result[:, :, cell] += flat[:, q, :, table[cell, q] - 1]
        return result.reshape(count, planes, *indices.shape[:3]).astype(grad.dtype)


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let each rotation move the cells to different places."""
    indices = arguments["indices"]
    size, rotations = int(np.prod(indices.shape[:3])), indices.shape[3]
    columns = [rng.permutation(size) + 1 for _ in range(rotations)]
    indices[...] = np.stack(columns, 1).reshape(indices.shape)


def in_double(name: str, *given: Any) -> np.ndarray:
    """The results for float64 arrays and the scalars of the description."""
    return forward(*given) if name == "active_rotated_filter_forward" else backward(*given)


def ways(size: int) -> Iterator[Way]:
    """Many filters, many planes, and many orientations."""
    for name in ("active_rotated_filter_forward", "active_rotated_filter_backward"):
        table = {"r": 1, "k": 3, "R": 8}
        yield Way(name, "many filters", {"O": 10 * size, "I": 3, **table}, change=prepare)
        yield Way(name, "many planes", {"O": 2, "I": 30 * size, **table}, change=prepare)
        yield Way(name, "many orientations", {"O": 2, "I": size + 1, "r": 128, "k": 3, "R": 2}, change=prepare)


_ORDER = "handle objects ranks shapes packed types indexable positive"
REFUSALS = {
    "mluOpActiveRotatedFilterForward": Refusals(order=f"{_ORDER} workspace data overlap", needs_workspace=False),
    "mluOpGetActiveRotatedFilterForwardWorkspaceSize": Refusals(order="handle objects pointer"),
    "mluopsExtActiveRotatedFilterBackward": Refusals(order=f"{_ORDER} data overlap"),
}
