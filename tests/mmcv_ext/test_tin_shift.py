"""The functions of mmcv's extension for tin_shift: values of every type, any strides, gradients."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pymluops
import pymluops.oracle.tin_shift

from .values import any_strides, every_dtype, exact, laid, tensor


@every_dtype
@any_strides
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_tin_shift(torch: Any, ext: ModuleType, dtype: str, strided: bool, direction: str) -> None:
    rng = np.random.default_rng(1)
    values = tensor(torch, rng.standard_normal((2, 5, 6, 3)), dtype)
    shift = torch.tensor([[1, -2, 0], [7, 3, -1]], dtype=torch.int32)
    output = laid(torch, torch.full_like(values, 9), strided)
    getattr(ext, f"tin_shift_{direction}")(laid(torch, values, strided), shift, output)
    expected = pymluops.oracle.tin_shift.shift(exact(values), shift.numpy())
    np.testing.assert_array_equal(exact(output), expected)


@every_dtype
def test_tin_shift_of_an_expanded_gradient(torch: Any, ext: ModuleType, dtype: str) -> None:
    grad = torch.ones(1, dtype=getattr(torch, dtype)).expand(2, 4, 6, 5)
    shift = torch.tensor([[1], [-1]], dtype=torch.int32)
    output = torch.zeros(2, 4, 6, 5, dtype=grad.dtype)
    ext.tin_shift_backward(grad, shift, output)
    assert output[0, 0].sum() == 0 and output[0, 1:].min() == 1 and output[1, 3].sum() == 0


def test_float64_does_not_need_a_device_with_it(torch: Any, ext: ModuleType) -> None:
    """The simulated MLU has no kernels in double; the CPU computes then."""
    values, shift = torch.arange(24.0).double().reshape(1, 2, 4, 3), torch.tensor([[1]], dtype=torch.int32)
    output, expected = torch.empty_like(values), torch.empty_like(values)
    ext.tin_shift_forward(values, shift, expected)
    with pymluops.use("sim"):
        ext.tin_shift_forward(values, shift, output)
    assert torch.equal(output, expected) and torch.equal(output[:, 1], values[:, 0])
