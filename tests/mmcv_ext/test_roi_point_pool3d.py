"""The function of mmcv's extension for RoIPointPool3d: values of every type, any strides, refusals."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pymluops.oracle.roi_point_pool3d

from .values import any_strides, every_dtype, exact, laid, tensor


def problem(torch: Any, dtype: str) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(5)
    boxes = rng.integers(-4, 5, (2, 3, 7)) / 2
    boxes[..., 3:6], boxes[..., 6] = rng.integers(2, 9, (2, 3, 3)) / 2, 0
    boxes[0, 0, 3] = -1
    points, features = rng.integers(-8, 9, (2, 30, 3)) / 4, rng.integers(-5, 6, (2, 30, 4))
    return tuple(tensor(torch, array, dtype) for array in (points, boxes, features))  # type: ignore[return-value]


@every_dtype
@any_strides
def test_rows_and_flags(torch: Any, ext: ModuleType, dtype: str, strided: bool) -> None:
    points, boxes, features = problem(torch, dtype)
    pooled = laid(torch, torch.full((2, 3, 6, 7), 9, dtype=points.dtype), strided)
    empty = laid(torch, torch.full((2, 3), 9, dtype=torch.int32), strided)
    ext.roipoint_pool3d_forward(*(laid(torch, one, strided) for one in (points, boxes, features)), pooled, empty)
    wanted = pymluops.oracle.roi_point_pool3d.pool(exact(points), exact(features), exact(boxes), 6)
    np.testing.assert_array_equal(exact(pooled), wanted[0])
    np.testing.assert_array_equal(empty.numpy(), wanted[1])
    assert 0 < wanted[1].sum() < 6


def test_nothing_and_refusals(torch: Any, ext: ModuleType) -> None:
    points, boxes, features = problem(torch, "float32")
    pooled, empty = torch.full((2, 3, 6, 7), 9.0), torch.full((2, 3), 9, dtype=torch.int32)
    ext.roipoint_pool3d_forward(points[:, :0], boxes, features[:, :0], pooled, empty)
    for place, wrong, text in (
        (1, boxes[..., :6], r"boxes3d: expected shape \[2, any, 7\]"),
        (2, features[:, :5], r"pts_feature: expected shape \[2, 30, any\]"),
        (3, pooled[..., :6], "pooled_features: expected 7 columns, got 6"),
        (4, empty.long(), "pooled_empty_flag: expected int32"),
    ):
        given = [wrong if i == place else one for i, one in enumerate((points, boxes, features, pooled, empty))]
        with pytest.raises(RuntimeError, match=f"^roipoint_pool3d_forward: {text}"):
            ext.roipoint_pool3d_forward(*given)
    assert (pooled == 9).all() and (empty == 9).all()
