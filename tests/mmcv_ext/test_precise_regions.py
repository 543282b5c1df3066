"""The functions of mmcv's extension for PrRoIPool: values of every type, any strides, gradients."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

import pymluops.oracle.precise_regions

from .gradcheck import check_gradient
from .values import any_strides, every_dtype, exact, laid, near, tensor

LAST, FIRST = (0, 2, 3, 1), (0, 3, 1, 2)
NUMBERS = {"pooled_height": 2, "pooled_width": 3, "spatial_scale": 0.5}
SHAPE = (4, 3, 2, 3)


def problem(torch: Any, dtype: str) -> tuple[Any, Any]:
    """Maps of small integers, and regions that leave them; one has no image."""
    rng = np.random.default_rng(3)
    corners = rng.integers(-2, 5, (4, 2))
    rois = np.column_stack([[0, 1, 1, 2], corners, corners + np.array([[3, 4], [8, 2], [1, 7], [4, 4]])])
    return tensor(torch, rng.integers(-8, 9, (2, 3, 5, 4)), dtype), tensor(torch, rois, dtype)


@every_dtype
@any_strides
def test_prroi_pool(torch: Any, ext: ModuleType, dtype: str, strided: bool) -> None:
    maps, rois = problem(torch, dtype)
    last = exact(maps).transpose(LAST)
    output = laid(torch, torch.full(SHAPE, 9, dtype=maps.dtype), strided)
    ext.prroi_pool_forward(laid(torch, maps, strided), rois, output, **NUMBERS)
    wanted = pymluops.oracle.precise_regions.forward(last, exact(rois), (2, 3), 0.5)
    near(torch, output, wanted.transpose(FIRST), dtype)
    grad = tensor(torch, np.random.default_rng(4).integers(-4, 5, SHAPE), dtype)
    back = exact(grad).transpose(LAST)
    result = laid(torch, torch.full_like(maps, 9), strided)
    ext.prroi_pool_backward(laid(torch, grad, strided), rois, result, **NUMBERS)
    expected = pymluops.oracle.precise_regions.backward(back, exact(rois), 0.5, last.shape[:3])
    near(torch, result, expected.transpose(FIRST), dtype)


def test_the_corners_in_float(torch: Any, ext: ModuleType) -> None:
    maps, rois = problem(torch, "float64")
    output, result = maps.new_zeros(SHAPE), torch.full_like(rois, 9)
    ext.prroi_pool_forward(maps, rois, output, **NUMBERS)
    grad = tensor(torch, np.random.default_rng(4).integers(-4, 5, SHAPE), "float64")
    ext.prroi_pool_coor_backward(output, grad, maps, rois, result, **NUMBERS)
    given = (exact(one).transpose(LAST) for one in (grad, maps))
    wanted, _ = pymluops.oracle.precise_regions.coor_backward(*given, exact(rois), exact(output).transpose(LAST), 0.5)
    np.testing.assert_allclose(result.numpy(), wanted, rtol=1e-10, atol=1e-10)


def test_gradients(torch: Any, ext: ModuleType) -> None:
    _, rois = problem(torch, "float64")

    def forward(maps: Any) -> Any:
        output = maps.new_zeros(SHAPE)
        ext.prroi_pool_forward(maps, rois, output, **NUMBERS)
        return output

    def backward(grad: Any, maps: Any) -> Any:
        result = torch.zeros_like(maps)
        ext.prroi_pool_backward(grad, rois, result, **NUMBERS)
        return result

    check_gradient(torch, forward, backward, np.random.default_rng(2).standard_normal((2, 3, 5, 4)))


def test_no_regions(torch: Any, ext: ModuleType) -> None:
    maps, rois, none = torch.ones(1, 2, 3, 3), torch.ones(0, 5), torch.ones(0, 2, 2, 3)
    ext.prroi_pool_forward(maps, rois, none, **NUMBERS)
    gradient = torch.full_like(maps, 9)
    ext.prroi_pool_backward(none, rois, gradient, **NUMBERS)
    assert not gradient.any()
    ext.prroi_pool_coor_backward(none, none, maps, rois, rois, **NUMBERS)
