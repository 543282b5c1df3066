"""The function of mmcv's extension for nms_rotated."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pymluops.oracle import nms_rotated as oracle
from pymluops.oracle.rotated_rectangles import random_rectangles

from .values import any_strides, every_dtype, laid, tensor

pytest.importorskip("torch")


@every_dtype
@any_strides
@pytest.mark.parametrize("labelled", [False, True])
def test_nms_rotated(torch: Any, ext: ModuleType, dtype: str, strided: bool, labelled: bool) -> None:
    rng = np.random.default_rng(4)
    dets, scores = tensor(torch, random_rectangles(rng, 20), dtype), tensor(torch, rng.random(20), dtype)
    labels = torch.arange(20, dtype=torch.int32) % 3 if labelled else torch.empty(0, dtype=torch.int32)
    if labelled:
        dets = torch.cat([dets, labels[:, None].to(dets.dtype)], 1)
    computed = dets if dtype == "float64" else dets.float()
    wanted = oracle.nms_rotated(computed.numpy(), scores.double().numpy(), 0.25)
    order = scores.sort(0, descending=True)[1]
    given = laid(torch, dets, strided), scores, order, dets[order], labels, 0.25, int(labelled)
    kept = ext.nms_rotated(*given)
    assert kept.dtype == torch.int64
    assert kept.tolist() == wanted


def test_empty_and_refused(torch: Any, ext: ModuleType) -> None:
    none = torch.empty(0, dtype=torch.int64)
    kept = ext.nms_rotated(torch.rand(0, 5), torch.rand(0), none, torch.rand(0, 5), none, 0.5, 0)
    assert kept.shape == (0,) and kept.dtype == torch.int64
    dets, scores = torch.rand(3, 5), torch.rand(3)
    for arguments, text in (
        ((dets[:, :4], scores), r"dets: expected shape \[any, 5\] or \[any, 6\], got shape \[3, 4\]"),
        ((dets, scores[:2]), r"scores: expected shape \[3\], got shape \[2\]"),
        ((dets, scores.half()), "scores: expected float32, like dets, got float16"),
    ):
        with pytest.raises(RuntimeError, match=f"^nms_rotated: {text}"):
            ext.nms_rotated(*arguments, none, dets, none, 0.5, 0)


def test_an_overlap_equal_to_the_threshold_suppresses_nothing(torch: Any, ext: ModuleType) -> None:
    """As in mmcv for CUDA; mmcv for a CPU suppresses there."""
    dets = torch.tensor([[0.0, 0, 4, 2, 0], [1, 0, 2, 2, 0]])  # one half is common
    scores, labels = torch.tensor([0.9, 0.8]), torch.zeros(0)
    order = torch.arange(2)
    assert ext.nms_rotated(dets, scores, order, dets, labels, 0.5, 0).tolist() == [0, 1]
    assert ext.nms_rotated(dets, scores, order, dets, labels, 0.4999, 0).tolist() == [0]
