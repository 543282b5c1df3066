"""Polygons that two rectangles have in common, with PyTorch's own operators."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["area_by_angles", "corners", "cross", "crossings"]


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


def crossings(corners1: Tensor, corners2: Tensor, least: float = 0.0) -> tuple[Tensor, Tensor]:
    """Return where each edge crosses each edge of the other rectangle, zeros where it does not, and which do.

    Edges whose angle has a sine of at most `least` do not cross.
    """
    edges1, edges2 = (one.roll(-1, -2) - one for one in (corners1, corners2))
    apart = corners2[..., None, :, :] - corners1[..., :, None, :]
    one, other = edges1[..., :, None, :].expand_as(apart), edges2[..., None, :, :].expand_as(apart)
    slope = cross(one, other)
    parallel = slope.abs() <= least * (one.square().sum(-1) * other.square().sum(-1)).sqrt()
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
