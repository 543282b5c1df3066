"""mmcv's extension for active_rotated_filter: values, strides, gradients, refusals."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pymluops.oracle.active_rotated_filter as oracle

from .gradcheck import check_gradient
from .values import any_strides, every_dtype, exact, laid, near, tensor

TABLE = oracle.STANDARD.reshape(1, 3, 3, 8)


@every_dtype
@any_strides
def test_values(torch: Any, ext: ModuleType, dtype: str, strided: bool) -> None:
    rng = np.random.default_rng(3)
    filters, grad = (tensor(torch, rng.integers(-8, 9, shape), dtype) for shape in ((2, 3, 1, 3, 3), (16, 3, 3, 3)))
    indices = laid(torch, torch.from_numpy(TABLE), strided)
    output, result = (laid(torch, torch.full(of.shape, 9, dtype=of.dtype), strided) for of in (grad, filters))
    ext.active_rotated_filter_forward(laid(torch, filters, strided), indices, output)
    near(torch, output, oracle.forward(exact(filters), TABLE), dtype)
    ext.active_rotated_filter_backward(laid(torch, grad, strided), indices, result)
    near(torch, result, oracle.backward(exact(grad), TABLE, 2, 3), dtype)


def test_gradients(torch: Any, ext: ModuleType) -> None:
    indices = torch.from_numpy(TABLE)

    def forward(values: Any) -> Any:
        output = values.new_zeros(16, 3, 3, 3)
        ext.active_rotated_filter_forward(values, indices, output)
        return output

    def backward(grad: Any, values: Any) -> Any:
        result = torch.full_like(values, 9)  # it is written, not added to
        ext.active_rotated_filter_backward(grad, indices, result)
        return result

    check_gradient(torch, forward, backward, np.random.default_rng(2).standard_normal((2, 3, 1, 3, 3)))


def test_refused(torch: Any, ext: ModuleType) -> None:
    filters, rotated, indices = (
        torch.full((2, 3, 1, 3, 3), 9.0),
        torch.full((16, 3, 3, 3), 9.0),
        torch.from_numpy(TABLE),
    )
    wrong = indices.clone()
    wrong[0, 2, 2, 7] = 10
    refused: list[tuple[str, dict[str, Any], str]] = [
        ("forward", {"input": filters[0]}, "active_rotated_filter_forward: input: expected shape"),
        ("forward", {"output": rotated[:8]}, "active_rotated_filter_forward: output: expected shape"),
        ("forward", {"indices": indices.long()}, "active_rotated_filter_forward: indices: expected int32"),
        (
            "forward",
            {"indices": wrong},
            "active_rotated_filter_forward: indices: expected places from 1 to 9, got 10",
        ),
        ("forward", {"input": filters.double()}, "active_rotated_filter_forward: output: expected float64"),
        ("backward", {"grad_out": rotated[:8]}, "active_rotated_filter_backward: grad_out: expected shape"),
        ("backward", {"grad_in": filters[:, :2]}, "active_rotated_filter_backward: grad_out: expected shape"),
        ("backward", {"indices": wrong}, "active_rotated_filter_backward: indices: expected places"),
    ]
    for name, changes, text in refused:
        given = {"indices": indices}
        given |= (
            {"input": filters, "output": rotated} if name == "forward" else {"grad_out": rotated, "grad_in": filters}
        )
        with pytest.raises(RuntimeError, match=f"^{text}"):
            getattr(ext, f"active_rotated_filter_{name}")(**{**given, **changes})
    assert (filters == 9).all()
    assert (rotated == 9).all()
