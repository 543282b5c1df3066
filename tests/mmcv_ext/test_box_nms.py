"""The functions of mmcv's extension for nms, softnms and nms_match."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pymluops.oracle import box_nms as oracle
from pymluops.oracle.plane_boxes import random_boxes

from .values import TOLERANCES, any_strides, every_dtype, exact, laid, tensor

pytest.importorskip("torch")


@pytest.fixture(scope="module")
def mmcv_ops() -> Iterator[Any]:
    """The functions of mmcv-lite, where it is installed."""
    pytest.importorskip("mmcv.version", reason="mmcv-lite is not installed", exc_type=ImportError)
    import pymluops.mmcv

    if not pymluops.mmcv.install():
        pytest.skip("mmcv has a compiled extension")
    import mmcv.ops

    yield mmcv.ops
    pymluops.mmcv.uninstall()


def _drawn(torch: Any, dtype: str, count: int = 40) -> tuple[Any, Any]:
    rng = np.random.default_rng(4)
    return tensor(torch, random_boxes(rng, count), dtype), tensor(torch, rng.normal(size=count).round(1), dtype)


def _computed(values: Any, dtype: str) -> np.ndarray:
    """The values in the type that is computed in."""
    return exact(values) if dtype == "float64" else exact(values).astype(np.float32)


@every_dtype
@any_strides
@pytest.mark.parametrize("offset", [0, 1])
def test_nms(torch: Any, ext: ModuleType, dtype: str, strided: bool, offset: int) -> None:
    boxes, scores = _drawn(torch, dtype)
    kept = ext.nms(laid(torch, boxes, strided), scores, iou_threshold=0.25, offset=offset)
    assert kept.dtype == torch.int64
    assert kept.tolist() == oracle.suppression(_computed(boxes, dtype), exact(scores), 0.25, offset)


def test_scores_that_are_no_numbers_count(torch: Any, ext: ModuleType) -> None:
    boxes = torch.arange(5.0)[:, None] * 10 + torch.tensor([0.0, 0, 4, 4])
    scores = torch.tensor([-torch.inf, 1, torch.nan, torch.inf, -torch.inf])
    assert ext.nms(boxes, scores, 0.5, 0).tolist() == [2, 3, 1, 0, 4]


@every_dtype
@any_strides
@pytest.mark.parametrize("method", [0, 1, 2])
def test_softnms(torch: Any, ext: ModuleType, dtype: str, strided: bool, method: int) -> None:
    boxes, scores = _drawn(torch, dtype)
    dets = laid(torch, torch.full((40, 5), 9, dtype=boxes.dtype), strided)
    kept = ext.softnms(
        laid(torch, boxes, strided),
        scores,
        dets,
        iou_threshold=0.25,
        sigma=0.5,
        min_score=1e-3,
        method=method,
        offset=0,
    )
    computed = _computed(boxes, dtype), _computed(scores, dtype)
    rows, wanted = oracle.soft(*computed, 0.25, 0.5, 1e-3, method, 0)
    assert kept.dtype == torch.int64 and kept.tolist() == wanted
    np.testing.assert_allclose(exact(dets)[: len(kept)], rows, rtol=TOLERANCES[dtype], atol=TOLERANCES[dtype])
    assert (exact(dets)[len(kept) :] == 9).all()


@every_dtype
@any_strides
def test_nms_match(torch: Any, ext: ModuleType, dtype: str, strided: bool) -> None:
    boxes, scores = _drawn(torch, dtype)
    dets = torch.cat([boxes, scores[:, None]], 1)
    matches, order = oracle.match(_computed(dets, dtype), 0.25)
    wanted = [[number for number in order if matches[number] == kept] for kept in order if matches[kept] == kept]
    assert ext.nms_match(laid(torch, dets, strided), iou_threshold=0.25) == wanted


def test_empty_and_refused(torch: Any, ext: ModuleType) -> None:
    none = ext.nms(torch.rand(0, 4), torch.rand(0), 0.5, 0)
    assert none.shape == (0,) and none.dtype == torch.int64
    assert ext.softnms(torch.rand(0, 4), torch.rand(0), torch.rand(0, 5), 0.5, 0.5, 0.1, 1, 0).shape == (0,)
    assert ext.nms_match(torch.rand(0, 5), 0.5) == []
    boxes, scores, dets = torch.rand(3, 4), torch.rand(3), torch.rand(3, 5)
    refused: list[tuple[str, tuple[Any, ...], str]] = [
        ("nms", (dets, scores, 0.5, 0), r"boxes: expected shape \[any, 4\], got shape \[3, 5\]"),
        ("nms", (boxes, scores[:2], 0.5, 0), r"scores: expected shape \[3\], got shape \[2\]"),
        ("nms", (boxes, scores.half(), 0.5, 0), "scores: expected float32, like boxes, got float16"),
        ("nms", (boxes, scores, 0.5, 2), "offset: expected 0 or 1, got 2"),
        ("softnms", (boxes, scores, boxes, 0.5, 0.5, 0.1, 1, 0), r"dets: expected shape \[3, 5\]"),
        ("softnms", (boxes, scores, dets, 0.5, 0.5, 0.1, 3, 0), "method: expected 0 "),
        ("softnms", (boxes, scores, dets.double(), 0.5, 0.5, 0.1, 1, 0), "dets: expected float32"),
        ("nms_match", (boxes, 0.5), r"dets: expected shape \[any, 5\]"),
        ("nms_match", (dets.long(), 0.5), "dets: expected float32"),
    ]
    for name, arguments, text in refused:
        with pytest.raises(RuntimeError, match=f"^{name}: {text}"):
            getattr(ext, name)(*arguments)


@pytest.mark.filterwarnings("ignore")
def test_mmcv_gives_what_it_gives_on_a_gpu(torch: Any, mmcv_ops: Any) -> None:
    boxes = torch.tensor([[6.0, 3, 8, 7], [3, 6, 9, 11], [3, 7, 10, 12], [1, 4, 13, 7]])
    scores = torch.tensor([0.6, 0.9, 0.7, 0.2])
    dets, kept = mmcv_ops.nms(boxes, scores, iou_threshold=0.3, offset=0)
    assert kept.tolist() == [1, 0, 3]
    assert dets.tolist() == torch.cat([boxes, scores[:, None]], 1)[kept].tolist()
    configured = {"type": "nms", "iou_threshold": 0.3, "split_thr": 2}
    batched, numbers = mmcv_ops.batched_nms(boxes, scores, torch.tensor([0, 1, 2, 0]), configured)
    assert numbers.tolist() == [1, 2, 0, 3] and batched.shape == (4, 5)
    for method in ("naive", "linear", "gaussian"):
        found, order = mmcv_ops.soft_nms(boxes, scores, method=method, iou_threshold=0.3)
        assert found.shape == (len(order), 5) and order[0] == 1
    groups = mmcv_ops.nms_match(torch.cat([boxes, scores[:, None]], 1), 0.3)
    assert [group.tolist() for group in groups] == [[1, 2], [0], [3]]
