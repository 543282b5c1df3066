"""The functions of mmcv's extension for dynamic_scatter: values of every type, gradients, refusals."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pymluops.oracle.dynamic_point_to_voxel

from .values import any_strides, every_dtype, exact, laid, near, tensor

REDUCTIONS = pytest.mark.parametrize("reduce", ["max", "sum", "mean"])


def problem(torch: Any, dtype: str, kind: str) -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    feats = tensor(torch, rng.integers(-4, 5, (40, 3)), dtype)
    coors = rng.integers(-1, 3, (40, 3))
    return feats, torch.from_numpy(coors).to(getattr(torch, kind))


@every_dtype
@any_strides
@REDUCTIONS
@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_both_directions(torch: Any, ext: ModuleType, dtype: str, strided: bool, reduce: str, kind: str) -> None:
    feats, coors = problem(torch, dtype, kind)
    before = coors.clone()
    found = ext.dynamic_point_to_voxel_forward(laid(torch, feats, strided), laid(torch, coors, strided), reduce)
    wanted = pymluops.oracle.dynamic_point_to_voxel.scatter(exact(feats), coors.int().numpy(), reduce)
    number = int(wanted.number[0])
    near(torch, found[0], wanted.feats[:number], dtype)
    np.testing.assert_array_equal(found[1].numpy(), wanted.coors[:number])
    np.testing.assert_array_equal(found[2].numpy(), wanted.mapping)
    np.testing.assert_array_equal(found[3].numpy(), wanted.counts[:number])
    assert found[1].dtype == coors.dtype and torch.equal(coors, before)
    assert [one.dtype for one in found[2:]] == [torch.int32] * 2
    grad = tensor(torch, np.random.default_rng(1).integers(-4, 5, (number, 3)), dtype)
    given = laid(torch, torch.full_like(feats, 9), strided)
    ext.dynamic_point_to_voxel_backward(given, grad, feats, *([found[0], *found[2:]]), reduce)
    values = wanted.feats[:number] if reduce == "max" else exact(found[0])
    expected = pymluops.oracle.dynamic_point_to_voxel.gradient(
        exact(grad), exact(feats), values, wanted.mapping, wanted.counts[:number], reduce
    )
    near(torch, given, expected, dtype)


@REDUCTIONS
def test_nothing_to_reduce(torch: Any, ext: ModuleType, reduce: str) -> None:
    feats, coors = torch.zeros(0, 3), torch.zeros(0, 3, dtype=torch.int32)
    found = ext.dynamic_point_to_voxel_forward(feats, coors, reduce)
    assert [tuple(one.shape) for one in found] == [(0, 3), (0, 3), (0,), (0,)]
    found = ext.dynamic_point_to_voxel_forward(torch.zeros(2, 0), torch.zeros(2, 3, dtype=torch.int32), reduce)
    assert [tuple(one.shape) for one in found] == [(1, 0), (1, 3), (2,), (1,)]
    outside = ext.dynamic_point_to_voxel_forward(torch.ones(2, 1), torch.full((2, 3), -1), reduce)
    assert [tuple(one.shape) for one in outside] == [(0, 1), (0, 3), (2,), (0,)]
    grad = torch.full((2, 1), 9.0)
    ext.dynamic_point_to_voxel_backward(grad, outside[0], torch.ones(2, 1), outside[0], *outside[2:], reduce)
    assert not grad.any()


@REDUCTIONS
def test_gradcheck(torch: Any, ext: ModuleType, reduce: str) -> None:
    class Scatter(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, feats: Any, coors: Any) -> Any:
            values, places, mapping, counts = ext.dynamic_point_to_voxel_forward(feats, coors, reduce)
            ctx.save_for_backward(feats, values, mapping, counts)
            ctx.mark_non_differentiable(places)
            return values, places

        @staticmethod
        def backward(ctx: Any, grad: Any, _places: Any) -> Any:
            feats, values, mapping, counts = ctx.saved_tensors
            given = torch.zeros_like(feats)
            ext.dynamic_point_to_voxel_backward(given, grad.contiguous(), feats, values, mapping, counts, reduce)
            return given, None

    torch.manual_seed(0)
    feats = torch.rand(30, 4, dtype=torch.float64, requires_grad=True)
    coors = torch.randint(-1, 3, (30, 3))
    assert torch.autograd.gradcheck(lambda one: Scatter.apply(one, coors)[0], (feats,))


def test_refusals(torch: Any, ext: ModuleType) -> None:
    feats, coors = torch.zeros(4, 2), torch.zeros(4, 3, dtype=torch.int32)
    for arguments, text in (
        ((feats, coors, "min"), "reduce_type: expected 'max', 'sum' or 'mean', got 'min'"),
        ((feats.int(), coors, "max"), "feats: expected float32"),
        ((feats, coors.float(), "max"), "coors: expected int32 or int64"),
        ((feats, coors[:2], "max"), r"coors: expected shape \[4, 3\]"),
        ((feats, coors.long() + 2**31, "max"), "coors: expected numbers that int32 can hold"),
    ):
        with pytest.raises(RuntimeError, match=f"^dynamic_point_to_voxel_forward: {text}"):
            ext.dynamic_point_to_voxel_forward(*arguments)
    whole = torch.zeros(4, dtype=torch.int32)
    with pytest.raises(RuntimeError, match=r"^dynamic_point_to_voxel_backward: coors_idx: expected shape \[4\]"):
        ext.dynamic_point_to_voxel_backward(feats, feats, feats, feats, whole[:3], whole, "max")
