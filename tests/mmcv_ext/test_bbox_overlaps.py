"""The function of mmcv's extension for bbox_overlaps."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pymluops.oracle import bbox_overlaps as oracle
from pymluops.oracle.plane_boxes import random_boxes

from .values import TOLERANCES, any_strides, every_dtype, exact, laid, tensor

pytest.importorskip("torch")


@every_dtype
@any_strides
@pytest.mark.parametrize("mode", [0, 1])
@pytest.mark.parametrize("offset", [0, 1])
def test_bbox_overlaps(torch: Any, ext: ModuleType, dtype: str, strided: bool, mode: int, offset: int) -> None:
    rng = np.random.default_rng(3)
    first, second = (tensor(torch, random_boxes(rng, count), dtype) for count in (7, 5))
    given = laid(torch, first, strided), laid(torch, second, strided)
    ious = laid(torch, torch.full((7, 5), 9, dtype=first.dtype), strided)
    ext.bbox_overlaps(*given, ious, mode=mode, aligned=False, offset=offset)
    wanted = oracle.pairs(exact(first), exact(second), mode == 1, offset)
    np.testing.assert_allclose(exact(ious), wanted, atol=10 * max(TOLERANCES[dtype], 1e-12))
    rows = torch.full((5,), 9, dtype=first.dtype)
    ext.bbox_overlaps(given[0][:5], given[1], rows, mode=mode, aligned=True, offset=offset)
    np.testing.assert_allclose(exact(rows), np.diagonal(wanted), atol=10 * max(TOLERANCES[dtype], 1e-12))


def test_whole_numbers_empty_and_refused(torch: Any, ext: ModuleType) -> None:
    boxes = torch.tensor([[0, 0, 4, 2], [1, 0, 5, 2], [0, 0, 2, 2]])
    ious = torch.zeros(3, 3)
    ext.bbox_overlaps(boxes, boxes, ious, 1, False, 0)
    assert ious[2].tolist() == [1, 0.5, 1]
    boxes, none = torch.rand(3, 4), torch.rand(0, 4)
    ext.bbox_overlaps(boxes, none, torch.zeros(3, 0), 0, False, 0)
    ext.bbox_overlaps(none, none, torch.zeros(0), 0, True, 0)
    for arguments, text in (
        ((boxes, boxes, torch.zeros(8), 0, False, 0), r"ious: expected shape \[3, 3\], got shape \[8\]"),
        ((boxes, boxes[:2], torch.zeros(3), 0, True, 0), r"bboxes2: expected shape \[3, 4\]"),
        ((boxes, boxes, torch.zeros(3, 3), 2, False, 0), "mode: expected 0"),
        ((boxes, boxes, torch.zeros(3, 3), 0, False, 3), "offset: expected 0"),
        ((boxes, boxes.double(), torch.zeros(3, 3), 0, False, 0), "bboxes2: expected float32, like bboxes1"),
    ):
        with pytest.raises(RuntimeError, match=f"^bbox_overlaps: {text}"):
            ext.bbox_overlaps(*arguments)
