"""prroi_pool: the mean of maps over the bins of regions, and the gradients of maps and regions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from pymluops.oracle.refusals import Refusals
from pymluops.oracle.region_samples import place_upright, real_type
from pymluops.oracle.ways import Way

#: Operators whose float results are sums, which a device may round or order in its own way.
SUMS = ("prroi_pool_forward", "prroi_pool_backward", "prroi_pool_coor_backward")


def share(low: Any, high: Any, pixel: int) -> Any:
    """The integral from `low` to `high` of a tent that is 1 at `pixel` and 0 at its neighbours, slope by slope."""
    real = type(low)
    begin, end = low - real(pixel), high - real(pixel)
    area = real(0)
    for left, right, rises in ((real(-1), real(0), real(1)), (real(0), real(1), real(-1))):
        a, b = max(begin, left), min(end, right)
        if b > a:
            area += (b - a) * (real(1) + rises * ((a + b) / real(2)))
    return area


class Region(NamedTuple):
    """The image of a region, where it begins, and the size of a bin."""

    image: int
    top: Any
    left: Any
    height: Any
    width: Any

    def bin(self, i: int, j: int) -> tuple[tuple[Any, Any], tuple[Any, Any], Any]:
        """From where to where a bin reaches along y and along x, and its area; 0 for one that is no number."""
        real = type(self.top)
        with np.errstate(all="ignore"):
            y, x = self.top + real(i) * self.height, self.left + real(j) * self.width
            area = self.height * self.width
            return (y, y + self.height), (x, x + self.width), area if np.isfinite(area) else real(0)


def region_of(row: np.ndarray, bins: tuple[int, int], scale: float, images: int) -> Region | None:
    """A region in the type that sums are computed in; None if it has no image or is not finite."""
    real = real_type(row.dtype)
    with np.errstate(all="ignore"):
        image, x1, y1, x2, y2 = (real(value) for value in row)
        left, top = x1 * real(scale), y1 * real(scale)
        width, height = x2 * real(scale) - left, y2 * real(scale) - top
    if not (-1 < image < images and np.isfinite([left, top, width, height]).all()):
        return None
    height, width = max(height, real(0)) / real(bins[0]), max(width, real(0)) / real(bins[1])
    return Region(int(image), top, left, height, width)


def _pixels(span: tuple[Any, Any], size: int) -> list[tuple[int, Any]]:
    """The pixels that have a share in a part of an axis, and their shares."""
    return [(pixel, part) for pixel in range(size) if (part := share(*span, pixel)) > 0]


def forward(maps: np.ndarray, rois: np.ndarray, bins: tuple[int, int], scale: float) -> np.ndarray:
    """The means [R, ph, pw, C]."""
    real = real_type(maps.dtype)
    result = np.zeros((len(rois), *bins, maps.shape[3]), maps.dtype)
    for r, row in enumerate(rois):
        region = region_of(row, bins, scale, len(maps))
        for i, j in np.ndindex(*bins) if region else ():
            y, x, area = region.bin(i, j)
            if not area > 0:
                continue
            total = np.zeros(maps.shape[3], real)
            with np.errstate(all="ignore"):
                for h, down in _pixels(y, maps.shape[1]):
                    for w, right in _pixels(x, maps.shape[2]):
                        total += maps[region.image, h, w].astype(real) * (down * right)
                result[r, i, j] = total / area
    return result


def backward(grad: np.ndarray, rois: np.ndarray, scale: float, shape: tuple[int, int, int]) -> np.ndarray:
    """The gradient of the maps [B, H, W, C], in the type that sums are computed in."""
    real = real_type(grad.dtype)
    bins = (grad.shape[1], grad.shape[2])
    result = np.zeros((*shape, grad.shape[3]), real)
    for r, row in enumerate(rois):
        region = region_of(row, bins, scale, shape[0])
        for i, j in np.ndindex(*bins) if region else ():
            y, x, area = region.bin(i, j)
            if not area > 0:
                continue
            with np.errstate(all="ignore"):
                for h, down in _pixels(y, shape[1]):
                    for w, right in _pixels(x, shape[2]):
                        result[region.image, h, w] += grad[r, i, j].astype(real) * (down * right / area)
    return result


def _tents(at: Any, size: int) -> list[tuple[int, Any]]:
    """The pixels of an axis that a place lies between, and what they count there."""
    parts = [(pixel, 1 - abs(at - type(at)(pixel))) for pixel in range(size)]
    return [(pixel, part) for pixel, part in parts if part > 0]


def coor_backward(
    grad: np.ndarray, maps: np.ndarray, rois: np.ndarray, output: np.ndarray, scale: float
) -> tuple[np.ndarray, np.ndarray]:
    """The gradient of the regions [R, 5] in float64, and what its terms are in size."""
    bins = (grad.shape[1], grad.shape[2])
    result, sizes = np.zeros((2, len(rois), 5))
    for r, row in enumerate(rois):
        region = region_of(row, bins, scale, len(maps))
        for i, j in np.ndindex(*bins) if region else ():
            y, x, area = region.bin(i, j)
            if not area > 0:
                continue
            given = grad[r, i, j].astype(np.float64)
            there = given != 0
            image = maps[region.image][..., there].astype(np.float64)
            mean = output[r, i, j][there].astype(np.float64)
            rows, columns = _pixels(y, maps.shape[1]), _pixels(x, maps.shape[2])
            factor = given[there] * float(real_type(maps.dtype)(scale)) / float(area)
            for axis, edge in ((1, 0), (2, 0), (1, 1), (2, 1)):  # left, top, right, bottom
                with np.errstate(all="ignore"):
                    if axis == 1:
                        along = sum(image[h, w] * float(a * b) for h, a in rows
                                    for w, b in _tents(x[edge], maps.shape[2]))  # fmt: skip
                        level = mean * float(y[1] - y[0])
                    else:
                        along = sum(image[h, w] * float(a * b) for w, a in columns
                                    for h, b in _tents(y[edge], maps.shape[1]))  # fmt: skip
                        level = mean * float(x[1] - x[0])
                    moved = np.sum((along - level) * factor) * (1 if edge else -1)
                    size = np.sum((abs(along) + abs(level)) * abs(factor))
                near = (j + edge) / bins[1] if axis == 1 else (i + edge) / bins[0]
                for total, value in ((result, moved), (sizes, size)):
                    with np.errstate(all="ignore"):
                        total[r, axis] += value * (1 - near)
                        total[r, axis + 2] += value * near
    return result, sizes


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let the regions lie on the maps and somewhat beside them."""
    maps = arguments.get("input")
    batch, *size = maps.shape[:3] if maps is not None else (arguments["batch"], *arguments["feature_size"])
    place_upright(arguments["rois"], batch, size, arguments["spatial_scale"], rng)


