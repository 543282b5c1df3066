"""Pairs of rotated boxes (x, y, width, height, angle) whose edges nearly coincide, touch or are far apart."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

Array = np.ndarray
_Kind = Callable[[np.random.Generator, int], tuple[Array, Array]]


def boxes(rng: np.random.Generator, count: int) -> Array:
    """Boxes of all proportions that overlap often."""
    low, high = [0, 0, 0.5, 0.5, -3.2], [8, 8, 10, 10, 3.2]
    return rng.uniform(low, high, (count, 5))


def _uniform(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    return boxes(rng, count), boxes(rng, count)


def _near(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    one = boxes(rng, count)
    return one, one * (1 + 10 ** rng.uniform(-9, -2, (count, 1)) * rng.uniform(-1, 1, one.shape))


def _one_rounding(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    one = boxes(rng, count).astype(np.float32)
    other, place = one.copy(), (np.arange(count), rng.integers(0, 5, count))
    other[place] = np.nextafter(other[place], np.float32(np.inf))
    return one.astype(np.float64), other.astype(np.float64)


def _same(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    one = boxes(rng, count)
    return one, one


def _turned(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Half a turn, or a quarter with width and height exchanged."""
    one = boxes(rng, count)
    half, quarter = one.copy(), one[:, [0, 1, 3, 2, 4]]
    half[:, 4] += math.pi
    quarter[:, 4] += math.pi / 2
    return one, np.where(rng.random((count, 1)) < 0.5, half, quarter)


def _lattice(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Squares, upright or at 45 degrees, whose edges and corners lie on those of others."""
    places, turns = rng.integers(0, 5, (2, count, 2)) * 2.0, rng.integers(0, 4, (2, count, 1)) * math.pi / 4
    diagonal = rng.random((1, count, 1)) < 0.5
    places = np.where(diagonal, places / math.sqrt(2), places)
    turns = np.where(diagonal, math.pi / 4, turns)
    sizes = np.full((2, count, 2), 4.0)
    one, other = np.concatenate([places, sizes, turns], -1)
    return one, other


def _thin(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Proportions of up to 1 : 100,000, of boxes that nearly coincide."""
    one = boxes(rng, count)
    one[:, 3] = one[:, 2] * 10 ** rng.uniform(-5, -2, count)
    other = one * (1 + 1e-3 * rng.uniform(-1, 1, one.shape))
    other[:, :2] = one[:, :2] + one[:, 3:4] * rng.normal(0, 0.3, (count, 2))
    other[:, 4] = one[:, 4] + one[:, 3] / one[:, 2] * rng.normal(0, 0.3, count)
    return one, other


def _far(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Far from the origin."""
    one = boxes(rng, count)
    one[:, :2] += 1e5 * rng.normal(size=(count, 2))
    return one, one + 0.1 * rng.normal(size=one.shape)


def _nested(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """One in the other, with a part of an edge in common, or of two."""
    one = boxes(rng, count)
    one[:, 4] = 0
    other = one.copy()
    other[:, 2:4] *= rng.integers(1, 8, (count, 2)) / 8
    other[:, :2] += (one[:, 2:4] - other[:, 2:4]) / 2 * rng.integers(0, 2, (count, 2))
    return one, other


def _touching(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Side by side, with a part of an edge in common, or a corner."""
    one = np.round(boxes(rng, count) * 8) / 8
    one[:, 4] = 0
    other = one.copy()
    other[:, :2] += one[:, 2:4] * rng.choice(np.array([[1, 0], [0, 1], [1, 1], [0.5, 1], [-1, 0.25]]), count)
    return one, other


def _sizes(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Sides of 1e-18 to 1e18."""
    one = boxes(rng, count)
    one[:, 2:4] *= 10 ** rng.uniform(-18, 18, (count, 2))
    other = one * (1 + 1e-2 * rng.uniform(-1, 1, one.shape))
    other[:, :2] = one[:, :2] + one[:, 2:4].min(1, keepdims=True) * rng.normal(0, 0.3, (count, 2))
    return one, other


#: Kinds of pairs by name; each makes so many pairs, float64.
KINDS: dict[str, _Kind] = {
    "uniform": _uniform,
    "near": _near,
    "one rounding": _one_rounding,
    "same": _same,
    "turned": _turned,
    "lattice": _lattice,
    "thin": _thin,
    "far": _far,
    "nested": _nested,
    "touching": _touching,
    "sizes": _sizes,
}
