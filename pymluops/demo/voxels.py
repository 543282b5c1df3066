"""From points to voxels: the arguments of get_indice_pairs and three_interpolate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pymluops.demo.arrays import Array
from pymluops.demo.scans import Scan

KERNEL = (3, 3, 3)
MAX_CELLS = 2**31 - 1
CHANNELS = 32
CHUNK = 32_768


@dataclass(frozen=True)
class Voxels:
    """The occupied cells of a grid over a scan.

    `coordinates` [M, 4] holds batch (always 0), depth, height and width of each cell, that is z, y
    and x, in ascending order. `of_point` [N] is the row of the cell that each point lies in.
    """

    size: float
    origin: Array
    shape: tuple[int, int, int]
    coordinates: Array
    counts: Array
    of_point: Array

    @property
    def centres(self) -> Array:
        """The x, y, z of the middle of each cell, in metres."""
        return self.origin + (self.coordinates[:, :0:-1] + 0.5) * self.size


def voxelise(scan: Scan) -> Voxels:
    """Put the points in cells: the smallest cell size, rounded 1-2-5, at which a cell holds two points on average."""
    origin = scan.xyz.min(axis=0)
    extent = float((scan.xyz.max(axis=0) - origin).max())
    size = _round_125((extent or 1.0) / 4096)
    while True:
        cell = np.floor((scan.xyz - origin) / size).astype(np.int64)
        width, height, depth = (int(top) + 1 for top in cell.max(axis=0))
        if depth * height * width <= MAX_CELLS:
            linear = (cell[:, 2] * height + cell[:, 1]) * width + cell[:, 0]
            occupied, of_point, counts = np.unique(linear, return_inverse=True, return_counts=True)
            if 2 * len(occupied) <= len(linear) or 8 * size > extent:
                break
        size = _round_125(1.5 * size)
    zeros = np.zeros_like(occupied)
    coordinates = np.stack(
        [zeros, occupied // (height * width), occupied // width % height, occupied % width], axis=1
    ).astype(np.int32)
    return Voxels(size, origin, (depth, height, width), coordinates, counts, of_point.reshape(-1))


def _round_125(value: float) -> float:
    """Return the smallest of ..., 0.1, 0.2, 0.5, 1, 2, 5, ... that is not below `value`."""
    power = 10.0 ** np.floor(np.log10(value))
    step = next(step for step in (1, 2, 5, 10) if step * power >= value * (1 - 1e-9))
    return float(np.format_float_positional(step * power, precision=3, fractional=False))


def neighbour_table(indice_pairs: Array, indice_num: Array, rows: int) -> Array:
    """Return [K, rows]: for each kernel cell and each site the row of the site at that place, or -1."""
    table = np.full((len(indice_num), rows), -1, dtype=np.int32)
    for k, count in enumerate(indice_num):
        table[k, indice_pairs[k, 1, :count]] = indice_pairs[k, 0, :count]
    return table


def nearest_voxels(scan: Scan, voxels: Voxels, neighbours: Array) -> tuple[Array, Array]:
    """Return the three cells nearest to each point and their inverse-distance weights, [1, N, 3] both.

    Candidates are the point's own cell and the occupied ones around it. They are read from the
    neighbour table, so the work is 27 distances a point and no search. A point with fewer than
    three candidates gets weight 0 for the others.
    """
    count = len(scan.xyz)
    indices = np.empty((1, count, 3), dtype=np.int32)
    weights = np.empty((1, count, 3), dtype=np.float32)
    centres = voxels.centres
    for start in range(0, count, CHUNK):
        part = slice(start, min(start + CHUNK, count))
        own = voxels.of_point[part]
        candidates = neighbours[:, own]  # [27, points]
        offset = (centres[candidates] - scan.xyz[part]) / voxels.size
        squared = np.where(candidates >= 0, np.einsum("kpc,kpc->kp", offset, offset), np.inf)
        best = np.argpartition(squared, 2, axis=0)[:3]
        best = np.take_along_axis(best, np.argsort(np.take_along_axis(squared, best, 0), axis=0, kind="stable"), 0)
        distance = np.sqrt(np.take_along_axis(squared, best, 0))
        inverse = 1.0 / (distance + 1e-3)
        found = np.isfinite(distance)
        indices[0, part] = np.where(found, np.take_along_axis(candidates, best, 0), own).T
        weights[0, part] = (np.where(found, inverse, 0.0) / inverse.sum(axis=0)).T
    return indices, weights


def voxel_features(scan: Scan, voxels: Voxels, neighbours: Array) -> tuple[Array, list[str]]:
    """Return [1, `CHANNELS`, M] features of the cells, and the channels' names.

    Channel 0 is the mean height of the points in metres. Then come the means of the scan's other
    columns, the number of points, the number of occupied neighbours, and waves of the position at
    growing wavelengths.
    """
    middle = _means(scan.xyz, voxels)
    channels = [middle[:, 2], *_means(scan.extras[:, :8], voxels).T]
    names = ["z", *scan.names[3 : 3 + scan.extras[:, :8].shape[1]]]
    channels += [np.log2(voxels.counts), np.count_nonzero(neighbours >= 0, axis=0) / len(neighbours)]
    names += ["points (log2)", "neighbours"]
    octave = 0
    while len(channels) < CHANNELS:
        phase = 2 * np.pi * (middle - voxels.origin) / (voxels.size * 4 * 2**octave)
        waves = np.concatenate([np.sin(phase), np.cos(phase)], axis=1)
        channels += list(waves.T)
        names += [f"{wave} {axis} {octave}" for wave in ("sin", "cos") for axis in "xyz"]
        octave += 1
    features = np.stack(channels[:CHANNELS])[None].astype(np.float32)
    return np.ascontiguousarray(features), names[:CHANNELS]


def _means(values: Array, voxels: Voxels) -> Array:
    sums = [np.bincount(voxels.of_point, weights=column, minlength=len(voxels.counts)) for column in values.T]
    return np.stack(sums, axis=1) / voxels.counts[:, None] if sums else np.empty((len(voxels.counts), 0))
