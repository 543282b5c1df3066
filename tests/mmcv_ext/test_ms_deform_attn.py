"""The functions of mmcv's extension for ms_deform_attn: values of every type, any strides, gradients."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pymluops.oracle.ms_deform_attn

from .gradcheck import check_gradient
from .values import any_strides, every_dtype, exact, laid, near, tensor


@every_dtype
@any_strides
@pytest.mark.parametrize("index_type", ["int64", "int32"])
def test_ms_deform_attn(torch: Any, ext: ModuleType, dtype: str, strided: bool, index_type: str) -> None:
    rng = np.random.default_rng(9)
    shapes = torch.tensor([[3, 2], [1, 4], [0, 5]], dtype=getattr(torch, index_type))
    starts = torch.tensor([0, 6, 10], dtype=shapes.dtype)
    value = tensor(torch, rng.uniform(-1, 1, (2, 10, 2, 3)), dtype)
    locations = rng.uniform(-0.3, 1.3, (2, 4, 2, 3, 2, 2))
    locations[0, 0, 0, 0, 0] = np.nan
    # Multiples of 1/64 are exact in every type, and so are the places of the samples.
    loc = tensor(torch, np.round(locations * 64) / 64, dtype)
    weight = tensor(torch, rng.uniform(0, 1, (2, 4, 2, 3, 2)), dtype)
    inputs = [laid(torch, array, strided) for array in (value, loc, weight)]
    result = ext.ms_deform_attn_forward(inputs[0], shapes, starts, *inputs[1:], im2col_step=64)
    problem = pymluops.oracle.ms_deform_attn.Inputs(
        exact(value), shapes.numpy(), starts.numpy(), exact(loc), exact(weight)
    )
    near(torch, result, pymluops.oracle.ms_deform_attn.forward(problem).reshape(2, 4, 6), dtype)

    grad = tensor(torch, rng.uniform(-1, 1, (2, 4, 6)), dtype)
    gradients = [laid(torch, torch.full_like(array.contiguous(), 9), strided) for array in (value, loc, weight)]
    ext.ms_deform_attn_backward(inputs[0], shapes, starts, *inputs[1:], grad, *gradients, im2col_step=1)
    expected = pymluops.oracle.ms_deform_attn.backward(problem, exact(grad).reshape(2, 4, 2, 3))
    for got, want in zip(gradients, expected, strict=True):
        near(torch, got, want, dtype)


@pytest.mark.parametrize("channels", [3, 32, 1025])
def test_gradients_of_ms_deform_attn(torch: Any, ext: ModuleType, channels: int) -> None:
    """Every derivative with few channels, with many of them those along random directions."""
    rng = np.random.default_rng(4)
    shapes, starts = torch.tensor([[3, 4], [2, 2]]), torch.tensor([0, 12])

    def forward(value: Any, loc: Any, weight: Any) -> Any:
        return ext.ms_deform_attn_forward(value, shapes, starts, loc, weight, im2col_step=2)

    def backward(grad: Any, value: Any, loc: Any, weight: Any) -> Any:
        gradients = [torch.zeros_like(tensor) for tensor in (value, loc, weight)]
        ext.ms_deform_attn_backward(value, shapes, starts, loc, weight, grad, *gradients, im2col_step=2)
        return tuple(gradients)

    inputs = (
        rng.standard_normal((2, 16, 2, channels)),
        rng.uniform(-0.1, 1.1, (2, 3, 2, 2, 2, 2)),
        rng.random((2, 3, 2, 2, 2)),
    )
    check_gradient(torch, forward, backward, *inputs, fast=channels > 3)
