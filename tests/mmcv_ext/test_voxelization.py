"""The functions of mmcv's extension for voxelization: values of every type, any strides, refusals."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pymluops.oracle.voxelization

from .values import any_strides, every_dtype, exact, laid, tensor

SIZE, RANGE = np.array([0.5, 0.3, 1], np.float32), np.array([-1, -1, 0, 1, 1, 3], np.float32)


def cloud(torch: Any, dtype: str) -> Any:
    rng = np.random.default_rng(7)
    return tensor(torch, np.round(rng.uniform(-1.5, 3.5, (60, 5)), 1), dtype)


def computed(points: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points, size and range in the type that cells are computed in."""
    real = np.float64 if str(points.dtype) == "torch.float64" else np.float32
    return points.double().numpy().astype(real), SIZE.astype(real), RANGE.astype(real)


@every_dtype
@any_strides
@pytest.mark.parametrize(("max_points", "max_voxels"), [(2, 9), (7, 60), (0, 4), (3, 0), (-1, -1)])
def test_hard_voxelize(
    torch: Any, ext: ModuleType, dtype: str, strided: bool, max_points: int, max_voxels: int
) -> None:
    points = cloud(torch, dtype)
    rows, most = (11, 3) if max_points < 0 else (max_voxels, max_points)
    voxels = laid(torch, torch.full((rows, most, 5), 9, dtype=points.dtype), strided)
    coors = laid(torch, torch.full((rows, 3), 9, dtype=torch.int32), strided)
    counts, number = torch.full((rows,), 9, dtype=torch.int32), torch.tensor(9)
    ext.hard_voxelize_forward(
        laid(torch, points, strided), torch.from_numpy(SIZE), torch.from_numpy(RANGE), voxels, coors, counts, number,
        max_points=max_points, max_voxels=max_voxels, NDim=3, deterministic=not strided,
    )  # fmt: skip
    wanted = pymluops.oracle.voxelization.voxels(*computed(points), most, rows)
    np.testing.assert_array_equal(exact(voxels), wanted[0])
    np.testing.assert_array_equal(coors.numpy(), wanted[1])
    np.testing.assert_array_equal(counts.numpy(), wanted[2])
    assert number.item() == (wanted[3][0] if rows * most else 0)


@every_dtype
@any_strides
def test_dynamic_voxelize(torch: Any, ext: ModuleType, dtype: str, strided: bool) -> None:
    points = cloud(torch, dtype)
    coors = laid(torch, torch.full((60, 3), 9, dtype=torch.int32), strided)
    ext.dynamic_voxelize_forward(
        laid(torch, points, strided), torch.from_numpy(SIZE), torch.from_numpy(RANGE), coors, NDim=3
    )
    np.testing.assert_array_equal(coors.numpy(), pymluops.oracle.voxelization.cells(*computed(points)))


def test_no_points(torch: Any, ext: ModuleType) -> None:
    points, whole = torch.zeros(0, 4), torch.full((2, 3), 9, dtype=torch.int32)
    voxels, number = torch.full((2, 3, 4), 9.0), torch.tensor(9)
    sizes = torch.from_numpy(SIZE), torch.from_numpy(RANGE)
    counts = torch.full((2,), 9, dtype=torch.int32)
    ext.hard_voxelize_forward(points, *sizes, voxels, whole, counts, number, 3, 2, 3, True)
    assert not voxels.any() and not whole.any() and not counts.any() and number.item() == 0
    ext.dynamic_voxelize_forward(points, *sizes, torch.zeros(0, 3, dtype=torch.int32), 3)


def test_refusals(torch: Any, ext: ModuleType) -> None:
    points, sizes = torch.zeros(4, 3), (torch.from_numpy(SIZE), torch.from_numpy(RANGE))
    voxels, coors, counts = torch.zeros(2, 3, 3), torch.zeros(2, 3).int(), torch.zeros(2).int()
    good = [points, *sizes, voxels, coors, counts, torch.tensor(0), 3, 2, 3, True]
    for place, wrong, text in (
        (0, points[:, :2], "points: expected shape"),
        (0, points.int(), "points: expected float32"),
        (1, sizes[1], "voxel_size: expected shape"),
        (3, voxels.double(), "voxels: expected float32, like points"),
        (4, coors.long(), "coors: expected int32"),
        (5, counts[:1], "num_points_per_voxel: expected shape"),
        (6, torch.zeros(2).long(), "voxel_num: expected one number"),
        (7, -2, "max_points: expected at least 0, or -1"),
        (8, 3, "voxels: expected shape"),
        (9, 2, "NDim: expected 3"),
    ):
        given = [wrong if i == place else one for i, one in enumerate(good)]
        with pytest.raises(RuntimeError, match=f"^hard_voxelize_forward: {text}"):
            ext.hard_voxelize_forward(*given)
    with pytest.raises(RuntimeError, match=r"^dynamic_voxelize_forward: coors: expected shape"):
        ext.dynamic_voxelize_forward(points, *sizes, coors, 3)
    assert not voxels.any() and not coors.any()
