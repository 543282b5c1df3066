"""Made scans of a street, as a spinning sensor on a car sees it."""

from __future__ import annotations

import numpy as np

from benchmarks.problem import Array

#: Height of the sensor above the street, in metres.
_HEIGHT = 1.73


def street(rng: np.random.Generator, points: int, features: int = 4) -> Array:
    """Return points [points, features]: x, y, z in metres, and other values from 0 to 1.

    Beams of 64 elevations hit the street, or walls and cars that stand 4 to 60 metres away, so that
    most points are near. Points follow the turn of the sensor.
    """
    elevation = np.deg2rad(rng.choice(np.linspace(-24.8, 2, 64), points))
    azimuth = np.sort(rng.uniform(-np.pi, np.pi, points))
    walls = 4 + 56 * rng.random(180) ** 2
    reach = walls[((azimuth + np.pi) / (2 * np.pi) * 179.99).astype(int)] + rng.normal(0, 0.05, points)
    with np.errstate(divide="ignore"):
        ground = np.where(elevation < 0, _HEIGHT / -np.tan(elevation), np.inf)
    distance = np.minimum(reach, ground)
    xyz = np.stack([distance * np.cos(azimuth), distance * np.sin(azimuth), distance * np.tan(elevation)], 1)
    xyz += rng.normal(0, 0.02, xyz.shape)
    return np.concatenate([xyz, rng.random((points, features - 3))], 1).astype(np.float32)
