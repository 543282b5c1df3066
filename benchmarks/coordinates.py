"""Sites of sparse convolutions: drawn evenly, or left in a grid by a modelled ring scanner. All rows are distinct."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Sites = npt.NDArray[np.int32]
Points = npt.NDArray[np.float32]
Space = tuple[int, ...]

RINGS, AZIMUTHS = 32, 1080
SENSOR_HEIGHT = 1.8
#: The scanned space in metres: depth is up, height and width are along the ground, the sensor in
#: the middle.
LOW, HIGH = np.array([-3.0, -54.0, -54.0], np.float32), np.array([5.2, 54.0, 54.0], np.float32)
DRIVEN = 0.5  # metres between one turn of the scanner and the next
NOISE = 0.02


def uniform_sites(rows: int, batch: int, space: Space, rng: np.random.Generator) -> Sites:
    """Draw `rows` distinct sites evenly; they are ordered by batch and in no order within one."""
    cells = int(np.prod(space, dtype=np.int64))
    if rows > batch * cells:
        raise ValueError(f"{rows} sites do not fit into {batch * cells} cells")
    kept = np.zeros(0, np.int64)
    while len(kept) < rows:
        drawn = rng.integers(0, batch * cells, rows - len(kept) + rows // 4 + 16)
        kept = np.unique(np.concatenate([kept, drawn]))
    chosen = rng.permutation(kept)[:rows]
    chosen = chosen[np.argsort(chosen // cells, kind="stable")]
    return _split(chosen, space)


def lidar_sites(rows: int, batch: int, space: Space) -> Sites:
    """Return the cells that a scanner's points fall into, in the order in which it saw them, `rows` in all batches."""
    parts = _shares(rows, batch)
    return _joined([_scanned(part, n, space) for n, part in enumerate(parts)], space)


def strided_lidar_sites(rows: int, batch: int, space: Space) -> Sites:
    """Return sites as two convolution layers with stride 2 leave them of a scan in a four times finer grid.

    Such layers number their outputs in ascending order, so these rows are ascending.
    """
    fine = (4 * space[0] - 3, 4 * space[1], 4 * space[2])
    return _joined([_coarser(part, n, fine, space) for n, part in enumerate(_shares(rows, batch))], space)


@functools.lru_cache(maxsize=16)
def _scanned(rows: int, seed: int, space: Space) -> npt.NDArray[np.int64]:
    found = np.zeros(0, np.int64)
    for ids in _turns(seed, space):
        found = np.concatenate([found, ids])
        _, first = np.unique(found, return_index=True)
        found = found[np.sort(first)]
        if len(found) >= rows:
            break
    return _thinned(found, rows, seed)


