"""The functions of mmcv's extension for RoIAlign: values of every type, any strides, gradients, refusals."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pymluops.oracle.aligned_regions
from pymluops.oracle.aligned_regions import Settings

from .gradcheck import check_gradient
from .values import any_strides, every_dtype, exact, laid, near, tensor

LAST, FIRST = (0, 2, 3, 1), (0, 3, 1, 2)
NUMBERS = {"aligned_height": 2, "aligned_width": 3, "spatial_scale": 0.5, "sampling_ratio": 2, "aligned": True}
SETTINGS = Settings((2, 3), 0.5, 2, True)


def problem(torch: Any, dtype: str) -> tuple[Any, Any]:
    """Maps of small integers, and regions that leave them; one has no image."""
    rng = np.random.default_rng(3)
    corners = rng.integers(-2, 9, (4, 2))
    rois = np.column_stack([[0, 1, 1, 2], corners, corners + 4 * rng.integers(0, 3, (4, 2))])
    return tensor(torch, rng.integers(-8, 9, (2, 3, 5, 4)), dtype), tensor(torch, rois, dtype)


@every_dtype
@any_strides
@pytest.mark.parametrize("mode", [0, 1])
def test_roi_align(torch: Any, ext: ModuleType, dtype: str, strided: bool, mode: int) -> None:
    maps, rois = problem(torch, dtype)
    output, y, x = (laid(torch, torch.full((4, 3, 2, 3), 9, dtype=maps.dtype), strided) for _ in range(3))
    if mode:
        y = x = maps.new_zeros(0)
    ext.roi_align_forward(laid(torch, maps, strided), rois, output, y, x, pool_mode=mode, **NUMBERS)
    last = exact(maps).transpose(LAST)
    if mode:
        near(
            torch, output, pymluops.oracle.aligned_regions.forward(last, exact(rois), SETTINGS).transpose(FIRST), dtype
        )
    else:
        wanted = pymluops.oracle.aligned_regions.max_forward(last, exact(rois), SETTINGS)
        for found, one in zip((output, y, x), wanted, strict=True):
            near(torch, found, one.transpose(FIRST), dtype)
    grad = tensor(torch, np.random.default_rng(4).integers(-4, 5, (4, 3, 2, 3)), dtype)
    result = laid(torch, torch.full_like(maps, 9), strided)
    ext.roi_align_backward(laid(torch, grad, strided), rois, y, x, result, pool_mode=mode, **NUMBERS)
    back, shape = exact(grad).transpose(LAST), last.shape[:3]
    if mode:
        expected = pymluops.oracle.aligned_regions.backward(back, exact(rois), SETTINGS, shape)
    else:
        place = exact(y).transpose(LAST), exact(x).transpose(LAST)
        expected = pymluops.oracle.aligned_regions.max_backward(back, exact(rois), place, SETTINGS, shape)
    near(torch, result, expected.transpose(FIRST), dtype)


def test_gradients(torch: Any, ext: ModuleType) -> None:
    _, rois = problem(torch, "float64")
    for mode in (0, 1):
        shape = (4, 3, 2, 3)

        def forward(maps: Any, mode: int = mode, shape: Any = shape) -> Any:
            output, y, x = (maps.new_zeros(shape) for _ in range(3))
            ext.roi_align_forward(maps, rois, output, y, x, pool_mode=mode, **NUMBERS)
            return output

        def backward(grad: Any, maps: Any, mode: int = mode) -> Any:
            output, y, x = (torch.zeros_like(grad) for _ in range(3))
            ext.roi_align_forward(maps, rois, output, y, x, pool_mode=mode, **NUMBERS)
            result = torch.zeros_like(maps)
            ext.roi_align_backward(grad, rois, y, x, result, pool_mode=mode, **NUMBERS)
            return result

        check_gradient(torch, forward, backward, np.random.default_rng(2).standard_normal((2, 3, 5, 4)))


def test_no_regions(torch: Any, ext: ModuleType) -> None:
    maps, rois, none = torch.ones(1, 2, 3, 3), torch.ones(0, 5), torch.ones(0, 2, 2, 3)
    ext.roi_align_forward(maps, rois, none, none, none, pool_mode=0, **NUMBERS)
    for mode in (0, 1):
        gradient = torch.full_like(maps, 9)
        ext.roi_align_backward(none, rois, none, none, gradient, pool_mode=mode, **NUMBERS)
        assert not gradient.any()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"pool_mode": 2}, r"pool_mode: expected 0 \(max\) or 1 \(avg\), got 2"),
        ({"aligned_height": 3}, "aligned_height: expected 2, as the tensor has, got 3"),
        ({"aligned_width": 0}, "aligned_width: expected at least 1, got 0"),
        ({"sampling_ratio": -1}, "sampling_ratio: expected at least 0, got -1"),
        ({"sampling_ratio": 257}, "sampling_ratio"),
        ({"spatial_scale": 0.0}, "spatial_scale"),
    ],
)
def test_refusals(torch: Any, ext: ModuleType, change: dict[str, Any], text: str) -> None:
    maps, rois = problem(torch, "float32")
    output = torch.full((4, 3, 2, 3), 9.0)
    with pytest.raises(RuntimeError, match=f"roi_align_forward: .*{text}"):
        ext.roi_align_forward(maps, rois, output, output, output, **{"pool_mode": 1, **NUMBERS, **change})
    assert (output == 9).all()
