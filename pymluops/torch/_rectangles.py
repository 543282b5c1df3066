"""The area that rotated rectangles have in common, with PyTorch's own operators.

The smaller rectangle is taken as axis-aligned, |x| <= w and |y| <= h around the origin. For a
polygon, counter-clockwise, the common area is minus the sum over its edges of the integral of
clamp(y, -h, h) dx, over the part with |x| <= w. The sum is a continuous function of all corners,
also where rectangles nearly coincide.
"""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["common_area", "finite_with_area", "part_of_areas"]


def finite_with_area(boxes: Tensor) -> Tensor:
    """Tell which boxes [..., 5] are finite and have two positive sides, or two negative ones."""
    return boxes.isfinite().all(-1) & ((boxes[..., 2:4] > 0).all(-1) | (boxes[..., 2:4] < 0).all(-1))


def _where(condition: Tensor, one: Tensor, other: Tensor) -> Tensor:
    return torch.where(condition[..., None], one, other)


def _clamped(values: Tensor, limit: Tensor) -> Tensor:
    return torch.maximum(torch.minimum(values, limit), -limit)


def _quotient(a: Tensor, b: Tensor) -> Tensor:
    """Divide, between 0 and 1; 0 where the divisor is 0."""
    none = b == 0
    return torch.where(none, torch.zeros_like(a), a / torch.where(none, torch.ones_like(b), b)).clamp(0, 1)


def _corners(offset: Tensor, angle: Tensor, size: Tensor) -> tuple[Tensor, Tensor]:
    """Return x and y of corners, [..., 4] each, counter-clockwise."""
    cosine, sine = angle.cos()[..., None], angle.sin()[..., None]
    along = size[..., :1] / 2 * offset.new_tensor([-1, 1, 1, -1])
    across = size[..., 1:] / 2 * offset.new_tensor([-1, -1, 1, 1])
    return offset[..., :1] + (along * cosine - across * sine), offset[..., 1:] + (along * sine + across * cosine)


def _area_within(x: Tensor, y: Tensor, size: Tensor) -> Tensor:
    """Return the area of polygons, given by x and y of their corners, in rectangles around the origin."""
    half_width, half_height = size[..., :1] / 2, size[..., 1:] / 2
    next_x, next_y = x.roll(-1, -1), y.roll(-1, -1)
    left, right = _clamped(x, half_width), _clamped(next_x, half_width)
    begin, end = (y + _quotient(place - x, next_x - x) * (next_y - y) for place in (left, right))
    low, high = _clamped(begin, half_height), _clamped(end, half_height)
    # The mean of clamp(y) over the part: its slope, and what is cut off at the end.
    weight = _quotient((high - low) / 2 + (end - high), end - begin)
    return ((low + (high - low) * weight) * (left - right)).sum(-1)


def common_area(one: Tensor, other: Tensor) -> Tensor:
    """Return the common area of finite boxes [..., 5] in float64: center, width, height, and angle."""
    one, other = (torch.cat([box[..., :2], box[..., 2:4].abs(), box[..., 4:]], -1) for box in (one, other))
    areas = one[..., 2:4].prod(-1), other[..., 2:4].prod(-1)
    swap = areas[1] < areas[0]
    cutter, cut = _where(swap, other, one), _where(swap, one, other)
    offset = cut[..., :2] - cutter[..., :2]
    cosine, sine = cutter[..., 4].cos(), cutter[..., 4].sin()
    seen = torch.stack(
        [offset[..., 0] * cosine + offset[..., 1] * sine, offset[..., 1] * cosine - offset[..., 0] * sine], -1
    )
    area = _area_within(*_corners(seen, cut[..., 4] - cutter[..., 4], cut[..., 2:4]), cutter[..., 2:4])
    return torch.minimum(torch.minimum(*areas), area.clamp(min=0))


def part_of_areas(common: Tensor, one: Tensor, other: Tensor, of_first: bool = False) -> Tensor:
    """Divide common areas by those of both boxes together, or of the first one; 0 where there is none."""
    return _quotient(common, one if of_first else one + (other - common))
