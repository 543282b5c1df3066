"""The functions of mmcv's extension for gather_points and grouping_operation: values, any strides, gradients."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pymluops.oracle.group_points as oracle

from .gradcheck import check_gradient
from .values import any_strides, every_dtype, exact, laid, near, tensor

pytest.importorskip("torch")


@every_dtype
@any_strides
def test_gather_points(torch: Any, ext: ModuleType, dtype: str, strided: bool) -> None:
    rng = np.random.default_rng(5)
    points, grad = (tensor(torch, rng.uniform(-1, 1, (2, 3, n)), dtype) for n in (9, 7))
    idx = torch.from_numpy(rng.integers(0, 9, (2, 7), np.int32))
    out, result = (laid(torch, torch.full((2, 3, n), 9, dtype=points.dtype), strided) for n in (7, 9))
    sizes = {"b": 2, "c": 3, "n": 9, "npoints": 7}
    ext.gather_points_forward(laid(torch, points, strided), laid(torch, idx, strided), out, **sizes)
    near(torch, out, oracle.pick(exact(points), idx.numpy()), dtype)
    ext.gather_points_backward(laid(torch, grad, strided), idx, result, **sizes)
    near(torch, result, oracle.add(exact(grad), idx.numpy(), 9), dtype)


@every_dtype
@any_strides
def test_group_points(torch: Any, ext: ModuleType, dtype: str, strided: bool) -> None:
    rng = np.random.default_rng(6)
    points, grad = (tensor(torch, rng.uniform(-1, 1, (2, 3, *shape)), dtype) for shape in ((9,), (6, 4)))
    idx = torch.from_numpy(rng.integers(0, 9, (2, 6, 4), np.int32))
    out, result = (laid(torch, torch.full((2, 3, *n), 9, dtype=points.dtype), strided) for n in ((6, 4), (9,)))
    sizes = {"b": 2, "c": 3, "n": 9, "npoints": 6, "nsample": 4}
    ext.group_points_forward(laid(torch, points, strided), laid(torch, idx, strided), out, **sizes)
    near(torch, out, oracle.pick(exact(points), idx.numpy()), dtype)
    ext.group_points_backward(laid(torch, grad, strided), idx, result, **sizes)
    near(torch, result, oracle.add(exact(grad), idx.numpy(), 9), dtype)


@every_dtype
@any_strides
def test_stack_group_points(torch: Any, ext: ModuleType, dtype: str, strided: bool) -> None:
    """Batches of different sizes, one of them without points; indices that are no points give zeros."""
    rng = np.random.default_rng(7)
    counts, groups = (torch.tensor(numbers, dtype=torch.int32) for numbers in ([4, 0, 5], [2, 1, 4]))
    features, grad = (tensor(torch, rng.uniform(-1, 1, shape), dtype) for shape in ((9, 3), (7, 3, 4)))
    idx = torch.from_numpy(rng.integers(-1, 6, (7, 4), np.int32))
    out = laid(torch, torch.zeros(7, 3, 4, dtype=features.dtype), strided)
    ext.stack_group_points_forward(
        laid(torch, features, strided), counts, laid(torch, idx, strided), groups, out, b=3, c=3, m=7, nsample=4
    )
    near(torch, out, oracle.pick_stack(exact(features), counts.numpy(), idx.numpy(), groups.numpy()), dtype)
    result = laid(torch, torch.zeros(9, 3, dtype=features.dtype), strided)
    ext.stack_group_points_backward(
        laid(torch, grad, strided), idx, groups, counts, result, b=3, c=3, m=7, n=9, nsample=4
    )
    near(torch, result, oracle.add_stack(exact(grad), idx.numpy(), groups.numpy(), counts.numpy(), 9), dtype)


def test_refused_indices_and_counts(torch: Any, ext: ModuleType) -> None:
    points, idx, out = torch.ones(1, 2, 5), torch.tensor([[0, 5]], dtype=torch.int32), torch.full((1, 2, 2), 9.0)
    with pytest.raises(RuntimeError, match=r"^gather_points_forward: idx_tensor: expected values from 0 to 4, got 5"):
        ext.gather_points_forward(points, idx, out, b=1, c=2, n=5, npoints=2)
    assert (out == 9).all()
    counts, groups = torch.tensor([2, 2], dtype=torch.int32), torch.tensor([1, 0], dtype=torch.int32)
    with pytest.raises(RuntimeError, match=r"features_tensor: expected shape \[4, 2\], got shape \[5, 2\]"):
        ext.stack_group_points_forward(points[0].T.contiguous(), counts, idx, groups, out, 2, 2, 1, 2)
    assert (out == 9).all()


def test_gradients(torch: Any, ext: ModuleType) -> None:
    rng = np.random.default_rng(3)
    idx = torch.from_numpy(rng.integers(0, 5, (2, 4, 3), np.int32))
    sizes = {"b": 2, "c": 3, "n": 5, "npoints": 4, "nsample": 3}

    def forward(points: Any) -> Any:
        out = points.new_zeros(2, 3, 4, 3)
        ext.group_points_forward(points, idx, out, **sizes)
        return out

    def backward(grad: Any, points: Any) -> Any:
        result = torch.zeros_like(points)
        ext.group_points_backward(grad, idx, result, **sizes)
        return result

    check_gradient(torch, forward, backward, rng.standard_normal((2, 3, 5)))
