"""Upright boxes (x1, y1, x2, y2) in a plane."""

from __future__ import annotations

import numpy as np


def overlaps(box: np.ndarray, others: np.ndarray, offset: int = 0) -> np.ndarray:
    """Intersection over union of a box (x1, y1, x2, y2) and each of the others; NaN compares false."""
    real = others.dtype.type
    extra, zero = real(offset), real(0)
    with np.errstate(all="ignore"):
        areas = [(b[..., 2] - b[..., 0] + extra) * (b[..., 3] - b[..., 1] + extra) for b in (box, others)]
        left, top = (np.where(box[i] < others[:, i], others[:, i], box[i]) for i in (0, 1))
        right, bottom = (np.where(others[:, i] < box[i], others[:, i], box[i]) for i in (2, 3))
        width, height = right - left + extra, bottom - top + extra
        common = np.where(width > zero, width, zero) * np.where(height > zero, height, zero)
        return common / (areas[0] + areas[1] - common)


def random_boxes(rng: np.random.Generator, count: int, spread: float = 6.0) -> np.ndarray:
    """Boxes close to each other; some are the same, touch, have no area or are reversed."""
    centres, sizes = rng.normal(0, spread, (count, 2)), rng.uniform(0.5, 8, (count, 2))
    boxes = np.concatenate([centres - sizes / 2, centres + sizes / 2], 1)
    kind = rng.random(count)
    boxes[kind < 0.3] = np.round(boxes[kind < 0.3])
    again = (kind > 0.8) & (np.arange(count) > 0)
    boxes[again] = boxes[rng.integers(0, max(count, 1), again.sum())]
    boxes[(kind > 0.4) & (kind < 0.45), 2] = boxes[(kind > 0.4) & (kind < 0.45), 0]
    return boxes
