"""The functions of mmcv's extension for box_iou_quadri and nms_quadri."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pymluops.oracle import quadri_boxes as oracle

from .values import TOLERANCES, any_strides, every_dtype, exact, laid, tensor

pytest.importorskip("torch")


@every_dtype
@any_strides
@pytest.mark.parametrize("mode", [0, 1])
def test_box_iou_quadri(torch: Any, ext: ModuleType, dtype: str, strided: bool, mode: int) -> None:
    rng = np.random.default_rng(3)
    first, second = (tensor(torch, oracle.random_quadrilaterals(rng, count), dtype) for count in (7, 5))
    given = laid(torch, first, strided), laid(torch, second, strided)
    kind = np.float64 if dtype == "float64" else np.float32
    wanted = oracle.pairs(exact(first).astype(kind), exact(second).astype(kind), mode + 2)
    for shape in ((35,), (7, 5)):
        ious = torch.full(shape, 9, dtype=first.dtype)
        ext.box_iou_quadri(*given, ious, mode_flag=mode, aligned=False)
        np.testing.assert_allclose(exact(ious).reshape(7, 5), wanted, atol=10 * max(TOLERANCES[dtype], 1e-12))
    ious = torch.full((5,), 9, dtype=first.dtype)
    ext.box_iou_quadri(given[0][:5], given[1], ious, mode_flag=mode, aligned=True)
    np.testing.assert_allclose(exact(ious), np.diagonal(wanted), atol=10 * max(TOLERANCES[dtype], 1e-12))


@every_dtype
@any_strides
@pytest.mark.parametrize("labelled", [False, True])
def test_nms_quadri(torch: Any, ext: ModuleType, dtype: str, strided: bool, labelled: bool) -> None:
    rng = np.random.default_rng(4)
    dets = tensor(torch, oracle.random_quadrilaterals(rng, 20, 2.0), dtype)
    scores = tensor(torch, rng.random(20), dtype)
    kind = np.float64 if dtype == "float64" else np.float32
    wanted = oracle.suppression(exact(dets).astype(kind), exact(scores), 0.25)
    if labelled:
        dets = torch.cat([dets, (torch.arange(20) % 3)[:, None].to(dets.dtype)], 1)
    order = scores.sort(0, descending=True)[1]
    kept = ext.nms_quadri(laid(torch, dets, strided), scores, order, dets[order], 0.25, int(labelled))
    assert kept.dtype == torch.int64 and kept.tolist() == wanted


def test_empty_and_refused(torch: Any, ext: ModuleType) -> None:
    none, boxes, scores = torch.empty(0, dtype=torch.int64), torch.rand(3, 8), torch.rand(3)
    assert ext.nms_quadri(boxes[:0], scores[:0], none, boxes[:0], 0.5, 0).shape == (0,)
    ext.box_iou_quadri(boxes, boxes[:0], torch.zeros(0), 0, False)
    refused: list[tuple[str, tuple[Any, ...], str]] = [
        ("box_iou_quadri", (boxes, boxes, torch.zeros(8), 0, False), r"ious: expected shape \[9\], got shape \[8\]"),
        ("box_iou_quadri", (boxes, boxes[:2], torch.zeros(3), 0, True), r"boxes2: expected shape \[3, 8\]"),
        ("box_iou_quadri", (boxes, boxes, torch.zeros(9), 2, False), "mode_flag: expected 0"),
        ("nms_quadri", (boxes[:, :5], scores, none, boxes, 0.5, 0), r"dets: expected shape \[any, 8\]"),
        ("nms_quadri", (boxes, scores.half(), none, boxes, 0.5, 0), "scores: expected float32, like dets"),
    ]
    for name, arguments, text in refused:
        with pytest.raises(RuntimeError, match=f"^{name}: {text}"):
            getattr(ext, name)(*arguments)
