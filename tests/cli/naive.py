"""The operators as plain loops over single elements, straight from the formulas. Only for tiny arrays."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np


def tin_shift(frames: np.ndarray, shifts: np.ndarray) -> np.ndarray:
    out = np.zeros_like(frames)
    batch, length, channels, _ = frames.shape
    for n, t, c in product(range(batch), range(length), range(channels)):
        source = t - int(shifts[n, c // (channels // shifts.shape[1])])
        if 0 <= source < length:
            out[n, t, c] = frames[n, source, c]
    return out


def psamask(array: np.ndarray, psa_type: str, mask: tuple[int, int], backward: bool) -> np.ndarray:
    batch, height, width, _ = array.shape
    out = np.zeros((batch, height, width, mask[0] * mask[1] if backward else height * width), array.dtype)
    for n, h, w, hi, wi in product(range(batch), range(height), range(width), range(mask[0]), range(mask[1])):
        other_h, other_w = hi + h - ((mask[0] - 1) >> 1), wi + w - ((mask[1] - 1) >> 1)
        if not (0 <= other_h < height and 0 <= other_w < width):
            continue
        window = n, h, w, hi * mask[1] + wi
        spread = (n, h, w, other_h * width + other_w) if psa_type == "collect" else (n, other_h, other_w, h * width + w)
        if backward:
            out[window] = array[spread]
        else:
            out[spread] = array[window]
    return out


def three_interpolate(features: np.ndarray, indices: np.ndarray, weights: np.ndarray) -> np.ndarray:
    batch, channels, known = features.shape
    out = np.zeros((batch, channels, indices.shape[1]))
    for b, c, n, i in product(range(batch), range(channels), range(indices.shape[1]), range(3)):
        if 0 <= indices[b, n, i] < known:
            out[b, c, n] += float(weights[b, n, i]) * float(features[b, c, indices[b, n, i]])
    return out


def three_interpolate_backward(
    grad_output: np.ndarray, indices: np.ndarray, weights: np.ndarray, known: int
) -> tuple[np.ndarray, np.ndarray]:
    """The sums and the numbers of their terms."""
    batch, channels, points = grad_output.shape
    out, terms = np.zeros((batch, channels, known)), np.zeros((batch, channels, known), int)
    for b, c, n, i in product(range(batch), range(channels), range(points), range(3)):
        if 0 <= indices[b, n, i] < known:
            out[b, c, indices[b, n, i]] += float(weights[b, n, i]) * float(grad_output[b, c, n])
            terms[b, c, indices[b, n, i]] += 1
    return out, terms


def get_indice_pairs(
    indices: np.ndarray, space: tuple[int, ...], kernel: tuple[int, ...], stride: int, padding: int, subm: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    out_space = (
        space if subm else tuple((s + 2 * padding - k) // stride + 1 for s, k in zip(space, kernel, strict=True))
    )
    rows = [tuple(map(int, row)) for row in indices]
    found = []  # kernel cell, input row, output place
    for k, cell in enumerate(product(*map(range, kernel))):
        for row_number, (n, *place) in enumerate(rows):
            above = [i + padding - c for i, c in zip(place, cell, strict=True)]
            out = tuple(a // stride for a in above)
            inside = all(a % stride == 0 and 0 <= o < s for a, o, s in zip(above, out, out_space, strict=True))
            if inside and (not subm or (n, *out) in rows):
                found.append((k, row_number, (n, *out)))
    sites = rows if subm else sorted({site for _, _, site in found})
    pairs = np.full((int(np.prod(kernel)), 2, len(rows)), -1, np.int32)
    number = np.zeros(len(pairs), np.int32)
    for k, row_number, site in found:
        pairs[k, :, number[k]] = row_number, sites.index(site)
        number[k] += 1
    return np.array(sites, np.int32).reshape(-1, 4), pairs, number


def round_to_float32(value: Fraction) -> np.float32:
    """The float32 nearest to an exact value, ties to even."""
    near = np.float32(float(value))
    candidates = [np.nextafter(near, np.float32(-np.inf)), near, np.nextafter(near, np.float32(np.inf))]
    return min(candidates, key=lambda c: (abs(Fraction(float(c)) - value), int(c.view(np.int32)) & 1))


def fused_multiply_add(a: np.float32, b: np.float32, c: np.float32) -> np.float32:
    return round_to_float32(Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c)))


def _taps(coordinate: np.float32, extent: int) -> list[tuple[int, np.float32]]:
    """The two pixels around a coordinate of one axis, with weights max(0, 1 - distance); none beyond [-1, extent]."""
    place = float(coordinate)
    if not -1 <= place <= extent:
        return []
    place = min(max(place, 0.0), extent - 1.0)
    first = math.floor(place)
    return [(min(pixel, extent - 1), np.float32(max(0.0, 1.0 - abs(place - pixel)))) for pixel in (first, first + 1)]


def _neighbours(x: np.float32, y: np.float32, height: int, width: int) -> list[tuple[int, int, np.float32]]:
    """Row, column and weight of the pixels whose weighted sum is the bilinear interpolation at (x, y)."""
    taps = product(_taps(y, height), _taps(x, width))
    return [(row, column, of_row * of_column) for (row, of_row), (column, of_column) in taps]


def _border(box: np.ndarray, border: int, pool_size: int) -> tuple[np.float32, ...]:
    x1, y1, x2, y2 = (np.float32(v) for v in box)
    across, down = (x2 - x1) / np.float32(pool_size), (y2 - y1) / np.float32(pool_size)
    zero = np.float32(0)
    return [(x1, y1, across, zero), (x1, y1, zero, down), (x2, y2, -across, zero), (x2, y2, zero, -down)][border]


def border_align(features: np.ndarray, boxes: np.ndarray, pool_size: int) -> tuple[np.ndarray, np.ndarray]:
    batch, height, width, channels = features.shape
    channels //= 4
    output = np.zeros((batch, boxes.shape[1], 4, channels), np.float32)
    argmax = np.zeros(output.shape, np.int32)
    for n, k, e, c in np.ndindex(*output.shape):
        x, y, step_x, step_y = _border(boxes[n, k], e, pool_size)
        for i in range(pool_size + 1):
            value = np.float32(0)
            for j, (row, column, weight) in enumerate(_neighbours(x, y, height, width)):
                pixel = np.float32(features[n, row, column, e * channels + c])
                value = pixel * weight if j == 0 else fused_multiply_add(pixel, weight, value)
            if i == 0 or value > output[n, k, e, c]:
                output[n, k, e, c], argmax[n, k, e, c] = value, i
            x, y = x + step_x, y + step_y
    return output.astype(features.dtype), argmax


def border_align_backward(
    grad_output: np.ndarray, boxes: np.ndarray, argmax: np.ndarray, pool_size: int, size: tuple[int, int]
) -> np.ndarray:
    channels = grad_output.shape[3]
    out = np.zeros((len(boxes), *size, 4 * channels))
    for n, k, e, c in np.ndindex(*grad_output.shape):
        x, y, step_x, step_y = _border(boxes[n, k], e, pool_size)
        i = argmax[n, k, e, c]
        if not 0 <= i <= pool_size:
            continue
        for row, column, weight in _neighbours(x + step_x * np.float32(i), y + step_y * np.float32(i), *size):
            out[n, row, column, e * channels + c] += float(grad_output[n, k, e, c]) * float(weight)
    return out
