"""The functions of mmcv's extension for three_interpolate: values of every type, any strides, gradients."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

import pymluops.oracle.three_interpolate

from .gradcheck import check_gradient
from .values import any_strides, every_dtype, exact, laid, near, tensor


@every_dtype
@any_strides
def test_three_interpolate(torch: Any, ext: ModuleType, dtype: str, strided: bool) -> None:
    rng = np.random.default_rng(5)
    points = tensor(torch, rng.uniform(-1, 1, (2, 3, 5)), dtype)
    idx = torch.from_numpy(rng.integers(0, 5, (2, 7, 3), np.int32))
    weight = tensor(torch, rng.uniform(-0.5, 0.5, (2, 7, 3)), dtype)
    out = laid(torch, torch.full((2, 3, 7), 9, dtype=points.dtype), strided)
    ext.three_interpolate_forward(
        laid(torch, points, strided), laid(torch, idx, strided), weight, out, b=2, c=3, m=5, n=7
    )
    near(torch, out, pymluops.oracle.three_interpolate.forward(exact(points), idx.numpy(), exact(weight)), dtype)

    grad = tensor(torch, rng.uniform(-1, 1, (2, 3, 7)), dtype)
    result = laid(torch, torch.full((2, 3, 5), 9, dtype=points.dtype), strided)
    ext.three_interpolate_backward(laid(torch, grad, strided), idx, weight, result, b=2, c=3, n=7, m=5)
    near(torch, result, pymluops.oracle.three_interpolate.backward(exact(grad), idx.numpy(), exact(weight), 5), dtype)


def test_gradients_of_three_interpolate(torch: Any, ext: ModuleType) -> None:
    rng = np.random.default_rng(3)
    idx, weight = torch.from_numpy(rng.integers(0, 5, (2, 4, 3), np.int32)), torch.from_numpy(rng.random((2, 4, 3)))

    def forward(points: Any) -> Any:
        out = points.new_zeros(2, 3, 4)
        ext.three_interpolate_forward(points, idx, weight, out, b=2, c=3, m=5, n=4)
        return out

    def backward(grad: Any, points: Any) -> Any:
        result = torch.zeros_like(points)
        ext.three_interpolate_backward(grad, idx, weight, result, b=2, c=3, n=4, m=5)
        return result

    check_gradient(torch, forward, backward, rng.standard_normal((2, 3, 5)))
