"""carafe: pixels of an enlarged map as weighted sums of windows, and the gradients of maps and weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pymluops.oracle.refusals import Refusals
from pymluops.oracle.ways import Way

#: C functions without a description: tests/ops has their refusals and values.
TESTED_APART = (
    "mluOpCarafeBackward",
    "mluOpCarafeForward",
)

#: Operators whose float results are sums, which a device may round or order in its own way.
SUMS = ("carafe_forward", "carafe_backward")


def _cells(shape: tuple[int, ...], kernel: int, scale: int) -> Iterator[tuple[int, int, int, int, int]]:
    """Row and column of the result, of the map, and the number of the cell, for cells within the map."""
    _, height, width, _ = shape
    before = (kernel - 1) // 2
    for y, x, a, b in np.ndindex(height * scale, width * scale, kernel, kernel):
        row, column = y // scale - before + a, x // scale - before + b
        if 0 <= row < height and 0 <= column < width:
            yield y, x, row, column, a * kernel + b


def forward(maps: np.ndarray, mask: np.ndarray, kernel: int, groups: int, scale: int) -> np.ndarray:
    """[N, s * H, s * W, C], in float64."""
    n, height, width, channels = maps.shape
    result = np.zeros((n, height * scale, width * scale, groups, channels // groups))
    weights = mask.reshape(*mask.shape[:3], groups, kernel * kernel).astype(np.float64)
    parts = maps.reshape(n, height, width, groups, -1).astype(np.float64)
    with np.errstate(all="ignore"):
        for y, x, row, column, cell in _cells(maps.shape, kernel, scale):
            result[:, y, x] += weights[:, y, x, :, cell, None] * parts[:, row, column]
    return result.reshape(n, height * scale, width * scale, channels)


def backward(
    maps: np.ndarray, mask: np.ndarray, grad: np.ndarray, kernel: int, groups: int, scale: int
) -> tuple[np.ndarray, np.ndarray]:
    """Gradients of the maps and of the weights, in float64."""
    n, height, width, _ = maps.shape
    weights = mask.reshape(*mask.shape[:3], groups, kernel * kernel).astype(np.float64)
    parts = maps.reshape(n, height, width, groups, -1).astype(np.float64)
    given = grad.reshape(*grad.shape[:3], groups, -1).astype(np.float64)
    d_maps, d_mask = np.zeros(parts.shape), np.zeros(weights.shape)
    with np.errstate(all="ignore"):
        for y, x, row, column, cell in _cells(maps.shape, kernel, scale):
            d_maps[:, row, column] += weights[:, y, x, :, cell, None] * given[:, y, x]
            d_mask[:, y, x, :, cell] = (parts[:, row, column] * given[:, y, x]).sum(-1)
    return d_maps.reshape(maps.shape), d_mask.reshape(mask.shape)


def in_double(name: str, *given: Any) -> Any:
    """The results of an operator for float64 arrays and the scalars of the description."""
    return forward(*given) if name == "carafe_forward" else backward(*given)


def ways(size: int) -> Iterator[Way]:
    """Many channels of one group, and few of several."""
    for name in SUMS:
        numbers = {"kernel_size": 3, "scale_factor": 2}
        sizes = {"N": 1, "H": 3, "W": 4, "C": 2 * size + 1}
        yield Way(name, "many channels", {**sizes, **numbers, "group_size": 1})
        sizes = {"N": 2, "H": 5, "W": size + 3, "C": 4}
        yield Way(name, "few channels", {**sizes, **numbers, "group_size": 2})


REFUSALS = {"mluopsExtCarafeForward": Refusals(), "mluopsExtCarafeBackward": Refusals()}
