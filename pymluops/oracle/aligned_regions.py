"""roi_align: the mean or the largest of bilinear samples in the bins of regions, and the gradient of the maps."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from pymluops.oracle.refusals import Refusals
from pymluops.oracle.region_samples import (
    Region,
    corners,
    mean_backward,
    mean_forward,
    place_upright,
    real_type,
    sample,
    upright_grid,
)
from pymluops.oracle.ways import Way

#: C functions without a description: tests/ops has their refusals and values.
TESTED_APART = (
    "mluOpRoiAlignBackward",
    "mluOpRoiAlignBackward_v2",
    "mluOpRoiAlignForward_v2",
)

#: Operators whose float results are sums, which a device may round or order in its own way.
SUMS = ("roi_align_forward", "roi_align_backward", "roi_align_max_backward")


class Settings(NamedTuple):
    """Numbers of a call."""

    bins: tuple[int, int]
    scale: float
    ratio: int
    aligned: bool


def region_of(row: np.ndarray, settings: Settings, images: int) -> Region | None:
    """The samples of a region, in the type that sums are computed in; None if it has no image or is not finite."""
    real = real_type(row.dtype)
    scale, off = real(settings.scale), real(0.5 if settings.aligned else 0)
    with np.errstate(all="ignore"):
        image, x1, y1, x2, y2 = (real(value) for value in row)
        left, top = x1 * scale - off, y1 * scale - off
        width, height = (x2 * scale - off) - left, (y2 * scale - off) - top
    if not (-1 < image < images and np.isfinite([left, top, width, height]).all()):
        return None
    if not settings.aligned:
        width, height = max(width, real(1)), max(height, real(1))
    rows, columns = settings.bins
    return Region(int(image), upright_grid((top, height), (left, width), (rows, columns), settings.ratio))


def forward(maps: np.ndarray, rois: np.ndarray, settings: Settings) -> np.ndarray:
    """The means [R, ph, pw, C]."""
    regions = [region_of(row, settings, len(maps)) for row in rois]
    return mean_forward(maps, regions, settings.bins)


def backward(grad: np.ndarray, rois: np.ndarray, settings: Settings, shape: tuple[int, int, int]) -> np.ndarray:
    """The gradient of the maps [B, H, W, C], in the type that sums are computed in."""
    return mean_backward(grad, [region_of(row, settings, shape[0]) for row in rois], shape)


def max_forward(maps: np.ndarray, rois: np.ndarray, settings: Settings) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(output, argmax_y, argmax_x), each [R, ph, pw, C]."""
    real = real_type(maps.dtype)
    channels = maps.shape[3]
    best = np.zeros((len(rois), *settings.bins, channels), real)
    place = np.full((2, *best.shape), -1, real)
    for r, row in enumerate(rois):
        region = region_of(row, settings, len(maps))
        if region is None:
            continue
        best[r] = np.finfo(np.float32).min
        for i, j in np.ndindex(*settings.bins):
            for y, x in region.samples(i, j):
                with np.errstate(all="ignore"):
                    value = sample(maps[region.image], y, x)
                wins = value > best[r, i, j]
                best[r, i, j][wins] = value[wins]
                place[0, r, i, j][wins] = y
                place[1, r, i, j][wins] = x
    with np.errstate(over="ignore"):
        return best.astype(maps.dtype), place[0].astype(maps.dtype), place[1].astype(maps.dtype)


def max_backward(
    grad: np.ndarray, rois: np.ndarray, place: tuple[np.ndarray, np.ndarray], settings: Settings,
    shape: tuple[int, int, int],
) -> np.ndarray:  # fmt: skip
    """The gradient of the maps [B, H, W, C], in the type that sums are computed in."""
    real = real_type(grad.dtype)
    result = np.zeros((*shape, grad.shape[3]), real)
    for r, i, j, c in np.ndindex(*grad.shape):
        region = region_of(rois[r], settings, shape[0])
        y, x = (real(one[r, i, j, c]) for one in place)
        if region is None or y == -1:
            continue
        for h, w, weight in corners(y, x, *shape[1:]):
            with np.errstate(all="ignore"):
                result[region.image, h, w, c] += real(grad[r, i, j, c]) * weight
    return result


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let the regions lie on the maps and somewhat beside them, with few samples, and argmax be places of samples."""
    rois = arguments["rois"]
    batch, *size = arguments["input"].shape[:3] if "input" in arguments else (
        arguments["batch"], *arguments["feature_size"])  # fmt: skip
    place_upright(rois, batch, size, arguments["spatial_scale"], rng)
    if "argmax_y" in arguments:
        for name, extent in (("argmax_y", size[0]), ("argmax_x", size[1])):
            arguments[name][...] = rng.uniform(-1, extent, arguments[name].shape)


def in_double(name: str, *given: Any) -> Any:
    """The results of an operator for float64 arrays and the scalars of the description."""
    if name.endswith("forward"):
        maps, rois, rows, columns, scale, ratio, aligned = given
        settings = Settings((rows, columns), scale, ratio, aligned)
        return forward(maps, rois, settings) if name == "roi_align_forward" else max_forward(maps, rois, settings)
    grad, rois, *place, scale, ratio, aligned, batch, height, width = given
    settings = Settings(grad.shape[1:3], scale, ratio, aligned)
    if name == "roi_align_backward":
        return backward(grad, rois, settings, (batch, height, width))
    return max_backward(grad, rois, (place[0], place[1]), settings, (batch, height, width))


#: A call on a few values has one phase, and so does not look at the clock.
ONE_PHASE = True

_NAMES = ("roi_align_forward", "roi_align_backward", "roi_align_max_forward", "roi_align_max_backward")


def _sizes(bins: int, ratio: int, **others: int) -> dict[str, int]:
    return {"pooled_height": bins, "pooled_width": bins, "sampling_ratio": ratio, **others}


def ways(size: int) -> Iterator[Way]:
    """Many regions, few of them with many samples, and many channels."""
    scale = {"spatial_scale": 0.25, "aligned": True}
    side = int(math.sqrt(10 * size)) + 3
    for name in _NAMES:
        yield Way(name, "many regions", _sizes(3, 2, B=2, H=12, W=14, C=5, R=2 * size + 8), scale)
        yield Way(name, "a sample each pixel", _sizes(2, 0, B=1, H=side, W=side, C=3, R=6), scale)
        yield Way(name, "many channels", _sizes(1, 2, B=1, H=4, W=5, C=20 * size + 200, R=2), scale)


def endless() -> Iterator[Way]:
    """Many bins, with as many samples as there can be, all of them on the map."""
    for name in _NAMES[:3]:
        sizes = _sizes(3000, 256, B=1, H=4, W=4, C=1, R=1)
        scale = {"spatial_scale": 1.0, "aligned": True}
        yield Way(name, "6e11 samples", sizes, scale, {"rois": np.array([[0, 0, 0, 2, 2]], np.float32)})


_ORDER = "handle objects ranks types layouts packed shapes scalars positive indexable data overlap"
REFUSALS = {
    f"mluopsExtRoiAlign{kind}": Refusals(order=_ORDER) for kind in ("Forward", "Backward", "MaxForward", "MaxBackward")
}
