"""The functions of mmcv's extension for boxes in space."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pymluops.oracle import boxes3d as oracle

from .values import any_strides, every_dtype, exact, laid, near, tensor

pytest.importorskip("torch")


@every_dtype
@any_strides
def test_overlaps(torch: Any, ext: ModuleType, dtype: str, strided: bool) -> None:
    rng = np.random.default_rng(3)
    first, second = (tensor(torch, oracle.random_boxes(rng, count, 2), dtype) for count in (6, 5))
    ans = torch.full((6, 5), 9, dtype=first.dtype)
    ext.iou3d_boxes_overlap_bev_forward(*(laid(torch, boxes, strided) for boxes in (first, second)), ans)
    near(torch, ans, oracle.pairs("boxes_overlap_bev", exact(first), exact(second)), dtype)


@every_dtype
@any_strides
@pytest.mark.parametrize("name", ["nms3d", "nms3d_normal"])
def test_suppression(torch: Any, ext: ModuleType, name: str, dtype: str, strided: bool) -> None:
    rng = np.random.default_rng(4)
    boxes = oracle.random_boxes(rng, 40)
    boxes[:, :2], boxes[:, 3:5], boxes[:, 6] = rng.integers(0, 5, (40, 2)), 2, rng.integers(0, 2, 40) / 8
    boxes = tensor(torch, boxes, dtype)
    wanted = oracle.suppression(name, exact(boxes), -np.arange(40.0), 0.4)
    for count in (torch.full((), 9), torch.full((1,), 9)):
        keep = torch.full((40,), 77)
        getattr(ext, f"iou3d_{name}_forward")(laid(torch, boxes, strided), keep, count, nms_overlap_thresh=0.4)
        assert keep[: count.item()].tolist() == wanted
        assert (keep[count.item() :] == 77).all()


def test_empty_and_refused(torch: Any, ext: ModuleType) -> None:
    ext.iou3d_boxes_overlap_bev_forward(torch.rand(0, 7), torch.rand(3, 7), torch.zeros(0, 3))
    with pytest.raises(RuntimeError, match=r"^iou3d_boxes_overlap_bev_forward: ans_iou: expected shape"):
        ext.iou3d_boxes_overlap_bev_forward(torch.rand(2, 7), torch.rand(3, 7), torch.zeros(3, 3))
    for name in ("iou3d_nms3d_forward", "iou3d_nms3d_normal_forward"):
        function, count = getattr(ext, name), torch.full((), 9)
        function(torch.rand(0, 7), torch.zeros(0, dtype=torch.int64), count, 0.5)
        assert count == 0
        for arguments, text in (
            ((torch.rand(3, 6), torch.zeros(3).long(), count), r"boxes: expected shape \[any, 7\]"),
            ((torch.rand(3, 7), torch.zeros(2).long(), count), r"keep: expected shape \[3\]"),
            ((torch.rand(3, 7), torch.zeros(3).int(), count), "keep: expected int64, got int32"),
            ((torch.rand(3, 7), torch.zeros(3).long(), torch.zeros(2).long()), "num_out: expected one number"),
        ):
            with pytest.raises(RuntimeError, match=f"^{name}: {text}"):
                function(*arguments, 0.5)
