"""Rectangles (x, y, width, height, angle) in a plane, and how much two of them overlap, in float64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pymluops.oracle import polygons


def corners(row: np.ndarray, origin: np.ndarray) -> list[polygons.Point]:
    """The corners of a rectangle, in float64, from an origin."""
    x, y = (float(row[i]) - float(origin[i]) for i in range(2))
    width, height, angle = (float(value) for value in row[2:5])
    cosine, sine = math.cos(angle) / 2, math.sin(angle) / 2
    return [
        (x + u * width * cosine - v * height * sine, y + u * width * sine + v * height * cosine)
        for u, v in ((-1, -1), (1, -1), (1, 1), (-1, 1))
    ]


def has_area(row: np.ndarray) -> bool:
    """Tell whether a rectangle is finite and both its sides are positive, or both negative."""
    return bool(np.isfinite(row[:5]).all()) and (min(row[2:4]) > 0 or max(row[2:4]) < 0)


def common_area(first: np.ndarray, second: np.ndarray) -> float:
    """The area that two rectangles have in common; 0 if one has no area or is not finite."""
    if not (has_area(first) and has_area(second)):
        return 0.0
    areas = [abs(float(row[2]) * float(row[3])) for row in (first, second)]
    if np.array_equal(first[:5], second[:5]):
        return areas[0]
    return min(polygons.common_area(corners(second, first), corners(first, first)), *areas)


def overlap(first: np.ndarray, second: np.ndarray, of_first: bool = False) -> Any:
    """Common area of two rows by that of both together, or of the first one."""
    real = first.dtype.type
    common = common_area(first, second)
    if not common:
        return real(0)
    areas = [abs(float(row[2]) * float(row[3])) for row in (first, second)]
    return real(common / (areas[0] if of_first else areas[0] + (areas[1] - common)))


def random_rectangles(rng: np.random.Generator, count: int, spread: float = 4.0) -> np.ndarray:
    """Rectangles of usual sizes, close to each other; some of them are the same, touch, or have no area."""
    boxes = np.column_stack([
        rng.normal(0, spread, (count, 2)), rng.uniform(0.2, 6, (count, 2)), rng.uniform(-4, 4, count)
    ])  # fmt: skip
    kind = rng.random(count)
    boxes[kind < 0.2] = np.round(boxes[kind < 0.2])
    again = (kind > 0.8) & (np.arange(count) > 0)
    boxes[again] = boxes[rng.integers(0, max(count, 1), again.sum())]
    return boxes
