"""The vector pool of PV-RCNN++ and the neighbours that it interpolates, with PyTorch."""

from __future__ import annotations

from typing import Any

from pymluops.dropins.extensions._neighbours import blocks_of, neighbours, ranks
from pymluops.mmcv._tensors import check_floats, check_int32, check_shape, extension_function, refuse
from pymluops.mmcv._torch import Tensor, load_torch

__all__ = [
    "query_stacked_local_neighbor_idxs_wrapper_stack",
    "query_three_nn_by_stacked_local_idxs_wrapper_stack",
    "vector_pool_grad_wrapper",
    "vector_pool_wrapper",
]

#: So many neighbours of a centre are listed at most.
_MOST = 1000


def _check_stacks(name: str, points: Tensor, counts: Tensor, centres: Tensor, centre_counts: Tensor) -> None:
    check_floats(name, support_xyz=points, new_xyz=centres)
    check_int32(name, xyz_batch_cnt=counts, new_xyz_batch_cnt=centre_counts)
    check_shape(name, "support_xyz", points, (None, 3))
    check_shape(name, "new_xyz", centres, (None, 3))
    check_shape(name, "new_xyz_batch_cnt", centre_counts, counts.shape)
    for argument, numbers, rows in (
        ("xyz_batch_cnt", counts, points),
        ("new_xyz_batch_cnt", centre_counts, centres),
    ):
        if bool((numbers < 0).any()) or int(numbers.sum()) != len(rows):
            raise refuse(name, argument, f"numbers of {len(rows)} rows", numbers.tolist())


@extension_function
def query_stacked_local_neighbor_idxs_wrapper_stack(
    support_xyz: Tensor,
    xyz_batch_cnt: Tensor,
    new_xyz: Tensor,
    new_xyz_batch_cnt: Tensor,
    stack_neighbor_idxs: Tensor,
    start_len: Tensor,
    cumsum: Tensor,
    avg_length_of_neighbor_idxs: int,
    max_neighbour_distance: float,
    nsample: int,
    neighbor_type: int,
) -> int:
    """List the rows of the points near each centre, where the list of each centre begins, its length, and the sum."""
    name, torch = "query_stacked_local_neighbor_idxs_wrapper_stack", load_torch()
    _check_stacks(name, support_xyz, xyz_batch_cnt, new_xyz, new_xyz_batch_cnt)
    check_int32(name, stack_neighbor_idxs=stack_neighbor_idxs, start_len=start_len, cumsum=cumsum)
    check_shape(name, "stack_neighbor_idxs", stack_neighbor_idxs, (None,))
    check_shape(name, "start_len", start_len, (len(new_xyz), 2))
    check_shape(name, "cumsum", cumsum, (1,))
    pairs = neighbours(
        support_xyz, xyz_batch_cnt, new_xyz, new_xyz_batch_cnt, max_neighbour_distance, neighbor_type == 1
    )
    kept = ranks(pairs.centre) < (min(nsample, _MOST) if nsample > 0 else _MOST)
    centre, point = pairs.centre[kept], pairs.point[kept]
    counts = torch.bincount(centre, minlength=len(new_xyz))
    start_len[:, 0] = counts.cumsum(0) - counts
    start_len[:, 1] = counts
    room = min(len(stack_neighbor_idxs), avg_length_of_neighbor_idxs * len(new_xyz), len(point))
    stack_neighbor_idxs[:room] = point[:room].to(torch.int32)
    cumsum.fill_(len(point))
    return 0


@extension_function
def query_three_nn_by_stacked_local_idxs_wrapper_stack(
    support_xyz: Tensor,
    new_xyz: Tensor,
    new_xyz_grid_centers: Tensor,
    new_xyz_grid_idxs: Tensor,
    new_xyz_grid_dist2: Tensor,
    stack_neighbor_idxs: Tensor,
    start_len: Tensor,
    num_centres: int,
    num_total_grids: int,
) -> int:
    """Find the three listed points nearest to each of the grid points of each centre."""
    name = "query_three_nn_by_stacked_local_idxs_wrapper_stack"
    check_floats(
        name, support_xyz=support_xyz, new_xyz=new_xyz, new_xyz_grid_centers=new_xyz_grid_centers,
        new_xyz_grid_dist2=new_xyz_grid_dist2,
    )  # fmt: skip
    check_int32(name, new_xyz_grid_idxs=new_xyz_grid_idxs, stack_neighbor_idxs=stack_neighbor_idxs, start_len=start_len)
    check_shape(name, "support_xyz", support_xyz, (None, 3))
    grid = (num_centres, num_total_grids, 3)
    for argument, tensor in (
        ("new_xyz_grid_centers", new_xyz_grid_centers),
        ("new_xyz_grid_idxs", new_xyz_grid_idxs),
        ("new_xyz_grid_dist2", new_xyz_grid_dist2),
    ):
        check_shape(name, argument, tensor, grid)
    check_shape(name, "stack_neighbor_idxs", stack_neighbor_idxs, (None,))
    check_shape(name, "start_len", start_len, (num_centres, 2))
    start, count = start_len.long().unbind(1)
    listed = len(stack_neighbor_idxs)
    if num_centres and (int(start.min()) < 0 or int(count.min()) < 0 or int((start + count).max()) > listed):
        raise refuse(name, "start_len", f"lists within {listed} numbers", start_len.tolist()[:3])
    for block in blocks_of(count * max(1, num_total_grids) + 1):
        places = (support_xyz, new_xyz_grid_centers[block], stack_neighbor_idxs.long(), start[block], count[block])
        rows, squared = _three_nearest(*places)
        new_xyz_grid_idxs[block], new_xyz_grid_dist2[block] = rows, squared
    return 0


