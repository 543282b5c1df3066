"""Made scenes with boxes around their objects: a street as a LiDAR sees it, and a room as a depth camera does."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pymluops.demo.lidar import SENSOR_HEIGHT, box_distance, sensor_rays

Array = NDArray[Any]

CAR = (3.9, 1.6, 1.56)
"""Length, width and height in metres: the size that the networks for KITTI expect of a car."""

ROOM = (6.0, 5.0, 2.6)


@dataclass(frozen=True)
class Scene:
    """What networks are trained with.

    Attributes
    ----------
    xyz : float32 [N, 3], metres
        x forward, y left, z up; a street from the sensor, a room from the middle of its floor.
    objects : int64 [N]
        Which box a point belongs to, -1 for none.
    boxes : float32 [K, 7], metres and radians
        Middle of the underside, size, and heading around z.
    extras : float32 [N, E]
        What else is known of a point, between -1 and 1: its intensity, or its colour. E may be 0.
    """

    xyz: Array
    objects: Array
    boxes: Array
    extras: Array = field(default_factory=lambda: np.zeros((0, 0), np.float32))


def make_street(rng: np.random.Generator, rings: int = 64, azimuths: int = 1024) -> Scene:
    """Return a street with cars on it, in front of the sensor."""
    boxes = _cars(rng)
    rays = sensor_rays(rings, azimuths)
    with np.errstate(divide="ignore"):
        distance = np.where(rays[:, 2] < 0, -SENSOR_HEIGHT / rays[:, 2], np.inf)
    objects = np.full(len(rays), -1)
    for side in (-1, 1):  # house fronts
        low, high = np.array([-60, side * 14 - 0.5, -SENSOR_HEIGHT]), np.array([60, side * 14 + 0.5, 6])
        distance = np.minimum(distance, box_distance(rays, low, high, 0.0))
    for number, (x, y, z, length, width, height, heading) in enumerate(boxes):
        cos, sin = np.cos(heading), np.sin(heading)
        middle = np.array([cos * x + sin * y, cos * y - sin * x, z + height / 2])
        half = np.array([length, width, height]) / 2
        hit = box_distance(rays, middle - half, middle + half, heading)
        objects[hit < distance] = number
        distance = np.minimum(distance, hit)
    distance = distance + rng.normal(0, 0.02, len(rays))
    kept = (distance > 2) & (distance < 70) & (rng.random(len(rays)) > 0.05)
    return Scene((rays[kept] * distance[kept, None]).astype(np.float32), objects[kept], boxes)


def _cars(rng: np.random.Generator) -> Array:
    """Return cars in three lanes, none of which touches another."""
    cars = []
    for lane in (-5.5, -1.8, 5.2):
        for x in np.arange(8, 40, 8.0) + rng.uniform(-1.5, 1.5, 4):
            if rng.random() < 0.6:
                cars.append((x, lane + rng.uniform(-0.4, 0.4), -SENSOR_HEIGHT, *CAR, rng.normal(0, 0.15)))
    if not cars:
        cars.append((12.0, 1.8, -SENSOR_HEIGHT, *CAR, 0.0))
    return np.array(cars, np.float32)


def make_room(rng: np.random.Generator, points: int = 20_000) -> Scene:
    """Return a room with pieces of furniture that are parallel to its walls."""
    boxes = _furniture(rng)
    floor = np.column_stack([rng.uniform(-0.5, 0.5, (points, 2)) * ROOM[:2], np.zeros(points)])
    walls = rng.uniform(-0.5, 0.5, (points, 3)) * ROOM + [0, 0, ROOM[2] / 2]
    axis = rng.integers(0, 2, points)
    walls[np.arange(points), axis] = np.array(ROOM)[axis] / 2 * rng.choice([-1, 1], points)
    parts, owners = [floor[: points // 4], walls[: points // 4]], [np.full(points // 4 * 2, -1)]
    share = (points - points // 4 * 2) // len(boxes)
    for number, (x, y, z, *size, _) in enumerate(boxes):
        surface = rng.uniform(-0.5, 0.5, (share, 3))
        axis = rng.integers(0, 3, share)
        surface[np.arange(share), axis] = rng.choice([-0.5, 0.5], share)
        parts.append(surface * size + [x, y, z + size[2] / 2])
        owners.append(np.full(share, number))
    xyz = np.concatenate(parts) + rng.normal(0, 0.005, (sum(map(len, parts)), 3))
    return Scene(xyz.astype(np.float32), np.concatenate(owners), boxes)


def _furniture(rng: np.random.Generator) -> Array:
    """Return one piece in each of six parts of the floor."""
    pieces = []
    for x in (-2.0, 0.0, 2.0):
        for y in (-1.25, 1.25):
            size = rng.uniform((0.5, 0.5, 0.4), (1.2, 1.2, 1.0))
            pieces.append((x + rng.uniform(-0.3, 0.3), y + rng.uniform(-0.3, 0.3), 0.0, *size, 0.0))
    return np.array(pieces, np.float32)
