"""The functions as formulas of PyTorch's own operators, which ONNX has too.

They compute what the library does, without its care for NaN and for the order of sums, in more time and memory. Sizes
and the contents of all tensors may differ from those of an export.
"""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["ball_query", "border_align", "ms_deform_attn", "psa_mask", "three_interpolate", "three_nn", "tin_shift"]


def tin_shift(input: Tensor, shift: Tensor) -> Tensor:
    """Take each value from `shift` time steps before."""
    batch, length, channels, positions = input.shape
    groups = shift.shape[1]
    steps = shift.long()[:, :, None].expand(batch, groups, channels // groups).reshape(batch, 1, channels)
    source = torch.arange(length)[:, None] - steps
    rows = source.clamp(0, length - 1)[..., None].expand(batch, length, channels, positions)
    inside = (source >= 0) & (source < length)
    return input.gather(1, rows) * inside[..., None].to(input.dtype)


def psa_mask(input: Tensor, distribute: bool, h_mask: int, w_mask: int) -> Tensor:
    """Gather the mask cell that each pair of positions meets in."""
    batch, _, height, width = input.shape
    rows, columns = torch.arange(height), torch.arange(width)
    i = (rows[:, None] - rows + (h_mask - 1) // 2)[:, None, :, None]  # [h2, w2, h, w]
    j = (columns[:, None] - columns + (w_mask - 1) // 2)[None, :, None, :]
    inside = (i >= 0) & (i < h_mask) & (j >= 0) & (j < w_mask)
    cells = i.clamp(0, h_mask - 1) * w_mask + j.clamp(0, w_mask - 1)
    cells = cells.reshape(1, height * width, height, width).expand(batch, height * width, height, width)
    spread = input.gather(1, cells) * inside.reshape(1, height * width, height, width).to(input.dtype)
    if distribute:  # what a position collects from another one, it gets from this
        spread = spread.reshape(batch, height * width, height * width).transpose(1, 2)
    return spread.reshape(batch, height * width, height, width)


def border_align(input: Tensor, boxes: Tensor, pool_size: int) -> Tensor:
    """Take the largest of all samples along each border."""
    batch, channels, height, width = input.shape
    x1, y1, x2, y2 = boxes.unbind(-1)
    step_x, step_y = (x2 - x1) / pool_size, (y2 - y1) / pool_size
    still = torch.zeros_like(step_x)
    number = torch.arange(pool_size + 1).to(boxes.dtype)
    x = (
        torch.stack([x1, x1, x2, x2], 1)[..., None]
        + torch.stack([step_x, still, -step_x, still], 1)[..., None] * number
    )
    y = (
        torch.stack([y1, y1, y2, y2], 1)[..., None]
        + torch.stack([still, step_y, still, -step_y], 1)[..., None] * number
    )
    pixels = input.reshape(batch, 4, channels // 4, height * width)
    left, right, part_x = _pixels(x, width)
    upper, lower, part_y = _pixels(y, height)
    total = torch.zeros_like(x)[:, :, None]
    for row, along_y in ((upper, 1 - part_y), (lower, part_y)):
        for column, along_x in ((left, 1 - part_x), (right, part_x)):
            places = (row * width + column).flatten(2)[:, :, None].expand(-1, -1, channels // 4, -1)
            values = pixels.gather(3, places).reshape(batch, 4, channels // 4, boxes.shape[1], pool_size + 1)
            total = total + values * (along_y * along_x)[:, :, None]
    inside = (y >= -1) & (y <= height) & (x >= -1) & (x <= width)
    return torch.where(inside[:, :, None], total, torch.zeros_like(total)).amax(-1).permute(0, 2, 3, 1)


def _pixels(position: Tensor, size: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return the pixels below and above a position on a map, and how far it is from the one below."""
    position = position.clamp(0, size - 1)
    low = position.floor()
    return low.long(), (low + 1).clamp(max=size - 1).long(), position - low


def three_interpolate(features: Tensor, indices: Tensor, weight: Tensor) -> Tensor:
    """Gather three features for each point and add them up."""
    batch, channels, _ = features.shape
    places = indices.long().flatten(1)[:, None].expand(-1, channels, -1)
    parts = features.gather(2, places).reshape(batch, channels, indices.shape[1], 3) * weight[:, None]
    return parts[..., 0] + parts[..., 1] + parts[..., 2]


def three_nn(target: Tensor, source: Tensor) -> tuple[Tensor, Tensor]:
    """Sort all distances."""
    squared = (target[:, :, None] - source[:, None]).square().sum(-1)
    missing = torch.full_like(target, float("inf"))  # three more, for sources of fewer points
    nearest, places = torch.cat([squared, missing], -1).topk(3, -1, largest=False)
    found = nearest < float("inf")
    return nearest.sqrt(), (places * found.long()).int()


def ball_query(min_radius: float, max_radius: float, sample_num: int, xyz: Tensor, center_xyz: Tensor) -> Tensor:
    """Sort the numbers of the points that count."""
    squared = (center_xyz[:, :, None] - xyz[:, None]).square().sum(-1)
    counts = (squared == 0) | ((squared >= min_radius**2) & (squared < max_radius**2))
    points = xyz.shape[1]
    numbers = torch.where(counts, torch.arange(points), points)
    missing = torch.full_like(numbers[..., :1], points).expand(-1, -1, sample_num)
    first = torch.cat([numbers, missing], -1).topk(sample_num, -1, largest=False)[0]
    found = torch.where(first < points, first, first[..., :1])
    return torch.where(found < points, found, 0).int()


def ms_deform_attn(value: Tensor, shapes: Tensor, starts: Tensor, places: Tensor, weights: Tensor) -> Tensor:
    """Add up the four pixels around each sample."""
    batch, _, heads, channels = value.shape
    queries = places.shape[1]
    height, width, start = shapes[:, :1].long(), shapes[:, 1:].long(), starts.long()[:, None]
    x, y = places[..., 0] * width.to(places.dtype) - 0.5, places[..., 1] * height.to(places.dtype) - 0.5
    left, upper = x.floor(), y.floor()
    keys = value.permute(0, 2, 1, 3)  # [B, M, K, C]
    total = torch.zeros_like(weights)[..., None]
    for row in (upper, upper + 1):
        for column in (left, left + 1):
            inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
            number = torch.where(inside, row.long() * width + column.long() + start, 0)
            number = number.transpose(1, 2).reshape(batch, heads, -1, 1).expand(-1, -1, -1, channels)
            pixels = keys.gather(2, number).reshape(batch, heads, queries, *weights.shape[3:], channels)
            share = (1 - (x - column).abs()) * (1 - (y - row).abs()) * weights * inside.to(weights.dtype)
            total = total + pixels.transpose(1, 2) * share[..., None]
    return total.sum((3, 4)).flatten(2)
