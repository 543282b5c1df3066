"""Small picture arithmetic: area resampling, blurring, slopes."""

from __future__ import annotations

import numpy as np

from pymluops.demo.arrays import Array


def resize(pixels: Array, size: tuple[int, int]) -> Array:
    """Return `pixels` [height, width, ...] at another size; every new pixel is the mean of the area it covers."""
    rows = area_weights(pixels.shape[0], size[0])
    columns = area_weights(pixels.shape[1], size[1])
    half = np.tensordot(rows, pixels, axes=(1, 0))
    return np.ascontiguousarray(np.moveaxis(np.tensordot(columns, half, axes=(1, 1)), 0, 1))


def area_weights(old: int, new: int) -> Array:
    """Return the [new, old] matrix whose rows average the old cells that a new cell covers."""
    edges = np.linspace(0.0, old, new + 1)
    cells = np.arange(old)
    overlap = np.minimum(edges[1:, None], cells + 1) - np.maximum(edges[:-1, None], cells)
    overlap = np.clip(overlap, 0.0, None)
    return np.asarray(overlap / overlap.sum(axis=1, keepdims=True), dtype=np.float32)


def blur(pixels: Array, sigma: float) -> Array:
    """Return `pixels` [height, width, ...] smoothed by a Gaussian, the border values continued outwards."""
    radius = max(1, round(3 * sigma))
    taps = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2).astype(np.float32)
    taps /= taps.sum()
    for axis in (0, 1):
        pad = [(0, 0)] * pixels.ndim
        pad[axis] = (radius, radius)
        padded = np.pad(pixels, pad, mode="edge")
        length = pixels.shape[axis]
        pixels = np.zeros_like(pixels)
        for i, tap in enumerate(taps):
            pixels += tap * np.take(padded, range(i, i + length), axis=axis)
    return pixels


def slopes(pixels: Array) -> tuple[Array, Array]:
    """Return the central differences along height and width, in units a pixel."""
    padded = np.pad(pixels, [(1, 1), (1, 1)] + [(0, 0)] * (pixels.ndim - 2), mode="edge")
    return (padded[2:, 1:-1] - padded[:-2, 1:-1]) / 2, (padded[1:-1, 2:] - padded[1:-1, :-2]) / 2
