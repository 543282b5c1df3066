"""deform_roi_pool: means of bilinear samples in bins that offsets move, and the gradients of maps and offsets."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from pymluops.oracle.refusals import Refusals
from pymluops.oracle.region_samples import (
    Grid,
    Region,
    corners,
    mean_backward,
    mean_forward,
    place_upright,
    real_type,
    upright_grid,
)
from pymluops.oracle.ways import Way

#: Operators whose float results are sums, which a device may round or order in its own way.
SUMS = ("deform_roi_pool_forward", "deform_roi_pool_backward", "deform_roi_pool_exact_backward")


class Settings(NamedTuple):
    """Numbers of a call."""

    bins: tuple[int, int]
    scale: float
    ratio: int
    gamma: float


class Moved(NamedTuple):
    """A region, and what an offset of 1 is along y and x, in pixels of the map."""

    region: Region
    unit: tuple[Any, Any]


def region_of(row: np.ndarray, offset: np.ndarray | None, settings: Settings, images: int) -> Moved | None:
    """A region whose bins an offset [2, ph, pw] moves, x first; None if it has no image or is not finite."""
    real = real_type(row.dtype)
    scale, half = real(settings.scale), real(0.5)
    with np.errstate(all="ignore"):
        image, x1, y1, x2, y2 = (real(value) for value in row)
        left, top = x1 * scale - half, y1 * scale - half
        width, height = (x2 * scale - half) - left, (y2 * scale - half) - top
        unit = real(settings.gamma) * height, real(settings.gamma) * width
    if not (-1 < image < images and np.isfinite([left, top, width, height]).all()):
        return None
    rows, columns, _ = upright_grid((top, height), (left, width), settings.bins, settings.ratio)

    def place(i: int, j: int, row: int, column: int) -> tuple[Any, Any]:
        with np.errstate(all="ignore"):
            down, right = (real(0), real(0)) if offset is None else (real(offset[1, i, j]), real(offset[0, i, j]))
            begins = (top + unit[0] * down, left + unit[1] * right) if offset is not None else (top, left)
        return upright_grid((begins[0], height), (begins[1], width), settings.bins, settings.ratio).place(
            i, j, row, column
        )

    return Moved(Region(int(image), Grid(rows, columns, place)), unit)


def _regions(rois: np.ndarray, offset: np.ndarray | None, settings: Settings, images: int) -> list[Moved | None]:
    each = [None] * len(rois) if offset is None else list(offset)
    return [region_of(row, own, settings, images) for row, own in zip(rois, each, strict=True)]


def _samples(found: list[Moved | None]) -> list[Region | None]:
    return [moved and moved.region for moved in found]


def forward(maps: np.ndarray, rois: np.ndarray, offset: np.ndarray | None, settings: Settings) -> np.ndarray:
    """The means [R, ph, pw, C]."""
    return mean_forward(maps, _samples(_regions(rois, offset, settings, len(maps))), settings.bins)


def backward(
    grad: np.ndarray, rois: np.ndarray, offset: np.ndarray | None, settings: Settings, shape: tuple[int, int, int]
) -> np.ndarray:
    """The gradient of the maps [B, H, W, C], in the type that sums are computed in."""
    return mean_backward(grad, _samples(_regions(rois, offset, settings, shape[0])), shape)


def _vendor_weights(at: Any, size: int) -> tuple[int, int, float, float]:
    """The pixels around a coordinate, and their weights if the coordinate is taken as it is."""
    low = min(int(max(at, 0)), size - 1)
    high = min(low + 1, size - 1)
    return low, high, high - float(at), float(at) - low


def _vendor_slope(image: np.ndarray, y: Any, x: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """By y and by x of a sample, by the vendor's formula, and how large terms of it are."""
    top, bottom, above, below = _vendor_weights(y, image.shape[0])
    left, right, before, behind = _vendor_weights(x, image.shape[1])
    v00, v10, v01, v11 = (
        image[h, w].astype(np.float64) for h, w in ((top, left), (top, right), (bottom, left), (bottom, right))
    )
    by_y = v11 * behind + v01 * before - v10 * behind - v00 * before
    by_x = v11 * below + v10 * above - v01 * below - v00 * above
    return by_y, by_x, abs(v00) + abs(v10) + abs(v01) + abs(v11)


