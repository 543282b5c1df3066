"""Edge shapes: float32 against float64, forward and gradients, and the gradients of float64 against differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import pymluops.torch as ops
from pymluops.oracle import border_align, ms_deform_attn, three_interpolate, tin_shift

Function = Callable[..., torch.Tensor]
Edge = tuple[Function, tuple[torch.Tensor, ...], Any]


def _random(*shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(len(shape) + sum(shape))
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def _beyond() -> Edge:
    clip, shifts = _random(2, 3, 4, 2), torch.tensor([[3, -3], [7, -(2**31)]])
    return (lambda x: ops.tin_shift(x, shifts)), (clip,), tin_shift.shift(clip.numpy(), shifts.int().numpy())


def _one_step() -> Edge:
    clip, shifts = _random(1, 1, 2, 3), torch.tensor([[0, 1]])
    return (lambda x: ops.tin_shift(x, shifts)), (clip,), tin_shift.shift(clip.numpy(), shifts.int().numpy())


def _equal_indices() -> Edge:
    points, near, weights = _random(2, 3, 4), torch.full((2, 5, 3), 2), _random(2, 5, 3)
    wanted = three_interpolate.forward(points.numpy(), near.int().numpy(), weights.numpy())
    return (lambda x: ops.three_interpolate(x, near, weights.to(x.dtype))), (points,), wanted


def _one_point() -> Edge:
    points, near, weights = _random(1, 2, 1), torch.zeros(1, 1, 3, dtype=torch.int64), _random(1, 1, 3)
    wanted = three_interpolate.forward(points.numpy(), near.int().numpy(), weights.numpy())
    return (lambda x: ops.three_interpolate(x, near, weights.to(x.dtype))), (points,), wanted


def _boxes_outside() -> Edge:
    maps = _random(1, 8, 4, 5)
    boxes = torch.tensor([[[-9.0, -9, -4, -4], [50, 60, 70, 80], [-3, 1, 9, 2], [2, 2, 2, 2]]], dtype=torch.float64)
    channels_last = maps.permute(0, 2, 3, 1).contiguous().numpy()
    wanted = border_align.forward(channels_last, boxes.numpy(), 3, real=np.float64)[0].transpose(0, 3, 1, 2)
    return (lambda x: ops.border_align(x, boxes.to(x.dtype), 3)), (maps,), wanted


def _samples_outside() -> Edge:
    sizes, starts = torch.tensor([[2, 3]]), torch.tensor([0])
    value, places, parts = _random(1, 6, 2, 2), 3 + _random(1, 2, 2, 1, 2, 2).abs(), _random(1, 2, 2, 1, 2)
    inputs = (value.numpy(), sizes.int().numpy(), starts.int().numpy(), places.numpy(), parts.numpy())
    wanted = ms_deform_attn.forward(ms_deform_attn.Inputs(*inputs)).reshape(1, 2, -1)
    return (lambda v, p, w: ops.ms_deform_attn(v, sizes, starts, p, w)), (value, places, parts), wanted


def _convolution(places: list[list[int]], kind: dict[str, Any]) -> Edge:
    """A convolution of a batch of four, some without places, against a dense one where rows are."""
    indices = torch.tensor(places, dtype=torch.int32).reshape(-1, 4)
    features, filters = _random(len(places), 2), _random(3, 3, 3, 2, 3)
    out, pairs, num = ops.get_indice_pairs(indices, 4, [4, 4, 4], 3, 1, 1, **kind)
    dense = ops.SparseConvTensor(features, indices, [4, 4, 4], 4).dense()
    whole = torch.nn.functional.conv3d(dense, filters.permute(4, 3, 0, 1, 2), padding=1)
    batch, *axes = out.long().unbind(1)
    wanted = whole[batch, :, axes[0], axes[1], axes[2]].numpy()
    return (lambda f, w: ops.indice_conv(f, w, pairs, num, len(out))), (features, filters), wanted


EDGES: dict[str, Callable[[], Edge]] = {
    "shifts beyond the clip": _beyond,
    "one time step": _one_step,
    "equal indices": _equal_indices,
    "one point": _one_point,
    "boxes outside of the map": _boxes_outside,
    "samples outside of the map": _samples_outside,
    "no voxels": lambda: _convolution([], {}),
    "no voxels, sub-manifold": lambda: _convolution([], {"subm": True}),
    "one voxel": lambda: _convolution([[2, 0, 3, 1]], {}),
    "batch entries without points": lambda: _convolution([[1, 0, 0, 0], [1, 0, 1, 0], [3, 3, 3, 3]], {}),
    "the same, sub-manifold": lambda: _convolution([[1, 0, 0, 0], [1, 0, 1, 0], [3, 3, 3, 3]], {"subm": True}),
}


@pytest.mark.parametrize("name", EDGES)
def test_edge(name: str) -> None:
    function, inputs, wanted = EDGES[name]()
    results: list[tuple[torch.Tensor, ...]] = []
    for dtype in (torch.float64, torch.float32):
        leaves = [tensor.to(dtype).requires_grad_() for tensor in inputs]
        out = function(*leaves)
        results.append((out, *torch.autograd.grad(out.square().sum(), leaves)))
    np.testing.assert_allclose(results[0][0].detach().numpy(), wanted, rtol=1e-12, atol=1e-12)
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one.float(), other, rtol=1e-4, atol=1e-4)
    if all(tensor.numel() for tensor in inputs):
        assert torch.autograd.gradcheck(function, [tensor.clone().requires_grad_() for tensor in inputs])
