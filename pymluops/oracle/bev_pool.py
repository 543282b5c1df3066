"""bev_pool: sums of intervals of rows for the cells of a grid, and the gradient of the rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pymluops.oracle.refusals import Refusals
from pymluops.oracle.ways import Way

#: Operators whose float results are sums, which a device may round or order in its own way.
SUMS = ("bev_pool_forward", "bev_pool_backward")


def _intervals(
    geometry: np.ndarray, lengths: np.ndarray, starts: np.ndarray, grid: tuple[int, ...]
) -> Iterator[tuple[range, tuple[int, ...]]]:
    """The rows and the cell (b, d, h, w) of each interval that counts."""
    for length, start in zip(lengths.tolist(), starts.tolist(), strict=True):
        if length <= 0 or start < 0 or start + length > len(geometry):
            continue
        h, w, d, b = geometry[start].tolist()
        cell = (b, d, h, w)
        if all(0 <= place < size for place, size in zip(cell, grid, strict=True)):
            yield range(start, start + length), cell


def forward(
    features: np.ndarray, geometry: np.ndarray, lengths: np.ndarray, starts: np.ndarray, grid: tuple[int, ...]
) -> np.ndarray:
    """[B, D, H, W, C] of features [N, C], added in their type and order."""
    out = np.zeros((*grid, features.shape[1]), features.dtype)
    with np.errstate(all="ignore"):
        for rows, cell in _intervals(geometry, lengths, starts, grid):
            for row in rows:
                out[cell] += features[row]
    return out


def backward(grad: np.ndarray, geometry: np.ndarray, lengths: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """[N, C] of the gradients [B, D, H, W, C] of the cells, in their type."""
    out = np.zeros((len(geometry), grad.shape[4]), grad.dtype)
    with np.errstate(all="ignore"):
        for rows, cell in _intervals(geometry, lengths, starts, grad.shape[:4]):
            for row in rows:
                out[row] += grad[cell]
    return out


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let intervals lie within the rows, and cells within the grid."""
    geometry, starts, lengths = (arguments[name] for name in ("geometry", "interval_starts", "interval_lengths"))
    grid = arguments["grid_size"] if "grid_size" in arguments else arguments["grad_output"].shape[:4]
    batches, depth, height, width = grid
    for column, size in enumerate((height, width, depth, batches)):
        geometry[:, column] = rng.integers(0, size, len(geometry))
    starts[...] = rng.integers(0, len(geometry), starts.shape)
    lengths[...] = np.minimum(rng.integers(0, 5, lengths.shape), len(geometry) - starts)


def in_double(name: str, *given: Any) -> np.ndarray:
    """The results of an operator for float64 arrays and the scalars of the description."""
    return forward(*given[:4], given[4:]) if name == "bev_pool_forward" else backward(*given)


def ways(size: int) -> Iterator[Way]:
    """Many rows of few channels, and few of many."""
    grid = {"B": 1, "D": 1, "H": 4, "W": 5}
    for name in ("bev_pool_forward", "bev_pool_backward"):
        yield Way(name, "many rows", {**grid, "N": size * 60, "C": 8, "K": size * 15})
        yield Way(name, "many channels", {**grid, "N": 12, "C": size * 40 + 3, "K": 6})


def endless() -> Iterator[Way]:
    """Two billion channels."""
    sizes = {"B": 1, "D": 1, "H": 1, "W": 1, "N": 1, "C": 2_000_000_000, "K": 1}
    for name in ("bev_pool_forward", "bev_pool_backward"):
        yield Way(name, "two billion channels", sizes, huge=True)


_REFUSALS = Refusals(order="handle objects types ranks packed shapes indexable positive data overlap")
REFUSALS = {"mluopsExtBevPoolForward": _REFUSALS, "mluopsExtBevPoolBackward": _REFUSALS}
