"""The functions of mmcv's extension for border_align: values of every type, any strides, gradients."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

import pymluops.oracle.border_align

from .gradcheck import check_gradient
from .values import any_strides, every_dtype, exact, laid, near, tensor


def border_problem(torch: Any, dtype: str, seed: int = 3) -> tuple[Any, Any]:
    """Features of small integers, so that samples are exact in most types, and boxes that leave the map."""
    rng = np.random.default_rng(seed)
    corner = rng.integers(-3, 6, (2, 6, 2))
    size = rng.integers(0, 7, (2, 6, 2))
    boxes = np.concatenate((corner, corner + size), 2)
    return tensor(torch, rng.integers(-8, 9, (2, 12, 5, 4)), dtype), tensor(torch, boxes, dtype)


@every_dtype
@any_strides
def test_border_align(torch: Any, ext: ModuleType, dtype: str, strided: bool) -> None:
    features, boxes = border_problem(torch, dtype)
    pool_size = 4
    output = laid(torch, torch.full((2, 3, 6, 4), 9, dtype=features.dtype), strided)
    argmax = laid(torch, torch.full((2, 3, 6, 4), 9, dtype=torch.int32), strided)
    ext.border_align_forward(
        laid(torch, features, strided), laid(torch, boxes, strided), output, argmax, pool_size=pool_size
    )
    last = exact(features).transpose(0, 2, 3, 1)
    expected, number = pymluops.oracle.border_align.forward(last, exact(boxes), pool_size, np.float64)
    near(torch, output, expected.transpose(0, 3, 1, 2), dtype)
    np.testing.assert_array_equal(argmax.numpy(), number.transpose(0, 3, 1, 2))

    grad = tensor(torch, np.random.default_rng(4).integers(-4, 5, tuple(output.shape)), dtype)
    grad_input = laid(torch, torch.full_like(features, 9), strided)
    ext.border_align_backward(laid(torch, grad, strided), boxes, argmax, grad_input, pool_size=pool_size)
    expected = pymluops.oracle.border_align.backward(
        exact(grad).transpose(0, 2, 3, 1), exact(boxes), number, pool_size, (5, 4), np.float64
    )
    near(torch, grad_input, expected.transpose(0, 3, 1, 2), dtype)


def test_border_align_of_values_that_are_not_finite(torch: Any, ext: ModuleType) -> None:
    """In float64 as in float32: a NaN at the first sample stays, later it never wins; a NaN box samples zeros."""
    results = []
    for dtype in ("float32", "float64"):
        features = torch.ones(1, 4, 3, 3, dtype=getattr(torch, dtype))
        features[0, 0, 0, 0], features[0, 1, 2, 0], features[0, 2, 2, 2] = torch.nan, torch.nan, torch.inf
        boxes = torch.tensor([[[0, 0, 2, 2], [torch.nan, 0, 2, 2], [0, 0, torch.inf, 2]]], dtype=features.dtype)
        output = torch.empty(1, 1, 3, 4, dtype=features.dtype)
        argmax = torch.empty(1, 1, 3, 4, dtype=torch.int32)
        ext.border_align_forward(features, boxes, output, argmax, 2)
        grad = torch.empty_like(features)
        ext.border_align_backward(torch.ones_like(output), boxes, argmax, grad, 2)
        results.append((exact(output), argmax.numpy(), exact(grad)))
    for single, double in zip(*results, strict=True):
        np.testing.assert_array_equal(single, double)
    assert np.isnan(results[0][0][0, 0, 0, 0])


def test_gradients_of_border_align(torch: Any, ext: ModuleType) -> None:
    rng = np.random.default_rng(2)
    corner = rng.uniform(-2, 4, (2, 5, 2))
    boxes = torch.from_numpy(np.concatenate((corner, corner + rng.uniform(0, 5, (2, 5, 2))), 2))
    argmax = torch.zeros(2, 2, 5, 4, dtype=torch.int32)

    def forward(features: Any) -> Any:
        output = features.new_zeros(argmax.shape)
        ext.border_align_forward(features, boxes, output, argmax, pool_size=3)
        return output

    def backward(grad: Any, features: Any) -> Any:
        number, result = torch.zeros_like(argmax), torch.zeros_like(features)
        ext.border_align_forward(features, boxes, torch.zeros_like(grad), number, pool_size=3)
        ext.border_align_backward(grad, boxes, number, result, pool_size=3)
        return result

    check_gradient(torch, forward, backward, rng.standard_normal((2, 8, 5, 4)))
