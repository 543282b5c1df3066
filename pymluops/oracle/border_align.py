"""border_align: the largest of pool_size + 1 bilinear samples along each border of a box, and its gradient.

Borders: 0 top from (x1, y1) to the right, 1 left from (x1, y1) down, 2 bottom from (x2, y2) to the
left, 3 right from (x2, y2) up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from pymluops.oracle.refusals import Refusals
from pymluops.oracle.ways import Way

#: Operators whose float results are sums, which a device may round or order in its own way.
SUMS = ("border_align_backward",)


class Corners(NamedTuple):
    """The four pixels around sample positions and their weights, in the order [yl,xl], [yl,xh], [yh,xl], [yh,xh]."""

    inside: np.ndarray
    rows: tuple[np.ndarray, ...]
    columns: tuple[np.ndarray, ...]
    weights: tuple[np.ndarray, ...]


def fma(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """A * b + c with one rounding. In float64 the two roundings are left, they do not matter to a yardstick."""
    if np.result_type(a, b, c) == np.float64:
        return a * b + c
    # The product of two float32 is exact in float64. Its sum with c is made odd in its last bit
    # when it is not exact, so that rounding it a second time, to float32, gives what one rounding
    # would have given.
    product, addend = a.astype(np.float64) * b, c.astype(np.float64)
    with np.errstate(all="ignore"):
        total = product + addend
        part = total - product
        error = (product - (total - part)) + (addend - part)
        even = (total.view(np.int64) & 1) == 0
        inexact = np.isfinite(total) & (error != 0) & even
        toward = np.where(error > 0, np.inf, -np.inf)
        return np.where(inexact, np.nextafter(total, toward), total).astype(np.float32)


def starts_and_steps(boxes: np.ndarray, pool_size: int) -> tuple[np.ndarray, np.ndarray]:
    """Start and step (x, y) of every border, both [N, K, 4, 2], in the type of boxes."""
    x1, y1, x2, y2 = (boxes[..., i] for i in range(4))
    points = boxes.dtype.type(pool_size)
    with np.errstate(all="ignore"):
        dx, dy = (x2 - x1) / points, (y2 - y1) / points
    zero = np.zeros_like(dx)
    start = np.stack([np.stack(p, -1) for p in ((x1, y1), (x1, y1), (x2, y2), (x2, y2))], 2)
    step = np.stack([np.stack(p, -1) for p in ((dx, zero), (zero, dy), (-dx, zero), (zero, -dy))], 2)
    return start, step


def _axis(position: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lower and upper pixel along one axis and the distance from the lower one."""
    position = np.where(position <= 0, position.dtype.type(0), position)
    low = np.trunc(position).astype(np.int64)
    edge = low >= size - 1
    low = np.where(edge, size - 1, low)
    high = np.where(edge, size - 1, low + 1)
    distance = np.where(edge, position.dtype.type(0), position - low.astype(position.dtype))
    return low, high, distance


def corners(x: np.ndarray, y: np.ndarray, height: int, width: int) -> Corners:
    """The sampling rule. A NaN position fails every comparison and so counts as outside."""
    inside = (y >= -1) & (y <= height) & (x >= -1) & (x <= width)
    yl, yh, ly = _axis(np.where(inside, y, y.dtype.type(0)), height)
    xl, xh, lx = _axis(np.where(inside, x, x.dtype.type(0)), width)
    hy, hx = 1 - ly, 1 - lx
    return Corners(inside, (yl, yl, yh, yh), (xl, xh, xl, xh), (hy * hx, hy * lx, ly * hx, ly * lx))


def forward(
    features: np.ndarray, boxes: np.ndarray, pool_size: int, real: type = np.float32
) -> tuple[np.ndarray, np.ndarray]:
    """(output, argmax_idx) of features [N, H, W, 4C], boxes [N, K, 4]; positions by repeated addition of the step."""
    batch, height, width, channels = features.shape[0], *features.shape[1:3], features.shape[3] // 4
    output = np.empty((batch, boxes.shape[1], 4, channels), features.dtype)
    argmax = np.zeros(output.shape, np.int32)
    start, step = starts_and_steps(boxes.astype(real), pool_size)
    for n in range(batch):
        image = features[n].astype(real).reshape(height, width, 4, channels)
        position = start[n]
        best = np.empty(output.shape[1:], real)
        for i in range(pool_size + 1):
            value = _sample(image, position)
            # The first point starts the search, so a NaN there stays; a NaN later never wins.
            wins = value > best if i else np.ones(value.shape, bool)
            best = np.where(wins, value, best)
            argmax[n] = np.where(wins, i, argmax[n])
            with np.errstate(all="ignore"):
                position = position + step[n]
        with np.errstate(over="ignore"):
            output[n] = best.astype(features.dtype)
    return output, argmax


