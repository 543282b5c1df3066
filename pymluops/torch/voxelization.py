"""Voxelization: points sorted into the voxels of a grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from pymluops import _arguments
from pymluops.ops._described import described
from pymluops.torch._counts import known_count, need_tensors
from pymluops.torch._library import TorchOperator
from pymluops.torch._modes import TracedModule
from pymluops.torch._numbers import flag, limit, whole

__all__ = ["Voxelization", "voxelization"]

_NAMES = _arguments.Names("voxelization", "mluOpVoxelization")
_GRID = {
    "N": 7,
    "F": 4,
    "points": [[0.1, 0.1, 0.1, 5], [1.5, 0, 0, 6], [0.2, 0, 0, 7], [9, 0, 0, 8], [0.3, 0, 0, 9], [1, 1, 0, 1], [0] * 4],
    "voxel_size": [1.0, 1.0, 1.0],
    "coors_range": [0.0, 0.0, 0.0, 2.0, 2.0, 1.0],
}
_HARD = TorchOperator(
    described("voxelization"),
    folds=False,
    sample={**_GRID, "max_points": 2, "max_voxels": 3, "ndim": 3, "deterministic": True},
)
_HARD.without_gradient()
_DYNAMIC = TorchOperator(described("dynamic_voxelize"), folds=False, sample=_GRID)
_DYNAMIC.without_gradient()


def voxelization(
    points: Tensor,
    voxel_size: Sequence[float],
    coors_range: Sequence[float],
    max_points: int = 35,
    max_voxels: int = 20000,
    deterministic: bool = True,
) -> Any:
    """Sort points into the voxels of a regular grid: `voxelization` of mmcv.

    `pymluops.voxelization` has the rules. Cells are computed in float32, or in float64 for points
    of that type. Results need no gradient. How many rows they have depends on the points, so that
    torch.compile with ``fullgraph=True`` needs ``torch._dynamo.config.capture_scalar_outputs``;
    torch.export needs nothing.

    Parameters
    ----------
    points : Tensor, shape [N, F]
        Points: x, y, z, and other values of each; any floating type.
    voxel_size : sequence of float
        Size of a cell along x, y and z.
    coors_range : sequence of float
        Lowest x, y, z and highest x, y, z.
    max_points : int
        Most points of a voxel; -1 for the cell of each point instead of voxels.
    max_voxels : int
        Most voxels; -1 as for `max_points`.
    deterministic : bool
        Without meaning: results are the same in every run.

    Returns
    -------
    voxels : Tensor, shape [V, max_points, F]
        The points of each voxel, like `points`.
    coors : Tensor, shape [V, 3], int32
        The cell of each voxel: z, y, x. With -1, only the cells [N, 3] of the points are returned,
        -1 three times for a point outside of the grid.
    num_points_per_voxel : Tensor, shape [V], int32
        How many points each voxel has here.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> points = torch.tensor([[2.5, 0, 0], [0, 1, 0], [2, 0.5, 0], [9, 0, 0]])
    >>> voxels, coors, numbers = pymluops.torch.voxelization(points, [1, 1, 1], [0, 0, 0, 3, 2, 1], 2, 4)
    >>> coors.tolist(), numbers.tolist()
    ([[0, 0, 2], [0, 1, 0]], [2, 1])
    >>> pymluops.torch.voxelization(points, [1, 1, 1], [0, 0, 0, 3, 2, 1], -1).tolist()
    [[0, 0, 2], [0, 1, 0], [0, 0, 2], [-1, -1, -1]]
    """
    need_tensors("voxelization", points=points)
    max_points = whole("voxelization", "max_points", max_points, -1)
    max_voxels = limit("voxelization", "max_voxels", max_voxels, -1)
    flag("voxelization", "deterministic", deterministic)
    # Sizes are float32 in mmcv, whatever the points are; half has too few digits for them.
    wide = points if points.dtype in (torch.float32, torch.float64) else points.float()
    size, extent = (torch.tensor([*numbers], dtype=torch.float32, device=points.device).to(wide.dtype)
                    for numbers in (voxel_size, coors_range))  # fmt: skip
    if max_points == -1 or max_voxels == -1:
        return _DYNAMIC(wide, size, extent)
    rows: Any = torch.sym_min(max_voxels, points.shape[0])  # a point opens one voxel at most
    if not points.shape[0]:
        empty = points.new_zeros(0, dtype=torch.int32)
        return points.new_zeros((0, max_points, points.shape[1])), empty.reshape(0, 3), empty
    voxels, coors, numbers, count = _HARD(wide, size, extent, max_points, rows, 3, True)
    found = known_count(count, rows)
    return voxels[:found].to(points.dtype), coors[:found], numbers[:found]


class Voxelization(TracedModule):
    """`voxelization` as a module, with other numbers of voxels in training and in evaluation.

    Parameters
    ----------
    voxel_size : sequence of float
        Size of a cell along x, y and z.
    point_cloud_range : sequence of float
        Lowest x, y, z and highest x, y, z.
    max_num_points : int
        Most points of a voxel; -1 for the cell of each point instead of voxels.
    max_voxels : int or (int, int)
        Most voxels, in training and in evaluation.
    deterministic : bool
        Without meaning: results are the same in every run.

    Attributes
    ----------
    grid_size : Tensor, shape [3], int64
        Number of cells along x, y and z.
    pcd_shape : list
        1, and the numbers of cells along y and x.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> layer = pymluops.torch.Voxelization([1, 1, 1], [0, 0, 0, 3, 2, 1], 2)
    >>> layer(torch.tensor([[2.5, 0, 0]]))[1].tolist()
    [[0, 0, 2]]
    """

    def __init__(
        self,
        voxel_size: Sequence[float],
        point_cloud_range: Sequence[float],
        max_num_points: int,
        max_voxels: int | tuple[int, int] = 20000,
        deterministic: bool = True,
    ) -> None:
        super().__init__()
        self.voxel_size, self.point_cloud_range = voxel_size, point_cloud_range
        self.max_num_points, self.deterministic = max_num_points, deterministic
        self.max_voxels = max_voxels if isinstance(max_voxels, tuple) else (max_voxels, max_voxels)
        extent = torch.tensor([*point_cloud_range], dtype=torch.float32)
        size = torch.tensor([*voxel_size], dtype=torch.float32)
        self.grid_size = torch.round((extent[3:] - extent[:3]) / size).long()
        self.pcd_shape = [1, *self.grid_size[:2].flip(0)]

    def forward(self, input: Tensor) -> Any:
        """Return the voxels of points."""
        most = self.max_voxels[0 if self.training else 1]
        return voxelization(
            input, self.voxel_size, self.point_cloud_range, self.max_num_points, most, self.deterministic
        )

    def extra_repr(self) -> str:
        """Return the arguments."""
        return (
            f"voxel_size={self.voxel_size}, point_cloud_range={self.point_cloud_range}, "
            f"max_num_points={self.max_num_points}, max_voxels={self.max_voxels}, deterministic={self.deterministic}"
        )
