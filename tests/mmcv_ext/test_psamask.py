"""The functions of mmcv's extension for psamask: values of every type, any strides, gradients."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pymluops.oracle.psamask

from .gradcheck import check_gradient
from .values import any_strides, every_dtype, exact, laid, tensor


@every_dtype
@any_strides
@pytest.mark.parametrize("psa_type", [0, 1])
@pytest.mark.parametrize("mask", [(3, 3), (4, 4), (1, 5), (7, 2)])
def test_psamask(torch: Any, ext: ModuleType, dtype: str, strided: bool, psa_type: int, mask: tuple[int, int]) -> None:
    rng = np.random.default_rng(2)
    batch, height, width = 2, 3, 4
    keywords = {"psa_type": psa_type, "num_": batch, "h_feature": height, "w_feature": width, "h_mask": mask[0]}
    keywords |= {"w_mask": mask[1], "half_h_mask": (mask[0] - 1) // 2, "half_w_mask": (mask[1] - 1) // 2}
    values = tensor(torch, rng.standard_normal((batch, mask[0] * mask[1], height, width)), dtype)
    output = laid(torch, torch.full((batch, height * width, height, width), 9, dtype=values.dtype), strided)
    ext.psamask_forward(laid(torch, values, strided), output, **keywords)
    expected = pymluops.oracle.psamask.forward(exact(values).transpose(0, 2, 3, 1), psa_type, *mask)
    np.testing.assert_array_equal(exact(output), expected.transpose(0, 3, 1, 2))

    grad = tensor(torch, rng.standard_normal(tuple(output.shape)), dtype)
    result = laid(torch, torch.full_like(values, 9), strided)
    ext.psamask_backward(laid(torch, grad, strided), result, **keywords)
    expected = pymluops.oracle.psamask.backward(exact(grad).transpose(0, 2, 3, 1), psa_type, *mask)
    np.testing.assert_array_equal(exact(result), expected.transpose(0, 3, 1, 2))


@pytest.mark.parametrize("psa_type", [0, 1])
@pytest.mark.parametrize("mask", [(3, 3), (4, 2)])
def test_gradients_of_psamask(torch: Any, ext: ModuleType, psa_type: int, mask: tuple[int, int]) -> None:
    sizes = (psa_type, 2, 3, 4, *mask, (mask[0] - 1) // 2, (mask[1] - 1) // 2)

    def forward(values: Any) -> Any:
        output = values.new_zeros(2, 12, 3, 4)
        ext.psamask_forward(values, output, *sizes)
        return output

    def backward(grad: Any, values: Any) -> Any:
        result = torch.zeros_like(values)
        ext.psamask_backward(grad, result, *sizes)
        return result

    check_gradient(torch, forward, backward, np.random.default_rng(1).standard_normal((2, mask[0] * mask[1], 3, 4)))
