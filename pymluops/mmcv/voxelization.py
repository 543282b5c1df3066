"""Voxelization of mmcv: hard and dynamic."""

from __future__ import annotations

from pymluops.mmcv._binding import Row
from pymluops.mmcv._kernels import run, run_on_cpu
from pymluops.mmcv._tensors import (
    FLOATS,
    check_floats,
    check_int32,
    check_shape,
    check_tensors,
    compute_type,
    dense,
    extension_function_of,
    refuse,
)
from pymluops.mmcv._torch import Tensor, load_torch
from pymluops.ops._described import described
from pymluops.ops._double import double_of

__all__ = ["dynamic_voxelize_forward", "hard_voxelize_forward"]

ROWS = (
    Row(
        "voxelization, Voxelization",
        ("hard_voxelize_forward", "dynamic_voxelize_forward"),
        "forward",
        "mluOpVoxelization (float32), mluopsExtDynamicVoxelize (float32)",
        "`deterministic=False` gives what True gives, where a compiled mmcv raises on a CPU. A dynamic voxel beside "
        "the range is -1 in all three columns, as on a CPU.",
    ),
)


@extension_function_of(
    points="N F",
    voxel_size="3",
    coors_range="6",
    voxels="max_voxels max_points F",
    coors="max_voxels 3",
    num_points_per_voxel="max_voxels",
)
def hard_voxelize_forward(
    points: Tensor,
    voxel_size: Tensor,
    coors_range: Tensor,
    voxels: Tensor,
    coors: Tensor,
    num_points_per_voxel: Tensor,
    voxel_num: Tensor,
    max_points: int,
    max_voxels: int,
    NDim: int,
    deterministic: bool,
) -> None:
    """Sort points [N, F] into voxels; voxel_num, an integer without dims, tells how many there are."""
    name = "hard_voxelize_forward"
    size, extent = _grid(name, points, voxel_size, coors_range, NDim)
    check_floats(name, points=points, voxels=voxels)
    check_int32(name, coors=coors, num_points_per_voxel=num_points_per_voxel)
    check_tensors(name, ("int64", "int32"), {"voxel_num": voxel_num})
    # -1 means no limit but that of the tensors.
    max_points = voxels.shape[1] if max_points == -1 and voxels.ndim == 3 else max_points
    max_voxels = voxels.shape[0] if max_voxels == -1 and voxels.ndim == 3 else max_voxels
    for argument, value in (("max_points", max_points), ("max_voxels", max_voxels)):
        if value < 0:
            raise refuse(name, argument, "at least 0, or -1", value)
    check_shape(name, "voxels", voxels, (max_voxels, max_points, points.shape[1]))
    check_shape(name, "coors", coors, (max_voxels, 3))
    check_shape(name, "num_points_per_voxel", num_points_per_voxel, (max_voxels,))
    if voxel_num.numel() != 1:
        raise refuse(name, "voxel_num", "one number", f"shape {[*voxel_num.shape]}")
    results = (voxels, coors, num_points_per_voxel, voxel_num)
    if not len(points):
        for result in results:
            result.detach().zero_()
        return
    arrays = (dense(points, size.dtype), size, extent, None, None, None, None)
    found = run(described("voxelization"), arrays, (max_points, max_voxels, NDim, True))
    for result, values in zip(results, found, strict=True):
        result.detach().copy_(values.reshape(result.shape))


@extension_function_of(points="N F", voxel_size="3", coors_range="6", coors="N 3")
def dynamic_voxelize_forward(points: Tensor, voxel_size: Tensor, coors_range: Tensor, coors: Tensor, NDim: int) -> None:
    """Write the cell z, y, x of each point [N, F] to coors [N, 3], -1 for one outside of the range."""
    name = "dynamic_voxelize_forward"
    size, extent = _grid(name, points, voxel_size, coors_range, NDim)
    check_int32(name, coors=coors)
    check_shape(name, "coors", coors, (points.shape[0], 3))
    operator = described("dynamic_voxelize")
    if size.dtype == load_torch().float64:
        operator = double_of(operator)
    coors.detach().copy_(run_on_cpu(operator, (dense(points, size.dtype), size, extent, None)))


def _grid(name: str, points: Tensor, voxel_size: Tensor, coors_range: Tensor, ndim: int) -> tuple[Tensor, Tensor]:
    """Check what both functions take, and return sizes and range in the type to compute in, which half is not."""
    check_floats(name, points=points)
    for argument, tensor in (("voxel_size", voxel_size), ("coors_range", coors_range)):
        check_tensors(name, FLOATS, {argument: tensor})
    check_shape(name, "points", points, (None, None))
    if points.shape[1] < 3:
        raise refuse(name, "points", "shape [any, 3 or more]", f"shape {[*points.shape]}")
    check_shape(name, "voxel_size", voxel_size, (3,))
    check_shape(name, "coors_range", coors_range, (6,))
    if ndim != 3:
        raise refuse(name, "NDim", "3", ndim)
    kind = compute_type(points.dtype, load_torch().float32)
    return dense(voxel_size, kind), dense(coors_range, kind)
