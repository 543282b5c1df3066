"""The functions of mmcv's extension for points in boxes: values of every type, any strides, refusals."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pymluops.oracle.points_in_boxes

from .values import any_strides, every_dtype, laid, tensor


def problem(torch: Any, dtype: str, boxes: int = 5, points: int = 40) -> tuple[Any, Any]:
    rng = np.random.default_rng(2)
    rows = rng.integers(-4, 5, (2, boxes, 7)) / 2
    rows[..., 3:6] = rng.integers(1, 9, (2, boxes, 3)) / 2
    rows[..., 6] = 0.5
    return tensor(torch, rows, dtype), tensor(torch, rng.integers(-8, 9, (2, points, 3)) / 4, dtype)


def given(boxes: Any, points: Any) -> tuple[np.ndarray, np.ndarray]:
    """The values in the type that is computed in."""
    real = np.float64 if str(boxes.dtype) == "torch.float64" else np.float32
    return boxes.double().numpy().astype(real), points.double().numpy().astype(real)


@every_dtype
@any_strides
def test_all_forms(torch: Any, ext: ModuleType, dtype: str, strided: bool) -> None:
    boxes, points = problem(torch, dtype)
    wanted = pymluops.oracle.points_in_boxes.every(*given(boxes, points))
    placed = laid(torch, boxes, strided), laid(torch, points, strided)
    first = laid(torch, torch.full((2, 40), -1, dtype=torch.int32), strided)
    ext.points_in_boxes_part_forward(*placed, first)
    np.testing.assert_array_equal(first.numpy(), pymluops.oracle.points_in_boxes.first(*given(boxes, points)))
    pairs = laid(torch, torch.zeros(2, 40, 5, dtype=torch.int32), strided)
    ext.points_in_boxes_all_forward(*placed, pairs)
    np.testing.assert_array_equal(pairs.numpy(), wanted)
    rows = laid(torch, torch.full((2, 5, 40), 9, dtype=torch.int32), strided)
    for batch in range(2):
        ext.points_in_boxes_cpu_forward(placed[0][batch], placed[1][batch], rows[batch])
    np.testing.assert_array_equal(rows.numpy(), wanted.transpose(0, 2, 1))
    assert 0 < wanted.mean() < 1


def test_nothing_to_find(torch: Any, ext: ModuleType) -> None:
    boxes, points = problem(torch, "float32")
    first = torch.full((2, 40), -1, dtype=torch.int32)
    ext.points_in_boxes_part_forward(boxes[:, :0], points, first)
    assert (first == -1).all()
    ext.points_in_boxes_all_forward(boxes, points[:, :0], torch.zeros(2, 0, 5, dtype=torch.int32))
    ext.points_in_boxes_cpu_forward(boxes[0, :0], points[0], torch.zeros(0, 40, dtype=torch.int32))


def test_refusals(torch: Any, ext: ModuleType) -> None:
    boxes, points = problem(torch, "float32")
    whole = torch.zeros(2, 40, dtype=torch.int32)
    for function, arguments, text in (
        ("part", (boxes[..., :6], points, whole), r"boxes_tensor: expected shape \[any, any, 7\]"),
        ("part", (boxes, points.double(), whole), "pts_tensor: expected float32, like boxes_tensor"),
        ("part", (boxes, points, whole.long()), "box_idx_of_points_tensor: expected int32"),
        ("all", (boxes, points, whole), "box_idx_of_points_tensor: expected shape"),
        ("cpu", (boxes[0], points, whole), r"pts_tensor: expected shape \[any, 3\]"),
        ("cpu", (boxes[0], points[0], whole), r"pts_indices_tensor: expected shape \[5, 40\]"),
    ):
        with pytest.raises(RuntimeError, match=f"^points_in_boxes_{function}_forward: {text}"):
            getattr(ext, f"points_in_boxes_{function}_forward")(*arguments)
