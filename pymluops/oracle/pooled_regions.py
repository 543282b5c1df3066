"""roi_pool: the largest pixel in the bins of regions, and the gradient of the maps."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from pymluops.oracle.refusals import Refusals
from pymluops.oracle.region_samples import place_upright, real_type
from pymluops.oracle.ways import Way

#: C functions without a description: tests/ops has their refusals and values.
TESTED_APART = (
    "mluOpRoiPoolingBackward",
    "mluOpRoiPoolingForward",
)


def _nearest(value: Any) -> Any:
    """Half away from zero."""
    return type(value)(math.copysign(math.floor(abs(float(value)) + 0.5), value))


def _limited(value: float, size: int) -> int:
    return int(min(max(value, 0), size))


def _bins(low: Any, high: Any, scale: Any, rounded: bool, count: int, size: int) -> list[range]:
    """The pixels of each bin along an axis; none if the region has no size or is not finite."""
    real, none = type(scale), [range(0)] * count
    with np.errstate(all="ignore"):
        if not np.isfinite([low * scale, (high + real(1)) * scale, high * scale]).all():
            return none
        if rounded:
            start = _nearest(low * scale)
            length = max(_nearest(high * scale) - start + real(1), real(1))
        else:
            start = low * scale
            length = (high + real(1)) * scale - start
        step = length / real(count)
    if not (np.isfinite(step) and step > 0):
        return none
    found = []
    for i in range(count):
        begin, end = real(i) * step, real(i + 1) * step
        if rounded:
            edges = real(math.floor(begin)) + start, real(math.ceil(end)) + start
        else:
            edges = math.floor(begin + start), math.ceil(end + start)
        found.append(range(*(_limited(edge, size) for edge in edges)))
    return found


def forward(
    maps: np.ndarray, rois: np.ndarray, bins: tuple[int, int], scale: float, rounded: bool
) -> tuple[np.ndarray, np.ndarray]:
    """(output, argmax), both [R, ph, pw, C]."""
    real = real_type(maps.dtype)
    lowest = real(np.finfo(np.float32).min)
    batch, height, width, channels = maps.shape
    output = np.zeros((len(rois), *bins, channels), real)
    argmax = np.full(output.shape, -1, np.int32)
    for r, row in enumerate(rois.astype(real)):
        image, x1, y1, x2, y2 = row
        rows = _bins(y1, y2, real(scale), rounded, bins[0], height)
        columns = _bins(x1, x2, real(scale), rounded, bins[1], width)
        for i, j in np.ndindex(*bins) if -1 < image < batch else ():
            pixels = [(h, w) for h in rows[i] for w in columns[j]]
            if pixels:
                output[r, i, j] = lowest
            for c, (h, w) in ((c, pixel) for c in range(channels) for pixel in pixels):
                value, best = real(maps[int(image), h, w, c]), output[r, i, j, c]
                wins = argmax[r, i, j, c] < 0 or not best >= value if rounded else value > best
                if wins:
                    output[r, i, j, c], argmax[r, i, j, c] = value, h * width + w
    with np.errstate(over="ignore"):
        return output.astype(maps.dtype), argmax


def backward(grad: np.ndarray, rois: np.ndarray, argmax: np.ndarray, shape: tuple[int, int, int]) -> np.ndarray:
    """The gradient of the maps [B, H, W, C], in the type that sums are computed in."""
    real = real_type(grad.dtype)
    result = np.zeros((shape[0], shape[1] * shape[2], grad.shape[3]), real)
    for r, i, j, c in np.ndindex(*grad.shape):
        image, pixel = rois[r, 0], argmax[r, i, j, c]
        if -1 < image < shape[0] and 0 <= pixel < result.shape[1]:
            with np.errstate(all="ignore"):
                result[int(image), pixel, c] += real(grad[r, i, j, c])
    return result.reshape(*shape, -1)


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let the regions lie on the maps and somewhat beside them, and argmax be pixels."""
    rois = arguments["rois"]
    if "argmax" in arguments:
        rois[:, 0] = rng.integers(0, arguments["batch"], len(rois))
        pixels = math.prod(arguments["feature_size"])
        arguments["argmax"][...] = rng.integers(-1, pixels + 1, arguments["argmax"].shape)
        return
    batch, *size = arguments["input"].shape[:3]
    place_upright(rois, batch, size, arguments["spatial_scale"], rng)


def in_double(name: str, *given: Any) -> Any:
    """The results of an operator for float64 arrays and the scalars of the description."""
    if name == "roi_pool_forward":
        maps, rois, rows, columns, scale, rounded = given
        return forward(maps, rois, (rows, columns), scale, rounded)
    grad, rois, argmax, batch, height, width = given
    return backward(grad, rois, argmax, (batch, height, width))


SUMS = ("roi_pool_backward",)

#: A call on a few values has one phase, and so does not look at the clock.
ONE_PHASE = True


def ways(size: int) -> Iterator[Way]:
    """Many regions, and many channels."""
    for name in ("roi_pool_forward", "roi_pool_backward"):
        bins = {"pooled_height": 3, "pooled_width": 3}
        numbers = {"spatial_scale": 0.25, "rounded": True}
        yield Way(name, "many regions", {**bins, "B": 2, "H": 12, "W": 14, "C": 5, "R": 2 * size + 8}, numbers)
        yield Way(name, "many channels", {**bins, "B": 1, "H": 4, "W": 5, "C": 5 * size + 200, "R": 2}, numbers)


def endless() -> Iterator[Way]:
    """A map of 500 million channels."""
    for name in ("roi_pool_forward", "roi_pool_backward"):
        sizes = {"pooled_height": 1, "pooled_width": 1, "B": 1, "H": 1, "W": 1, "C": 500_000_000, "R": 1}
        yield Way(name, "500 million channels", sizes, {"spatial_scale": 1.0, "rounded": True}, huge=True)


_ORDER = "handle objects ranks types layouts packed shapes scalars positive indexable data overlap"
REFUSALS = {f"mluopsExtRoiPool{kind}": Refusals(order=_ORDER) for kind in ("Forward", "Backward")}
