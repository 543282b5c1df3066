"""Formulas for boxes that stand upright, with PyTorch's own operators."""

from __future__ import annotations

from torch import Tensor

__all__ = ["along", "inside"]


def along(boxes: Tensor, points: Tensor) -> tuple[Tensor, Tensor]:
    """Return where points [B, N, 3] lie along the own x and y of boxes [B, M, 7], from their axes: [B, M, N] each."""
    angle = -boxes[..., 6:7].double()
    cosine, sine = angle.cos().to(boxes.dtype), angle.sin().to(boxes.dtype)
    x, y = (points[:, None, :, axis] - boxes[..., axis : axis + 1] for axis in (0, 1))
    return x * cosine - y * sine, x * sine + y * cosine


def inside(boxes: Tensor, points: Tensor, margin: float = 0.0, centred: bool = False) -> Tensor:
    """Return which points [B, N, 3] boxes [B, M, 7] hold: [B, M, N]."""
    x, y = along(boxes, points)
    half = boxes[..., None, 3:6] / 2
    middle = boxes[..., 2:3] if centred else boxes[..., 2:3] + half[..., 2]
    above = (points[:, None, :, 2] - middle).abs() > half[..., 2]
    return (x.abs() < half[..., 0] + margin) & (y.abs() < half[..., 1] + margin) & ~above
