"""Clouds of points with three coordinates, for what looks for neighbours among many."""

from __future__ import annotations

import numpy as np

#: Kinds of clouds.
KINDS = ("even", "scan", "plane", "line", "duplicates", "one place", "lattice", "outlier", "spheres", "special")


def cloud(kind: str, number: int, dtype: str, seed: int = 0) -> np.ndarray:
    """Points [number, 3], whose extent is some units but for a scan, which has tens."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    points = rng.random((number, 3)) * 2 - 1
    if kind == "scan":  # rings around a sensor, in the order of a turn, with a few walls
        turn, ring = np.linspace(0, 2 * np.pi, number), rng.integers(0, 16, number)
        far = np.minimum(3 + 2 * ring + rng.normal(0, 0.05, number), rng.choice([8, 20, 60], number))
        points = np.stack([far * np.cos(turn), far * np.sin(turn), 0.2 * ring - 2], 1)
    elif kind == "plane":
        points[:, 2] = 0.5
    elif kind == "line":
        points = points[:, :1] * np.array([1.0, -2, 0.5])
    elif kind == "duplicates":
        points = points[rng.integers(0, 20, number)]
    elif kind == "one place":
        points[:] = (0.25, -1, 3)
    elif kind == "lattice":
        points = rng.integers(-6, 7, (number, 3)) / 4
    elif kind == "outlier":
        points[rng.integers(0, number, 2)] = ((1e4, 0, 0), (0, -3e4, 1e4))
    elif kind == "spheres":
        centres, radii = rng.normal(0, 1, (4, 3)), rng.choice([0.1, 0.5], number)
        spread = rng.normal(size=(number, 3))
        spread *= (radii / np.linalg.norm(spread, axis=1))[:, None]
        points = centres[rng.integers(0, 4, number)] + spread
    elif kind == "special":
        odd = rng.choice([np.nan, np.inf, -np.inf, 6e4, -0.0, 6e-8], (number, 3))
        points = np.where(rng.random((number, 3)) < 0.03, odd, np.round(points, 1))
    return points.astype(dtype)
