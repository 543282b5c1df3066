"""Formulas of overlaps with PyTorch's own operators, which stand in for kernels where PyTorch transforms functions."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

import pymluops.torch as ours
from support.torch_samples import all_equal


def _near_boxes(jitter: float, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Boxes [40, 5] that nearly coincide, beside one of no area and one that is not finite."""
    rng = np.random.default_rng(5)
    one = np.column_stack([rng.uniform(-9, 9, (40, 2)), 10 ** rng.uniform(-2, 2, (40, 2)), rng.uniform(-4, 4, 40)])
    other = one * (1 + jitter * rng.uniform(-1, 1, one.shape))
    one[3, 2], one[4, 0] = 0, np.nan
    return torch.from_numpy(one).to(dtype), torch.from_numpy(other).to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("jitter", [0, 1e-7, 1e-4, 0.1])
def test_vmap_of_overlaps_agrees_with_the_kernel(jitter: float, dtype: torch.dtype) -> None:
    one, other = _near_boxes(jitter, dtype)
    tolerances = {"rtol": 0.0, "atol": 1e-12 if dtype == torch.float64 else 1e-7}
    rows = [torch.stack([boxes, boxes.flip(0)]) for boxes in (one, other)]
    for mode in ("iou", "iof"):

        def ious(a: Tensor, b: Tensor, mode: str = mode) -> Tensor:
            return ours.box_iou_rotated(a, b, mode)

        all_equal(torch.vmap(ious)(*rows)[0], ious(one, other), **tolerances)
    spaces = []
    for boxes in (one, other):
        height = torch.full((40, 1), 1.5, dtype=dtype)
        spaces.append(torch.cat([boxes[:, :2], height * 2, boxes[:, 2:4], height, boxes[:, 4:]], 1))
    rows = [torch.stack([boxes, boxes.flip(0)]) for boxes in spaces]
    for function in (ours.boxes_iou_bev, ours.boxes_iou3d):
        all_equal(torch.vmap(function)(*rows)[0], function(*spaces), **tolerances)
    areas = torch.vmap(ours.boxes_overlap_bev)(*rows)[0]
    all_equal(areas, ours.boxes_overlap_bev(*spaces), rtol=1e-6, atol=1e-9)


def test_vmap_of_points_on_borders_agrees_with_the_kernel() -> None:
    points = torch.cartesian_prod(torch.arange(-1.0, 4), torch.arange(-1.0, 4))
    points = torch.cat([points, torch.tensor([[torch.nan, 1]])])
    polygons = torch.tensor([[0.0, 0, 2, 0, 2, 2, 0, 2], [0, 0, 3, 1, 2, 3, -1, 2], [0, 0, 2, 0, torch.inf, 2, 0, 2]])
    found = torch.vmap(ours.points_in_polygons)(points.expand(2, -1, -1), polygons.expand(2, -1, -1))
    all_equal(found[1], ours.points_in_polygons(points, polygons))
