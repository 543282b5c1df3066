"""rotated_feature_align: a map plus its samples at the places of the box of each pixel, and the gradient of the map.

A box is (y, x, width, height, angle) in pixels of the image. Its places are the centre and, with
five of them, the corners: the ends of the half axes right = width / 2 * (cos, sin) and down =
height / 2 * (-sin, cos), in (x, y), added to the centre.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from pymluops.oracle.refusals import Refusals
from pymluops.oracle.region_samples import corners, real_type, sample
from pymluops.oracle.ways import Way

#: Operators whose float results are sums, which a device may round or order in its own way.
SUMS = ("rotated_feature_align_forward", "rotated_feature_align_backward")
_SIGNS = ((1, 1), (-1, 1), (-1, -1), (1, -1))


def places(box: np.ndarray, scale: float, points: int) -> list[tuple[Any, Any]]:
    """Where a box is sampled, y first, in the type that sums are computed in."""
    real = real_type(box.dtype)
    with np.errstate(all="ignore"):
        y, x, width, height, angle = (real(value) for value in box)
        y, x = y * real(scale), x * real(scale)
        if points == 1:
            return [(y, x)]
        width, height = width * real(scale) / real(2), height * real(scale) / real(2)
        turn = float(angle)
        sine, cosine = (real(f(turn)) if math.isfinite(turn) else real(np.nan) for f in (math.sin, math.cos))
        right, down = (sine * width, cosine * width), (cosine * height, -sine * height)
        ends = [
            (y + real(a) * right[0] + real(b) * down[0], x + real(a) * right[1] + real(b) * down[1]) for a, b in _SIGNS
        ]
    return [(y, x), *ends]


def forward(maps: np.ndarray, boxes: np.ndarray, scale: float, points: int) -> np.ndarray:
    """[B, H, W, C]: each pixel and after it its samples, added up in order."""
    real, result = real_type(maps.dtype), np.zeros_like(maps)
    for b, h, w in np.ndindex(*maps.shape[:3]):
        total = maps[b, h, w].astype(real)
        with np.errstate(all="ignore"):
            for y, x in places(boxes[b, h, w], scale, points):
                if corners(y, x, *maps.shape[1:3]):
                    total = total + sample(maps[b], y, x)
            result[b, h, w] = total
    return result


def backward(grad: np.ndarray, boxes: np.ndarray, scale: float, points: int) -> np.ndarray:
    """[B, H, W, C] in the type that sums are computed in; gradients come in the order of the pixels they are of."""
    real = real_type(grad.dtype)
    result = np.zeros(grad.shape, real)
    for b, h, w in np.ndindex(*grad.shape[:3]):
        own = grad[b, h, w].astype(real)
        with np.errstate(all="ignore"):
            result[b, h, w] += own
            for y, x in places(boxes[b, h, w], scale, points):
                for row, column, weight in corners(y, x, *grad.shape[1:3]):
                    result[b, row, column] += own * weight
    return result


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let the boxes lie on the map and somewhat beside it."""
    boxes = arguments["bboxes"]
    extent = np.array(boxes.shape[1:3]) / max(arguments["spatial_scale"], 0.05)
    boxes[..., :2] = rng.uniform(-0.1, 1.1, (*boxes.shape[:3], 2)) * extent
    boxes[..., 2:4] = rng.uniform(0, 0.5, (*boxes.shape[:3], 2)) * extent
    boxes[..., 4] = rng.uniform(-4, 4, boxes.shape[:3])


def in_double(name: str, *given: Any) -> np.ndarray:
    """The results of an operator for float64 arrays and the scalars of the description."""
    return forward(*given) if name == "rotated_feature_align_forward" else backward(*given)


def ways(size: int) -> Iterator[Way]:
    """Many pixels, and many channels."""
    side = int(math.sqrt(size)) + 3
    for name in SUMS:
        numbers = {"spatial_scale": 0.25, "points": "corners"}
        yield Way(name, "many pixels", {"B": 2, "H": 4 * side, "W": 4 * side, "C": 3}, numbers, change=prepare)
        yield Way(name, "many channels", {"B": 1, "H": 3, "W": 4, "C": 30 * size + 3}, numbers, change=prepare)


def endless() -> Iterator[Way]:
    """Two billion channels."""
    sizes = {"B": 1, "H": 1, "W": 1, "C": 2_000_000_000}
    for name in SUMS:
        yield Way(name, "two billion channels", sizes, {"spatial_scale": 1.0, "points": "centre"}, huge=True)


_FIRST, _LAST = "handle objects ranks types layouts packed shapes", "data overlap"
REFUSALS = {
    "mluOpRotatedFeatureAlignForward": Refusals(order=f"{_FIRST} indexable positive scalars {_LAST}"),
    "mluOpRotatedFeatureAlignBackward": Refusals(order=f"{_FIRST} scalars indexable positive {_LAST}"),
}
