"""roi_align_rotated: means of bilinear samples in turned regions, and the gradient; also with orientations."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from pymluops.oracle.refusals import Refusals
from pymluops.oracle.region_samples import Grid, Region, mean_backward, mean_forward, real_type
from pymluops.oracle.ways import Way

#: Operators whose float results are sums, which a device may round or order in its own way.
SUMS = (
    "roi_align_rotated_forward", "roi_align_rotated_backward",
    "riroi_align_rotated_forward", "riroi_align_rotated_backward",
)  # fmt: skip


class Settings(NamedTuple):
    """Numbers of a call."""

    bins: tuple[int, int]
    scale: float
    ratio: int
    aligned: bool
    clockwise: bool


def region_of(row: np.ndarray, settings: Settings, images: int) -> Region | None:
    """The samples of a region; None if it has no image, is not finite or of negative size."""
    real = real_type(row.dtype)
    scale, off = real(settings.scale), real(0.5 if settings.aligned else 0)
    with np.errstate(all="ignore"):
        image, x, y, width, height, angle = (real(value) for value in row)
        centre_x, centre_y = x * scale - off, y * scale - off
        width, height = width * scale, height * scale
    if not (-1 < image < images and np.isfinite([centre_x, centre_y, width, height, angle]).all()):
        return None
    if not settings.aligned:
        width, height = max(width, real(1)), max(height, real(1))
    if width < 0 or height < 0:
        return None
    rows, columns = settings.bins
    angle = -angle if settings.clockwise else angle
    sine, cosine = real(math.sin(float(angle))), real(math.cos(float(angle)))
    steps = height / real(rows), width / real(columns)
    counts = [settings.ratio or math.ceil(step) for step in steps]

    def place(i: int, j: int, k: int, m: int) -> tuple[Any, Any]:
        half, two = real(0.5), real(2)
        up = -height / two + real(i) * steps[0] + (real(k) + half) * steps[0] / real(counts[0])
        right = -width / two + real(j) * steps[1] + (real(m) + half) * steps[1] / real(counts[1])
        return up * cosine - right * sine + centre_y, up * sine + right * cosine + centre_x

    return Region(int(image), Grid(counts[0], counts[1], place))


def forward(maps: np.ndarray, rois: np.ndarray, settings: Settings) -> np.ndarray:
    """The means [R, ph, pw, C]."""
    return mean_forward(maps, [region_of(row, settings, len(maps)) for row in rois], settings.bins)


def backward(grad: np.ndarray, rois: np.ndarray, settings: Settings, shape: tuple[int, int, int]) -> np.ndarray:
    """The gradient of the maps [B, H, W, C], in the type that sums are computed in."""
    return mean_backward(grad, [region_of(row, settings, shape[0]) for row in rois], shape)


def _turns(angle: Any, orientations: int) -> tuple[int, Any]:
    """The lower of the two orientations that an angle lies between, and how much it is of the other."""
    if not np.isfinite(angle):
        return 0, type(angle)(np.nan)
    number = float(angle) * orientations / (2 * math.pi)
    return math.floor(number) % orientations, type(angle)(number - math.floor(number))


def turning_forward(maps: np.ndarray, rois: np.ndarray, settings: Settings, orientations: int) -> np.ndarray:
    """The means, with the orientations of each channel turned by the angle."""
    pooled = forward(maps, rois, settings)
    if orientations == 1:  # nothing to mix
        return pooled
    result = np.zeros_like(pooled)
    for r, row in enumerate(rois):
        lower, part = _turns(row[5], orientations)
        if region_of(row, settings, len(maps)) is None:
            continue
        for c in range(0, pooled.shape[3], orientations):
            for o in range(orientations):
                first, second = (c + (o - lower + k) % orientations for k in range(2))
                with np.errstate(all="ignore"):
                    result[r, ..., c + o] = pooled[r, ..., first] * (1 - part) + pooled[r, ..., second] * part
    return result


def turning_backward(
    grad: np.ndarray, rois: np.ndarray, settings: Settings, orientations: int, shape: tuple[int, int, int]
) -> np.ndarray:
    """The gradient of the maps [B, H, W, C]."""
    if orientations == 1:
        return backward(grad, rois, settings, shape)
    own = np.zeros_like(grad)
    for r, row in enumerate(rois):
        lower, part = _turns(row[5], orientations)
        for c in range(0, grad.shape[3], orientations):
            for o in range(orientations):
                with np.errstate(all="ignore"):
                    own[r, ..., c + (o - lower) % orientations] += grad[r, ..., c + o] * (1 - part)
                    own[r, ..., c + (o - lower + 1) % orientations] += grad[r, ..., c + o] * part
    return backward(own, rois, settings, shape)


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let the regions lie on the maps and somewhat beside them."""
    rois = arguments["rois"]
    maps = arguments.get("features", arguments.get("input"))
    batch, *size = maps.shape[:3] if maps is not None else (arguments["batch"], *arguments["feature_size"])
    extent = np.array(size[::-1]) / max(arguments["spatial_scale"], 0.05)
    rois[:, 0] = rng.integers(0, batch, len(rois))
    rois[:, 1:3] = rng.uniform(-0.1, 1.1, (len(rois), 2)) * extent
    rois[:, 3:5] = rng.uniform(0, 1, (len(rois), 2)) * extent
    rois[:, 5] = rng.uniform(-4, 4, len(rois))


