"""A modelled LiDAR scan, for runs without a scan file. It is synthetic, and every report says so.

A sensor with 64 rings stands in a street: a slightly uneven ground, house fronts, parked cars,
poles and trees. Each ray ends where it first meets a surface. The range gets noise, some rays get
lost, as with a real sensor.
"""

from __future__ import annotations

import numpy as np

from pymluops.demo.arrays import Array
from pymluops.demo.scans import Scan

RINGS = 64
AZIMUTHS = 1024
SENSOR_HEIGHT = 1.73
MAX_RANGE = 80.0
RANGE_NOISE = 0.02
LOST_RAYS = 0.06


def modelled_scan(seed: int = 20) -> Scan:
    """Return the modelled street scan; the same seed gives the same points."""
    rng = np.random.default_rng(seed)
    rays = sensor_rays(RINGS, AZIMUTHS)
    ring = np.repeat(np.arange(RINGS), AZIMUTHS)
    distance = _ground_distance(rays)
    reflectance = np.full(len(rays), 0.25)
    for low, high, angle, albedo in _boxes(rng):
        hit = box_distance(rays, low, high, angle)
        nearer = hit < distance
        distance = np.where(nearer, hit, distance)
        reflectance = np.where(nearer, albedo, reflectance)
    for centre, radius in _crowns(rng):
        # Leaves let part of the rays through and scatter the depth of the rest.
        hit = _sphere_distance(rays, centre, radius) + rng.uniform(0, radius, len(rays))
        nearer = (hit < distance) & (rng.random(len(rays)) < 0.7)
        distance = np.where(nearer, hit, distance)
        reflectance = np.where(nearer, 0.4, reflectance)

    distance = np.minimum(distance, 2 * MAX_RANGE) + rng.normal(0.0, RANGE_NOISE, len(rays))
    kept = (distance > 1.5) & (distance < MAX_RANGE) & (rng.random(len(rays)) >= LOST_RAYS)
    xyz = (rays * distance[:, None])[kept]
    intensity = reflectance * np.clip(1.2 - distance / MAX_RANGE, 0, 1) + rng.normal(0, 0.02, len(rays))
    extras = np.stack([np.clip(intensity, 0, 1), ring / (RINGS - 1)], axis=1)[kept].astype(np.float32)
    return Scan("synthetic street scan (a model, not a measurement)", xyz, extras,
                ("x", "y", "z", "intensity", "ring"), synthetic=True)  # fmt: skip


def sensor_rays(rings: int, azimuths: int) -> Array:
    """Return the unit vectors [rings * azimuths, 3] of all rays, ring by ring; x forward, y left, z up."""
    elevation = np.deg2rad(np.linspace(2.0, -24.8, rings))
    azimuth = np.linspace(-np.pi, np.pi, azimuths, endpoint=False)
    phi, theta = np.meshgrid(elevation, azimuth, indexing="ij")
    rays = np.stack([np.cos(phi) * np.cos(theta), np.cos(phi) * np.sin(theta), np.sin(phi)], axis=-1)
    return rays.reshape(-1, 3)


def _ground_distance(rays: Array) -> Array:
    with np.errstate(divide="ignore"):
        flat = np.where(rays[:, 2] < 0, -SENSOR_HEIGHT / rays[:, 2], np.inf)
    reach = np.where(np.isfinite(flat), flat, 0.0)[:, None] * rays
    bump = 0.06 * np.sin(0.35 * reach[:, 0] + 1.0) * np.cos(0.22 * reach[:, 1])
    return np.asarray(flat * (1.0 - bump / SENSOR_HEIGHT))


def _boxes(rng: np.random.Generator) -> list[tuple[Array, Array, float, float]]:
    """Return the boxes of the scene as (low corner, high corner, turn about z in radians, reflectance)."""
    floor = -SENSOR_HEIGHT
    boxes: list[tuple[Array, Array, float, float]] = []

    def add(x: float, y: float, size: tuple[float, float], z: tuple[float, float], turn: float, albedo: float) -> None:
        centre = _turned(np.array([x, y]), -turn)
        half = np.array(size) / 2
        boxes.append((np.append(centre - half, floor + z[0]), np.append(centre + half, floor + z[1]), turn, albedo))

    for side in (-1.0, 1.0):
        add(0, side * 26, (140, 0.5), (0, 2.5), 0, 0.3)  # a wall behind the gardens
        x = -60.0
        while x < 60:  # a row of houses with gaps and different depths
            length = float(rng.uniform(9, 17))
            y, top, albedo = side * rng.uniform(15, 18), rng.uniform(6, 12), rng.uniform(0.3, 0.7)
            add(x + length / 2, y, (length, 8), (0, top), 0, albedo)
            x += length + float(rng.uniform(1, 5))
        for x in np.arange(-45, 50, 7.5):  # parked cars: a body and a cabin
            if rng.random() < 0.75:
                at, turn, albedo = x + rng.uniform(-1, 1), rng.normal(0, 0.04), rng.uniform(0.2, 0.9)
                y = side * rng.uniform(6.2, 7.0)
                add(at, y, (4.4, 1.8), (0.25, 0.95), turn, albedo)
                add(at - 0.3, y, (2.3, 1.6), (0.95, 1.5), turn, 0.15)
        for x in np.arange(-50, 55, 17.0):  # lamp posts
            add(x + rng.uniform(-2, 2), side * 9.0, (0.18, 0.18), (0, 6), 0, 0.6)
        for x, y, _ in _trees(side):
            add(x, y, (0.35, 0.35), (0, 3), 0, 0.35)
    add(14.0, -1.9, (4.5, 1.85), (0.25, 1.5), 0.02, 0.8)  # a car ahead
    add(-18.0, 1.8, (7.5, 2.4), (0.4, 3.2), -0.03, 0.7)  # a lorry behind
    return boxes


def _trees(side: float) -> list[tuple[float, float, float]]:
    return [(x, side * 11.0, 1.6) for x in (-38.0, -21.0, 8.0, 27.0, 43.0)]


def _crowns(rng: np.random.Generator) -> list[tuple[Array, float]]:
    trees = [tree for side in (-1.0, 1.0) for tree in _trees(side)]
    return [(np.array([x, y, rng.uniform(1.8, 2.6)]), radius * rng.uniform(0.8, 1.3)) for x, y, radius in trees]


def _turned(vectors: Array, angle: float) -> Array:
    """Return the vectors with their first two components turned by `angle`."""
    cos, sin = np.cos(angle), np.sin(angle)
    x, y = vectors[..., 0], vectors[..., 1]
    return np.concatenate([np.stack([cos * x - sin * y, sin * x + cos * y], -1), vectors[..., 2:]], axis=-1)


def box_distance(rays: Array, low: Array, high: Array, angle: float) -> Array:
    """Return the distance at which each ray from the origin enters the box, or infinity (the slab method)."""
    turned = _turned(rays, -angle)
    with np.errstate(divide="ignore", invalid="ignore"):
        first, second = low / turned, high / turned
    enter = np.nanmax(np.minimum(first, second), axis=1)
    leave = np.nanmin(np.maximum(first, second), axis=1)
    return np.where((enter <= leave) & (enter > 0), enter, np.inf)


def _sphere_distance(rays: Array, centre: Array, radius: float) -> Array:
    along = rays @ centre
    inside = along**2 - (centre @ centre - radius**2)
    return np.where((inside > 0) & (along > 0), along - np.sqrt(np.maximum(inside, 0)), np.inf)