@functools.lru_cache(maxsize=16)
def _coarser(rows: int, seed: int, fine: Space, space: Space) -> npt.NDArray[np.int64]:
    middle = tuple((size + 1) // 2 for size in fine)
    grid, coarse = np.zeros(middle, bool), np.zeros(space, bool)
    for ids in _turns(seed, fine):
        _mark(grid, np.unravel_index(ids, fine))
        coarse.fill(False)
        _mark(coarse, np.nonzero(grid))
        if np.count_nonzero(coarse) >= rows:
            break
    return _thinned(np.flatnonzero(coarse), rows, seed)


def _mark(grid: npt.NDArray[np.bool_], cells: tuple[npt.NDArray[np.int64], ...]) -> None:
    """Mark the outputs of a convolution over these cells with filter 3, stride 2 and padding 1.

    On each axis a cell i reaches the outputs i/2 rounded down and rounded up.
    """
    flat = grid.reshape(-1)
    for up in np.ndindex(2, 2, 2):
        out = [(axis + shift) // 2 for axis, shift in zip(cells, up, strict=True)]
        inside = np.logical_and.reduce([axis < size for axis, size in zip(out, grid.shape, strict=True)])
        flat[np.ravel_multi_index(tuple(axis[inside] for axis in out), grid.shape)] = True


def _turns(seed: int, space: Space) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the cells of one turn of the scanner after the other, each a little further along the street."""
    rng = np.random.default_rng(seed)
    scene = _scene(rng)
    most = 400  # with so many turns something is wrong with the wanted number
    for turn in range(most):
        points = _turn(rng, scene, DRIVEN * turn)
        scaled = (points - LOW) / (HIGH - LOW) * np.array(space, np.float32)
        cells = np.floor(scaled).astype(np.int64)
        cells = cells[((cells >= 0) & (cells < space)).all(axis=1)]
        yield (cells[:, 0] * space[1] + cells[:, 1]) * space[2] + cells[:, 2]
    raise ValueError(f"the modelled scan has not enough sites in {list(space)} after {most} turns")


def _scene(rng: np.random.Generator) -> tuple[Points, Points]:
    """Return low and high corners of boxes (up, along the street, across it): houses, cars, poles."""
    low: list[tuple[float, ...]] = []
    high: list[tuple[float, ...]] = []

    def add(count: int, length: float, width: float, height: float, near: float, far: float) -> None:
        for _ in range(count):
            across = rng.choice((-1.0, 1.0)) * rng.uniform(near, far)
            along, grown = rng.uniform(-60.0, 110.0), rng.uniform(0.8, 1.2)
            half = grown * length / 2, grown * width / 2
            low.append((-SENSOR_HEIGHT, along - half[0], across - half[1]))
            high.append((-SENSOR_HEIGHT + grown * height, along + half[0], across + half[1]))

    add(16, 14.0, 9.0, 8.0, 14.0, 45.0)
    add(20, 4.4, 1.8, 1.5, 2.5, 8.0)
    add(20, 0.3, 0.3, 6.0, 8.0, 12.0)
    return np.array(low, np.float32), np.array(high, np.float32)


def _turn(rng: np.random.Generator, scene: tuple[Points, Points], driven: float) -> Points:
    """Return the points of one turn, relative to where the scan began, ring by ring for each azimuth."""
    elevation = np.deg2rad(np.linspace(-30.7, 10.7, RINGS))
    azimuth = np.linspace(-np.pi, np.pi, AZIMUTHS, endpoint=False) + rng.uniform(0, 2 * np.pi / AZIMUTHS)
    theta, phi = np.meshgrid(azimuth, elevation, indexing="ij")
    rays = np.stack([np.sin(phi), np.cos(phi) * np.cos(theta), np.cos(phi) * np.sin(theta)], axis=-1)
    rays = rays.reshape(-1, 3).astype(np.float32)
    rays[rays == 0] = 1e-9
    here = np.array([0, driven, 0], np.float32)
    distance = _ground(rays, here)
    for low, high in zip(*scene, strict=True):
        first, second = (low - here) / rays, (high - here) / rays
        enter = np.minimum(first, second).max(axis=1)
        hit = (enter <= np.maximum(first, second).min(axis=1)) & (enter > 0)
        distance = np.where(hit & (enter < distance), enter, distance)
    seen = distance < 75.0
    reached = distance[seen] + rng.normal(0, NOISE, int(seen.sum())).astype(np.float32)
    return np.asarray(rays[seen] * reached[:, None] + here, np.float32)


def _ground(rays: Points, here: Points) -> Points:
    """Return how far each ray goes to the ground, which is not quite even; infinity where it looks up."""
    flat = np.where(rays[:, 0] < 0, -SENSOR_HEIGHT / rays[:, 0], np.float32(np.inf))
    reach = np.where(np.isfinite(flat), flat, 0)[:, None] * rays[:, 1:] + here[1:]
    bump = 0.15 * np.sin(0.21 * reach[:, 0] + 1) * np.cos(0.17 * reach[:, 1])
    return np.asarray(flat * (1 - bump / SENSOR_HEIGHT), np.float32)


def _thinned(ids: npt.NDArray[np.int64], rows: int, seed: int) -> npt.NDArray[np.int64]:
    """Leave out cells at random until `rows` are left; the order stays."""
    kept = np.random.default_rng(seed + 1).permutation(len(ids))[:rows]
    return ids[np.sort(kept)]


def _shares(rows: int, batch: int) -> list[int]:
    return [rows // batch + (n < rows % batch) for n in range(batch)]


def _joined(parts: list[npt.NDArray[np.int64]], space: Space) -> Sites:
    cells = int(np.prod(space, dtype=np.int64))
    return _split(np.concatenate([ids + n * cells for n, ids in enumerate(parts)]), space)


def _split(ids: npt.NDArray[np.int64], space: Space) -> Sites:
    """Turn numbers of cells, the batch above them, into rows (batch, depth, height, width)."""
    cells = int(np.prod(space, dtype=np.int64))
    inner = np.unravel_index(ids % cells, space)
    return np.stack([ids // cells, *inner], axis=1).astype(np.int32)
