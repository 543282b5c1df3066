"""NumPy references of the nine operator functions, written from their formulas and vectorised.

They share nothing with the compiled libraries. Sums are taken in float64 and come with what is
needed to bound the rounding error of any other order of summation. border_align forward follows the
documented float32 order of operations, so its values can be compared bit by bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from pymluops.demo.arrays import Array


class Sum(NamedTuple):
    """A sum in float64, the same sum over absolute terms, and the number of terms, element by element."""

    value: Array
    magnitude: Array
    terms: Array


class Pairs(NamedTuple):
    """The three results of get_indice_pairs."""

    out_indices: Array
    indice_pairs: Array
    indice_num: Array


class Borders(NamedTuple):
    """The two results of border_align forward."""

    output: Array
    argmax: Array


# ---- tin_shift -----------------------------------------------------------------------------------


def tin_shift(frames: Array, shifts: Array) -> Array:
    """Forward and backward alike: out[n, t, c] = in[n, t - shift of c's group], 0 outside the sequence."""
    batch, length, channels, _ = frames.shape
    groups = shifts.shape[1]
    source = np.arange(length)[None, None, :] - shifts[:, :, None].astype(np.int64)  # [N, G, T]
    inside = (source >= 0) & (source < length)
    grouped = frames.reshape(batch, length, groups, channels // groups, -1).transpose(0, 2, 1, 3, 4)
    moved = np.take_along_axis(grouped, np.where(inside, source, 0)[:, :, :, None, None], axis=2)
    moved = np.where(inside[:, :, :, None, None], moved, frames.dtype.type(0))
    return np.ascontiguousarray(moved.transpose(0, 2, 1, 3, 4)).reshape(frames.shape)


# ---- psamask -------------------------------------------------------------------------------------


def psamask_forward(x: Array, psa_type: str, mask_size: tuple[int, int]) -> Array:
    """Spread each place's mask window over the whole map: y [N, H, W, H * W]."""
    batch, height, width, _ = x.shape
    windows = x.reshape(batch, height, width, *mask_size)
    y = np.zeros((batch, height, width, height, width), dtype=x.dtype)
    for cell, here, there in _mask_cells(height, width, mask_size):
        first, second = (here, there) if psa_type == "collect" else (there, here)
        y[:, first[0], first[1], second[0], second[1]] = windows[:, here[0], here[1], cell[0], cell[1]]
    return y.reshape(batch, height, width, height * width)


def psamask_backward(dy: Array, psa_type: str, mask_size: tuple[int, int]) -> Array:
    """Gather what `psamask_forward` spreads: dx [N, H, W, h_mask * w_mask], 0 for cells outside the map."""
    batch, height, width, _ = dy.shape
    maps = dy.reshape(batch, height, width, height, width)
    dx = np.zeros((batch, height, width, *mask_size), dtype=dy.dtype)
    for cell, here, there in _mask_cells(height, width, mask_size):
        first, second = (here, there) if psa_type == "collect" else (there, here)
        dx[:, here[0], here[1], cell[0], cell[1]] = maps[:, first[0], first[1], second[0], second[1]]
    return dx.reshape(batch, height, width, mask_size[0] * mask_size[1])


_Place = tuple[Array, Array]


def _mask_cells(
    height: int, width: int, mask_size: tuple[int, int]
) -> Iterator[tuple[tuple[int, int], _Place, _Place]]:
    """Yield each mask cell with the places it counts for and the places it then points to."""
    for i in range(mask_size[0]):
        for j in range(mask_size[1]):
            down, across = i - (mask_size[0] - 1) // 2, j - (mask_size[1] - 1) // 2
            h = np.arange(max(0, -down), min(height, height - down))[:, None]
            w = np.arange(max(0, -across), min(width, width - across))[None, :]
            if h.size and w.size:
                yield (i, j), (h, w), (h + down, w + across)


# ---- three_interpolate ---------------------------------------------------------------------------


def three_interpolate_forward(features: Array, indices: Array, weights: Array) -> Sum:
    """out[b, c, n] = sum over i of weights[b, n, i] * features[b, c, indices[b, n, i]]; indices outside give 0."""
    batch, channels, known = features.shape
    shape = (batch, channels, indices.shape[1])
    value, magnitude = np.zeros(shape), np.zeros(shape)
    for b in range(batch):
        for i in range(3):
            index = indices[b, :, i]
            inside = (index >= 0) & (index < known)
            weight = np.where(inside, weights[b, :, i], 0).astype(np.float64)
            term = weight * features[b][:, np.where(inside, index, 0)]
            value[b] += term
            magnitude[b] += np.abs(term)
    return Sum(value, magnitude, np.broadcast_to(np.int64(3), shape))


def three_interpolate_backward(grad_output: Array, indices: Array, weights: Array, num_features: int) -> Sum:
    """The transpose of the forward: grad_features[b, c, m] sums weight * grad_output over all references to m."""
    shape = (*grad_output.shape[:2], num_features)
    value, magnitude, count = np.zeros(shape), np.zeros(shape), np.zeros(shape, dtype=np.int64)
    for b, gradient in enumerate(grad_output):
        point, i = np.nonzero((indices[b] >= 0) & (indices[b] < num_features))
        target, weight = indices[b, point, i], weights[b, point, i].astype(np.float64)
        count[b] = np.bincount(target, minlength=num_features)
        for c, channel in enumerate(gradient):
            terms = weight * channel[point]
            value[b, c] = np.bincount(target, weights=terms, minlength=num_features)
            magnitude[b, c] = np.bincount(target, weights=np.abs(terms), minlength=num_features)
    return Sum(value, magnitude, count)


# ---- get_indice_pairs ----------------------------------------------------------------------------


def get_indice_pairs(
    indices: Array,
    spatial_shape: tuple[int, ...],
    kernel_size: tuple[int, ...],
    stride: int,
    padding: int,
    subm: bool,
) -> Pairs:
    """Pairs of input and output rows for each kernel cell, dilation 1, by exact integer arithmetic."""
    space = np.array(spatial_shape, dtype=np.int64)
    out_space = space if subm else (space + 2 * padding - kernel_size) // stride + 1
    own_id = _linear(indices[:, 0], indices[:, 1:].astype(np.int64), space)
    row_of_id = np.argsort(own_id, kind="stable")
    own_id = own_id[row_of_id]

    input_rows, output_ids = [], []  # for each kernel cell
    for cell in np.ndindex(*kernel_size):
        shifted = indices[:, 1:].astype(np.int64) + padding - np.array(cell)
        place = shifted // stride
        valid = ((shifted % stride == 0) & (place >= 0) & (place < out_space)).all(axis=1)
        place_id = _linear(indices[:, 0], place, out_space)
        if subm:  # the place has to be a site itself
            valid &= own_id[np.minimum(np.searchsorted(own_id, place_id), len(own_id) - 1)] == place_id
        input_rows.append(np.flatnonzero(valid))
        output_ids.append(place_id[valid])

    sites = own_id if subm else np.unique(np.concatenate(output_ids))
    pairs = np.full((len(input_rows), 2, len(indices)), -1, dtype=np.int32)
    for k, (row, place_id) in enumerate(zip(input_rows, output_ids, strict=True)):
        found = np.searchsorted(sites, place_id)
        pairs[k, 0, : len(row)], pairs[k, 1, : len(row)] = row, row_of_id[found] if subm else found
    count = np.array([len(row) for row in input_rows], dtype=np.int32)
    return Pairs(indices.copy() if subm else _decode(sites, out_space), pairs, count)


def _linear(batch: Array, place: Array, space: Array) -> Array:
    height, width = int(space[1]), int(space[2])
    plane = batch.astype(np.int64) * int(space[0]) + place[..., 0]
    return np.asarray((plane * height + place[..., 1]) * width + place[..., 2])


def _decode(linear: Array, space: Array) -> Array:
    depth, height, width = (int(size) for size in space)
    columns = [linear // (depth * height * width), linear // (height * width) % depth, linear // width % height]
    return np.stack([*columns, linear % width], axis=1).astype(np.int32)


# ---- border_align --------------------------------------------------------------------------------


class _Samples(NamedTuple):
    """Where points fall: whether outside, the corners' rows and columns, the corners' weights in float32."""

    outside: Array
    rows: tuple[Array, Array]
    columns: tuple[Array, Array]
    weights: tuple[Array, Array, Array, Array]

    def corners(self) -> Iterator[tuple[Array, Array, Array]]:
        """Yield row, column and weight of the corners in the documented order."""
        for i, weight in enumerate(self.weights):
            yield self.rows[i // 2], self.columns[i % 2], weight


def border_align_forward(features: Array, boxes: Array, pool_size: int) -> Borders:
    """The largest of pool_size + 1 bilinear samples along each border, and the number of that sample."""
    batch, height, width, channels = features.shape
    by_border = features.astype(np.float32).reshape(batch, height, width, 4, channels // 4)
    (x, y), (step_x, step_y) = _borders(boxes.astype(np.float32), pool_size)
    best = np.zeros((*x.shape, channels // 4), dtype=np.float32)
    argmax = np.zeros(best.shape, dtype=np.int32)
    for i in range(pool_size + 1):
        value = _sample(by_border, _locate(x, y, height, width))
        better = value > best if i else np.ones(value.shape, dtype=bool)
        best, argmax = np.where(better, value, best), np.where(better, np.int32(i), argmax)
        x, y = x + step_x, y + step_y
    return Borders(best.astype(features.dtype), argmax)


def border_align_backward(
    grad_output: Array, boxes: Array, argmax: Array, pool_size: int, feature_size: tuple[int, int]
) -> Sum:
    """Add each gradient to the four corners of the sample that won, by the corners' weights."""
    batch, _, _, channels = grad_output.shape
    height, width = feature_size
    start, step = _borders(boxes.astype(np.float32), pool_size)
    point = argmax.astype(np.float32)
    x, y = (start[a][..., None] + step[a][..., None] * point for a in (0, 1))
    place = _locate(x, y, height, width)
    kept = ~place.outside & (argmax >= 0) & (argmax <= pool_size)
    n, _, border, channel = np.nonzero(kept)
    gradient = grad_output[kept].astype(np.float64)
    targets, terms = [], []
    for row, column, weight in place.corners():
        cell = (n * height + row[kept]) * width + column[kept]
        targets.append((cell * 4 + border) * channels + channel)
        terms.append(weight[kept].astype(np.float64) * gradient)
    shape = (batch, height, width, 4 * channels)
    target, term, size = np.concatenate(targets), np.concatenate(terms), int(np.prod(shape))
    value = np.bincount(target, weights=term, minlength=size).reshape(shape)
    magnitude = np.bincount(target, weights=np.abs(term), minlength=size).reshape(shape)
    return Sum(value, magnitude, np.bincount(target, minlength=size).reshape(shape))


def _borders(boxes: Array, pool_size: int) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Return the first point (x, y) and the step (x, y) of the top, left, bottom and right border, [N, K, 4] each."""
    x1, y1, x2, y2 = np.moveaxis(boxes, -1, 0)
    across, down = (x2 - x1) / np.float32(pool_size), (y2 - y1) / np.float32(pool_size)
    still = np.zeros_like(across)
    start = np.stack([x1, x1, x2, x2], axis=-1), np.stack([y1, y1, y2, y2], axis=-1)
    return start, (np.stack([across, still, -across, still], axis=-1), np.stack([still, down, still, -down], axis=-1))


def _locate(x: Array, y: Array, height: int, width: int) -> _Samples:
    outside = ~((y >= -1) & (y <= height) & (x >= -1) & (x <= width))  # also true where a position is NaN
    yl, yh, ly, hy = _axis(np.where(outside, np.float32(0), y), height)
    xl, xh, lx, hx = _axis(np.where(outside, np.float32(0), x), width)
    return _Samples(outside, (yl, yh), (xl, xh), (hy * hx, hy * lx, ly * hx, ly * lx))


def _axis(position: Array, size: int) -> tuple[Array, Array, Array, Array]:
    position = np.maximum(position, np.float32(0))
    low = np.trunc(position).astype(np.int64)
    last = low >= size - 1
    low = np.where(last, size - 1, low)
    position = np.where(last, low.astype(np.float32), position)
    fraction = position - low.astype(np.float32)
    return low, np.where(last, low, low + 1), fraction, np.float32(1) - fraction


def _sample(by_border: Array, place: _Samples) -> Array:
    """Return the bilinear samples [N, K, 4, C] by the documented chain of fused multiply-adds."""
    n = np.arange(by_border.shape[0])[:, None, None]
    border = np.arange(4)[None, None, :]
    (row, column, weight), *others = place.corners()
    total = by_border[n, row, column, border] * weight[..., None]
    for row, column, weight in others:
        total = fused_multiply_add(by_border[n, row, column, border], weight[..., None], total)
    return np.where(place.outside[..., None], np.float32(0), total)


def fused_multiply_add(a: Array, b: Array, c: Array) -> Array:
    """Return a * b + c in float32, rounded once.

    The product is exact in float64, the sum is not. Rounding it a second time goes wrong only when
    it lies exactly between two float32 numbers (or among the subnormal ones). There the lost part
    of the sum decides.
    """
    product = a.astype(np.float64) * b
    total = product + c
    result = total.astype(np.float32)
    halfway = (total.view(np.int64) & 0x1FFFFFFF) == 0x10000000
    unsure = halfway | ((np.abs(total) < 2.0**-125) & (total != 0))
    if unsure.any():
        p, wide, s = product[unsure], np.broadcast_to(c, total.shape)[unsure].astype(np.float64), total[unsure]
        back = s - p
        lost = (p - (s - back)) + (wide - back)  # Knuth's two-sum: the exact rounding error of s
        # Round to odd: a number with an odd last bit never lies between two float32 numbers by
        # accident.
        even = (s.view(np.int64) & 1) == 0
        s = np.where((lost != 0) & even, np.nextafter(s, np.copysign(np.inf, lost)), s)
        result[unsure] = s.astype(np.float32)
    return result
