"""Functions of boxes and points for tensors of PyTorch, beyond what all functions have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import pymluops.torch as ours
from pymluops.oracle import points_in_boxes, roi_aware_pool3d, roi_point_pool3d, voxel_pooling
from support.torch_samples import all_equal

DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def scene(dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Boxes [2, 5, 7], points [2, 30, 3] and features [2, 30, 4]; all types have the numbers exactly."""
    rng = np.random.default_rng(3)
    boxes = rng.integers(-4, 5, (2, 5, 7)) / 2
    boxes[..., 3:6], boxes[..., 6] = rng.integers(2, 9, (2, 5, 3)) / 2, 0
    arrays = boxes, rng.integers(-8, 9, (2, 30, 3)) / 4, rng.integers(-9, 10, (2, 30, 4))
    return tuple(torch.from_numpy(np.asarray(array, np.float64)).to(dtype) for array in arrays)  # type: ignore


def wide(tensor: torch.Tensor) -> np.ndarray:
    found: np.ndarray = tensor.double().numpy()
    return found


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_values_in_all_types(dtype: torch.dtype) -> None:
    boxes, points, features = scene(dtype)
    pairs = torch.from_numpy(points_in_boxes.every(wide(boxes), wide(points)))
    all_equal(
        ours.points_in_boxes_part(points, boxes), torch.from_numpy(points_in_boxes.first(*map(wide, scene()[:2])))
    )
    for function in (ours.points_in_boxes_all, ours.points_in_boxes_cpu):
        all_equal(function(points, boxes), pairs)
    pooled, empty = ours.roipoint_pool3d(points, features, boxes, 6)
    wanted = roi_point_pool3d.pool(wide(points), wide(features), wide(boxes), 6)
    all_equal((pooled.double(), empty), tuple(map(torch.from_numpy, wanted)))
    for mode in (0, 1):
        found = ours.roiaware_pool3d(boxes[0], points[0], features[0], (2, 3, 1), 6, mode)
        maxima = roi_aware_pool3d.forward(wide(boxes[0]), wide(points[0]), wide(features[0]), mode, 6, (2, 3, 1))[0]
        assert found.dtype == dtype
        all_equal(found.double(), torch.from_numpy(maxima), rtol=2e-2, atol=2e-2)
    geom = torch.randint(-1, 4, (2, 30, 3), generator=torch.Generator().manual_seed(1))
    sums = voxel_pooling.forward(geom.int().numpy(), wide(features), (3, 4, 2))[0]
    all_equal(ours.voxel_pooling(geom, features, (3, 4, 2)).double(), torch.from_numpy(sums).permute(0, 3, 1, 2))


@pytest.mark.parametrize("mode", ["max", "avg"])
def test_modules(mode: str) -> None:
    boxes, points, features = scene()
    pool = ours.RoIAwarePool3d(2, 6, mode)
    assert repr(pool) == f"RoIAwarePool3d(out_size=2, max_pts_per_voxel=6, mode={mode})"
    given = (features[0] + torch.rand(features[0].shape, dtype=torch.float64)).requires_grad_()
    assert torch.autograd.gradcheck(lambda one: pool(boxes[0], points[0], one), (given,))
    gather = ours.RoIPointPool3d(3)
    assert gather(points, features, boxes)[0].shape == (2, 5, 3, 7) and "num_sampled_points=3" in repr(gather)
    with pytest.raises(AssertionError, match="mode: expected 'max' or 'avg'"):
        ours.RoIAwarePool3d(2, 6, "sum")


def test_nothing_to_do() -> None:
    boxes, points, features = scene()
    for rois, pts in ((boxes[0, :0], points[0]), (boxes[0], points[0, :0])):
        feats = torch.rand(len(pts), 4, dtype=torch.float64, requires_grad=True)
        found = ours.roiaware_pool3d(rois, pts, feats, 2, 6, 0)
        assert found.shape == (len(rois), 2, 2, 2, 4) and not found.any()
        found.sum().backward()
        assert feats.grad is not None and not feats.grad.any()
    pooled, empty = ours.roipoint_pool3d(points[:, :0], features[:, :0], boxes, 3)
    assert pooled.shape == (2, 5, 3, 7) and not pooled.any() and empty.all()
    feats = features[:, :0].clone().requires_grad_()
    found = ours.voxel_pooling(torch.zeros(2, 0, 3, dtype=torch.int64), feats, (3, 4, 2))
    assert found.shape == (2, 4, 4, 3) and not found.any() and found.requires_grad


def test_refusals() -> None:
    boxes, points, features = scene()
    calls: dict[str, Any] = {
        "boxes: expected shape": lambda: ours.points_in_boxes_part(points, boxes[..., :6]),
        "points: expected dtype float64 like boxes": lambda: ours.points_in_boxes_all(points.float(), boxes),
        "pts_feature: expected shape": lambda: ours.roiaware_pool3d(boxes[0], points[0], features, 2, 6, 0),
        "pool_method: ": lambda: ours.roiaware_pool3d(boxes[0], points[0], features[0], 2, 6, 2),
        "point_features: expected shape": lambda: ours.roipoint_pool3d(points, features[0], boxes, 6),
        "boxes3d: expected shape": lambda: ours.roipoint_pool3d(points, features, boxes[0], 6),
        "input_features: expected shape": lambda: ours.voxel_pooling(points.int(), features[0], (1, 1, 1)),
    }
    for text, call in calls.items():
        with pytest.raises((ValueError, TypeError), match=text):
            call()
