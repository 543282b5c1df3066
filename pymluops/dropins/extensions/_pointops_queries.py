"""Neighbours and samples of pointops: clouds one after the other, whose ends are given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from pymluops.mmcv._kernels import run
from pymluops.mmcv._tensors import (
    check_floats,
    check_int32,
    check_shape,
    compute_type,
    dense,
    extension_function,
    refuse,
)
from pymluops.mmcv._torch import Tensor, load_torch
from pymluops.mmcv.knn import knn_forward
from pymluops.ops._described import described

__all__ = [
    "ball_query_cuda",
    "farthest_point_sampling_cuda",
    "furthestsampling_cuda",
    "knn_query_cuda",
    "knnquery_cuda",
    "random_ball_query_cuda",
]

#: The squared distance of a neighbour that is missing, and its number.
_FAR, _NONE = 1e10, -1

#: How many distances are computed at once.
_MOST = 1 << 22


class _Cloud(NamedTuple):
    """The rows of one cloud, and those of its queries."""

    points: slice
    queries: slice


def _ends(name: str, argument: str, offset: Tensor, rows: int) -> list[int]:
    """Return the ends of the clouds, which are checked."""
    check_int32(name, **{argument: offset})
    check_shape(name, argument, offset, (None,))
    ends: list[int] = offset.tolist()
    if ends != sorted(ends) or (ends and ends[0] < 0) or (ends[-1] if ends else 0) != rows:
        raise refuse(name, argument, f"ascending ends of clouds, the last {rows}", ends)
    return ends


def _clouds(name: str, offset: Tensor, rows: int, new_offset: Tensor, new_rows: int) -> list[_Cloud]:
    ends, new_ends = _ends(name, "offset", offset, rows), _ends(name, "new_offset", new_offset, new_rows)
    if len(ends) != len(new_ends):
        raise refuse(name, "new_offset", f"{len(ends)} ends, as offset has", len(new_ends))
    starts, new_starts = [0, *ends[:-1]], [0, *new_ends[:-1]]
    found = zip(starts, ends, new_starts, new_ends, strict=True)
    return [_Cloud(slice(*row[:2]), slice(*row[2:])) for row in found]


def _check_query(
    name: str, m: int, nsample: int, xyz: Tensor, new_xyz: Tensor, idx: Tensor, dist2: Tensor
) -> tuple[Tensor, Tensor]:
    """Check the arguments that all queries have; return points and centres as the kernels take them."""
    dtype = check_floats(name, xyz=xyz, new_xyz=new_xyz)
    check_floats(name, dist2=dist2)
    check_int32(name, idx=idx)
    for argument, number in (("m", m), ("nsample", nsample)):
        if number < 0:
            raise refuse(name, argument, "at least 0", number)
    check_shape(name, "xyz", xyz, (None, 3))
    check_shape(name, "new_xyz", new_xyz, (m, 3))
    check_shape(name, "idx", idx, (m, nsample))
    check_shape(name, "dist2", dist2, (m, nsample))
    kind = compute_type(dtype, load_torch().float32)
    return dense(xyz, kind), dense(new_xyz, kind)


def _nearest(name: str, missing: int | None, arguments: tuple[Any, ...]) -> None:
    m, nsample, xyz, new_xyz, offset, new_offset, idx, dist2 = arguments
    points, centres = _check_query(name, m, nsample, xyz, new_xyz, idx, dist2)
    clouds = _clouds(name, offset, len(xyz), new_offset, m)
    for cloud in clouds:
        own, queries, first = points[cloud.points], centres[cloud.queries], cloud.points.start
        if not len(queries):
            continue
        k = min(nsample, len(own))
        numbers, distances = idx.detach()[cloud.queries], dist2.detach()[cloud.queries]
        numbers.fill_(first if missing is None else missing)
        distances.fill_(_FAR)
        if k:
            squared, rows = run(described("knn"), (own[None], queries[None], None, None), (k,))
            numbers[:, :k] = rows[0] + first
            distances[:, :k] = squared[0].to(distances.dtype)


@extension_function
def knn_query_cuda(
    m: int,
    nsample: int,
    xyz: Tensor,
    new_xyz: Tensor,
    offset: Tensor,
    new_offset: Tensor,
    idx: Tensor,
    dist2: Tensor,
) -> None:
    """Write the rows [m, nsample] of the nearest points of the same cloud, -1 where there are fewer."""
    _nearest("knn_query_cuda", _NONE, (m, nsample, xyz, new_xyz, offset, new_offset, idx, dist2))


@extension_function
def knnquery_cuda(*args: Any) -> None:
    """Do so in either order of the arguments.

    Point Transformer has m, nsample, xyz, new_xyz, offset, new_offset, idx, dist2; a missing point
    is the first one of the cloud. PointWeb and PAConv have b, n, m, nsample, xyz [b, n, 3],
    new_xyz [b, m, 3], idx, dist2.
    """
    name = "knnquery_cuda"
    if len(args) != 8:
        raise TypeError(f"{name}: expected 8 arguments, got {len(args)}")
    if not isinstance(args[2], load_torch().Tensor) or not args[2].ndim:
        b, n, m, nsample, xyz, new_xyz, idx, dist2 = args
        knn_forward(xyz, new_xyz, idx, dist2, b, n, m, nsample)
    else:
        _nearest(name, None, args)


def _distances(points: Tensor, queries: Tensor) -> Iterator[tuple[int, Tensor]]:
    """Yield the first query of a part, and the squared distances of the part from all points."""
    rows = max(1, _MOST // max(1, len(points)))
    for first in range(0, len(queries), rows):
        x, y, z = (queries[first : first + rows, None] - points).unbind(2)
        yield first, (x * x + y * y) + z * z


def _chosen(inside: Tensor, distances: Tensor, nsample: int, spread: bool) -> tuple[Tensor, Tensor]:
    """Return the columns that are taken in each row, -1 for none, and their distances.

    The first ones are taken, or, of columns that are sorted by distance, some at equal steps.
    """
    torch = load_torch()
    count = inside.sum(1, keepdim=True)
    step = torch.arange(nsample)
    if spread:
        far = distances.where(inside, torch.inf)
        order = far.sort(dim=1, stable=True).indices
        ranks = torch.where(count > nsample, (count.to(torch.float32) / nsample * step).floor().long(), step)
    else:
        order = (~inside).to(torch.uint8).sort(dim=1, stable=True).indices
        ranks = step.expand(len(inside), -1)
    there = step < count
    ranks = ranks.clamp(max=max(0, inside.shape[1] - 1))
    columns = order.gather(1, ranks)
    return columns.where(there, _NONE), distances.gather(1, columns).where(there, _FAR)


def _in_balls(
    name: str, radii: tuple[float, float], order: Tensor | None, arguments: tuple[Any, ...], spread: bool
) -> None:
    m, nsample, xyz, new_xyz, offset, new_offset, idx, dist2 = arguments
    low, high = radii
    if not 0 <= low < high:
        raise refuse(name, "min_radius and max_radius", "0 <= min_radius < max_radius", f"{low} and {high}")
    points, centres = _check_query(name, m, nsample, xyz, new_xyz, idx, dist2)
    torch = load_torch()
    for cloud in _clouds(name, offset, len(xyz), new_offset, m):
        own, queries = points[cloud.points], centres[cloud.queries]
        rows = torch.arange(cloud.points.start, cloud.points.stop)
        if order is not None:
            rows = order[cloud.points].long()
            own = points[rows]
        numbers, distances = idx.detach()[cloud.queries], dist2.detach()[cloud.queries]
        numbers.fill_(_NONE)
        distances.fill_(_FAR)
        if not (len(own) and nsample):
            continue
        bounds = torch.tensor([low, high], dtype=own.dtype).square()
        for first, squared in _distances(own, queries):
            inside = (squared == 0) | ((squared >= bounds[0]) & (squared < bounds[1]))
            columns, found = _chosen(inside, squared, nsample, spread)
            part = slice(first, first + len(squared))
            numbers[part] = rows[columns.clamp(min=0)].where(columns >= 0, _NONE).to(numbers.dtype)
            distances[part] = found.to(distances.dtype)


@extension_function
def ball_query_cuda(
    m: int,
    nsample: int,
    min_radius: float,
    max_radius: float,
    xyz: Tensor,
    new_xyz: Tensor,
    offset: Tensor,
    new_offset: Tensor,
    idx: Tensor,
    dist2: Tensor,
) -> None:
    """Write the rows [m, nsample] of points in balls by distance; of more than nsample, some at equal steps."""
    arguments = (m, nsample, xyz, new_xyz, offset, new_offset, idx, dist2)
    _in_balls("ball_query_cuda", (min_radius, max_radius), None, arguments, True)


@extension_function
def random_ball_query_cuda(
    m: int,
    nsample: int,
    min_radius: float,
    max_radius: float,
    order: Tensor,
    xyz: Tensor,
    new_xyz: Tensor,
    offset: Tensor,
    new_offset: Tensor,
    idx: Tensor,
    dist2: Tensor,
) -> None:
    """Write the rows [m, nsample] of the first points in balls, in an order that is given for each cloud."""
    name = "random_ball_query_cuda"
    check_int32(name, order=order)
    check_shape(name, "order", order, (len(xyz),))
    sorted_rows = order.detach().clone()
    for cloud in _clouds(name, offset, len(xyz), new_offset, m):
        sorted_rows[cloud.points] = order.detach()[cloud.points].sort().values
    if not bool((sorted_rows == load_torch().arange(len(xyz))).all()):
        raise refuse(name, "order", "the rows of each cloud in any order", "other rows")
    arguments = (m, nsample, xyz, new_xyz, offset, new_offset, idx, dist2)
    _in_balls(name, (min_radius, max_radius), order.detach(), arguments, False)


def _sampled(name: str, xyz: Tensor, offset: Tensor, new_offset: Tensor, tmp: Tensor, idx: Tensor) -> None:
    dtype = check_floats(name, xyz=xyz)
    check_floats(name, tmp=tmp)
    check_int32(name, idx=idx)
    check_shape(name, "xyz", xyz, (None, 3))
    check_shape(name, "tmp", tmp, (len(xyz),))
    check_shape(name, "idx", idx, (None,))
    points = dense(xyz, compute_type(dtype, load_torch().float32))
    for cloud in _clouds(name, offset, len(xyz), new_offset, len(idx)):
        count, own = cloud.queries.stop - cloud.queries.start, points[cloud.points]
        if not count:
            continue
        if not len(own):
            raise refuse(name, "new_offset", "samples of clouds that have points", f"{count} of none")
        operator = described("furthest_point_sampling")
        least, found = run(operator, (own[None], None, None), (count, _FAR, -1.0))
        idx.detach()[cloud.queries] = found[0] + cloud.points.start
        tmp.detach()[cloud.points] = least[0].to(tmp.dtype)


@extension_function
def farthest_point_sampling_cuda(
    b: int, n: int, xyz: Tensor, offset: Tensor, new_offset: Tensor, tmp: Tensor, idx: Tensor
) -> None:
    """Write the rows of points of each cloud that lie furthest from each other, beginning with its first."""
    _sampled("farthest_point_sampling_cuda", xyz, offset, new_offset, tmp, idx)


@extension_function
def furthestsampling_cuda(
    b: int, n: int, xyz: Tensor, offset: Tensor, new_offset: Tensor, tmp: Tensor, idx: Tensor
) -> None:
    """Do the same."""
    _sampled("furthestsampling_cuda", xyz, offset, new_offset, tmp, idx)
