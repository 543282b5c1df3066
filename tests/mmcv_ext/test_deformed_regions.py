"""The functions of mmcv's extension for DeformRoIPool: values of every type, any strides, gradients."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from pymluops.oracle import deformed_regions as oracle
from pymluops.oracle.deformed_regions import Settings

from .gradcheck import check_gradient
from .values import any_strides, every_dtype, exact, laid, near, tensor

LAST, FIRST = (0, 2, 3, 1), (0, 3, 1, 2)
SETTINGS = Settings((2, 4), 0.5, 2, 0.25)
NUMBERS = {"pooled_height": 2, "pooled_width": 4, "spatial_scale": 0.5, "sampling_ratio": 2, "gamma": 0.25}
SHAPE = (4, 3, 2, 4)


def problem(torch: Any, dtype: str) -> tuple[Any, Any, Any]:
    """Maps of small integers, regions that leave them, one of which has no image, and offsets."""
    rng = np.random.default_rng(3)
    corners = rng.integers(-2, 5, (4, 2))
    rois = np.column_stack([[0, 1, 1, 2], corners, corners + np.array([[4, 4], [8, 2], [2, 8], [4, 4]])])
    offset = rng.integers(-3, 4, (4, 2, 2, 4)) / 2
    return tuple(tensor(torch, one, dtype) for one in (rng.integers(-8, 9, (2, 3, 5, 4)), rois, offset))


@every_dtype
@any_strides
def test_deform_roi_pool(torch: Any, ext: ModuleType, dtype: str, strided: bool) -> None:
    maps, rois, offset = problem(torch, dtype)
    last, none = exact(maps).transpose(LAST), maps.new_zeros(0)
    grad = tensor(torch, np.random.default_rng(4).integers(-4, 5, SHAPE), dtype)
    for moves in (offset, none):
        own = exact(offset) if moves is offset else None
        output = laid(torch, torch.full(SHAPE, 9, dtype=maps.dtype), strided)
        ext.deform_roi_pool_forward(
            laid(torch, maps, strided),
            rois,
            laid(torch, moves, strided) if own is not None else none,
            output,
            **NUMBERS,
        )
        near(torch, output, oracle.forward(last, exact(rois), own, SETTINGS).transpose(FIRST), dtype)
        result = laid(torch, torch.full_like(maps, 9), strided)
        changes = laid(torch, torch.full_like(moves, 9), strided) if own is not None else none
        ext.deform_roi_pool_backward(laid(torch, grad, strided), maps, rois, moves, result, changes, **NUMBERS)
        back = exact(grad).transpose(LAST)
        wanted = oracle.backward(back, exact(rois), own, SETTINGS, last.shape[:3])
        near(torch, result, wanted.transpose(FIRST), dtype)
        if own is not None:
            near(torch, changes, oracle.offset_backward(back, last, exact(rois), own, SETTINGS, False)[0], dtype)


def test_gradients(torch: Any, ext: ModuleType) -> None:
    _, rois, offset = problem(torch, "float64")

    def forward(maps: Any) -> Any:
        output = maps.new_zeros(SHAPE)
        ext.deform_roi_pool_forward(maps, rois, offset, output, **NUMBERS)
        return output

    def backward(grad: Any, maps: Any) -> Any:
        result = torch.zeros_like(maps)
        ext.deform_roi_pool_backward(grad, maps, rois, offset, result, torch.zeros_like(offset), **NUMBERS)
        return result

    check_gradient(torch, forward, backward, np.random.default_rng(2).standard_normal((2, 3, 5, 4)))


def test_no_regions(torch: Any, ext: ModuleType) -> None:
    maps, rois, none = torch.ones(1, 3, 3, 3), torch.ones(0, 5), torch.ones(0, 3, 2, 4)
    offset = torch.ones(0, 2, 2, 4)
    ext.deform_roi_pool_forward(maps, rois, offset, none, **NUMBERS)
    gradient = torch.full_like(maps, 9)
    ext.deform_roi_pool_backward(none, maps, rois, offset, gradient, offset, **NUMBERS)
    assert not gradient.any()
