"""Bilinear samples of regions with PyTorch's own operators, for programs that are exported to ONNX."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["bilinear_samples", "fixed_grid", "steps"]


def fixed_grid(function: str, ratio: int) -> int:
    """Return the number of samples of a bin along an axis, which a program must have."""
    if ratio < 1:
        raise ValueError(f"{function}: sampling_ratio: expected at least 1 for an export to ONNX, got {ratio}")
    return ratio


def steps(count: int, ratio: int, like: Tensor) -> Tensor:
    """Return [count, ratio]: where samples lie along an axis, in bins."""
    bins, samples = torch.arange(count).to(like.dtype), torch.arange(ratio).to(like.dtype)
    return bins[:, None] + (samples + 0.5) / ratio


def bilinear_samples(maps: Tensor, image: Tensor, y: Tensor, x: Tensor) -> Tensor:
    """Return [R, C, i, j, S] of maps [B, C, H, W]: what regions sample of their images at y and x, [R, i, j, S]."""
    batch, _, height, width = maps.shape
    there = (image > -1) & (image < batch)
    images = maps.index_select(0, torch.nan_to_num(image).clamp(0, batch - 1).long())
    rows, columns = _shares(y, height), _shares(x, width)
    sampled = torch.einsum("rijsh,rchw,rijsw->rcijs", rows, images, columns)
    return sampled * there.to(maps.dtype)[:, None, None, None, None]


def _shares(place: Tensor, size: int) -> Tensor:
    """Return the weights of the pixels of an axis in a sample; zeros for one that is beside the map."""
    inside = (place >= -1) & (place <= size)
    near = torch.where(inside, place, torch.zeros_like(place)).clamp(0, size - 1)
    pixel = torch.arange(size).to(place.dtype)
    return (1 - (near[..., None] - pixel).abs()).clamp(min=0) * inside[..., None].to(place.dtype)
