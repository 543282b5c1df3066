"""The function of mmcv's extension for points_in_polygons."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pymluops.oracle import points_in_polygons as oracle

from .values import any_strides, every_dtype, exact, laid, tensor

pytest.importorskip("torch")


@every_dtype
@any_strides
@pytest.mark.parametrize("output", ["float32", ""])
def test_points_in_polygons(torch: Any, ext: ModuleType, dtype: str, strided: bool, output: str) -> None:
    rng = np.random.default_rng(3)
    points = tensor(torch, rng.integers(-4, 5, (20, 2)), dtype)
    polygons = tensor(torch, rng.integers(-4, 5, (6, 8)), dtype)
    found = torch.full((20, 6), 9, dtype=getattr(torch, output or dtype))
    given = laid(torch, found, strided)
    ext.points_in_polygons_forward(laid(torch, points, strided), laid(torch, polygons, strided), given)
    computed = (exact(points), exact(polygons))
    if dtype != "float64":
        computed = (computed[0].astype(np.float32), computed[1].astype(np.float32))
    np.testing.assert_array_equal(exact(given), oracle.inside(*computed))


def test_empty_and_refused(torch: Any, ext: ModuleType) -> None:
    points, polygons = torch.rand(3, 2), torch.rand(2, 8)
    ext.points_in_polygons_forward(points[:0], polygons, torch.zeros(0, 2))
    for arguments, text in (
        ((points, polygons[:, :6], torch.zeros(3, 2)), r"polygons: expected shape \[any, 8\]"),
        ((points, polygons, torch.zeros(2, 3)), r"output: expected shape \[3, 2\], got shape \[2, 3\]"),
        ((points, polygons.double(), torch.zeros(3, 2)), "polygons: expected float32, like points, got float64"),
    ):
        with pytest.raises(RuntimeError, match=f"^points_in_polygons_forward: {text}"):
            ext.points_in_polygons_forward(*arguments)
