"""convex_iou, convex_giou and min_area_polygons for tensors of PyTorch."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import pymluops.torch as ours
from pymluops.oracle import point_sets as oracle

DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_values(dtype: torch.dtype) -> None:
    rng = np.random.default_rng(3)
    sets = torch.from_numpy(rng.normal(size=(5, 18))).to(dtype).requires_grad_()
    polygons = torch.from_numpy(np.array([-1, -1, 1, -1, 1.5, 1, -1, 1]) * rng.uniform(0.5, 2, (5, 1))).to(dtype)
    kind = np.float64 if dtype == torch.float64 else np.float32
    given = [one.detach().double().numpy().astype(kind) for one in (sets, polygons)]
    found = ours.convex_iou(sets, polygons), *ours.convex_giou(sets, polygons), ours.min_area_polygons(sets)
    for one, wanted in zip(
        found, (oracle.ious(*given), *oracle.gious(*given), oracle.rectangles(given[0])), strict=True
    ):
        assert one.dtype == dtype
        assert not one.requires_grad
        limit = {torch.float16: 5e-3, torch.bfloat16: 5e-2}.get(dtype, 1e-5)
        np.testing.assert_allclose(one.double().numpy(), wanted, atol=limit)


def test_a_loss_gets_the_gradient_by_the_result() -> None:
    """Steps along it make hulls more like their quadrilaterals."""
    rng = np.random.default_rng(4)
    sets = torch.from_numpy(rng.normal(size=(5, 18)))
    polygons = torch.tensor([[-1.0, -1, 1, -1, 1.5, 1, -1, 1]], dtype=torch.float64).repeat(5, 1)
    before, gradients = ours.convex_giou(sets, polygons)
    after, _ = ours.convex_giou(sets + 0.01 * gradients, polygons)
    assert bool((after > before).all())
