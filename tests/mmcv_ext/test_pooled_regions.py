"""The functions of mmcv's extension for RoIPool: values of every type, any strides, gradients."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

import pymluops.oracle.pooled_regions

from .gradcheck import check_gradient
from .values import any_strides, every_dtype, exact, laid, near, tensor

LAST, FIRST = (0, 2, 3, 1), (0, 3, 1, 2)
NUMBERS = {"pooled_height": 2, "pooled_width": 3, "spatial_scale": 0.5}


def problem(torch: Any, dtype: str) -> tuple[Any, Any]:
    """Maps of small integers, and regions that leave them; one has no image, one no size."""
    rng = np.random.default_rng(3)
    corners = rng.integers(-2, 9, (5, 2))
    sizes = np.concatenate([4 * rng.integers(0, 3, (4, 2)), [[-8, -8]]])
    rois = np.column_stack([[0, 1, 1, 2, 0], corners, corners + sizes])
    return tensor(torch, rng.permutation(120).reshape(2, 3, 5, 4) - 60, dtype), tensor(torch, rois, dtype)


@every_dtype
@any_strides
def test_roi_pool(torch: Any, ext: ModuleType, dtype: str, strided: bool) -> None:
    maps, rois = problem(torch, dtype)
    shape = (5, 3, 2, 3)
    output = laid(torch, torch.full(shape, 9, dtype=maps.dtype), strided)
    argmax = laid(torch, torch.full(shape, 9, dtype=torch.int32), strided)
    ext.roi_pool_forward(laid(torch, maps, strided), rois, output, argmax, **NUMBERS)
    last = exact(maps).transpose(LAST)
    expected, pixel = pymluops.oracle.pooled_regions.forward(last, exact(rois), (2, 3), 0.5, False)
    near(torch, output, expected.transpose(FIRST), dtype)
    np.testing.assert_array_equal(argmax.numpy(), pixel.transpose(FIRST))
    grad = tensor(torch, np.random.default_rng(4).integers(-4, 5, shape), dtype)
    result = laid(torch, torch.full_like(maps, 9), strided)
    ext.roi_pool_backward(laid(torch, grad, strided), rois, argmax, result, **NUMBERS)
    expected = pymluops.oracle.pooled_regions.backward(exact(grad).transpose(LAST), exact(rois), pixel, last.shape[:3])
    near(torch, result, expected.transpose(FIRST), dtype)


def test_gradients(torch: Any, ext: ModuleType) -> None:
    _, rois = problem(torch, "float64")
    argmax = torch.zeros(5, 3, 2, 3, dtype=torch.int32)

    def forward(maps: Any) -> Any:
        output = maps.new_zeros(argmax.shape)
        ext.roi_pool_forward(maps, rois, output, argmax, **NUMBERS)
        return output

    def backward(grad: Any, maps: Any) -> Any:
        result = torch.zeros_like(maps)
        ext.roi_pool_forward(maps, rois, torch.zeros_like(grad), argmax, **NUMBERS)
        ext.roi_pool_backward(grad, rois, argmax, result, **NUMBERS)
        return result

    check_gradient(torch, forward, backward, np.random.default_rng(2).standard_normal((2, 3, 5, 4)))


def test_no_regions(torch: Any, ext: ModuleType) -> None:
    maps, rois, none = torch.ones(1, 2, 3, 3), torch.ones(0, 5), torch.ones(0, 2, 2, 3)
    ext.roi_pool_forward(maps, rois, none, none.int(), **NUMBERS)
    gradient = torch.full_like(maps, 9)
    ext.roi_pool_backward(none, rois, none.int(), gradient, **NUMBERS)
    assert not gradient.any()
