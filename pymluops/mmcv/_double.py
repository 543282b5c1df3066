"""The operators for float64, exact to its precision, so that gradients can be checked with `torch.autograd.gradcheck`.

The kernels compute in float32. Operators that only move values move float64 through them in halves; the others are
written here with operations of PyTorch. Nothing else of `pymluops.mmcv` knows how float64 is computed. Arguments have
been checked; tensors are contiguous and without autograd.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from pymluops.mmcv._torch import Tensor, load_torch, operators

#: Distances that are computed at once, by three_nn and ball_query.
_CHUNK = 1 << 22


# ---- values that are moved: two float32 hold the bits of a float64 ---------------------------------------------------


def tin_shift(values: Tensor, shift: Tensor) -> Tensor:
    """Shifted `values` [B, T, C, P]: 2*P halves of values move like P values."""
    halves = values.view(load_torch().float32)
    return operators.tin_shift_forward(halves, shift).view(values.dtype)


def psamask_forward(x: Tensor, psa_type: int, mask_size: tuple[int, int]) -> Tensor:
    """Return y [N, H, W, H*W] of x [N, H, W, h_mask*w_mask]."""
    return _joined(operators.psamask_forward(_halves(x), psa_type, mask_size))


def psamask_backward(dy: Tensor, psa_type: int, mask_size: tuple[int, int]) -> Tensor:
    """Return dx [N, H, W, h_mask*w_mask] of dy [N, H, W, H*W]."""
    return _joined(operators.psamask_backward(_halves(dy), psa_type, mask_size))


def _halves(values: Tensor) -> Tensor:
    """Return a batch of the low halves, then one of the high halves."""
    torch = load_torch()
    pairs = values.view(torch.float32).reshape(*values.shape, 2)
    return torch.cat((pairs[..., 0], pairs[..., 1]))


def _joined(halves: Tensor) -> Tensor:
    """Undo `_halves`."""
    torch = load_torch()
    return torch.stack(halves.chunk(2), -1).view(torch.float64).squeeze(-1)


# ---- three_interpolate, three_nn, ball_query -------------------------------------------------------------------------


def three_interpolate_forward(features: Tensor, indices: Tensor, weights: Tensor) -> Tensor:
    """Return [B, C, N] of features [B, C, M], indices and weights [B, N, 3]."""
    batch, channels, _ = features.shape
    count = indices.shape[1]
    gathered = features.gather(2, _for_channels(indices, channels)).view(batch, channels, count, 3)
    return (gathered * weights[:, None]).sum(-1)


def three_interpolate_backward(grad_output: Tensor, indices: Tensor, weights: Tensor, num_features: int) -> Tensor:
    """Return [B, C, M] of grad_output [B, C, N], indices and weights [B, N, 3]."""
    batch, channels, _ = grad_output.shape
    sent = (grad_output[..., None] * weights[:, None]).flatten(2)
    result = grad_output.new_zeros((batch, channels, num_features))
    return result.scatter_add_(2, _for_channels(indices, channels), sent)


def _for_channels(indices: Tensor, channels: int) -> Tensor:
    """Return indices [B, N, 3] as [B, C, 3*N]."""
    return indices.long().flatten(1)[:, None].expand(-1, channels, -1)


def three_nn(unknown: Tensor, known: Tensor) -> tuple[Tensor, Tensor]:
    """Return squared distances [B, N, 3] and indices [B, N, 3]; infinity and 0 where there are fewer than three."""
    torch = load_torch()
    dist2 = unknown.new_full(unknown.shape, torch.inf)
    idx = unknown.new_zeros(unknown.shape, dtype=torch.int32)
    if known.shape[1]:
        for b, rows, d2 in _distances(unknown, known):
            d2 = d2.nan_to_num(nan=torch.inf, posinf=torch.inf)
            for i in range(3):
                least, place = d2.min(1)  # the first one of equals
                dist2[b, rows, i] = least
                idx[b, rows, i] = place.int().where(least < torch.inf, 0)
                d2.scatter_(1, place[:, None], torch.inf)
    return dist2, idx


def ball_query(new_xyz: Tensor, xyz: Tensor, min_radius: float, max_radius: float, idx: Tensor) -> None:
    """Write idx [B, M, nsample]; rows of centres without a point stay."""
    torch = load_torch()
    count, nsample = xyz.shape[1], idx.shape[2]
    if not (count and nsample):
        return
    low, high = (float(np.float32(radius) * np.float32(radius)) for radius in (min_radius, max_radius))
    numbers = torch.arange(count)
    for b, rows, d2 in _distances(new_xyz, xyz):
        counts = (d2 == 0) | ((d2 >= low) & (d2 < high))
        found = numbers.where(counts, count).topk(min(nsample, count), dim=1, largest=False, sorted=True).values
        first = found[:, :1]
        hits = first[:, 0] < count
        row = first.expand(-1, nsample).clone()
        row[:, : found.shape[1]] = found.where(found < count, first)
        idx[b, rows][hits] = row[hits].int()


def _distances(centres: Tensor, points: Tensor) -> Iterator[tuple[int, slice, Tensor]]:
    """Yield (batch, rows, squared distances [rows, N]) for slices of the centres."""
    step = max(1, _CHUNK // points.shape[1])
    for b in range(centres.shape[0]):
        for start in range(0, centres.shape[1], step):
            rows = slice(start, start + step)
            squares = (centres[b, rows, None] - points[b]).square()
            yield b, rows, (squares[..., 0] + squares[..., 1]) + squares[..., 2]


# ---- border_align, on maps [N, 4, C, H*W] ----------------------------------------------------------------------------


class _Corners(NamedTuple):
    """The four pixels around positions: their numbers in the map and their weights. Outside the map weights are 0."""

    inside: Tensor
    pixels: tuple[Tensor, ...]
    weights: tuple[Tensor, ...]


def border_align_forward(features: Tensor, boxes: Tensor, pool_size: int) -> tuple[Tensor, Tensor]:
    """Return the maxima and their numbers, both [N, C, K, 4], of features [N, 4*C, H, W]."""
    batch, channels, height, width = features.shape
    maps = features.view(batch, 4, channels // 4, height * width)
    x, y, step_x, step_y = _borders(boxes, pool_size)
    best = maps.new_empty((0,))
    argmax = best
    for i in range(pool_size + 1):
        value = _sample(maps, _corners(x, y, height, width))
        # The first sample starts the search, so a NaN there stays; a later one never wins.
        if i == 0:
            best, argmax = value, value.new_zeros(value.shape, dtype=load_torch().int32)
        else:
            wins = value > best
            best = value.where(wins, best)
            argmax.masked_fill_(wins, i)
        x, y = x + step_x, y + step_y
    return best.permute(0, 2, 3, 1), argmax.permute(0, 2, 3, 1)


def border_align_backward(
    grad_output: Tensor, boxes: Tensor, argmax: Tensor, pool_size: int, size: tuple[int, int]
) -> Tensor:
    """Return [N, 4*C, H, W] of grad_output and argmax [N, C, K, 4]."""
    batch, channels = grad_output.shape[:2]
    height, width = size
    chosen, grad = argmax.permute(0, 3, 1, 2), grad_output.permute(0, 3, 1, 2)
    x, y, step_x, step_y = (place[:, :, None] for place in _borders(boxes, pool_size))
    at = _corners(x + step_x * chosen, y + step_y * chosen, height, width)
    grad = grad.where(at.inside & (chosen >= 0) & (chosen <= pool_size), 0)
    result = grad.new_zeros((batch, 4, channels, height * width))
    for pixel, weight in zip(at.pixels, at.weights, strict=True):
        result.scatter_add_(3, pixel, grad * weight)
    return result.view(batch, 4 * channels, height, width)


def _borders(boxes: Tensor, pool_size: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return start x and y, and step x and y, each [N, 4, K]."""
    torch = load_torch()
    x1, y1, x2, y2 = boxes.unbind(2)
    step_x, step_y = (x2 - x1) / pool_size, (y2 - y1) / pool_size
    none = torch.zeros_like(x1)
    columns: Sequence[tuple[Tensor, ...]] = (
        (x1, x1, x2, x2),
        (y1, y1, y2, y2),
        (step_x, none, -step_x, none),
        (none, step_y, none, -step_y),
    )
    start_x, start_y, moves_x, moves_y = (torch.stack(column, 1) for column in columns)
    return start_x, start_y, moves_x, moves_y