def _sample(image: np.ndarray, position: np.ndarray) -> np.ndarray:
    """Values [K, 4, C] of image [H, W, 4, C] at position [K, 4, (x, y)]."""
    at = corners(position[..., 0], position[..., 1], *image.shape[:2])
    border = np.arange(4)
    pixels = [image[row, column, border] for row, column in zip(at.rows, at.columns, strict=True)]
    weights = [np.broadcast_to(weight[..., None], pixels[0].shape) for weight in at.weights]
    with np.errstate(all="ignore"):
        value = pixels[0] * weights[0]
        for pixel, weight in zip(pixels[1:], weights[1:], strict=True):
            value = fma(pixel, weight, value)
    return np.where(at.inside[..., None], value, image.dtype.type(0))


def backward(
    grad_output: np.ndarray,
    boxes: np.ndarray,
    argmax: np.ndarray,
    pool_size: int,
    size: tuple[int, int],
    position_type: type = np.float64,
) -> np.ndarray:
    """grad_input [N, H, W, 4C] in float64, unrounded; positions by start + step * index.

    ``position_type=numpy.float32`` places the samples exactly where the library does; that matters
    only where rounding moves one across the rim of the map.
    """
    batch, _, _, channels = grad_output.shape
    height, width = size
    result = np.zeros((batch, height * width * 4 * channels))
    start, step = starts_and_steps(boxes.astype(position_type), pool_size)
    border, channel = np.arange(4)[:, None], np.arange(channels)
    for n in range(batch):
        chosen = argmax[n]
        with np.errstate(all="ignore"):
            place = start[n][:, :, None] + step[n][:, :, None] * chosen[..., None].astype(position_type)
        at = corners(place[..., 0], place[..., 1], height, width)
        counts = at.inside & (chosen >= 0) & (chosen <= pool_size)
        grad = grad_output[n].astype(np.float64)
        for row, column, weight in zip(at.rows, at.columns, at.weights, strict=True):
            target = ((row * width + column) * 4 + border) * channels + channel
            with np.errstate(all="ignore"):
                np.add.at(result[n], target[counts], (grad * weight.astype(np.float64))[counts])
    return result.reshape(batch, height, width, 4 * channels)


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let the boxes lie on the map and somewhat beside it."""
    size = arguments["feature_size"] if "feature_size" in arguments else arguments["input"].shape[1:3]
    boxes = arguments["boxes"]
    boxes[...] = rng.uniform(-0.2, 1.1, boxes.shape) * np.array([size[1], size[0], size[1], size[0]])


def in_double(name: str, *given: Any) -> Any:
    """The results of an operator for float64 arrays and the scalars of the description."""
    if name == "border_align_forward":
        return forward(*given, real=np.float64 if given[0].dtype == np.float64 else np.float32)
    *arrays, pool_size, height, width = given
    return backward(*arrays, pool_size, (height, width))


#: A call on a few values has one phase, and so does not look at the clock.
ONE_PHASE = True


def ways(size: int) -> Iterator[Way]:
    """Many boxes, long borders, and few."""
    side = int((1000 * size) ** 0.25) + 1
    for name in ("border_align_forward", "border_align_backward"):
        for boxes, channels, pool in ((size // 2 + 8, 20, 10), (size // 20 + 8, 70, 40)):
            sizes = {"N": 1, "H": side, "W": 2 * side, "K": boxes, "C": channels, "pool_size": pool}
            yield Way(name, f"pool size {pool}", sizes)
        yield Way(name, "a single box", {"N": 1, "H": 3, "W": 3, "K": 1, "C": 1, "pool_size": 3})


def endless() -> Iterator[Way]:
    """The largest pool size."""
    for name in ("border_align_forward", "border_align_backward"):
        sizes = {"N": 1, "H": 4, "W": 4, "K": 1, "C": 1, "pool_size": 2**31 - 1}
        yield Way(name, "the largest pool size", sizes)


_REFUSALS = Refusals(order="handle objects ranks packed types layouts positive shapes scalars indexable data overlap")
REFUSALS = {"mluOpBorderAlignForward": _REFUSALS, "mluOpBorderAlignBackward": _REFUSALS}
