"""bezier_align: means of bilinear samples in the bins between two curves, and the gradient of the maps."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from pymluops.oracle.refusals import Refusals
from pymluops.oracle.region_samples import Grid, Region, mean_backward, mean_forward, place_upright, real_type
from pymluops.oracle.ways import Way

#: Operators whose float results are sums, which a device may round or order in its own way.
SUMS = ("bezier_align_forward", "bezier_align_backward")


class Settings(NamedTuple):
    """Numbers of a call."""

    bins: tuple[int, int]
    scale: float
    ratio: int
    aligned: bool


def curve(points: np.ndarray, u: Any) -> Any:
    """A cubic Bezier curve [4, 2] at a parameter, by Bernstein's polynomials."""
    real = type(u)
    v = real(1) - u
    weights = v * v * v, real(3) * u * v * v, real(3) * u * u * v, u * u * u
    return ((weights[0] * points[0] + weights[1] * points[1]) + weights[2] * points[2]) + weights[3] * points[3]


def region_of(row: np.ndarray, settings: Settings, images: int) -> Region | None:
    """The samples of a region, in the type that sums are computed in; None if it has no image or is not finite."""
    real = real_type(row.dtype)
    with np.errstate(all="ignore"):
        image = real(row[0])
        points = row[1:].astype(real).reshape(8, 2) * real(settings.scale)
        upper, lower = points[:4], points[:3:-1]  # both from left to right
        width, height = np.maximum(abs(upper[0] - upper[3]), abs(lower[0] - lower[3]))
    if not (-1 < image < images and np.isfinite(points).all() and np.isfinite([width, height]).all()):
        return None
    if not settings.aligned:
        width, height = max(width, real(1)), max(height, real(1))
    off = real(0.5 if settings.aligned else 0)
    bins = settings.bins
    size = height / real(bins[0]), width / real(bins[1])
    counts = [settings.ratio or math.ceil(one) for one in size]

    def place(i: int, j: int, k: int, m: int) -> tuple[Any, Any]:
        with np.errstate(all="ignore"):
            u, v = real(j) / real(bins[1]), real(i) / real(bins[0])
            x, y = v * curve(lower, u) + (real(1) - v) * curve(upper, u) - off
            return tuple(
                centre - one / real(2) + (real(number) + real(0.5)) * one / real(count)
                for centre, one, number, count in zip((y, x), size, (k, m), counts, strict=True)
            )  # type: ignore[return-value]

    return Region(int(image), Grid(counts[0], counts[1], place))


def forward(maps: np.ndarray, rois: np.ndarray, settings: Settings) -> np.ndarray:
    """The means [R, ph, pw, C]."""
    return mean_forward(maps, [region_of(row, settings, len(maps)) for row in rois], settings.bins)


def backward(grad: np.ndarray, rois: np.ndarray, settings: Settings, shape: tuple[int, int, int]) -> np.ndarray:
    """The gradient of the maps [B, H, W, C], in the type that sums are computed in."""
    return mean_backward(grad, [region_of(row, settings, shape[0]) for row in rois], shape)


def bent(boxes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Regions [R, 17] whose curves follow the upper and the lower side of boxes [R, 5], a third of their sides off."""
    image, corner, size = boxes[:, :1], boxes[:, None, 1:3], (boxes[:, 3:] - boxes[:, 1:3])[:, None]
    part = np.array([[k / 3, 0] for k in range(4)] + [[1 - k / 3, 1] for k in range(4)])
    points = corner + (part + rng.uniform(-0.3, 0.3, (len(boxes), 8, 2))) * size
    return np.column_stack([image, points.reshape(-1, 16)])


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let the regions lie on the maps and somewhat beside them, with few samples."""
    rois = arguments["rois"]
    maps = arguments.get("input")
    batch, *size = maps.shape[:3] if maps is not None else (arguments["batch"], *arguments["feature_size"])
    boxes = np.zeros((len(rois), 5))
    place_upright(boxes, batch, size, arguments["spatial_scale"], rng)
    rois[...] = bent(boxes, rng)


def in_double(name: str, *given: Any) -> Any:
    """The results of an operator for float64 arrays and the scalars of the description."""
    if name == "bezier_align_forward":
        maps, rois, rows, columns, scale, ratio, aligned = given
        return forward(maps, rois, Settings((rows, columns), scale, ratio, aligned))
    grad, rois, scale, ratio, aligned, batch, height, width = given
    return backward(grad, rois, Settings(grad.shape[1:3], scale, ratio, aligned), (batch, height, width))


#: A call on a few values has one phase, and so does not look at the clock.
ONE_PHASE = True


def _sizes(bins: int, ratio: int, **others: int) -> dict[str, int]:
    return {"pooled_height": bins, "pooled_width": bins, "sampling_ratio": ratio, **others}


def ways(size: int) -> Iterator[Way]:
    """Many regions, few of them with many samples, and many channels."""
    numbers = {"spatial_scale": 0.25, "aligned": True}
    side = int(math.sqrt(10 * size)) + 3
    for name in SUMS:
        yield Way(name, "many regions", _sizes(3, 2, B=2, H=12, W=14, C=5, R=2 * size + 8), numbers)
        yield Way(name, "a sample each pixel", _sizes(2, 0, B=1, H=side, W=side, C=3, R=6), numbers)
        yield Way(name, "many channels", _sizes(1, 2, B=1, H=4, W=5, C=20 * size + 200, R=2), numbers)


def endless() -> Iterator[Way]:
    """Many bins, with as many samples as there can be, all of them on the map."""
    points = [[0, 0], [1, 0], [2, 0], [3, 0], [3, 3], [2, 3], [1, 3], [0, 3]]
    region = {"rois": np.array([[0, *np.ravel(points)]], np.float32)}
    numbers = {"spatial_scale": 1.0, "aligned": True}
    for name in SUMS:
        yield Way(name, "6e11 samples", _sizes(3000, 256, B=1, H=4, W=4, C=1, R=1), numbers, region)


_ORDER = "handle objects ranks types layouts packed shapes scalars positive indexable data overlap"
REFUSALS = {f"mluopsExtBezierAlign{kind}": Refusals(order=_ORDER) for kind in ("Forward", "Backward")}
