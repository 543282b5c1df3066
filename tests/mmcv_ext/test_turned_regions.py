"""mmcv's extension for RoIAlignRotated and RiRoIAlignRotated: values of every type, any strides, gradients."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pymluops.oracle.turned_regions
from pymluops.oracle.turned_regions import Settings

from .gradcheck import check_gradient
from .values import any_strides, every_dtype, exact, laid, near, tensor

LAST, FIRST = (0, 2, 3, 1), (0, 3, 1, 2)
SIZES = {"pooled_height": 2, "pooled_width": 3, "spatial_scale": 0.5}
NUMBERS = {**SIZES, "sampling_ratio": 2, "aligned": True, "clockwise": True}
TURNING = {**SIZES, "num_samples": 2, "num_orientations": 2, "clockwise": False}
SETTINGS = Settings((2, 3), 0.5, 2, True, True)
TURNED = Settings((2, 3), 0.5, 2, False, False)


def problem(torch: Any, dtype: str) -> tuple[Any, Any]:
    """Maps of small integers, and regions that leave them; one has no image."""
    rng = np.random.default_rng(3)
    rois = np.column_stack([[0, 1, 1, 2], rng.integers(-2, 9, (4, 2)), rng.integers(1, 9, (4, 2)), [0, 0.5, -1.25, 2]])
    return tensor(torch, rng.integers(-8, 9, (2, 4, 5, 4)), dtype), tensor(torch, rois, dtype)


@every_dtype
@any_strides
def test_values(torch: Any, ext: ModuleType, dtype: str, strided: bool) -> None:
    maps, rois = problem(torch, dtype)
    last, shape = exact(maps).transpose(LAST), (4, 4, 2, 3)
    grad = tensor(torch, np.random.default_rng(4).integers(-4, 5, shape), dtype)
    back = exact(grad).transpose(LAST)
    output, result = (laid(torch, torch.full(s, 9, dtype=maps.dtype), strided) for s in (shape, maps.shape))
    ext.roi_align_rotated_forward(laid(torch, maps, strided), rois, output, **NUMBERS)
    near(torch, output, pymluops.oracle.turned_regions.forward(last, exact(rois), SETTINGS).transpose(FIRST), dtype)
    ext.roi_align_rotated_backward(laid(torch, grad, strided), rois, result, **NUMBERS)
    expected = pymluops.oracle.turned_regions.backward(back, exact(rois), SETTINGS, last.shape[:3])
    near(torch, result, expected.transpose(FIRST), dtype)
    ext.riroi_align_rotated_forward(laid(torch, maps, strided), rois, output, **TURNING)
    expected = pymluops.oracle.turned_regions.turning_forward(last, exact(rois), TURNED, 2)
    near(torch, output, expected.transpose(FIRST), dtype)
    ext.riroi_align_rotated_backward(laid(torch, grad, strided), rois, result, **TURNING)
    expected = pymluops.oracle.turned_regions.turning_backward(back, exact(rois), TURNED, 2, last.shape[:3])
    near(torch, result, expected.transpose(FIRST), dtype)


@pytest.mark.parametrize("name", ["roi_align_rotated", "riroi_align_rotated"])
def test_gradients(torch: Any, ext: ModuleType, name: str) -> None:
    _, rois = problem(torch, "float64")
    numbers = TURNING if name.startswith("riroi") else NUMBERS

    def forward(maps: Any) -> Any:
        output = maps.new_zeros(4, 4, 2, 3)
        getattr(ext, f"{name}_forward")(maps, rois, output, **numbers)
        return output

    def backward(grad: Any, maps: Any) -> Any:
        result = torch.zeros_like(maps)
        getattr(ext, f"{name}_backward")(grad, rois, result, **numbers)
        return result

    check_gradient(torch, forward, backward, np.random.default_rng(2).standard_normal((2, 4, 5, 4)))


def test_no_regions(torch: Any, ext: ModuleType) -> None:
    maps, rois, none = torch.ones(1, 2, 3, 3), torch.ones(0, 6), torch.ones(0, 2, 2, 3)
    for name, numbers in (("roi_align_rotated", NUMBERS), ("riroi_align_rotated", TURNING)):
        getattr(ext, f"{name}_forward")(maps, rois, none, **numbers)
        gradient = torch.full_like(maps, 9)
        getattr(ext, f"{name}_backward")(none, rois, gradient, **numbers)
        assert not gradient.any()


def test_orientations_divide_the_channels(torch: Any, ext: ModuleType) -> None:
    maps, rois = problem(torch, "float32")
    with pytest.raises(RuntimeError, match="num_orientations: expected a divisor of the 4 channels, got 3"):
        ext.riroi_align_rotated_forward(maps, rois, torch.zeros(4, 4, 2, 3), **{**TURNING, "num_orientations": 3})
