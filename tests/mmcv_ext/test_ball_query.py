"""The functions of mmcv's extension for ball_query: values of every type, any strides, gradients."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pymluops.oracle.ball_query

from .values import any_strides, every_dtype, exact, laid, tensor


@every_dtype
@any_strides
@pytest.mark.parametrize(("low", "high", "nsample"), [(0, 2, 4), (1, 2.5, 3), (0, 0.5, 40), (0, 100, 3), (0, 3, 0)])
def test_ball_query(
    torch: Any, ext: ModuleType, dtype: str, strided: bool, low: float, high: float, nsample: int
) -> None:
    rng = np.random.default_rng(7)
    centres = tensor(torch, rng.integers(-4, 5, (2, 6, 3)), dtype)
    points = tensor(torch, rng.integers(-4, 5, (2, 33, 3)), dtype)
    idx = torch.full((2, 6, nsample), 9, dtype=torch.int32)
    expected = pymluops.oracle.ball_query.ball_query(exact(centres), exact(points), low, high, nsample, idx.numpy())
    idx = laid(torch, idx, strided)
    keywords = {"b": 2, "n": 33, "m": 6, "min_radius": low, "max_radius": high, "nsample": nsample}
    ext.ball_query_forward(laid(torch, centres, strided), laid(torch, points, strided), idx, **keywords)
    np.testing.assert_array_equal(idx.numpy(), expected)


@every_dtype
def test_stack_ball_query(torch: Any, ext: ModuleType, dtype: str) -> None:
    """Batches of different sizes, one of them without points, one without centres."""
    rng = np.random.default_rng(8)
    centres, points = (3, 2, 0, 4), (10, 0, 5, 7)
    new_xyz = tensor(torch, rng.integers(-3, 4, (sum(centres), 3)), dtype)
    xyz = tensor(torch, rng.integers(-3, 4, (sum(points), 3)), dtype)
    idx = torch.zeros(sum(centres), 3, dtype=torch.int32)
    counts = (torch.tensor(numbers, dtype=torch.int32) for numbers in (centres, points))
    new_count, count = counts
    ext.stack_ball_query_forward(new_xyz, new_count, xyz, count, idx, max_radius=2.5, nsample=3)
    row = 0
    for batch, number in enumerate(centres):
        first = sum(points[:batch])
        for centre in exact(new_xyz)[row : row + number]:
            d2 = ((exact(xyz)[first : first + points[batch]] - centre) ** 2).sum(1)
            hits = np.flatnonzero(d2 < 2.5**2)[:3].tolist()
            expected = (hits + [hits[0]] * 3)[:3] if hits else [-1, 0, 0]
            assert idx[row].tolist() == expected
            row += 1
    assert (idx[:, 0] == -1).any() and (idx[:, 0] > 0).any()