def in_double(name: str, *given: Any) -> Any:
    """The results of an operator for float64 arrays and the scalars of the description."""
    if name == "roi_align_rotated_forward":
        maps, rois, *bins, scale, ratio, aligned, clockwise = given
        return forward(maps, rois, Settings((bins[0], bins[1]), scale, ratio, aligned, clockwise))
    if name == "roi_align_rotated_backward":
        grad, rois, *bins, scale, ratio, aligned, clockwise, batch, height, width = given
        settings = Settings((bins[0], bins[1]), scale, ratio, aligned, clockwise)
        return backward(grad, rois, settings, (batch, height, width))
    if name == "riroi_align_rotated_forward":
        maps, rois, *bins, scale, ratio, orientations, clockwise = given
        return turning_forward(maps, rois, Settings((bins[0], bins[1]), scale, ratio, False, clockwise), orientations)
    grad, rois, scale, ratio, orientations, clockwise, batch, height, width = given
    settings = Settings(grad.shape[1:3], scale, ratio, False, clockwise)
    return turning_backward(grad, rois, settings, orientations, (batch, height, width))


def ways(size: int) -> Iterator[Way]:
    """Many regions, few of them with many samples, and many channels."""
    bins = {"pooled_height": 3, "pooled_width": 3}
    side = int(math.sqrt(10 * size)) + 3
    for name in SUMS:
        turning = name.startswith("riroi")
        numbers: dict[str, Any] = {"spatial_scale": 0.25, "clockwise": True}
        numbers |= {"num_orientations": 4} if turning else {"aligned": True}
        ratio = "num_samples" if turning else "sampling_ratio"
        yield Way(
            name, "many regions", {**bins, "B": 2, "H": 12, "W": 14, "C": 4, "R": 2 * size + 8, ratio: 2}, numbers
        )
        yield Way(
            name, "a sample each pixel", {**bins, "B": 1, "H": side, "W": side, "C": 4, "R": 6, ratio: 0}, numbers
        )
        yield Way(
            name, "many channels", {**bins, "B": 1, "H": 4, "W": 5, "C": 4 * size + 200, "R": 2, ratio: 2}, numbers
        )


def endless() -> Iterator[Way]:
    """Many bins, with as many samples as there can be, all of them on the map."""
    sizes = {"pooled_height": 3000, "pooled_width": 3000, "B": 1, "H": 4, "W": 4, "C": 1, "R": 1, "sampling_ratio": 256}
    for name in SUMS[:2]:
        numbers = {"spatial_scale": 1.0, "aligned": True, "clockwise": False}
        yield Way(name, "6e11 samples", sizes, numbers, {"rois": np.array([[0, 1, 1, 2, 2, 0.5]], np.float32)})


_ORDER = "handle objects layouts types packed ranks shapes positive scalars data overlap"
_OWN = "handle objects ranks types layouts packed shapes scalars positive indexable data overlap"
_EMPTY = {"B": "", "H": "", "W": ""}
REFUSALS = {
    "mluOpRoiAlignRotatedForward": Refusals(order=_ORDER, empty=_EMPTY),
    "mluOpRoiAlignRotatedBackward": Refusals(order=_ORDER, empty=_EMPTY),
    "mluopsExtRiRoiAlignRotatedForward": Refusals(order=_OWN),
    "mluopsExtRiRoiAlignRotatedBackward": Refusals(order=_OWN),
}
