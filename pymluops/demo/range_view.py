"""A scan seen as a picture from the sensor: for runs without a photograph."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pymluops.cli import CommandError
from pymluops.demo.arrays import Array
from pymluops.demo.images import Image
from pymluops.demo.picture_size import MAX_SIDE
from pymluops.demo.scans import Scan

WIDTH = 288
MAX_FIELD = np.deg2rad(100.0)
MIN_HEIGHT = 48
LOW_TONE = np.array([0.95, 0.62, 0.25])
HIGH_TONE = np.array([0.35, 0.65, 1.0])


@dataclass(frozen=True)
class View:
    """What part of a scan its picture shows; None is chosen from the points. Angles are in degrees.

    `heading` is the direction of the middle, 0 along x and 90 along y. `fov` is how wide the
    picture is, `elevation` from where to where it reaches, 0 being level. `eye` is where it is seen
    from, in metres.
    """

    heading: float | None = None
    fov: float | None = None
    elevation: tuple[float, float] | None = None
    eye: tuple[float, float, float] | None = None


def range_view(scan: Scan, view: View | None = None) -> Image:
    """Return the scan as a picture, in its own colours if it has any; else near is bright, low orange and high blue.

    Unless the view says otherwise, the eye stands at the origin, which is where a LiDAR stands, or
    in the middle of the points when they surround another place. It looks where most points are.
    Gaps between the points are closed from their neighbours.
    """
    view = view or View()
    xyz = scan.xyz - (_eye(scan.xyz) if view.eye is None else np.array(view.eye))
    distance = np.linalg.norm(xyz, axis=1)
    azimuth = np.arctan2(xyz[:, 1], xyz[:, 0])
    elevation = np.arcsin(np.clip(xyz[:, 2] / np.maximum(distance, 1e-9), -1, 1))
    heading = _heading(azimuth) if view.heading is None else np.deg2rad(view.heading)
    azimuth = _turned_to(azimuth, heading)
    if view.fov is None:
        field = min(MAX_FIELD, max(np.deg2rad(20.0), 2 * float(np.quantile(np.abs(azimuth), 0.98))))
    else:
        field = np.deg2rad(view.fov)
    width = min(MAX_SIDE, max(WIDTH, round(WIDTH * float(field / MAX_FIELD))))
    pixel = field / width
    low, high = np.quantile(elevation, [0.005, 0.995]) if view.elevation is None else np.deg2rad(view.elevation)
    height = int(np.clip(np.ceil((high - low) / pixel), MIN_HEIGHT, WIDTH))
    # The field that was asked for is shown as it is, with pixels that are not square where it would
    # be too high.
    row_pixel = pixel if view.elevation is None else (high - low) / height
    column = np.floor((field / 2 - azimuth) / pixel).astype(np.int64)
    row = np.floor(((high + low) / 2 + height * row_pixel / 2 - elevation) / row_pixel).astype(np.int64)
    seen = (column >= 0) & (column < width) & (row >= 0) & (row < height) & (distance > 1e-6)
    if view != View() and not seen.any():
        raise CommandError("--heading, --fov, --elevation, --eye: no point of the scan lies in this view")

    channels = _colours(scan, distance)
    picture = np.full((height * width, 3), np.nan, dtype=np.float32)
    order = np.argsort(-distance[seen], kind="stable")  # the nearest point of a pixel is written last
    picture[(row[seen] * width + column[seen])[order]] = channels[seen][order]
    name = scan.source if scan.synthetic else Path(scan.source).name
    level, reach = (high + low) / 2, height * row_pixel / 2
    edges = heading + field / 2, heading - field / 2, level - reach, level + reach
    left, right, bottom, top = (float(np.rad2deg(edge)) for edge in edges)
    pixels = _close_gaps(picture.reshape(height, width, 3))
    return Image(f"range view of {name}", pixels, from_scan=True, angles=(left, right, bottom, top))


def _eye(xyz: Array) -> Array:
    low, high = np.quantile(xyz, [0.02, 0.98], axis=0)
    near = low - 0.25 * (high - low), high + 0.25 * (high - low)
    if bool(((near[0] < 0) & (near[1] > 0)).all()) and np.quantile(np.linalg.norm(xyz, axis=1), 0.01) > 0.5:
        return np.zeros(3)
    middle: Array = np.median(xyz, axis=0)
    middle[2] = max(middle[2], low[2] + 0.4 * (high[2] - low[2]))  # most points may lie on the ground: look from above
    return middle


def _heading(azimuth: Array) -> float:
    """Return the middle of the field with the most points."""
    bins = 360
    counts = np.histogram(azimuth, bins=bins, range=(-np.pi, np.pi))[0]
    window = int(np.rad2deg(MAX_FIELD))
    sums = np.convolve(np.concatenate([counts, counts[:window]]), np.ones(window), mode="valid")[:bins]
    # Among almost equal fields take the one that looks forward.
    starts = np.flatnonzero(sums >= 0.9 * sums.max())
    middle = np.deg2rad(starts + window / 2) - np.pi
    middle = (middle + np.pi) % (2 * np.pi) - np.pi
    return float(middle[np.argmin(np.abs(middle))])


def _turned_to(azimuth: Array, heading: float) -> Array:
    return np.asarray((azimuth - heading + np.pi) % (2 * np.pi) - np.pi)


def _colours(scan: Scan, distance: Array) -> Array:
    """Return the RGB colour of every point, [points, 3] in [0, 1]."""
    others = [{"red": "r", "green": "g", "blue": "b"}.get(name, name) for name in scan.names[3:]]
    if {"r", "g", "b"} <= set(others):
        return np.clip(scan.extras[:, [others.index(name) for name in "rgb"]], 0.0, 1.0)
    near = _rank(-np.log(np.maximum(distance, 1e-3)))[:, None]
    height = _rank(scan.xyz[:, 2])[:, None]
    echo = (_rank(scan.extras[:, 0]) if others else np.zeros(len(distance)))[:, None]
    tone = (1 - height) * LOW_TONE + height * HIGH_TONE
    return np.asarray(np.clip(tone * (0.25 + 0.6 * near) + 0.3 * echo, 0.0, 1.0))


def _rank(values: Array) -> Array:
    """Return each value's place between the 1 % and 99 % quantiles, in [0, 1]."""
    low, high = np.quantile(values, [0.01, 0.99])
    return np.clip((values - low) / (high - low), 0, 1) if high > low else np.full(len(values), 0.5)


def _close_gaps(picture: Array, rounds: int = 6) -> Array:
    """Fill empty pixels with the mean of their filled neighbours, repeatedly; pixels that stay empty are black."""
    for _ in range(rounds):
        empty = np.isnan(picture[:, :, 0])
        if not empty.any():
            break
        padded = np.pad(picture, ((1, 1), (1, 1), (0, 0)), constant_values=np.nan)
        height, width = empty.shape
        near = np.stack([padded[i : i + height, j : j + width] for i, j in np.ndindex(3, 3)])
        known = np.isfinite(near)
        total = np.where(known, near, 0).sum(axis=0)
        count = known.sum(axis=0)
        mean = np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)
        picture = np.where(empty[:, :, None], mean, picture)
    return np.ascontiguousarray(np.nan_to_num(picture, nan=0.0), dtype=np.float32)
