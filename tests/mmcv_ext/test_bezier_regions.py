"""The functions of mmcv's extension for BezierAlign: values of every type, any strides, gradients, refusals."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pymluops.oracle import bezier_regions as oracle
from pymluops.oracle.bezier_regions import Settings

from .gradcheck import check_gradient
from .values import any_strides, every_dtype, exact, laid, near, tensor

LAST, FIRST = (0, 2, 3, 1), (0, 3, 1, 2)
NUMBERS = {"aligned_height": 2, "aligned_width": 4, "spatial_scale": 0.5, "sampling_ratio": 2, "aligned": True}
SETTINGS = Settings((2, 4), 0.5, 2, True)
SHAPE = (4, 3, 2, 4)


def problem(torch: Any, dtype: str) -> tuple[Any, Any]:
    """Maps of small integers, and regions that leave them; one has no image."""
    rng = np.random.default_rng(3)
    maps, points = rng.integers(-8, 9, (2, 3, 5, 4)), rng.integers(-1, 9, (4, 16))
    return tensor(torch, maps, dtype), tensor(torch, np.column_stack([[0, 1, 1, 2], points]), dtype)


@every_dtype
@any_strides
@pytest.mark.parametrize("aligned", [True, False])
def test_bezier_align(torch: Any, ext: ModuleType, dtype: str, strided: bool, aligned: bool) -> None:
    maps, rois = problem(torch, dtype)
    last, numbers, settings = exact(maps).transpose(LAST), {**NUMBERS, "aligned": aligned}, SETTINGS
    settings = settings._replace(aligned=aligned)
    output = laid(torch, torch.full(SHAPE, 9, dtype=maps.dtype), strided)
    ext.bezier_align_forward(laid(torch, maps, strided), laid(torch, rois, strided), output, **numbers)
    near(torch, output, oracle.forward(last, exact(rois), settings).transpose(FIRST), dtype)
    grad = tensor(torch, np.random.default_rng(4).integers(-4, 5, SHAPE), dtype)
    result = laid(torch, torch.full_like(maps, 9), strided)
    ext.bezier_align_backward(laid(torch, grad, strided), rois, result, **numbers)
    expected = oracle.backward(exact(grad).transpose(LAST), exact(rois), settings, last.shape[:3])
    near(torch, result, expected.transpose(FIRST), dtype)


def test_gradients(torch: Any, ext: ModuleType) -> None:
    _, rois = problem(torch, "float64")

    def forward(maps: Any) -> Any:
        output = maps.new_zeros(SHAPE)
        ext.bezier_align_forward(maps, rois, output, **NUMBERS)
        return output

    def backward(grad: Any, maps: Any) -> Any:
        result = torch.zeros_like(maps)
        ext.bezier_align_backward(grad, rois, result, **NUMBERS)
        return result

    check_gradient(torch, forward, backward, np.random.default_rng(2).standard_normal((2, 3, 5, 4)))


def test_no_regions(torch: Any, ext: ModuleType) -> None:
    maps, rois, none = torch.ones(1, 3, 3, 3), torch.ones(0, 17), torch.ones(0, 3, 2, 4)
    ext.bezier_align_forward(maps, rois, none, **NUMBERS)
    gradient = torch.full_like(maps, 9)
    ext.bezier_align_backward(none, rois, gradient, **NUMBERS)
    assert not gradient.any()


def test_the_numbers_are_those_of_the_tensor(torch: Any, ext: ModuleType) -> None:
    maps, rois = problem(torch, "float32")
    for function, first, last in (
        ("bezier_align_forward", maps, torch.ones(SHAPE)),
        ("bezier_align_backward", torch.ones(SHAPE), maps.clone()),
    ):
        for name in ("aligned_height", "aligned_width"):
            with pytest.raises(
                RuntimeError, match=rf"^{function}: {name}: expected {NUMBERS[name]}, as the tensor has"
            ):
                getattr(ext, function)(first, rois, last, **{**NUMBERS, name: 3})
