"""The function of mmcv's extension for box_iou_rotated."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pymluops.oracle import box_iou_rotated as oracle
from pymluops.oracle.rotated_rectangles import random_rectangles

from .values import TOLERANCES, any_strides, every_dtype, exact, laid, tensor

pytest.importorskip("torch")


@every_dtype
@any_strides
@pytest.mark.parametrize("mode", [0, 1])
def test_box_iou_rotated(torch: Any, ext: ModuleType, dtype: str, strided: bool, mode: int) -> None:
    rng = np.random.default_rng(3)
    first, second = (tensor(torch, random_rectangles(rng, count), dtype) for count in (7, 5))
    arguments = laid(torch, first, strided), laid(torch, second, strided)
    # What is computed is rounded once to the type of the result.
    tolerance = max(TOLERANCES[dtype], 1e-12)
    flat, table = torch.full((35,), 9, dtype=first.dtype), torch.full((7, 5), 9, dtype=first.dtype)
    wanted = oracle.pairs(exact(first), exact(second), mode == 1)
    for ious in (flat, laid(torch, table, strided)):
        ext.box_iou_rotated(*arguments, ious, mode_flag=mode, aligned=False)
        np.testing.assert_allclose(exact(ious).reshape(7, 5), wanted, atol=10 * tolerance)
    ious = torch.full((5,), 9, dtype=first.dtype)
    ext.box_iou_rotated(arguments[0][:5], arguments[1], ious, mode_flag=mode, aligned=True)
    np.testing.assert_allclose(exact(ious), np.diagonal(wanted), atol=10 * tolerance)


def test_empty_and_refused(torch: Any, ext: ModuleType) -> None:
    boxes, none = torch.rand(3, 5), torch.rand(0, 5)
    ext.box_iou_rotated(boxes, none, torch.zeros(0), 0, False)
    ext.box_iou_rotated(none, none, torch.zeros(0), 0, True)
    for arguments, text in (
        ((boxes, boxes, torch.zeros(8), 0, False), r"ious: expected shape \[9\], got shape \[8\]"),
        ((boxes, boxes[:2], torch.zeros(3), 0, True), r"boxes2: expected shape \[3, 5\]"),
        ((boxes, boxes, torch.zeros(9), 2, False), "mode_flag: expected 0"),
        ((boxes, boxes.double(), torch.zeros(9), 0, False), "boxes2: expected float32, like boxes1, got float64"),
    ):
        with pytest.raises(RuntimeError, match=f"^box_iou_rotated: {text}"):
            ext.box_iou_rotated(*arguments)
