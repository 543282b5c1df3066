"""The functions of mmcv's extension for contour_expand and pixel_group."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pymluops.oracle import text_regions as oracle

pytest.importorskip("torch")


@pytest.mark.parametrize("kind", ["uint8", "bool"])
def test_contour_expand(torch: Any, ext: ModuleType, kind: str) -> None:
    rng = np.random.default_rng(3)
    masks, labels = rng.random((3, 12, 9)) < 0.7, oracle.kernels(rng, 12, 9, 4)
    given = torch.from_numpy(masks).to(getattr(torch, kind))
    found = ext.contour_expand(given, torch.from_numpy(labels), 2, 3)
    assert found == oracle.expand(masks, labels, 2, 4).tolist()
    assert ext.contour_expand(given[:, :0], torch.from_numpy(labels[:0]), 2, 3) == []


def test_pixel_group(torch: Any, ext: ModuleType) -> None:
    rng = np.random.default_rng(3)
    score, embedding = rng.random((12, 9), np.float32), rng.normal(size=(12, 9, 4)).astype(np.float32)
    mask, contour = (rng.random((12, 9)) < 0.8 for _ in range(2))
    kernels = oracle.kernels(rng, 12, 9, 4)
    labels, means, counts = oracle.group(score, mask, embedding, kernels, contour, 4, 2.0)
    tensors = [torch.from_numpy(one) for one in (score, mask, embedding, kernels, contour.astype(np.uint8))]
    found = ext.pixel_group(*tensors, 4, 2.0)
    assert found[0] == [0.0, 0.0]
    for label in range(1, 4):
        rows, columns = np.nonzero(labels == label)
        assert found[label][:2] == [means[label], counts[label]]
        assert found[label][2:] == np.stack([columns, rows], 1).ravel().tolist()


def test_refused(torch: Any, ext: ModuleType) -> None:
    masks, labels = torch.ones(2, 3, 4, dtype=torch.uint8), torch.ones(3, 4, dtype=torch.int32)
    score, embedding = torch.rand(3, 4), torch.rand(3, 4, 2)
    refused: list[tuple[str, tuple[Any, ...], str]] = [
        ("contour_expand", (masks.float(), labels, 1, 3), "kernel_mask: expected uint8"),
        ("contour_expand", (masks, labels.long(), 1, 3), "internal_kernel_label: expected int32"),
        ("contour_expand", (masks, labels[:2], 1, 3), r"internal_kernel_label: expected shape \[3, 4\]"),
        ("contour_expand", (masks, labels, 1, 0), "internal_kernel_label: expected values from 0 to 0, got 1"),
        ("pixel_group", (score, masks[0], embedding, labels, masks[0], 1, 1.0), "kernel_label: expected values"),
        ("pixel_group", (score.half(), masks[0], embedding, labels, masks[0], 2, 1.0), "score: expected float32"),
        ("pixel_group", (score, masks[0], embedding[:2], labels, masks[0], 2, 1.0), "embedding: expected shape"),
    ]
    for name, arguments, text in refused:
        with pytest.raises(RuntimeError, match=f"^{name}: {text}"):
            getattr(ext, name)(*arguments)
