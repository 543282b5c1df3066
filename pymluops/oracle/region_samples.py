"""Means of bilinear samples in the bins of regions, and their gradient, one sample after another."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np


def real_type(dtype: Any) -> type:
    """The type that sums of a type are computed in."""
    return np.float64 if np.dtype(dtype) == np.float64 else np.float32


class Grid(NamedTuple):
    """The samples of a bin: their number along the axes, and where sample (row, column) of bin (i, j) is, y first."""

    rows: int
    columns: int
    place: Callable[[int, int, int, int], tuple[Any, Any]]


class Region(NamedTuple):
    """The image of a region, and its samples."""

    image: int
    grid: Grid

    def samples(self, i: int, j: int) -> Iterator[tuple[Any, Any]]:
        """The samples of a bin, row by row."""
        for row in range(max(self.grid.rows, 0)):
            for column in range(max(self.grid.columns, 0)):
                yield self.grid.place(i, j, row, column)

    @property
    def divisor(self) -> int:
        """What sums are divided by."""
        return max(max(self.grid.rows, 0) * max(self.grid.columns, 0), 1)


def along(start: Any, step: Any, bin_number: int, number: int, count: int) -> Any:
    """Where sample `number` of `count` lies in a bin of size `step`."""
    real = type(start)
    with np.errstate(all="ignore"):
        return (start + real(bin_number) * step) + (real(number) + real(0.5)) * step / real(count)


def upright_grid(y: tuple[Any, Any], x: tuple[Any, Any], bins: tuple[int, int], ratio: int) -> Grid:
    """The samples of a region that begins at a coordinate and has a size along each axis."""
    real = type(y[0])
    height, width = y[1] / real(bins[0]), x[1] / real(bins[1])
    rows, columns = (ratio or math.ceil(step) for step in (height, width))

    def place(i: int, j: int, row: int, column: int) -> tuple[Any, Any]:
        return along(y[0], height, i, row, rows), along(x[0], width, j, column, columns)

    return Grid(rows, columns, place)


def _axis(at: Any, size: int) -> tuple[int, int, Any]:
    """The pixels around a coordinate, and the distance from the lower one."""
    real = type(at)
    at = at if at > 0 else real(0)  # -0 counts as 0
    low = int(at)
    if low >= size - 1:
        return size - 1, size - 1, real(0)
    return low, low + 1, at - real(low)


def corners(y: Any, x: Any, height: int, width: int) -> list[tuple[int, int, Any]]:
    """Row, column and weight of the pixels around a sample; none if it is beside the map."""
    if not (-1 <= y <= height and -1 <= x <= width):
        return []
    (top, bottom, v), (left, right, u) = _axis(y, height), _axis(x, width)
    one = type(y)(1)
    return [(top, left, (one - v) * (one - u)), (top, right, (one - v) * u),
            (bottom, left, v * (one - u)), (bottom, right, v * u)]  # fmt: skip


def sample(image: np.ndarray, y: Any, x: Any) -> np.ndarray:
    """The sample [C] of an image [H, W, C], in the type that sums are computed in; 0 beside the map."""
    real = real_type(image.dtype)
    parts = [image[h, w].astype(real) * weight for h, w, weight in corners(y, x, *image.shape[:2])]
    return ((parts[0] + parts[1]) + parts[2]) + parts[3] if parts else np.zeros(image.shape[2], real)


def mean_forward(maps: np.ndarray, regions: Sequence[Region | None], bins: tuple[int, int]) -> np.ndarray:
    """The means [R, ph, pw, C]; a region that is None has 0."""
    real = real_type(maps.dtype)
    channels = maps.shape[3]
    result = np.zeros((len(regions), *bins, channels), maps.dtype)
    for r, region in enumerate(regions):
        if region is None:
            continue
        for i, j in np.ndindex(*bins):
            total = np.zeros(channels, real)
            with np.errstate(all="ignore"):
                for y, x in region.samples(i, j):
                    total += sample(maps[region.image], y, x)
                result[r, i, j] = total / real(region.divisor)
    return result


def mean_backward(grad: np.ndarray, regions: Sequence[Region | None], shape: tuple[int, int, int]) -> np.ndarray:
    """The gradient of the maps [B, H, W, C], in the type that sums are computed in."""
    real = real_type(grad.dtype)
    result = np.zeros((*shape, grad.shape[3]), real)
    for r, region in enumerate(regions):
        if region is None:
            continue
        for i, j in np.ndindex(*grad.shape[1:3]):
            with np.errstate(all="ignore"):
                for y, x in region.samples(i, j):
                    for h, w, weight in corners(y, x, *shape[1:]):
                        result[region.image, h, w] += grad[r, i, j].astype(real) * (weight / real(region.divisor))
    return result


def place_upright(rois: np.ndarray, batch: int, size: Sequence[int], scale: float, rng: np.random.Generator) -> None:
    """Let upright regions [R, 5] lie on the maps and somewhat beside them."""
    height, width = (extent / scale for extent in size)
    corner = rng.uniform(-0.2, 1.1, (len(rois), 2, 2)) * [width, height]
    rois[:, 0] = rng.integers(0, batch, len(rois))
    rois[:, 1:] = np.sort(corner, axis=1).reshape(-1, 4)
