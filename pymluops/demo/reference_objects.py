"""NumPy references of voxelization, ball_query, boxes_iou3d and nms3d, written from their definitions.

Cells and distances are computed in float32 as documented, so their results can be compared bit by
bit. Overlaps of boxes are computed in float64, and come with what rounding may change.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pymluops.demo.arrays import Array

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
    reach = (np.hypot(a[:, 3], a[:, 4])[:, None] + np.hypot(b[:, 3], b[:, 4])) / 2
    near = np.hypot(a[:, None, 0] - b[:, 0], a[:, None, 1] - b[:, 1]) <= reach
    value, allowed = np.zeros(near.shape), np.full(near.shape, 1e-6)
    one, other = np.nonzero(near)
    for start in range(0, len(one), CHUNK):
        i, j = one[start : start + CHUNK], other[start : start + CHUNK]
        value[i, j] = _overlaps(a[i], b[j], volumes)
    return Overlaps(value, allowed)


def _overlaps(a: Array, b: Array, volumes: bool) -> Array:
    """Return the overlaps of the boxes in the same rows."""
    size = slice(3, 6) if volumes else slice(3, 5)
    both = a[:, size].prod(axis=1) + b[:, size].prod(axis=1)
    common = _common_area(a, b)
    if volumes:
        top, bottom = (np.stack([box[:, 2] + sign * box[:, 5] / 2 for box in (a, b)]) for sign in (1, -1))
        common = common * np.clip(top.min(axis=0) - bottom.max(axis=0), 0, None)
    return _share(common, both - common)


def _common_area(a: Array, b: Array) -> Array:
    """Return the area of b within a, seen from above, by Green's theorem.

    With a around the origin, |x| <= w and |y| <= h, it is minus the sum over the sides of b of the
    integral of y, kept within h, over the part with |x| <= w.
    """
    half_width, half_height = a[:, 3:4] / 2, a[:, 4:5] / 2
    x, y = np.moveaxis(_corners(b) + (b[:, :2] - a[:, :2])[:, None], -1, 0)
    cos, sin = np.cos(a[:, 6:]), np.sin(a[:, 6:])
    x, y = x * cos + y * sin, y * cos - x * sin
    to_x, to_y = np.roll(x, -1, axis=1), np.roll(y, -1, axis=1)
    begin, end = (np.clip(one, -half_width, half_width) for one in (x, to_x))
    first, last = (y + _share(one - x, to_x - x) * (to_y - y) for one in (begin, end))
    low, high = (np.clip(one, -half_height, half_height) for one in (first, last))
    mean = low + (high - low) * _share((high - low) / 2 + (last - high), last - first)
    return np.asarray(np.clip((mean * (begin - end)).sum(axis=1), 0, None))


def _share(part: Array, whole: Array) -> Array:
    """Divide, between 0 and 1; 0 where there is nothing to divide by."""
    return np.clip(np.divide(part, whole, out=np.zeros_like(part), where=whole != 0), 0, 1)


def _corners(boxes: Array) -> Array:
    """Return the corners from above, [N, 4, 2], from the center of each box."""
    along = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * boxes[:, None, 3:5] / 2
    cos, sin = np.cos(boxes[:, 6])[:, None], np.sin(boxes[:, 6])[:, None]
    return np.stack([along[..., 0] * cos - along[..., 1] * sin, along[..., 0] * sin + along[..., 1] * cos], axis=-1)