def _exact_slope(image: np.ndarray, y: Any, x: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """By y and by x of a sample, to the right of a kink: rates of change towards the next pixel."""
    height, width = image.shape[:2]
    pixels = [image[h, w].astype(np.float64) for h, w, _ in corners(y, x, height, width)]
    u, v = (float(np.clip(at, 0, size - 1)) % 1 for at, size in ((x, width), (y, height)))
    down = (pixels[2] - pixels[0]) * (1 - u) + (pixels[3] - pixels[1]) * u
    across = (pixels[1] - pixels[0]) * (1 - v) + (pixels[3] - pixels[2]) * v
    still = np.zeros_like(pixels[0])
    moves = 0 <= y < height - 1, 0 <= x < width - 1
    return down if moves[0] else still, across if moves[1] else still, sum((abs(one) for one in pixels), still)


def offset_backward(
    grad: np.ndarray, maps: np.ndarray, rois: np.ndarray, offset: np.ndarray, settings: Settings, exact: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The gradient of the offsets [R, 2, ph, pw] in float64, and what its terms are in size."""
    result, sizes = np.zeros((2, *offset.shape))
    slope = _exact_slope if exact else _vendor_slope
    for r, moved in enumerate(_regions(rois, offset, settings, len(maps))):
        for i, j in np.ndindex(*settings.bins) if moved else ():
            assert moved is not None
            share = grad[r, i, j].astype(np.float64) / moved.region.divisor
            for y, x in moved.region.samples(i, j):
                if not corners(y, x, *maps.shape[1:3]):
                    continue
                with np.errstate(all="ignore"):
                    down, across, size = slope(maps[moved.region.image], y, x)
                    for axis, change, unit in ((0, across, moved.unit[1]), (1, down, moved.unit[0])):
                        result[r, axis, i, j] += np.sum(share * change) * float(unit)
                        sizes[r, axis, i, j] += np.sum(abs(share) * size) * abs(float(unit))
    return result, sizes


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let the regions lie on the maps and somewhat beside them, with few samples."""
    batch, *size = arguments["input"].shape[:3]
    place_upright(arguments["rois"], batch, size, max(abs(arguments["spatial_scale"]), 0.05), rng)


def in_double(name: str, *given: Any) -> Any:
    """The results of an operator for float64 arrays and the scalars of the description."""
    if name == "deform_roi_pool_forward":
        maps, rois, offset, rows, columns, scale, ratio, gamma = given
        return forward(maps, rois, offset, Settings((rows, columns), scale, ratio, gamma))
    grad, maps, rois, offset, *_, scale, ratio, gamma = given
    settings = Settings(grad.shape[1:3], scale, ratio, gamma)
    exact = name == "deform_roi_pool_exact_backward"
    return (
        backward(grad, rois, offset, settings, maps.shape[:3]),
        offset_backward(grad, maps, rois, offset, settings, exact)[0],
    )


def ways(size: int) -> Iterator[Way]:
    """Many regions, few of them with many samples, and many channels."""
    numbers = {"spatial_scale": 0.25, "gamma": 0.1}
    side = int(math.sqrt(10 * size)) + 3
    for name in SUMS:
        bins = {"pooled_height": 3, "pooled_width": 3}
        many = {**bins, "B": 2, "H": 12, "W": 14, "C": 5, "R": 2 * size + 8, "sampling_ratio": 2}
        yield Way(name, "many regions", many, numbers)
        pixels = {**bins, "B": 1, "H": side, "W": side, "C": 3, "R": 6, "sampling_ratio": 0}
        yield Way(name, "a sample each pixel", pixels, numbers)
        channels = {**bins, "B": 1, "H": 4, "W": 5, "C": 4 * size + 200, "R": 2, "sampling_ratio": 2}
        yield Way(name, "many channels", channels, numbers)


def endless() -> Iterator[Way]:
    """Many bins, with as many samples as there can be, all of them on the map."""
    sizes = {"pooled_height": 3000, "pooled_width": 3000, "B": 1, "H": 4, "W": 4, "C": 1, "R": 1, "sampling_ratio": 256}
    region = {"rois": np.array([[0, 1, 1, 2, 2]], np.float32)}
    for name in SUMS:
        yield Way(name, "6e11 samples", sizes, {"spatial_scale": 1.0, "gamma": 0.0}, region)


_ORDER = "handle objects layouts packed types ranks scalars shapes indexable pairs positive data overlap"
_VENDOR = Refusals(order=_ORDER, empty={"H": "", "W": ""})
REFUSALS = {
    "mluOpDeformRoiPoolForward": _VENDOR,
    "mluOpDeformRoiPoolBackward": _VENDOR,
    "mluopsExtDeformRoiPoolExactBackward": Refusals(
        order="handle objects layouts packed types ranks scalars shapes indexable positive data overlap"
    ),
}
