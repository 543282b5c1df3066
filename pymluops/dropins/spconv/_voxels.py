"""Points to voxels: ``spconv.pytorch.utils`` with tensors, ``spconv.utils`` with arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from pymluops.dropins.spconv._tensor import require
from pymluops.dropins.spconv._tensorview import Tensor as View
from pymluops.torch import voxelization

__all__ = [
    "Point2VoxelCPU1d",
    "Point2VoxelCPU2d",
    "Point2VoxelCPU3d",
    "Point2VoxelCPU4d",
    "PointToVoxel",
    "gather_features_by_pc_voxel_id",
]


class _Voxels(NamedTuple):
    """Voxels [V, points, F], their cells [V, ndim], last axis first, their numbers of points; the voxels of points."""

    voxels: Tensor
    indices: Tensor
    num: Tensor
    ids: Tensor


class _Grid:
    """Cells of a space, and the points in them."""

    def __init__(
        self,
        name: str,
        vsize_xyz: Sequence[float],
        coors_range_xyz: Sequence[float],
        num_point_features: int,
        max_num_voxels: int,
        max_num_points_per_voxel: int,
    ) -> None:
        self.ndim = len(vsize_xyz)
        bounds = list(coors_range_xyz)
        require(
            len(bounds) == 2 * self.ndim, f"{name}: coors_range_xyz: expected {2 * self.ndim} numbers, got {bounds}"
        )
        self._bounds = [float(v) for v in vsize_xyz], [float(v) for v in bounds]
        self.size = torch.tensor([float(v) for v in vsize_xyz], dtype=torch.float32)
        self.low = torch.tensor([float(v) for v in bounds[: self.ndim]], dtype=torch.float32)
        high = torch.tensor([float(v) for v in bounds[self.ndim :]], dtype=torch.float32)
        self.cells = torch.round((high - self.low) / self.size).to(torch.int64)
        require(bool((self.cells > 0).all()), f"{name}: coors_range_xyz: expected cells on every axis, got {bounds}")
        self.features, self.most = num_point_features, max_num_voxels
        self.points = max_num_points_per_voxel

    def quick(self, name: str, points: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return voxels, cells and numbers of points: the operator knows space, the rest takes PyTorch."""
        if self.ndim != 3:
            return self.voxels(name, points, False)[:3]
        points = self._checked(name, points)
        return voxelization(points, *self._bounds, self.points, self.most)

    def _checked(self, name: str, points: Tensor) -> Tensor:
        require(points.dim() == 2, f"{name}: pc: expected shape [N, F], got {list(points.shape)}")
        enough = points.shape[1] >= max(self.ndim, self.features)
        require(enough, f"{name}: pc: expected {self.features} columns, got {points.shape[1]}")
        return points[:, : self.features].to(torch.float32)

    def voxels(self, name: str, points: Tensor, empty_mean: bool) -> _Voxels:
        """Return the voxels in the order of their first points."""
        points = self._checked(name, points)
        place = torch.floor((points[:, : self.ndim] - self.low) / self.size)
        inside = ((place >= 0) & (place < self.cells)).all(1)  # NaN is in no cell
        rows = inside.nonzero()[:, 0]
        cells = place[rows].to(torch.int64)
        key = cells[:, -1]
        for axis in reversed(range(self.ndim - 1)):
            key = key * self.cells[axis] + cells[:, axis]
        number, firsts = _by_first(key)
        ids = torch.full((len(points),), -1, dtype=torch.int64)
        number = torch.where(number < self.most, number, -1)
        ids[rows] = number
        count = min(len(firsts), self.most)
        indices = cells[firsts[:count]].flip(1).to(torch.int32)
        return self._filled(points, ids, indices, empty_mean)

    def _filled(self, points: Tensor, ids: Tensor, indices: Tensor, empty_mean: bool) -> _Voxels:
        count = len(indices)
        order = torch.argsort(ids, stable=True)
        order = order[ids[order] >= 0]
        own = ids[order]
        totals = torch.bincount(own, minlength=count)
        slot = torch.arange(len(own)) - (totals.cumsum(0) - totals)[own]
        kept = slot < self.points
        own, slot, rows = own[kept], slot[kept], points[order[kept]]
        num = totals.clamp(max=self.points).to(torch.int32)
        voxels = torch.zeros(count, self.points, self.features)
        if empty_mean:
            sums = torch.zeros(count, self.features).index_add_(0, own, rows)
            voxels += (sums / num[:, None])[:, None]
        voxels[own, slot] = rows
        return _Voxels(voxels, indices, num, ids)


def _by_first(key: Tensor) -> tuple[Tensor, Tensor]:
    """Return for each value the number of its group, in the order of first appearance, and the groups' first rows."""
    groups, group = key.unique(return_inverse=True)
    first = torch.full((len(groups),), len(key), dtype=torch.int64)
    first.scatter_reduce_(0, group, torch.arange(len(key)), "amin")
    firsts, order = first.sort()
    rank = torch.empty_like(order)
    rank[order] = torch.arange(len(order))
    return rank[group], firsts


