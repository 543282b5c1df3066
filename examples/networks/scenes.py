"""Made data with known truth: streets seen by a LiDAR, pictures with shapes, clips of moving dots."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pymluops.demo.errors import InputError, MissingPackageError, first_line
from pymluops.demo.images import read_image
from pymluops.demo.lidar import SENSOR_HEIGHT, box_distance, sensor_rays
from pymluops.demo.resample import blur, resize

Array = NDArray[Any]

# ---- Streets -------------------------------------------------------------------------------------

CLASSES = ("ground", "house", "car", "pole")
HALF_SIDE = 20.0
"""Metres from the sensor to the edge of the square that is kept of a scan."""


@dataclass(frozen=True)
class Street:
    """Points, what each belongs to, and the cars as x, y, length, width, heading."""

    xyz: Array
    labels: Array
    cars: Array


def make_street(rng: np.random.Generator, rings: int = 48, azimuths: int = 720) -> Street:
    """Return a street with houses, cars and poles as a turning LiDAR sees it: rays that end where they first hit."""
    boxes, cars = _furnish(rng)
    rays = sensor_rays(rings, azimuths)
    with np.errstate(divide="ignore"):
        distance = np.where(rays[:, 2] < 0, -SENSOR_HEIGHT / rays[:, 2], np.inf)
    labels = np.zeros(len(rays), np.int64)
    for low, high, heading, label in boxes:
        hit = box_distance(rays, low, high, heading)
        labels[hit < distance] = label
        distance = np.minimum(distance, hit)
    distance += rng.normal(0, 0.02, len(rays))
    kept = (distance > 1) & (distance < 60) & (rng.random(len(rays)) > 0.05)
    xyz = rays[kept] * distance[kept, None]
    inside = np.abs(xyz[:, :2]).max(axis=1) < HALF_SIDE
    return Street(xyz[inside].astype(np.float32), labels[kept][inside], cars)


def _furnish(rng: np.random.Generator) -> tuple[list[tuple[Array, Array, float, int]], Array]:
    boxes: list[tuple[Array, Array, float, int]] = []
    cars = []

    def add(x: float, y: float, size: tuple[float, float, float], heading: float, label: int, lift: float = 0) -> None:
        cos, sin = np.cos(heading), np.sin(heading)
        middle = np.array([cos * x + sin * y, cos * y - sin * x, lift - SENSOR_HEIGHT + size[2] / 2])
        half = np.array(size) / 2
        boxes.append((middle - half, middle + half, heading, label))

    for side in (-1, 1):
        x = -22.0
        while x < 22:
            length = rng.uniform(6, 12)
            add(x + length / 2, side * rng.uniform(13, 15.5), (length, 6, rng.uniform(4, 9)), 0, 1)
            x += length + rng.uniform(0.5, 4)
        for x in np.arange(-18, 19, 7.0) + rng.uniform(-2, 2):
            add(x + rng.uniform(-1, 1), side * rng.uniform(8, 9), (0.25, 0.25, rng.uniform(3, 5)), 0, 3)
        for x in np.arange(-17, 18, 6.5) + rng.uniform(-2, 2):
            if rng.random() < 0.7:
                cars.append((x + rng.uniform(-0.6, 0.6), side * rng.uniform(5.2, 6.6), rng.normal(0, 0.12)))
    cars += [(rng.uniform(5, 15), -1.8, rng.normal(0, 0.3)), (rng.uniform(-15, -5), 1.8, np.pi + rng.normal(0, 0.3))]
    for x, y, heading in cars:
        add(x, y, (4.2, 1.8, 0.75), heading, 2, lift=0.25)
        add(x, y, (2.2, 1.6, 0.5), heading, 2, lift=1.0)
    return boxes, np.array([(x, y, 4.2, 1.8, heading) for x, y, heading in cars])


def fit_scan(xyz: Array) -> Array:
    """Return the points around the middle of a scan, in the square of `HALF_SIDE`; a small one is enlarged."""
    low, high = np.percentile(xyz[:, :2], (5, 95), axis=0)
    extent = max(float((high - low).max()), 1e-6)
    scale = 1.0 if extent > HALF_SIDE / 2 else 2 * HALF_SIDE / extent
    middle = np.append((low + high) / 2, np.percentile(xyz[:, 2], 2))
    moved = (xyz - middle) * scale - [0, 0, SENSOR_HEIGHT]
    return np.ascontiguousarray(moved[np.abs(moved[:, :2]).max(axis=1) < HALF_SIDE], np.float32)


def height_labels(xyz: Array, cell: float = 2.0) -> Array:
    """Label points without truth by their height above the lowest point around: ground, low, tall."""
    row, column = np.floor((xyz[:, :2] + HALF_SIDE) / cell).astype(np.int64).T
    cells = int(2 * HALF_SIDE / cell) + 1
    lowest = np.full((cells + 2, cells + 2), np.inf)  # with an edge of one cell
    np.minimum.at(lowest, (row + 1, column + 1), xyz[:, 2])
    around = np.min([lowest[i : i + cells, j : j + cells] for i in range(3) for j in range(3)], axis=0)
    return np.digitize(xyz[:, 2] - around[row, column], (0.3, 2.0))


# ---- Pictures ------------------------------------------------------------------------------------

SHAPES = ("background", "disc", "square", "triangle")


@dataclass(frozen=True)
class Picture:
    """Pixels [3, S, S], class [S, S] and shape [S, S] (-1: none) of each pixel, boxes x1, y1, x2, y2 [K, 4]."""

    pixels: Array
    labels: Array
    shape: Array
    boxes: Array


class Pictures:
    """Makes pictures: shapes of random colours on smooth noise, or on parts of the user's own picture."""

    def __init__(self, rng: np.random.Generator, own: Path | None, side: int = 96, count: int = 5) -> None:
        self.rng, self.side, self.count = rng, side, count
        self.background = None if own is None else read_image(own).pixels

    def make(self) -> Picture:
        """Return the next picture; shapes do not overlap."""
        rng, side = self.rng, self.side
        pixels = self._background()
        labels, numbers = np.zeros((side, side), np.int64), np.full((side, side), -1)
        y, x = np.mgrid[:side, :side]
        boxes: list[tuple[float, float, float, float]] = []
        for _ in range(40):
            if len(boxes) == self.count:
                break
            radius = rng.uniform(0.08, 0.17) * side
            cx, cy = rng.uniform(radius + 1, side - radius - 2, 2)
            box = (cx - radius, cy - radius, cx + radius, cy + radius)
            if any(box[0] < b[2] + 2 and b[0] < box[2] + 2 and box[1] < b[3] + 2 and b[1] < box[3] + 2 for b in boxes):
                continue
            label = int(rng.integers(1, 4))
            inside = _inside(label, (x - cx) / radius, (y - cy) / radius)
            pixels[inside] = rng.uniform(0, 1, 3) * 0.5 + 0.5 * (pixels[inside].mean() < 0.5)
            labels[inside], numbers[inside] = label, len(boxes)
            boxes.append(box)
        pixels += rng.normal(0, 0.03, pixels.shape)
        planes = np.clip(pixels, 0, 1).transpose(2, 0, 1).astype(np.float32)
        return Picture(planes, labels, numbers, np.array(boxes, np.float32))

    def _background(self) -> Array:
        rng, side = self.rng, self.side
        if self.background is None:
            coarse = blur(np.kron(blur(rng.random((8, 8, 3)), 1.0), np.ones((4, 4, 1))), 1.7)
            fine = np.kron(coarse, np.ones((3, 3, 1)))
            return np.asarray(blur(resize(fine, (side, side)), 1.5), np.float64)
        height, width = self.background.shape[:2]
        edge = int(rng.uniform(0.5, 1.0) * min(height, width))
        top, left = rng.integers(0, height - edge + 1), rng.integers(0, width - edge + 1)
        return resize(self.background[top : top + edge, left : left + edge], (side, side)).astype(np.float64)


