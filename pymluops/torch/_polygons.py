"""Polygons that two rectangles have in common, with PyTorch's own operators."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["area_by_angles", "by_size", "common_part", "corners", "crossings"]

#: Areas of float64 that are smaller, as a part of the terms of their sum, are rounding errors of 0.
_ROUNDING = 1e-15


def cross(a: Tensor, b: Tensor) -> Tensor:
    """Return the area between vectors [..., 2], with its sign."""
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def corners(centre: Tensor, size: Tensor, angle: Tensor) -> Tensor:
    """Return the corners of rectangles [..., 4, 2] in the order of a walk, given [..., 2], [..., 2] and [...]."""
    along = torch.stack([angle.cos(), angle.sin()], -1) * size[..., :1] / 2
    across = torch.stack([-angle.sin(), angle.cos()], -1) * size[..., 1:] / 2
    return torch.stack(
        [centre + along + across, centre - along + across, centre - along - across, centre + along - across], -2
    )


def crossings(corners1: Tensor, corners2: Tensor) -> tuple[Tensor, Tensor]:
    """Return where each edge crosses each edge of the other rectangle, zeros where it does not, and which do."""
    edges1, edges2 = (one.roll(-1, -2) - one for one in (corners1, corners2))
    apart = corners2[..., None, :, :] - corners1[..., :, None, :]
    one, other = edges1[..., :, None, :].expand_as(apart), edges2[..., None, :, :].expand_as(apart)
    slope = cross(one, other)
    parallel = slope == 0
    divisor = torch.where(parallel, torch.ones_like(slope), slope)
    along_one, along_other = cross(apart, other) / divisor, cross(apart, one) / divisor
    meet = ~parallel & (along_one > 0) & (along_one < 1) & (along_other > 0) & (along_other < 1)
    factor = torch.where(meet, along_one, torch.zeros_like(along_one))[..., None]
    points = (corners1[..., :, None, :] + one * factor) * meet[..., None]
    return points.flatten(-3, -2), meet.flatten(-2)


def area_by_angles(points: Tensor, mask: Tensor) -> Tensor:
    """Return the area of the polygon through those points [..., P, 2] that the mask names, around their mean."""
    count = mask.sum(-1, keepdim=True)[..., None].clamp(min=1)
    apart = points - (points * mask[..., None]).sum(-2, keepdim=True) / count
    angle = torch.atan2(apart[..., 1], apart[..., 0])
    order = torch.where(mask, angle, torch.full_like(angle, 4)).argsort(-1)  # more than any angle
    walk = apart.gather(-2, order[..., None].expand(*order.shape, 2))
    fan = (walk - walk[..., :1, :]) * mask.gather(-1, order)[..., None]
    return cross(fan[..., :-1, :], fan[..., 1:, :]).sum(-1).abs() / 2


def by_size(first: Tensor, second: Tensor, sizes: slice) -> tuple[Tensor, Tensor]:
    """Return the smaller and the larger box of each place in float64, sizes below 0 as 0.

    Of boxes of one size the first column that differs decides, so that an exchange of the arguments
    changes nothing. `sizes` are the columns between those of the place and that of the angle.
    """
    one, other = (
        torch.cat([box[..., : sizes.start], box[..., sizes].clamp(min=0), box[..., sizes.stop :]], -1)
        for box in (first.double(), second.double())
    )
    with torch.no_grad():
        greater = (one[..., sizes].prod(-1) - other[..., sizes].prod(-1)).sign()
        for difference in (one - other).sign().unbind(-1):
            greater = 2 * greater + difference  # the first that is not 0 decides
        exchange = (greater > 0)[..., None]
    return torch.where(exchange, other, one), torch.where(exchange, one, other)


def common_part(box: Tensor, frame: Tensor, sizes: slice) -> Tensor:
    """Return which part of the larger boxes, `frame`, lies in the smaller ones, as `by_size` returns them.

    A size of 0 of the larger box counts as 1.
    """
    apart, size = box[..., : sizes.start] - frame[..., : sizes.start], box[..., sizes]
    unit = frame[..., sizes].masked_fill(frame[..., sizes] == 0, 1)
    (x, y, *z), (width, height, *depth), (unit_u, unit_v, *unit_z) = (each.unbind(-1) for each in (apart, size, unit))
    cosine, sine = frame[..., -1].cos(), frame[..., -1].sin()
    u, v = 2 * (x * cosine + y * sine) / unit_u, 2 * (y * cosine - x * sine) / unit_v
    turn = box[..., -1] - frame[..., -1]
    cosine, sine = turn.cos(), turn.sin()
    width_u, width_v = width * cosine / unit_u, width * sine / unit_v
    height_u, height_v = height * sine / unit_u, height * cosine / unit_v
    area = _area_in_square(
        u + torch.stack([width_u - height_u, -width_u - height_u, height_u - width_u, width_u + height_u]),
        v + torch.stack([width_v + height_v, height_v - width_v, -width_v - height_v, width_v - height_v]),
    )
    return area / 4 * _common_height(z[0] / unit_z[0], depth[0] / unit_z[0]) if z else area / 4


def _area_in_square(u: Tensor, v: Tensor) -> Tensor:
    """Return the area [...] that polygons have in common with the square of the points from -1 to 1.

    By Green's theorem it is the integral of v, bounded by -1 and 1, along that part of the border
    where u lies between -1 and 1. Each edge adds to the sum what depends on its ends continuously:
    no corner is in or out, so that nearly equal edges do no harm. `torch.minimum` gives half of a
    gradient to each of equal arguments, which makes the gradient at a bend the mean of both sides.

    Parameters
    ----------
    u, v : Tensor, shape [P, ...], float64
        The corners in the order of a walk with the area on the left.
    """
    one = u.new_ones(())
    kept = _bounded(u, one)
    next_u, next_v, next_kept = (each.roll(-1, 0) for each in (u, v, kept))
    slope = _quotient(next_v - v, next_u - u)
    first, last = v + (kept - u) * slope, next_v + (next_kept - next_u) * slope
    low, high = _bounded(first, one), _bounded(last, one)
    # A part `inside` of the edge rises from one to the other, and the rest lies on the square.
    middle, inside = (low + high) / 2, _quotient(high - low, last - first)
    terms = (kept - next_kept) * (middle + inside * ((first - low) + (last - high)) / 2)
    area = terms.sum(0)
    with torch.no_grad():
        rounding = area * (area.abs() <= _ROUNDING * terms.abs().sum(0))
    return area - rounding.detach()


def _common_height(apart: Tensor, height: Tensor) -> Tensor:
    """Return the height that boxes have in common with others of height 1, given how far apart their centers are."""
    half = apart.new_full((), 0.5)
    return _bounded(apart + height / 2, half) - _bounded(apart - height / 2, half)


def _bounded(values: Tensor, bound: Tensor) -> Tensor:
    return torch.maximum(torch.minimum(values, bound), -bound)


def _quotient(a: Tensor, b: Tensor) -> Tensor:
    """Return a / b, and a where b is 0."""
    return a / b.masked_fill(b == 0, 1)
