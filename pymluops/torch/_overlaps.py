"""The area or volume that rotated boxes have in common, with gradients, in PyTorch's own operators."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["by_size", "common_part"]

#: Areas of float64 that are smaller, as a part of the terms of their sum, are rounding errors of 0.
_ROUNDING = 1e-15


def by_size(first: Tensor, second: Tensor, sizes: slice) -> tuple[Tensor, Tensor]:
    """Return the smaller and the larger box of each place in float64, with sizes of at least 0.

    Of boxes of one size the first column that differs decides, so that an exchange of the arguments
    changes nothing. `sizes` are the columns between those of the place and that of the angle.
    """
    one, other = (
        torch.cat([box[..., : sizes.start], _positive(box[..., sizes]), box[..., sizes.stop :]], -1)
        for box in (first.double(), second.double())
    )
    with torch.no_grad():
        greater = (one[..., sizes].prod(-1) - other[..., sizes].prod(-1)).sign()
        for difference in (one - other).sign().unbind(-1):
            greater = 2 * greater + difference  # the first that is not 0 decides
        exchange = (greater > 0)[..., None]
    return torch.where(exchange, other, one), torch.where(exchange, one, other)


def _positive(sizes: Tensor) -> Tensor:
    """Return sizes of which a width and height below 0 have lost their signs, and others below 0 are 0."""
    width, height, *depth = sizes.unbind(-1)
    turned = (width < 0) & (height < 0)  # by half a turn
    return torch.stack([width.where(~turned, -width), height.where(~turned, -height), *depth], -1).clamp(min=0)


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
