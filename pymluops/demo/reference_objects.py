"""NumPy references of voxelization, ball_query, boxes_iou3d and nms3d, written from their definitions.

Cells and distances are computed in float32 as documented, so their results can be compared bit by
bit. Overlaps of boxes are computed in float64, and come with what rounding may change.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pymluops.demo.arrays import Array

BORDER = 0.01
"""So far around a box a corner of another one still counts as inside."""
CHUNK = 16_384


class GridVoxels(NamedTuple):
    """The four results of voxelization."""

    voxels: Array
    coors: Array
    num_points_per_voxel: Array
    voxel_num: Array


class Overlaps(NamedTuple):
    """Overlaps in float64, and how far rounding in float32 may move each."""

    value: Array
    allowed: Array


def voxelization(points: Array, voxel_size: Array, coors_range: Array, max_points: int, max_voxels: int) -> GridVoxels:
    """Voxels in the order of their first points, each with its first points; points outside are left out."""
    shape = np.floor((coors_range[3:] - coors_range[:3]) / voxel_size + np.float32(0.5)).astype(np.int64)
    cell = np.floor((points[:, :3] - coors_range[:3]) / voxel_size)
    inside = np.flatnonzero(((cell >= 0) & (cell < shape)).all(axis=1))
    x, y, z = cell[inside].astype(np.int64).T
    linear = (z * shape[1] + y) * shape[0] + x
    _, first, of_point = np.unique(linear, return_index=True, return_inverse=True)
    place = np.argsort(np.argsort(first, kind="stable"), kind="stable")  # the voxel that each cell becomes
    of_point = place[of_point.reshape(-1)]

    order = np.argsort(of_point, kind="stable")
    starts = np.searchsorted(of_point[order], np.arange(len(first)))
    number = np.empty(len(inside), np.int64)  # of a point within its voxel
    number[order] = np.arange(len(inside)) - starts[of_point[order]]
    kept = (of_point < max_voxels) & (number < max_points)

    voxels = np.zeros((max_voxels, max_points, points.shape[1]), points.dtype)
    voxels[of_point[kept], number[kept]] = points[inside[kept]]
    coors, counts = np.zeros((max_voxels, 3), np.int32), np.zeros(max_voxels, np.int32)
    coors[of_point[kept]] = np.stack([z, y, x], axis=1)[kept]
    np.add.at(counts, of_point[kept], 1)
    return GridVoxels(voxels, coors, counts, np.array([min(len(first), max_voxels)], np.int32))


def ball_query(places: Array, radius: float, nsample: int) -> Array:
    """For each place the first `nsample` places nearer than the radius, [M, nsample]; the first one fills the rest."""
    one, other = _near_pairs(places, radius)
    order = np.lexsort((other, one))
    one, other = one[order], other[order]
    starts = np.searchsorted(one, np.arange(len(places)))  # a place is near itself: none is without
    result = np.repeat(other[starts][:, None], nsample, axis=1).astype(np.int32)
    number = np.arange(len(one)) - starts[one]
    kept = number < nsample
    result[one[kept], number[kept]] = other[kept]
    return result


def _near_pairs(places: Array, radius: float) -> tuple[Array, Array]:
    """Return the pairs nearer than the radius in both orders: places are sorted into cells a little larger than it."""
    limit = np.square(np.float32(radius))
    cell = np.floor((places - places.min(axis=0)).astype(np.float64) / (radius * 1.001)).astype(np.int64) + 1
    _, depth, height = cell.max(axis=0) + 2
    number = (cell[:, 0] * depth + cell[:, 1]) * height + cell[:, 2]
    order = np.argsort(number, kind="stable")
    ordered = number[order]
    found = []
    for step in np.ndindex(3, 3, 3):
        to = number + ((step[0] - 1) * depth + step[1] - 1) * height + step[2] - 1
        low, high = np.searchsorted(ordered, to), np.searchsorted(ordered, to, side="right")
        count = high - low
        one = np.repeat(np.arange(len(places)), count)
        rest = np.arange(len(one)) - np.repeat(np.cumsum(count) - count, count)
        other = order[np.repeat(low, count) + rest]
        x, y, z = np.square(places[other] - places[one]).T
        near = (x + y) + z < limit
        found.append((one[near], other[near]))
    return np.concatenate([pair[0] for pair in found]), np.concatenate([pair[1] for pair in found])


def boxes_iou3d(boxes_a: Array, boxes_b: Array) -> Overlaps:
    """Common volume by the volume of both together, [N, M]."""
    return _all_pairs(boxes_a, boxes_b, volumes=True)


def nms3d(boxes: Array, scores: Array, threshold: float) -> tuple[Array, Overlaps]:
    """The kept boxes in the order of their scores, and the overlaps from above that decide it."""
    overlaps = _all_pairs(boxes, boxes, volumes=False)
    left = np.argsort(-scores, kind="stable")
    kept = []
    while len(left):
        kept.append(left[0])
        left = left[1:][overlaps.value[left[0], left[1:]] <= threshold]
    return np.array(kept, np.int32), overlaps


def _all_pairs(boxes_a: Array, boxes_b: Array, *, volumes: bool) -> Overlaps:
    """Overlaps of all pairs; those whose circles around them do not meet have none."""
    a, b = boxes_a.astype(np.float64), boxes_b.astype(np.float64)
    reach = (np.hypot(a[:, 3], a[:, 4])[:, None] + np.hypot(b[:, 3], b[:, 4])) / 2 + 2 * BORDER
    near = np.hypot(a[:, None, 0] - b[:, 0], a[:, None, 1] - b[:, 1]) <= reach
    value, allowed = np.zeros(near.shape), np.full(near.shape, 1e-6)
    one, other = np.nonzero(near)
    for start in range(0, len(one), CHUNK):
        i, j = one[start : start + CHUNK], other[start : start + CHUNK]
        value[i, j], allowed[i, j] = _overlaps(a[i], b[j], volumes)
    return Overlaps(value, allowed)


def _overlaps(a: Array, b: Array, volumes: bool) -> Overlaps:
    """Return the overlaps of the boxes in the same rows.

    Rounding decides whether a corner just at the border counts, so the overlap is computed with
    the border on both sides of that as well.
    """
    rounding = 16 * float(np.finfo(np.float32).eps) * np.abs(np.concatenate([a, b], axis=1)).max(axis=1)
    size = slice(3, 6) if volumes else slice(3, 5)
    both = a[:, size].prod(axis=1) + b[:, size].prod(axis=1)
    height: Array | float = 1.0
    if volumes:
        top, bottom = (np.stack([box[:, 2] + sign * box[:, 5] / 2 for box in (a, b)]) for sign in (1, -1))
        height = np.clip(top.min(axis=0) - bottom.max(axis=0), 0, None)
    part = []
    for border in (BORDER - rounding, np.full(len(a), BORDER), BORDER + rounding):
        common = _common_area(a, b, border) * height
        part.append(common / np.maximum(both - common, 1e-6 if volumes else 1e-8))
    moved = np.max(part, axis=0) - np.min(part, axis=0)
    lengths = np.concatenate([a[:, size], b[:, size]], axis=1).min(axis=1)
    return Overlaps(part[1], moved + 8 * rounding / np.maximum(lengths, rounding))


def _common_area(a: Array, b: Array, border: Array) -> Array:
    """Return the area of the polygon through the crossings of the sides and the corners in the other box."""
    apart = b[:, :2] - a[:, :2]
    corners_a, corners_b = _corners(a), _corners(b) + apart[:, None]
    sides_a, sides_b = (np.roll(corners, -1, axis=1) - corners for corners in (corners_a, corners_b))
    # Sides cross where the ends of each lie on both sides of the other.
    first = _cross(sides_a[:, :, None], corners_b[:, None] - corners_a[:, :, None])  # [P, 4 of a, 4 of b]
    second = _cross(sides_a[:, :, None], np.roll(corners_b, -1, axis=1)[:, None] - corners_a[:, :, None])
    third = _cross(sides_b[:, None], corners_a[:, :, None] - corners_b[:, None])
    fourth = _cross(sides_b[:, None], np.roll(corners_a, -1, axis=1)[:, :, None] - corners_b[:, None])
    crosses = (first * second < 0) & (third * fourth < 0)
    share = np.divide(first, first - second, out=np.zeros_like(first), where=crosses)
    crossings = corners_b[:, None] + sides_b[:, None] * share[..., None]
    points = np.concatenate([crossings.reshape(len(a), 16, 2), corners_b, corners_a], axis=1)
    counts = np.concatenate(
        [
            crosses.reshape(len(a), 16),
            _holds(a, corners_b, border),
            _holds(b, corners_a - apart[:, None], border),
        ],
        axis=1,
    )
    number = counts.sum(axis=1)
    mean = np.where(counts[..., None], points, 0).sum(axis=1) / np.maximum(number, 1)[:, None]
    around = points - mean[:, None]
    angle = np.where(counts, np.arctan2(around[..., 1], around[..., 0]), np.inf)
    order = np.argsort(angle, axis=1, kind="stable")
    around = np.take_along_axis(around, order[..., None], axis=1)
    real = np.take_along_axis(counts, order, axis=1)
    around = np.where(real[..., None], around, around[:, :1])  # the rest repeats the first point
    area = np.abs(_cross(around, np.roll(around, -1, axis=1)).sum(axis=1)) / 2
    return np.where(number >= 3, area, 0.0)


def _corners(boxes: Array) -> Array:
    """Return the corners from above, [N, 4, 2], from the centre of each box."""
    along = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * boxes[:, None, 3:5] / 2
    cos, sin = np.cos(boxes[:, 6])[:, None], np.sin(boxes[:, 6])[:, None]
    return np.stack([along[..., 0] * cos - along[..., 1] * sin, along[..., 0] * sin + along[..., 1] * cos], axis=-1)


def _holds(boxes: Array, points: Array, border: Array) -> Array:
    """Return whether each point [N, P, 2], from the centre of its box, lies in it or within the border around it."""
    cos, sin = np.cos(boxes[:, 6])[:, None], np.sin(boxes[:, 6])[:, None]
    x, y = points[..., 0] * cos + points[..., 1] * sin, points[..., 1] * cos - points[..., 0] * sin
    reach = boxes[:, 3:5] / 2 + border[:, None]
    return np.asarray((np.abs(x) < reach[:, :1]) & (np.abs(y) < reach[:, 1:]))


def _cross(a: Array, b: Array) -> Array:
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])