def in_double(name: str, *given: Any) -> Any:
    """The results of an operator for float64 arrays and the scalars of the description."""
    if name == "prroi_pool_forward":
        maps, rois, rows, columns, scale = given
        return forward(maps, rois, (rows, columns), scale)
    if name == "prroi_pool_coor_backward":
        return coor_backward(*given)[0]
    grad, rois, scale, batch, height, width = given
    return backward(grad, rois, scale, (batch, height, width))


#: A call on a few values has one phase, and so does not look at the clock.
ONE_PHASE = True


def ways(size: int) -> Iterator[Way]:
    """Many regions, few of them with many pixels, and many channels."""
    scale = {"spatial_scale": 0.25}
    side = int(math.sqrt(10 * size)) + 3
    for name in SUMS:
        bins = {"pooled_height": 3, "pooled_width": 3}
        yield Way(name, "many regions", {**bins, "B": 2, "H": 12, "W": 14, "C": 5, "R": 2 * size + 8}, scale)
        yield Way(name, "many pixels", {**bins, "B": 1, "H": side, "W": side, "C": 3, "R": 6}, scale)
        yield Way(name, "many channels", {**bins, "B": 1, "H": 4, "W": 5, "C": 20 * size + 200, "R": 2}, scale)


def endless() -> Iterator[Way]:
    """Maps of 500 million values, and bins that have all of them."""
    bins = {"pooled_height": 1, "pooled_width": 1, "B": 1, "R": 1}
    region = {"rois": np.array([[0, 0, 0, 1, 1]], np.float32)}
    for name in SUMS:
        sizes = {**bins, "H": 1, "W": 1, "C": 500_000_000}
        yield Way(name, "500 million channels", sizes, {"spatial_scale": 1.0}, region, huge=True)


_ORDER = "handle objects ranks types layouts packed shapes scalars positive indexable data overlap"
_REGIONS = ("grad_output", "input", "rois", "output")
#: The gradient of the regions is looked at after what regions are pooled with.
_STEPS = ("ranks", "types", "layouts", "packed", "shapes")
_COOR = " ".join(
    [
        "handle objects",
        *(f"{kind}:{name}" for kind in _STEPS for name in _REGIONS),
        "ranks types packed shapes scalars positive indexable data overlap",
    ]
)
REFUSALS = {
    "mluopsExtPrRoiPoolForward": Refusals(order=_ORDER),
    "mluopsExtPrRoiPoolBackward": Refusals(order=_ORDER),
    "mluopsExtPrRoiPoolCoorBackward": Refusals(order=_COOR),
}