def _three_nearest(points: Tensor, grid: Tensor, listed: Tensor, start: Tensor, count: Tensor) -> tuple[Tensor, Tensor]:
    """Return rows and squared distances [m, G, 3]; where there are fewer, the first again, or -1 and infinity."""
    torch = load_torch()
    most = max(1, int(count.max()))
    slots = torch.arange(most)
    here = slots < count[:, None]
    place = torch.where(here, start[:, None] + slots, 0)
    rows = torch.where(here, listed[place], 0) if len(listed) else torch.zeros_like(place)
    inside = here & (rows >= 0) & (rows < len(points))
    near = points[torch.where(inside, rows, 0)] if len(points) else points.new_zeros((*rows.shape, 3))
    square = (grid[:, :, None] - near[:, None]).square()  # [m, G, most, 3]
    squared = (square[..., 0] + square[..., 1]) + square[..., 2]
    squared = torch.where(inside[:, None] & (squared < torch.inf), squared, torch.inf)
    found: list[Tensor] = []
    for _ in range(3):
        best = squared.argmin(-1, keepdim=True)
        found.append(torch.cat([squared.gather(-1, best), best.to(squared.dtype)], -1))
        squared = squared.scatter(-1, best, torch.inf)
    three = torch.stack(found, 2)  # [m, G, 3, 2]
    distance, slot = three[..., 0], three[..., 1].long()
    missing = distance == torch.inf
    distance = torch.where(missing, distance[..., :1], distance)
    numbers = rows[:, None].expand(-1, slot.shape[1], -1).gather(-1, torch.where(missing, slot[..., :1], slot))
    return torch.where(distance == torch.inf, -1, numbers).to(torch.int32), distance


@extension_function
def vector_pool_wrapper(
    support_xyz: Tensor,
    xyz_batch_cnt: Tensor,
    support_features: Tensor,
    new_xyz: Tensor,
    new_xyz_batch_cnt: Tensor,
    new_features: Tensor,
    new_local_xyz: Tensor,
    point_cnt_of_grid: Tensor,
    grouped_idxs: Tensor,
    num_grid_x: int,
    num_grid_y: int,
    num_grid_z: int,
    max_neighbour_distance: float,
    use_xyz: int,
    num_max_sum_points: int,
    nsample: int,
    neighbor_type: int,
    pooling_type: int,
) -> int:
    """Add up, or take the first of, the features of the points in each cell around each centre; return how many."""
    name, torch = "vector_pool_wrapper", load_torch()
    _check_stacks(name, support_xyz, xyz_batch_cnt, new_xyz, new_xyz_batch_cnt)
    check_floats(
        name, support_xyz=support_xyz, support_features=support_features, new_features=new_features,
        new_local_xyz=new_local_xyz,
    )  # fmt: skip
    check_int32(name, point_cnt_of_grid=point_cnt_of_grid, grouped_idxs=grouped_idxs)
    sizes = (num_grid_x, num_grid_y, num_grid_z)
    if min(sizes) < 1 or pooling_type not in (0, 1):
        raise refuse(name, "num_grid and pooling_type", "cells, and 0 or 1", f"{sizes} and {pooling_type}")
    cells, centres = num_grid_x * num_grid_y * num_grid_z, len(new_xyz)
    check_shape(name, "support_features", support_features, (len(support_xyz), None))
    check_shape(name, "point_cnt_of_grid", point_cnt_of_grid, (centres, cells))
    check_shape(name, "new_features", new_features, (centres, None))
    check_shape(name, "new_local_xyz", new_local_xyz, (centres, 3 * cells))
    check_shape(name, "grouped_idxs", grouped_idxs, (None, 3))
    if not new_features.shape[1] or new_features.shape[1] % cells:
        raise refuse(name, "new_features", f"a multiple of {cells} columns", new_features.shape[1])
    pairs = neighbours(
        support_xyz, xyz_batch_cnt, new_xyz, new_xyz_batch_cnt, max_neighbour_distance, neighbor_type == 1
    )
    local = support_xyz.detach()[pairs.point] - new_xyz.detach()[pairs.centre]
    cell = _cell(local, sizes, max_neighbour_distance)
    kept = _chosen(pairs.centre, cell, cells, nsample, pooling_type)
    centre, point, cell, local = pairs.centre[kept], pairs.point[kept], cell[kept], local[kept]
    room = min(num_max_sum_points, len(grouped_idxs), len(point))
    grouped_idxs[:room] = torch.stack([point, centre, cell], 1)[:room].to(torch.int32)
    if room < len(point):  # their code asks again, with more room
        return len(point)
    target = centre * cells + cell
    point_cnt_of_grid.view(-1).index_add_(0, target, torch.ones_like(target, dtype=torch.int32))
    channels = new_features.shape[1] // cells
    folded = _folded(support_features.detach()[point], channels, pooling_type)
    new_features.view(centres * cells, channels).index_add_(0, target, folded)
    if use_xyz:
        new_local_xyz.view(centres * cells, 3).index_add_(0, target, local)
    return len(point)