def _corners(x: Tensor, y: Tensor, height: int, width: int) -> _Corners:
    """Return the pixels around x and y. A position more than one pixel outside, or NaN, counts as outside."""
    inside = (y >= -1) & (y <= height) & (x >= -1) & (x <= width)
    top, bottom, ly = _axis(y.where(inside, 0), height)
    left, right, lx = _axis(x.where(inside, 0), width)
    hy, hx = 1 - ly, 1 - lx
    pixels = tuple(row * width + column for row in (top, bottom) for column in (left, right))
    return _Corners(inside, pixels, (hy * hx, hy * lx, ly * hx, ly * lx))


def _axis(position: Tensor, size: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return the lower and the upper pixel along an axis, and the distance from the lower one."""
    position = position.clamp(0, size - 1)
    low = position.long()
    return low, (low + 1).clamp(max=size - 1), position - low


def _sample(maps: Tensor, at: _Corners) -> Tensor:
    """Return values [N, 4, C, K] of maps [N, 4, C, H*W] at corners [N, 4, K]."""
    channels = maps.shape[2]
    total: Any = 0
    for pixel, weight in zip(at.pixels, at.weights, strict=True):
        total = total + maps.gather(3, pixel[:, :, None].expand(-1, -1, channels, -1)) * weight[:, :, None]
    return total.where(at.inside[:, :, None], 0)


# ---- ms_deform_attn --------------------------------------------------------------------------------------------------


class _Level(NamedTuple):
    """The samples of one map, [B, M, Q*P]; those that do not count have no corner inside."""

    values: Tensor  # [B, M, H*W, C]
    size: tuple[int, int]
    distances: tuple[Tensor, Tensor, Tensor, Tensor]  # hy, hx, ly, lx
    pixels: tuple[Tensor, ...]  # of the corners [top, left], [top, right], [bottom, left], [bottom, right]
    inside: tuple[Tensor, ...]

    @property
    def weights(self) -> tuple[Tensor, ...]:
        hy, hx, ly, lx = self.distances
        return hy * hx, hy * lx, ly * hx, ly * lx

    def corner_values(self) -> list[Tensor]:
        """Return values [B, M, Q*P, C] of the corners, 0 outside."""
        channels = self.values.shape[3]
        return [
            self.values.gather(2, pixel[..., None].expand(-1, -1, -1, channels)).where(inside[..., None], 0)
            for pixel, inside in zip(self.pixels, self.inside, strict=True)
        ]


def ms_deform_attn_forward(value: Tensor, maps: Sequence[tuple[int, int, int]], loc: Tensor, weight: Tensor) -> Tensor:
    """Return [B, Q, M, C]. `maps` has height, width and first key of each map."""
    batch, _, heads, channels = value.shape
    queries, points = loc.shape[1], loc.shape[4]
    result = value.new_zeros((batch, heads, queries, channels))
    for number, level in _levels(value, maps, loc):
        sampled = _weighted(level.weights, level.corner_values()).view(batch, heads, queries, points, channels)
        result += (sampled * _of_level(weight, number).unflatten(2, (queries, points))[..., None]).sum(3)
    return result.transpose(1, 2)


def ms_deform_attn_backward(
    value: Tensor, maps: Sequence[tuple[int, int, int]], loc: Tensor, weight: Tensor, grad_output: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of value, loc and weight; grad_output is [B, Q, M, C]."""
    torch = load_torch()
    channels, points = value.shape[3], loc.shape[4]
    grad_value = value.new_zeros(value.shape)
    grad_loc, grad_weight = torch.zeros_like(loc), torch.zeros_like(weight)
    grad = grad_output.transpose(1, 2).repeat_interleave(points, dim=2)  # [B, M, Q*P, C]
    for number, level in _levels(value, maps, loc):
        height, width = level.size
        v = level.corner_values()
        hy, hx, ly, lx = (distance[..., None] for distance in level.distances)
        sent = grad * _of_level(weight, number)[..., None]
        along_x = width * ((hy * (v[1] - v[0]) + ly * (v[3] - v[2])) * sent).sum(-1)
        along_y = height * ((hx * (v[2] - v[0]) + lx * (v[3] - v[1])) * sent).sum(-1)
        for place, gradient in ((0, along_x), (1, along_y)):
            grad_loc[:, :, :, number, :, place] = _to_level(gradient, points)
        grad_weight[:, :, :, number] = _to_level((grad * _weighted(level.weights, v)).sum(-1), points)
        of_map = torch.zeros_like(level.values)
        for pixel, inside, corner in zip(level.pixels, level.inside, level.weights, strict=True):
            added = (sent * corner[..., None]).where(inside[..., None], 0)
            of_map.scatter_add_(2, pixel[..., None].expand(-1, -1, -1, channels), added)
        start = maps[number][2]
        grad_value[:, start : start + height * width] += of_map.transpose(1, 2)
    return grad_value, grad_loc, grad_weight


def _levels(value: Tensor, maps: Sequence[tuple[int, int, int]], loc: Tensor) -> Iterator[tuple[int, _Level]]:
    """Yield number and samples of each map that has pixels."""
    for number, (height, width, start) in enumerate(maps):
        if height * width == 0:
            continue
        x = _of_level(loc[..., 0], number) * width - 0.5
        y = _of_level(loc[..., 1], number) * height - 0.5
        counts = (x > -1) & (x < width) & (y > -1) & (y < height)
        x, y = x.where(counts, 0), y.where(counts, 0)
        left, top = x.floor(), y.floor()
        lx, ly = x - left, y - top
        rows, columns = (top.long(), top.long() + 1), (left.long(), left.long() + 1)
        pixels = [row.clamp(0, height - 1) * width + column.clamp(0, width - 1) for row in rows for column in columns]
        inside = [
            counts & (row >= 0) & (row < height) & (column >= 0) & (column < width)
            for row in rows
            for column in columns
        ]
        values = value[:, start : start + height * width].transpose(1, 2)
        yield number, _Level(values, (height, width), (1 - ly, 1 - lx, ly, lx), tuple(pixels), tuple(inside))


def _of_level(samples: Tensor, number: int) -> Tensor:
    """Return [B, M, Q*P] of one map, of [B, Q, M, L, P]."""
    return samples[:, :, :, number].transpose(1, 2).flatten(2)


def _to_level(samples: Tensor, points: int) -> Tensor:
    """Return [B, Q, M, P] of [B, M, Q*P]."""
    return samples.unflatten(2, (-1, points)).transpose(1, 2)


def _weighted(weights: Sequence[Tensor], values: Sequence[Tensor]) -> Tensor:
    """Return the sum of the corners."""
    total: Any = 0
    for weight, value in zip(weights, values, strict=True):
        total = total + weight[..., None] * value
    return total
