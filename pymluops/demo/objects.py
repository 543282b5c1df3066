"""From voxels to boxes: points above the ground, groups of neighbours, and candidate boxes around each group.

Lengths are in metres and belong to what stands in a street or a room. Places are local: they count
from the lowest corner of the bulk of the points, so that float32 holds them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pymluops.demo.arrays import Array
from pymluops.demo.bulk import bulk
from pymluops.demo.scans import Scan

MAX_VOXELS = 150_000  # one a point at the most
MAX_POINTS = 8
MAX_CELLS = 4096
NEIGHBOURS = 32
RADIUS = 2.5
LOWEST = 0.3
HIGHEST = 2.1
COLUMN = 1.5
MAX_COLUMNS = 256
MIN_POINTS = 25
MIN_HEIGHT = 0.4
MAX_LENGTH = 8.0
MAX_GROUPS = 150
HEADINGS = 9
TRIMMED = 0.04
MARGIN = 0.15
THRESHOLD = 0.1


@dataclass(frozen=True)
class GridTask:
    """The arguments of voxelization; `origin` is the lowest corner of the grid in the scan's own coordinates."""

    origin: Array
    size: float
    points: Array
    voxel_size: Array
    coors_range: Array


@dataclass(frozen=True)
class Candidates:
    """Boxes [N, 7] (centre, sizes, heading) with scores [N], and the group that each was made for."""

    boxes: Array
    scores: Array
    group: Array


def grid_task(scan: Scan, size: float) -> GridTask:
    """Return the points of a scan with their first other column, and a grid over their bulk."""
    origin, high = bulk(scan.xyz)
    cells = np.minimum(np.floor((high - origin) / size) + 1, MAX_CELLS)
    points = np.concatenate([scan.xyz - origin, scan.extras[:, :1]], axis=1).astype(np.float32)
    voxel_size = np.full(3, size, np.float32)
    coors_range = np.concatenate([np.zeros(3, np.float32), cells.astype(np.float32) * voxel_size])
    return GridTask(origin, size, points, voxel_size, coors_range)


def mean_points(voxels: Array, counts: Array) -> Array:
    """Return the mean place of each voxel's points, [M, 3] in float32."""
    used = np.arange(voxels.shape[1]) < counts[:, None]
    sums = np.where(used[:, :, None], voxels[:, :, :3], 0).sum(axis=1, dtype=np.float64)
    return np.asarray(sums / counts[:, None], dtype=np.float32)