def _cell(local: Tensor, sizes: tuple[int, int, int], distance: float) -> Tensor:
    """Return the number of the cell that a difference from the centre lies in."""
    torch = load_torch()
    reach = torch.tensor(distance, dtype=local.dtype)
    step = reach * 2 / torch.tensor(sizes, dtype=local.dtype)
    place = ((local + reach) / step).floor().to(torch.int64)
    number = (place[:, 0] * sizes[1] + place[:, 1]) * sizes[2] + place[:, 2]
    return number.clamp(0, sizes[0] * sizes[1] * sizes[2] - 1)


def _chosen(centre: Tensor, cell: Tensor, cells: int, nsample: int, pooling_type: int) -> Tensor:
    """Return the pairs that count: the first ones of each centre, or the first one of each cell."""
    torch = load_torch()
    if pooling_type == 0:
        within = ranks(centre)
        return (within < nsample if nsample > 0 else within >= 0).nonzero()[:, 0]
    groups, group = (centre * cells + cell).unique(return_inverse=True)
    first = torch.full((len(groups),), len(group), dtype=torch.int64)
    first = first.scatter_reduce(0, group, torch.arange(len(group)), "amin").sort().values
    return first[ranks(centre[first]) < nsample] if nsample > 0 else first


def _folded(features: Tensor, channels: int, pooling_type: int) -> Tensor:
    """Return groups of channels on top of each other: added up, or the last one that has a channel."""
    torch = load_torch()
    more = -features.shape[1] % channels
    groups = torch.nn.functional.pad(features, (0, more)).unflatten(1, (-1, channels))
    if pooling_type == 0:
        found: Any = groups.sum(1)
        return found
    if not more or groups.shape[1] == 1:
        return groups[:, -1]
    return torch.cat([groups[:, -1, : channels - more], groups[:, -2, channels - more :]], 1)


@extension_function
def vector_pool_grad_wrapper(
    grad_new_features: Tensor, point_cnt_of_grid: Tensor, grouped_idxs: Tensor, grad_support_features: Tensor
) -> int:
    """Add the gradient of the features of the points for that of the cells, divided by the number of points there."""
    name, torch = "vector_pool_grad_wrapper", load_torch()
    check_floats(name, grad_new_features=grad_new_features, grad_support_features=grad_support_features)
    check_int32(name, point_cnt_of_grid=point_cnt_of_grid, grouped_idxs=grouped_idxs)
    check_shape(name, "point_cnt_of_grid", point_cnt_of_grid, (len(grad_new_features), None))
    check_shape(name, "grad_support_features", grad_support_features, (None, None))
    check_shape(name, "grouped_idxs", grouped_idxs, (None, 3))
    cells = point_cnt_of_grid.shape[1]
    columns = grad_new_features.shape[1] if grad_new_features.dim() == 2 else 0
    if not columns or not cells or columns % cells:
        raise refuse(name, "grad_new_features", f"[M, multiple of {cells}]", list(grad_new_features.shape))
    point, centre, cell = grouped_idxs.long().unbind(1)
    for argument, numbers, end in (
        ("points", point, len(grad_support_features)),
        ("centres", centre, len(grad_new_features)),
        ("cells", cell, cells),
    ):
        if len(numbers) and not 0 <= int(numbers.min()) <= int(numbers.max()) < end:
            found = [int(numbers.min()), int(numbers.max())]
            raise refuse(name, "grouped_idxs", f"{argument} from 0 to {end - 1}", found)
    target = centre * cells + cell
    width = columns // cells
    rows = grad_new_features.detach().reshape(len(grad_new_features) * cells, width)[target]
    rows = rows / point_cnt_of_grid.view(-1)[target].clamp(min=1)[:, None]
    channels = torch.arange(grad_support_features.shape[1]) % width
    grad_support_features.index_add_(0, point, rows[:, channels])
    return 1
