"""border_align with numba: channels innermost, places and weights of a border's samples found once.

float16 is read and written as its bits and computed in float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers import Variants
from benchmarks.peers.numba_support import contracting, float_to_half, half_to_float, inlined, prange
from benchmarks.problem import Arrays, Problem

u = np.uint64


@inlined
def _number(array: Any, place: int) -> Any:
    return half_to_float(array[u(place)]) if array.itemsize == 2 else array[u(place)]


@inlined
def _axis(position: Any, size: int) -> Any:
    position = max(position, np.float32(0))
    low = np.int64(position)
    if low >= size - 1:
        return size - 1, size - 1, np.float32(0)
    return low, low + 1, np.float32(position - np.float32(low))


@inlined
def _corners(x: Any, y: Any, height: int, width: int, pixels: Any, weights: Any, at: int) -> None:
    """Write the four pixels around a place and their weights, 0 if it lies outside."""
    left, right, lx = _axis(x, width)
    upper, lower, ly = _axis(y, height)
    one = np.float32(1)
    hx, hy = one - lx, one - ly
    inside = -1 <= y <= height and -1 <= x <= width
    pixels[at], pixels[at + 1] = upper * width + left, upper * width + right
    pixels[at + 2], pixels[at + 3] = lower * width + left, lower * width + right
    if inside:
        weights[at], weights[at + 1], weights[at + 2], weights[at + 3] = hy * hx, hy * lx, ly * hx, ly * lx
    else:
        weights[at : at + 4] = 0


@inlined
def _start(boxes: Any, box: int, border: int, pool: int) -> Any:
    """Return where a border starts and the step between its samples."""
    x1, y1, x2, y2 = (
        _number(boxes, box * 4), _number(boxes, box * 4 + 1), _number(boxes, box * 4 + 2), _number(boxes, box * 4 + 3),
    )  # fmt: skip
    zero = np.float32(0)
    dx, dy = (x2 - x1) / np.float32(pool), (y2 - y1) / np.float32(pool)
    if border == 0:
        return x1, y1, dx, zero
    if border == 1:
        return x1, y1, zero, dy
    if border == 2:
        return x2, y2, -dx, zero
    return x2, y2, zero, -dy


def _forward(features: Any, boxes: Any, out: Any, argmax: Any, sizes: Any) -> None:
    batch, count, height, width, channels, pool = sizes
    for task in prange(batch * count):
        image = task // count * height * width
        pixels, weights = np.empty(4, np.int64), np.empty(4, np.float32)
        best = np.empty(channels, np.float32)
        for border in range(4):
            x, y, dx, dy = _start(boxes, task, border, pool)
            to = (task * 4 + border) * channels
            for i in range(pool + 1):
                _corners(x, y, height, width, pixels, weights, 0)
                a, b = ((image + pixels[0]) * 4 + border) * channels, ((image + pixels[1]) * 4 + border) * channels
                c, d = ((image + pixels[2]) * 4 + border) * channels, ((image + pixels[3]) * 4 + border) * channels
                w1, w2, w3, w4 = weights[0], weights[1], weights[2], weights[3]
                for channel in range(channels):
                    value = _number(features, a + channel) * w1 + _number(features, b + channel) * w2
                    value += _number(features, c + channel) * w3 + _number(features, d + channel) * w4
                    if i == 0:
                        best[u(channel)] = value
                        argmax[u(to + channel)] = 0
                    else:
                        wins = value > best[u(channel)]
                        best[u(channel)] = value if wins else best[u(channel)]
                        argmax[u(to + channel)] = i if wins else argmax[u(to + channel)]
                x += dx
                y += dy
            for channel in range(channels):
                value = best[u(channel)]
                out[u(to + channel)] = float_to_half(value) if out.itemsize == 2 else value


def _backward(gradient: Any, boxes: Any, argmax: Any, out: Any, sizes: Any) -> None:
    """A task owns some channels of a border on the whole map of an image, so that no two tasks add to one place."""
    batch, count, height, width, channels, pool = sizes
    block = min(channels, 64)
    blocks = -(-channels // block)
    points = (pool + 1) * 4
    pixels, weights = np.empty(batch * count * 4 * points, np.int32), np.empty(batch * count * 4 * points, np.float32)
    for box in prange(batch * count):
        for border in range(4):
            x, y, dx, dy = _start(boxes, box, border, pool)
            for i in range(pool + 1):
                place = ((box * 4 + border) * (pool + 1) + i) * 4
                step = np.float32(i)
                _corners(x + dx * step, y + dy * step, height, width, pixels, weights, place)
    for task in prange(batch * 4 * blocks):
        n, border, low = task // blocks // 4, task // blocks % 4, task % blocks * block
        size = min(block, channels - low)
        total = np.zeros(height * width * size, np.float32)
        for k in range(count):
            border_of_box = (n * count + k) * 4 + border
            source = border_of_box * channels + low
            for channel in range(size):
                i = argmax[u(source + channel)]
                value = _number(gradient, source + channel)
                place = border_of_box * points + i * 4
                for corner in range(4):
                    at = np.int64(pixels[u(place + corner)]) * size + channel
                    total[u(at)] += value * weights[u(place + corner)]
        for pixel in range(height * width):
            to = ((n * height * width + pixel) * 4 + border) * channels + low
            for channel in range(size):
                value = total[u(pixel * size + channel)]
                out[u(to + channel)] = float_to_half(value) if out.itemsize == 2 else value


_compiled_forward, _compiled_backward = contracting(_forward), contracting(_backward)


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the loops for the direction."""
    facts, inputs = problem.case.parameters, problem.inputs
    height, width = facts["size"]
    sizes = (facts["batch"], facts["boxes"], height, width, facts["channels"], facts["pool"])
    boxes, out = _bits(inputs["boxes"]), _bits(outputs["out"])
    if problem.case.operator.endswith("forward"):
        features, argmax = _bits(inputs["input"]), outputs["argmax_idx"].reshape(-1)

        def forward() -> Arrays:
            _compiled_forward(features, boxes, out, argmax, sizes)
            return outputs

        return {"channels innermost": forward}
    gradient, chosen = _bits(inputs["grad_output"]), inputs["argmax_idx"].reshape(-1)

    def backward() -> Arrays:
        _compiled_backward(gradient, boxes, chosen, out, sizes)
        return outputs

    return {"blocks of channels": backward}


def _bits(array: Any) -> Any:
    """Return a flat view; float16 as uint16."""
    return (array.view(np.uint16) if array.dtype == np.float16 else array).reshape(-1)