def _inside(label: int, x: Array, y: Array) -> Array:
    if label == 1:
        return np.asarray(x**2 + y**2 <= 1)
    if label == 2:
        return np.asarray((np.abs(x) <= 1) & (np.abs(y) <= 1))
    return np.asarray((y <= 1) & (2 * np.abs(x) <= y + 1))


# ---- Clips ---------------------------------------------------------------------------------------


def make_clip(rng: np.random.Generator, frames: int = 8, side: int = 40, dots: int = 3) -> Array:
    """Return a clip [frames, side, side] of dots that move straight on and bounce off the edges."""
    place = rng.uniform(4, side - 5, (dots, 2))
    speed = rng.uniform(1.2, 2.6, (dots, 2)) * rng.choice((-1, 1), (dots, 2))
    size = rng.uniform(2, 3.5, dots)
    y, x = np.mgrid[:side, :side]
    clip = np.zeros((frames, side, side), np.float32)
    for frame in clip:
        for (px, py), radius in zip(place, size, strict=True):
            np.maximum(frame, np.exp(-(((x - px) ** 2 + (y - py) ** 2) / radius**2)), out=frame)
        place += speed
        outside = (place < 3) | (place > side - 4)
        speed[outside] *= -1
        place = np.clip(place, 3, side - 4)
    return clip


def read_clip(path: Path, side: int = 40, most: int = 200) -> Array:
    """Return the user's clip in grey, [frames, side, side] from 0 to 1.

    Raises
    ------
    InputError
        If the file is no clip of at least nine frames.
    """
    frames = _clip_from_array(path) if path.suffix.lower() == ".npy" else _clip_with_pillow(path, most)
    if len(frames) < 9:
        raise InputError(path, f"has {len(frames)} frames; expected at least 9")
    grey = [resize(frame.reshape(*frame.shape[:2], -1).mean(axis=2), (side, side)) for frame in frames[:most]]
    clip = np.stack(grey).astype(np.float32)
    if not np.isfinite(clip).all():
        raise InputError(path, "has NaN or infinite values")
    return np.asarray((clip - clip.min()) / max(float(np.ptp(clip)), 1e-6))


def _clip_from_array(path: Path) -> Array:
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise InputError(path, f"cannot be read: {first_line(error)}") from error
    if array.ndim not in (3, 4) or array.dtype.kind not in "fiub" or min(array.shape) < 1:
        given = f"{array.dtype} of shape {list(array.shape)}"
        raise InputError(path, f"is {given}; expected numbers of shape [frames, height, width(, channels)]")
    return np.asarray(array)


def _clip_with_pillow(path: Path, most: int) -> list[Array]:
    try:
        from PIL import Image, ImageSequence
    except ImportError as error:
        raise MissingPackageError(f"{path}: reading clips", "Pillow") from error
    frames = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path) as picture:
                for frame in ImageSequence.Iterator(picture):
                    frames.append(np.asarray(frame.convert("L"), np.float32))
                    if len(frames) == most:
                        break
    except Exception as error:  # Pillow's decoders raise almost any kind on broken files
        raise InputError(path, f"cannot be read as a clip: {first_line(error)}") from error
    return frames
