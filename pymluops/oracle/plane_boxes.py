"""Upright boxes (x1, y1, x2, y2) in a plane."""

from __future__ import annotations

import numpy as np


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
