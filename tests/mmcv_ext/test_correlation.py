"""mmcv's extension for Correlation: values, strides, gradients, refusals."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pymluops.oracle.correlation as oracle

from .gradcheck import check_gradient
from .values import any_strides, every_dtype, exact, laid, near, tensor

S = oracle.Settings((3, 2), (3, 3), (1, 2), (1, 0), (1, 2), (2, 1))
NUMBERS = {
    "kH": 3, "kW": 2, "patchH": 3, "patchW": 3, "padH": 1, "padW": 0, "dilationH": 1, "dilationW": 2,
    "dilation_patchH": 2, "dilation_patchW": 1, "dH": 1, "dW": 2,
}  # fmt: skip
SIZE = oracle.size_of((4, 6), S)


def problem(torch: Any, dtype: str) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(3)
    one, other = (tensor(torch, rng.integers(-3, 4, (2, 3, 4, 6)), dtype) for _ in range(2))
    return one, other, tensor(torch, rng.integers(-2, 3, (2, 3, 3, *SIZE)), dtype)


@every_dtype
@any_strides
def test_values(torch: Any, ext: ModuleType, dtype: str, strided: bool) -> None:
    one, other, grad = problem(torch, dtype)
    output = laid(torch, torch.full_like(grad, 9), strided)
    maps = laid(torch, one, strided), laid(torch, other, strided)
    ext.correlation_forward(*maps, output, **NUMBERS)
    near(torch, output, oracle.forward(exact(one), exact(other), S, SIZE), dtype)
    results = [laid(torch, torch.full_like(one, 9), strided) for _ in range(2)]
    ext.correlation_backward(laid(torch, grad, strided), *maps, *results, **NUMBERS)
    for found, wanted in zip(results, oracle.backward(exact(grad), exact(one), exact(other), S), strict=True):
        near(torch, found, wanted, dtype)


def test_gradients(torch: Any, ext: ModuleType) -> None:
    def forward(one: Any, other: Any) -> Any:
        output = one.new_zeros(2, 3, 3, *SIZE)
        ext.correlation_forward(one, other, output, **NUMBERS)
        return output

    def backward(grad: Any, one: Any, other: Any) -> Any:
        results = torch.zeros_like(one), torch.zeros_like(other)
        ext.correlation_backward(grad, one, other, *results, **NUMBERS)
        return results

    rng = np.random.default_rng(2)
    check_gradient(torch, forward, backward, *(rng.standard_normal((2, 3, 4, 6)) for _ in range(2)))


def test_no_batches(torch: Any, ext: ModuleType) -> None:
    none = torch.ones(0, 3, 4, 6)
    ext.correlation_forward(none, none, torch.ones(0, 3, 3, *SIZE), **NUMBERS)
    output = torch.full((2, 3, 3, *SIZE), 9.0)
    ext.correlation_forward(torch.ones(2, 0, 4, 6), torch.ones(2, 0, 4, 6), output, **NUMBERS)
    assert not output.any()


def test_refused(torch: Any, ext: ModuleType) -> None:
    one, other, grad = problem(torch, "float32")
    output = torch.full_like(grad, 9)
    given = {"input1": one, "input2": other, "output": output, **NUMBERS}
    refused: list[tuple[dict[str, Any], str]] = [
        ({"input1": one[0]}, "input1: expected shape"),
        ({"input2": other[:, :2]}, "input2: expected shape"),
        ({"input2": other.double()}, "input2: expected float32"),
        ({"output": output[:, :2]}, "output: expected shape"),
        ({"patchW": 5}, "output: expected shape"),
        ({"kH": 0}, "kH: expected at least 1"),
        ({"padW": -1}, "padW: expected at least 0"),
        ({"dW": 0}, "dW: expected at least 1"),
    ]
    for changes, text in refused:
        with pytest.raises(RuntimeError, match=f"^correlation_forward: {text}"):
            ext.correlation_forward(**{**given, **changes})
    assert (output == 9).all()
    results = torch.full_like(one, 9), torch.full_like(one, 9)
    for tensors, text in (
        ((grad[..., :1, :].double(), one, other, *results), "input1: expected float64"),
        ((grad, one, other[:1], *results), "input2: expected shape"),
        ((grad, one, other, results[0][:1], results[1]), "grad_input1: expected shape"),
    ):
        with pytest.raises(RuntimeError, match=f"^correlation_backward: {text}"):
            ext.correlation_backward(*tensors, **NUMBERS)
    assert all((result == 9).all() for result in results)
