"""VoxelQuery: the neighbours of Voxel R-CNN."""

from __future__ import annotations

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator

__all__ = ["voxel_query"]

_SAMPLE = {
    "B": 1, "Z": 1, "Y": 2, "X": 3, "M": 3, "N": 4, "nsample": 3, "radius": 2.0, "z_range": 0, "y_range": 1,
    "x_range": 2, "new_coords": [[0, 0, 0, 1], [0, 0, 1, 2], [0, 0, 0, 0]],
    "point_indices": [[[[0, -1, 1], [2, 3, -1]]]],
}  # fmt: skip
_QUERY = TorchOperator(described("voxel_query"), folds=False, sample=_SAMPLE)
_QUERY.without_gradient()


def _formula(
    new_xyz: Tensor, xyz: Tensor, new_coords: Tensor, cells: Tensor, radius: float, z: int, y: int, x: int, count: int
) -> Tensor:
    """Look at all cells of the batch of each centre, and sort the numbers of those that count."""
    sizes = cells.shape[1:]
    near = torch.ones(new_xyz.shape[0], *sizes, dtype=torch.bool)
    for axis, (size, span) in enumerate(zip(sizes, (z, y, x), strict=True)):
        away = (torch.arange(size) - new_coords[:, axis + 1, None]).abs() <= span
        shape = [-1, 1, 1, 1]
        shape[axis + 1] = size
        near = near & away.reshape(shape)
    batch = new_coords[:, 0].long()
    known = (batch >= 0) & (batch < cells.shape[0])
    rows = cells[torch.where(known, batch, 0)].flatten(1).long()
    inside = near.flatten(1) & (rows >= 0) & (rows < xyz.shape[0]) & known[:, None]
    squared = (xyz[torch.where(inside, rows, 0)] - new_xyz[:, None]).square().sum(-1)
    inside = inside & (squared <= radius**2)
    places = torch.where(inside, torch.arange(rows.shape[1]), rows.shape[1])
    missing = torch.full_like(places[:, :1], rows.shape[1]).expand(-1, count)
    order = torch.cat([places, missing], 1).topk(count, 1, largest=False)[0]
    order = torch.where(order < rows.shape[1], order, order[:, :1])
    found = torch.where(order < rows.shape[1], rows.gather(1, order.clamp(max=rows.shape[1] - 1)), 0)
    none = (order[:, :1] >= rows.shape[1]) & (torch.arange(count) == 0)
    return torch.where(none, -1, found).int()


_VOXEL_QUERY = TensorFunction(_QUERY, formula=_formula)


@_VOXEL_QUERY
def voxel_query(
    new_xyz: Tensor,
    xyz: Tensor,
    new_coords: Tensor,
    point_indices: Tensor,
    radius: float,
    z_range: int,
    y_range: int,
    x_range: int,
    nsample: int,
) -> Tensor:
    """Find the first points that lie in a ball around each centre, of those in the cells around its own.

    Parameters
    ----------
    new_xyz : Tensor, shape [M, 3]
        The centres; any floating type.
    xyz : Tensor, shape [N, 3], like `new_xyz`
        The points.
    new_coords : Tensor, shape [M, 4], int32 or int64
        Batch of each centre, and its cell along z, y and x.
    point_indices : Tensor, shape [B, Z, Y, X], int32 or int64
        Row of the point in each cell; any other number where there is none.
    radius : float
        Radius of the ball, whose border counts.
    z_range, y_range, x_range : int
        How many cells to visit on each side of the centre's own.
    nsample : int
        Number of points for each centre.

    Returns
    -------
    Tensor, shape [M, nsample], int32
        Rows of points, along z, then y, then x, the first one again where fewer count; -1 and
        zeros for a centre without a point.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> xyz = torch.tensor([[0.5, 0.5, 0.5], [2.5, 0.5, 0.5]])
    >>> cells = torch.tensor([0, -1, 1]).reshape(1, 1, 1, 3)
    >>> coords = torch.tensor([[0, 0, 0, 1]])
    >>> pymluops.torch.voxel_query(xyz[:1] + 1, xyz, coords, cells, 5.0, 0, 0, 1, 3).tolist()
    [[0, 1, 0]]
    """
    arguments = (new_xyz, xyz, new_coords, point_indices, radius, z_range, y_range, x_range, nsample)
    return (_VOXEL_QUERY.through_torch if compiling() else _VOXEL_QUERY.direct)(*arguments)
