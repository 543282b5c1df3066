"""The function of mmcv's extension for diff_iou_rotated_2d and 3d."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pymluops.oracle import diff_iou_rotated_sort_vertices as oracle

from .values import every_dtype, exact, tensor

pytest.importorskip("torch")


@every_dtype
def test_order(torch: Any, ext: ModuleType, dtype: str) -> None:
    rng = np.random.default_rng(3)
    arguments = {
        "vertices": np.zeros((2, 30, 24, 2)), "mask": np.zeros((2, 30, 24), np.bool_),
        "num_valid": np.zeros((2, 30), np.int32),
    }  # fmt: skip
    oracle.prepare(arguments, rng)
    vertices = tensor(torch, rng.normal(size=(2, 30, 24, 2)), dtype)
    mask, count = torch.from_numpy(arguments["mask"]), torch.from_numpy(arguments["num_valid"])
    computed = exact(vertices) if dtype == "float64" else exact(vertices).astype(np.float32)
    wanted = oracle.forward(computed, mask.numpy(), count.numpy())
    for strided in (False, True):
        wide = torch.zeros(2, 30, 24, 4, dtype=vertices.dtype)[..., ::2].copy_(vertices) if strided else vertices
        found = ext.diff_iou_rotated_sort_vertices_forward(wide, mask, count)
        assert found.dtype == torch.int32
        np.testing.assert_array_equal(found.numpy(), wanted)


def test_empty_and_refused(torch: Any, ext: ModuleType) -> None:
    name = "diff_iou_rotated_sort_vertices_forward"
    sort = getattr(ext, name)
    mask, count = torch.zeros(2, 3, 24, dtype=torch.bool), torch.zeros(2, 3, dtype=torch.int32)
    for batch, polygons in ((0, 3), (2, 0)):
        found = sort(torch.zeros(batch, polygons, 24, 2), mask[:batch, :polygons], count[:batch, :polygons])
        assert found.shape == (batch, polygons, 9) and found.dtype == torch.int32
    vertices = torch.zeros(2, 3, 24, 2)
    for arguments, text in (
        ((vertices[..., :1], mask, count), r"vertices: expected shape \[any, any, 24, 2\]"),
        ((vertices, mask.int(), count), "mask: expected bool, got int32"),
        ((vertices, mask[:1], count), r"mask: expected shape \[2, 3, 24\], got shape \[1, 3, 24\]"),
        ((vertices, mask, count.long()), "num_valid: expected int32, got int64"),
    ):
        with pytest.raises(RuntimeError, match=f"^{name}: {text}"):
            sort(*arguments)


@pytest.mark.filterwarnings("ignore")
def test_mmcv_s_own_code_computes_overlaps_with_it(torch: Any) -> None:
    """Boxes of mmcv's own example, and its gradients where no edges coincide."""
    pytest.importorskip("mmcv.version", reason="mmcv-lite is not installed", exc_type=ImportError)
    import pymluops.mmcv
    import pymluops.torch as ours

    if not pymluops.mmcv.install():
        pytest.skip("mmcv has a compiled extension")
    import mmcv.ops as ops

    try:
        one = torch.tensor([[[0.5, 0.5, 1, 1, 0]] * 4])
        other = torch.tensor(
            [[[0.5, 0.5, 1, 1, math.pi], [0.5, 0.5, 1, 1, math.pi / 4], [1, 1, 1, 1, 0], [-1.5, -1.5, 2.5, 2.5, 0]]]
        )
        wanted = torch.tensor([[1, math.sqrt(0.5), 1 / 7, 0]])
        torch.testing.assert_close(ops.diff_iou_rotated_2d(one, other), wanted, rtol=0, atol=1e-4)
        rng = np.random.default_rng(5)
        one, other = (torch.from_numpy(rng.uniform([0, 0, 1, 1, 0], [2, 2, 3, 3, 3], (2, 20, 5))) for _ in range(2))
        found = []
        for overlap in (ops.diff_iou_rotated_2d, ours.diff_iou_rotated_2d):
            rows = one.clone().requires_grad_()
            overlaps = overlap(rows, other)
            found.append((overlaps.detach(), *torch.autograd.grad(overlaps.sum(), rows)))
        for mmcv_s, our in zip(*found, strict=True):
            torch.testing.assert_close(mmcv_s, our, rtol=0, atol=1e-5)
    finally:
        pymluops.mmcv.uninstall()
