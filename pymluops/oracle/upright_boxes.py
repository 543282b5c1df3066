"""Boxes that stand upright, and the points that they hold.

Half is computed in float32; sine and cosine are those of float64, rounded.
"""

from __future__ import annotations

import numpy as np


def wide(array: np.ndarray) -> np.ndarray:
    """The values in the type that is computed in."""
    return array.astype(np.float32) if array.dtype == np.float16 else array


def place(box: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where points [N, 3] lie along the box's own x and y, from its axis."""
    real, angle = box.dtype.type, -float(box[6])
    with np.errstate(all="ignore"):
        cosine, sine = real(np.cos(angle)), real(np.sin(angle))
        x, y = points[:, 0] - box[0], points[:, 1] - box[1]
        return x * cosine - y * sine, x * sine + y * cosine


def inside(box: np.ndarray, points: np.ndarray, margin: float = 0.0, centred: bool = False) -> np.ndarray:
    """Which points [N, 3] a box [7] holds."""
    box, points = wide(box), wide(points)
    real = box.dtype.type
    along_x, along_y = place(box, points)
    with np.errstate(all="ignore"):
        half_x, half_y, half_z = (box[i] / real(2) for i in (3, 4, 5))
        middle = box[2] if centred else box[2] + half_z
        beside = ~(np.abs(along_x) < half_x + real(margin))
        beside |= ~(np.abs(along_y) < half_y + real(margin))
        above = np.abs(points[:, 2] - middle) > half_z
    result: np.ndarray = ~(beside | above)
    return result