class PointToVoxel:
    """Puts points [N, F] into voxels.

    Parameters
    ----------
    vsize_xyz : sequence of float
        Size of a voxel along each axis.
    coors_range_xyz : sequence of float
        Lower bounds of the space, then upper ones.
    num_point_features : int
        Number of columns of a point, coordinates first.
    max_num_voxels, max_num_points_per_voxel : int
        Voxels and points beyond are left out. Points of known voxels are still added when there is
        no room for another voxel.
    device : torch.device
        The CPU.
    """

    def __init__(
        self,
        vsize_xyz: Sequence[float],
        coors_range_xyz: Sequence[float],
        num_point_features: int,
        max_num_voxels: int,
        max_num_points_per_voxel: int,
        device: Any = "cpu",
    ) -> None:
        self.device = torch.device(device)
        require(self.device.type == "cpu", f"PointToVoxel: device: expected the CPU, got {device}")
        numbers = (num_point_features, max_num_voxels, max_num_points_per_voxel)
        self._grid = _Grid("PointToVoxel", vsize_xyz, coors_range_xyz, *numbers)
        self.ndim = self._grid.ndim
        self.num_point_features, self.vsize, self.coors_range = num_point_features, list(vsize_xyz), coors_range_xyz
        self.grid_size = self._grid.cells.flip(0).tolist()

    def __call__(
        self, pc: Tensor, clear_voxels: bool = True, empty_mean: bool = False
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return voxels [V, points, F], cells [V, ndim] of int32 with the last axis first, numbers of points [V]."""
        if empty_mean:
            return self.generate_voxel_with_id(pc, clear_voxels, empty_mean)[:3]
        return self._grid.quick("PointToVoxel", self._on_device(pc))

    def _on_device(self, pc: Tensor) -> Tensor:
        require(pc.device.type == self.device.type, f"PointToVoxel: pc: expected a CPU tensor, got one on {pc.device}")
        return pc.detach()

    def generate_voxel_with_id(
        self, pc: Tensor, clear_voxels: bool = True, empty_mean: bool = False
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the same, and for each point the number of its voxel, -1 without one."""
        return self._grid.voxels("PointToVoxel", self._on_device(pc), empty_mean)


def gather_features_by_pc_voxel_id(seg_res_features: Tensor, pc_voxel_id: Tensor, invalid_value: float = 0) -> Tensor:
    """Return the features of each point's voxel, `invalid_value` for points without one."""
    shape = (len(pc_voxel_id), seg_res_features.shape[1])
    found = seg_res_features.new_full(shape, invalid_value)
    inside = pc_voxel_id >= 0
    rows = seg_res_features[pc_voxel_id.clamp(min=0)] if len(seg_res_features) else found
    return torch.where(inside[:, None], rows, found)


class _Point2VoxelCPU:
    """Puts points of an array, or of a view of cumm, into voxels; arguments as those of `PointToVoxel`."""

    _ndim = 3

    def __init__(
        self,
        vsize_xyz: Sequence[float],
        coors_range_xyz: Sequence[float],
        num_point_features: int,
        max_num_voxels: int,
        max_num_points_per_voxel: int,
    ) -> None:
        self._name = type(self).__name__
        axes = len(vsize_xyz)
        require(axes == self._ndim, f"{self._name}: vsize_xyz: expected {self._ndim} sizes, got {axes}")
        numbers = (num_point_features, max_num_voxels, max_num_points_per_voxel)
        self._grid = _Grid(self._name, vsize_xyz, coors_range_xyz, *numbers)
        self.grid_size = self._grid.cells.flip(0).tolist()

    def _points(self, pc: Any) -> Tensor:
        array = pc.numpy_view() if isinstance(pc, View) else pc
        return array if isinstance(array, Tensor) else torch.from_numpy(np.ascontiguousarray(array))

    def point_to_voxel(self, pc: Any, clear_voxels: bool = True) -> tuple[View, View, View]:
        """Return voxels, cells and numbers of points, which have a method ``numpy``."""
        voxels, indices, num = self._grid.quick(self._name, self._points(pc))
        return View(voxels.numpy()), View(indices.numpy()), View(num.numpy())

    def point_to_voxel_empty_mean(self, pc: Any, clear_voxels: bool = True) -> tuple[View, View, View]:
        """Return the same, with the mean of a voxel's points in the places of those it lacks."""
        voxels, indices, num, _ = self._grid.voxels(self._name, self._points(pc), True)
        return View(voxels.numpy()), View(indices.numpy()), View(num.numpy())


class Point2VoxelCPU1d(_Point2VoxelCPU):
    """Voxels of 1 axis; see `PointToVoxel`."""

    _ndim = 1


class Point2VoxelCPU2d(_Point2VoxelCPU):
    """Voxels of 2 axes; see `PointToVoxel`."""

    _ndim = 2


class Point2VoxelCPU3d(_Point2VoxelCPU):
    """Voxels of 3 axes; see `PointToVoxel`."""


class Point2VoxelCPU4d(_Point2VoxelCPU):
    """Voxels of 4 axes; see `PointToVoxel`."""

    _ndim = 4