def heights_above_ground(places: Array) -> Array:
    """Return how far each place lies above the ground around it.

    The ground of a column is its tenth lowest place of a hundred. The lowest ground of the column
    and those around it counts: the top of a table is no ground.
    """
    x_y, z = places[:, :2].astype(np.float64), places[:, 2].astype(np.float64)
    extent = float(np.ptp(x_y, axis=0).max())
    column = np.floor((x_y - x_y.min(axis=0)) / max(min(COLUMN, extent / 3), extent / MAX_COLUMNS, 1e-6)).astype(int)
    width, depth = column.max(axis=0) + 1
    number = column[:, 0] * depth + column[:, 1]
    order = np.lexsort((z, number))
    first, count = np.unique(number[order], return_index=True, return_counts=True)[1:]
    ground = np.full((width + 2, depth + 2), np.inf)
    inner = np.full(width * depth, np.inf)
    inner[number[order][first]] = z[order][first + count // 10]
    ground[1:-1, 1:-1] = inner.reshape(width, depth)
    lowest = np.minimum.reduce([ground[i : i + width, j : j + depth] for i, j in np.ndindex(3, 3)])
    return np.asarray(z - lowest[column[:, 0], column[:, 1]])


def may_be_objects(places: Array, heights: Array, size: float) -> Array:
    """Return which places may belong to an object: above the ground, and not below a tall thing.

    A column with places higher than an object is a wall, a tree or a pole.
    """
    column = np.floor((places[:, :2] - places[:, :2].min(axis=0)) / (2 * size)).astype(np.int64) + 1
    width, depth = column.max(axis=0) + 2
    tall = np.zeros((width, depth), bool)
    tall[tuple(column[heights > HIGHEST].T)] = True
    return np.asarray((heights > LOWEST) & (heights < HIGHEST) & ~tall[column[:, 0], column[:, 1]])


def group_neighbours(neighbours: Array, chosen: Array) -> Array:
    """Return a number for each place that all places of its group share, -1 for places that are not chosen.

    Two chosen places are in one group if a chain of neighbours links them. Each takes the lowest
    number of its neighbours until nothing changes.
    """
    count = len(chosen)
    one = np.repeat(np.arange(count), neighbours.shape[1])
    other = neighbours.reshape(-1).astype(np.int64)
    linked = chosen[one] & chosen[other] & (one != other)
    one, other = one[linked], other[linked]
    label = np.arange(count)
    while True:
        lowest = np.minimum(label[one], label[other])
        new = label.copy()
        np.minimum.at(new, label[one], lowest)
        np.minimum.at(new, label[other], lowest)
        while not np.array_equal(new, new[new]):
            new = new[new]
        new = new[label]
        if np.array_equal(new, label):
            return np.where(chosen, label, -1)
        label = new


def candidate_boxes(voxels: Array, counts: Array, groups: Array) -> Candidates:
    """Return boxes around each group that may be an object: every heading that fits about as well as the best.

    A box holds all points of its group, or leaves out the outermost ones. Its score is the share
    of points inside, times how close to its sides they lie: a LiDAR sees the surface of a thing.
    """
    used = np.arange(voxels.shape[1]) < counts[:, None]
    names, sizes = np.unique(groups[groups >= 0], return_counts=True)
    boxes: list[Array] = []
    scores: list[Array] = []
    owner: list[Array] = []
    for name in names[np.argsort(-sizes, kind="stable")]:
        rows = np.flatnonzero(groups == name)
        points = voxels[rows][used[rows]][:, :3].astype(np.float64)
        found = _boxes_around(points) if len(points) >= MIN_POINTS else None
        if found is not None:
            boxes.append(found[0])
            scores.append(found[1])
            owner.append(np.full(len(found[1]), len(owner)))
        if len(owner) == MAX_GROUPS:
            break
    if not boxes:
        return Candidates(np.empty((0, 7), np.float32), np.empty(0, np.float32), np.empty(0, np.int64))
    return Candidates(
        np.concatenate(boxes).astype(np.float32), np.concatenate(scores).astype(np.float32), np.concatenate(owner)
    )


def _boxes_around(points: Array) -> tuple[Array, Array] | None:
    """Return boxes [K, 7] and scores [K] of one group's points, None for what is too long or too flat."""
    low_z, high_z = points[:, 2].min(), points[:, 2].max()
    headings = np.arange(HEADINGS) * (np.pi / 2 / HEADINGS)
    cos, sin = np.cos(headings)[:, None], np.sin(headings)[:, None]
    turned = np.stack([cos * points[:, 0] + sin * points[:, 1], cos * points[:, 1] - sin * points[:, 0]], axis=2)
    least = np.ptp(turned, axis=1).max(axis=1).min()
    if high_z - low_z < MIN_HEIGHT or least > MAX_LENGTH:
        return None
    boxes, scores = [], []
    for trimmed in (0.0, TRIMMED):
        low, high = np.quantile(turned, [trimmed, 1 - trimmed], axis=1)  # [headings, 2]
        size = np.maximum(high - low, 0.1)
        to_side = np.minimum(turned - low[:, None], high[:, None] - turned).min(axis=2)  # negative outside
        score = np.where(to_side >= -1e-9, np.exp(-np.abs(to_side) / MARGIN), 0).mean(axis=1)
        middle = (low + high) / 2
        centre = middle[:, :1] * np.hstack([cos, sin]) + middle[:, 1:] * np.hstack([-sin, cos])
        area = size.prod(axis=1)
        fits = area <= 2 * area.min()
        swap = size[:, 0] < size[:, 1]  # the longer side goes along the heading
        size = np.where(swap[:, None], size[:, ::-1], size)
        heading = headings + np.where(swap, np.pi / 2, 0)
        height = np.full(len(headings), (low_z + high_z) / 2), np.full(len(headings), high_z - low_z)
        boxes.append(np.column_stack([centre, height[0], size, height[1], heading])[fits])
        scores.append(score[fits])
    return np.concatenate(boxes), np.concatenate(scores)
