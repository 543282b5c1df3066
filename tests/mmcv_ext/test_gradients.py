"""Gradients in float64 pass gradcheck: backward functions are the exact derivatives of forward functions."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")


def differentiable(torch: Any, forward: Callable[..., Any], backward: Callable[..., Any]) -> Any:
    """A function of PyTorch made of two that get and return tensors."""

    class Function(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            ctx.save_for_backward(*inputs)
            return forward(*inputs)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return backward(grad, *ctx.saved_tensors)

    return Function.apply


def check(
    torch: Any, forward: Callable[..., Any], backward: Callable[..., Any], *inputs: np.ndarray, fast: bool = False
) -> None:
    leaves = [torch.from_numpy(np.asarray(array)).requires_grad_() for array in inputs]
    assert torch.autograd.gradcheck(
        differentiable(torch, forward, backward), leaves, atol=1e-7, rtol=1e-5, fast_mode=fast
    )


@pytest.mark.parametrize("psa_type", [0, 1])
@pytest.mark.parametrize("mask", [(3, 3), (4, 2)])
def test_psamask(torch: Any, ext: ModuleType, psa_type: int, mask: tuple[int, int]) -> None:
    sizes = (psa_type, 2, 3, 4, *mask, (mask[0] - 1) // 2, (mask[1] - 1) // 2)

    def forward(values: Any) -> Any:
        output = values.new_zeros(2, 12, 3, 4)
        ext.psamask_forward(values, output, *sizes)
        return output

    def backward(grad: Any, values: Any) -> Any:
        result = torch.zeros_like(values)
        ext.psamask_backward(grad, result, *sizes)
        return result

    check(torch, forward, backward, np.random.default_rng(1).standard_normal((2, mask[0] * mask[1], 3, 4)))


def test_border_align(torch: Any, ext: ModuleType) -> None:
    rng = np.random.default_rng(2)
    corner = rng.uniform(-2, 4, (2, 5, 2))
    boxes = torch.from_numpy(np.concatenate((corner, corner + rng.uniform(0, 5, (2, 5, 2))), 2))
    argmax = torch.zeros(2, 2, 5, 4, dtype=torch.int32)

    def forward(features: Any) -> Any:
        output = features.new_zeros(argmax.shape)
        ext.border_align_forward(features, boxes, output, argmax, pool_size=3)
        return output

    def backward(grad: Any, features: Any) -> Any:
        number, result = torch.zeros_like(argmax), torch.zeros_like(features)
        ext.border_align_forward(features, boxes, torch.zeros_like(grad), number, pool_size=3)
        ext.border_align_backward(grad, boxes, number, result, pool_size=3)
        return result

    check(torch, forward, backward, rng.standard_normal((2, 8, 5, 4)))


def test_three_interpolate(torch: Any, ext: ModuleType) -> None:
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

    check(torch, forward, backward, rng.standard_normal((2, 3, 5)))


@pytest.mark.parametrize("channels", [3, 32, 1025])
def test_ms_deform_attn(torch: Any, ext: ModuleType, channels: int) -> None:
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
    check(torch, forward, backward, *inputs, fast=channels > 3)


@pytest.mark.parametrize(("subm", "inverse"), [(False, False), (True, False), (False, True)])
def test_indice_conv(torch: Any, ext: ModuleType, subm: bool, inverse: bool) -> None:
    rng = np.random.default_rng(5)
    places = np.unique(rng.integers(0, 4, (12, 4)) * [0, 1, 1, 1], axis=0).astype(np.int32)
    lists = [[4] * 3, [4] * 3, [3] * 3, [1] * 3, [1] * 3, [1] * 3, [0] * 3]
    found = ext.get_indice_pairs_3d_forward(torch.from_numpy(places), 1, *lists, int(subm), 0)
    read, written = (len(found[0]), len(places)) if inverse else (len(places), len(found[0]))
    flags = int(inverse), int(subm)

    def forward(features: Any, filters: Any) -> Any:
        return ext.indice_conv_forward(features, filters, found[1], found[2], written, *flags)

    def backward(grad: Any, features: Any, filters: Any) -> Any:
        return tuple(ext.indice_conv_backward(features, filters, grad, found[1], found[2], *flags))

    check(torch, forward, backward, rng.standard_normal((read, 2)), rng.standard_normal((3, 3, 3, 2, 2)))


def test_indice_maxpool(torch: Any, ext: ModuleType) -> None:
    rng = np.random.default_rng(6)
    places = np.unique(rng.integers(0, 4, (20, 4)) * [0, 1, 1, 1], axis=0).astype(np.int32)
    lists = [[2] * 3, [4] * 3, [2] * 3, [2] * 3, [0] * 3, [1] * 3, [0] * 3]
    out_indices, pairs, counts = ext.get_indice_pairs_3d_forward(torch.from_numpy(places), 1, *lists, 0, 0)

    def forward(features: Any) -> Any:
        return ext.indice_maxpool_forward(features, pairs, counts, len(out_indices))

    def backward(grad: Any, features: Any) -> Any:
        return ext.indice_maxpool_backward(features, forward(features), grad, pairs, counts)

    check(torch, forward, backward, rng.standard_normal((len(places), 3)))
