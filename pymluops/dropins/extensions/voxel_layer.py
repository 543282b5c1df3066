"""``voxel_layer`` of BEVFusion and of mmdetection3d below 1.0: points sorted into voxels, and pooled in them.

BEVFusion's module writes the places of voxels as x, y, z, mmdetection3d's as z, y, x, and both call
it ``mmdet3d.ops.voxel.voxel_layer``. BEVFusion has a package ``bev_pool`` beside it, which tells
them apart.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pymluops.dropins._declarations import Row, renamed
from pymluops.mmcv import dynamic_point_to_voxel as scatter
from pymluops.mmcv import voxelization
from pymluops.mmcv._tensors import check_int32, check_shape, extension_function, refuse
from pymluops.mmcv._torch import Tensor, load_torch

__all__ = ["dynamic_point_to_voxel_backward", "dynamic_point_to_voxel_forward", "dynamic_voxelize", "hard_voxelize"]

DROP_IN = "mmdet3d"
ALSO_IN = ("openpcdet",)
MODULES = ("projects.BEVFusion.bevfusion.ops.voxel.voxel_layer", "mmdet3d.ops.voxel.voxel_layer")
ROWS = (
    Row(
        "hard_voxelize dynamic_voxelize",
        "mluOpVoxelization, mluopsExtDynamicVoxelize (float32)",
        "places are x, y, z if there is a package bev_pool beside that of the module, as BEVFusion has it, else "
        "z, y, x; deterministic has no effect",
    ),
    Row(
        "dynamic_point_to_voxel_forward dynamic_point_to_voxel_backward",
        "mluopsExtDynamicScatterForward, Backward (float32)",
    ),
)
CHANGES = ("nothing in its own functions",)

_HARD = renamed(voxelization.hard_voxelize_forward, "hard_voxelize")
_DYNAMIC = renamed(voxelization.dynamic_voxelize_forward, "dynamic_voxelize")
dynamic_point_to_voxel_forward = scatter.dynamic_point_to_voxel_forward
dynamic_point_to_voxel_backward = scatter.dynamic_point_to_voxel_backward


def _numbers(name: str, argument: str, values: Sequence[float], count: int) -> Tensor:
    """Return numbers as the compiled module has them, in float32."""
    try:
        found = [float(value) for value in values]
    except TypeError:
        found = []
    if len(found) != count:
        raise refuse(name, argument, f"{count} numbers", values)
    return load_torch().tensor(found, dtype=load_torch().float32)


def _voxelizers(turned: bool) -> tuple[Callable[..., int], Callable[..., None]]:
    """Return hard and dynamic voxelization; the places are x, y, z if they are turned, else z, y, x."""

    @extension_function
    def hard_voxelize(
        points: Tensor,
        voxels: Tensor,
        coors: Tensor,
        num_points_per_voxel: Tensor,
        voxel_size: Sequence[float],
        coors_range: Sequence[float],
        max_points: int,
        max_voxels: int,
        NDim: int = 3,
        deterministic: bool = True,
    ) -> int:
        """Sort points [N, F] into voxels [max_voxels, max_points, F]; return their number."""
        name = "hard_voxelize"
        size, extent = _numbers(name, "voxel_size", voxel_size, 3), _numbers(name, "coors_range", coors_range, 6)
        check_int32(name, coors=coors)
        check_shape(name, "coors", coors, (None, 3))
        number = load_torch().zeros((), dtype=load_torch().int64)
        results = (voxels, coors.flip(1) if turned else coors, num_points_per_voxel, number)
        _HARD(points, size, extent, *results, max_points, max_voxels, NDim, deterministic)
        if turned:
            coors.detach().copy_(results[1].flip(1))
        return int(number)

    @extension_function
    def dynamic_voxelize(
        points: Tensor, coors: Tensor, voxel_size: Sequence[float], coors_range: Sequence[float], NDim: int = 3
    ) -> None:
        """Write the cell of each point [N, F] to coors [N, 3], -1 for one outside of the range."""
        name = "dynamic_voxelize"
        size, extent = _numbers(name, "voxel_size", voxel_size, 3), _numbers(name, "coors_range", coors_range, 6)
        check_int32(name, coors=coors)
        check_shape(name, "coors", coors, (None, 3))
        cells = coors.flip(1) if turned else coors
        _DYNAMIC(points, size, extent, cells, NDim)
        if turned:
            coors.detach().copy_(cells.flip(1))

    return hard_voxelize, dynamic_voxelize


_BY_ORDER = {turned: _voxelizers(turned) for turned in (False, True)}
hard_voxelize, dynamic_voxelize = _BY_ORDER[False]


def prepare(name: str) -> Mapping[str, Any]:
    """Return the functions for a module, which its package decides."""
    hard, dynamic = _BY_ORDER[_is_of_bevfusion(name)]
    return {"hard_voxelize": hard, "dynamic_voxelize": dynamic}


def _is_of_bevfusion(name: str) -> bool:
    """Whether the package of a module stands beside one named bev_pool."""
    above = sys.modules.get(name.rpartition(".")[0].rpartition(".")[0])
    folders = [Path(path) for path in getattr(above, "__path__", ())]
    return any(found.name == "bev_pool" for folder in folders if folder.is_dir() for found in folder.iterdir())
