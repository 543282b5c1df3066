"""The functions of mmcv's extension for RoIAwarePool3d: values of every type, any strides, gradients, refusals."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pymluops.oracle.roi_aware_pool3d

from .values import any_strides, every_dtype, exact, laid, near, tensor

both_methods = pytest.mark.parametrize("method", [0, 1])
OUT = (2, 3, 2)


def problem(torch: Any, dtype: str) -> tuple[Any, ...]:
    rng = np.random.default_rng(5)
    rois = np.concatenate([rng.integers(-2, 1, (3, 3)) / 2, rng.integers(4, 9, (3, 3)) / 2, np.zeros((3, 1))], 1)
    pts, feats = rng.integers(-8, 9, (60, 3)) / 8, rng.integers(-5, 6, (60, 4))
    return tuple(tensor(torch, array, dtype) for array in (rois, pts, feats))


def outputs(torch: Any, dtype: Any, strided: bool = False) -> list[Any]:
    whole = torch.int32
    shapes = (((3, *OUT, 4), whole), ((3, *OUT, 5), whole), ((3, *OUT, 4), dtype))
    return [laid(torch, torch.full(shape, 9, dtype=kind), strided) for shape, kind in shapes]


@every_dtype
@any_strides
@both_methods
def test_both_directions(torch: Any, ext: ModuleType, dtype: str, strided: bool, method: int) -> None:
    made = problem(torch, dtype)
    argmax, lists, pooled = outputs(torch, made[0].dtype, strided)
    placed = [laid(torch, one, strided) for one in made]
    ext.roiaware_pool3d_forward(*placed, argmax, lists, pooled, pool_method=method)
    wanted = pymluops.oracle.roi_aware_pool3d.forward(*map(exact, made), method, 5, OUT)
    near(torch, pooled, wanted[0], dtype)
    np.testing.assert_array_equal(argmax.numpy(), wanted[1])
    np.testing.assert_array_equal(lists.numpy(), wanted[2])
    grad = tensor(torch, np.random.default_rng(6).integers(-4, 5, pooled.shape), dtype)
    given = laid(torch, torch.full((60, 4), 9, dtype=made[0].dtype), strided)
    ext.roiaware_pool3d_backward(lists, argmax, laid(torch, grad, strided), given, pool_method=method)
    near(torch, given, pymluops.oracle.roi_aware_pool3d.backward(wanted[2], wanted[1], exact(grad), method, 60), dtype)
    assert wanted[2][..., 0].any() and given.any()


@both_methods
def test_gradcheck(torch: Any, ext: ModuleType, method: int) -> None:
    rois, pts, feats = problem(torch, "float64")

    class Pool(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, values: Any) -> Any:
            argmax, lists, pooled = outputs(torch, torch.float64)
            ext.roiaware_pool3d_forward(rois, pts, values, argmax, lists, pooled, pool_method=method)
            ctx.kept = lists, argmax
            return pooled

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            given = torch.zeros_like(feats)
            ext.roiaware_pool3d_backward(*ctx.kept, grad.contiguous(), given, pool_method=method)
            return given

    values = (feats + torch.rand(feats.shape, dtype=torch.float64) / 4).requires_grad_()
    assert torch.autograd.gradcheck(Pool.apply, (values,))


def test_nothing_to_pool(torch: Any, ext: ModuleType) -> None:
    rois, pts, feats = problem(torch, "float32")
    kept = outputs(torch, torch.float32)
    ext.roiaware_pool3d_forward(rois, pts[:0], feats[:0], *kept, pool_method=0)
    assert all((one == 9).all() for one in kept)
    given = torch.full((60, 4), 9.0)
    none = [one[:0] for one in (kept[1], kept[0], kept[2])]
    ext.roiaware_pool3d_backward(*none, given, pool_method=1)
    assert not given.any()


def test_refusals(torch: Any, ext: ModuleType) -> None:
    rois, pts, feats = problem(torch, "float32")
    argmax, lists, pooled = outputs(torch, torch.float32)
    good = [rois, pts, feats, argmax, lists, pooled, 0]
    for place, wrong, text in (
        (0, rois[:, :6], r"rois: expected shape \[any, 7\]"),
        (2, feats[:9], "pts_feature: expected shape"),
        (3, argmax.long(), "argmax: expected int32"),
        (4, lists[:2], "pts_idx_of_voxels: expected shape"),
        (5, pooled.double(), "pooled_features: expected float32, like rois"),
        (6, 2, r"pool_method: expected 0 \(max\) or 1 \(avg\), got 2"),
    ):
        given = [wrong if i == place else one for i, one in enumerate(good)]
        with pytest.raises(RuntimeError, match=f"^roiaware_pool3d_forward: {text}"):
            ext.roiaware_pool3d_forward(*given)
    assert all((one == 9).all() for one in (argmax, lists, pooled))
