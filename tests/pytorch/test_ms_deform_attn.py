"""ms_deform_attn for tensors of PyTorch, beyond what all functions have in common."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch
from torch import nn
from torch.func import grad, jvp, vmap

import pymluops.torch as ours
from support.torch_samples import (
    all_equal,
    arguments,
    overload,
    tensors,
)


@pytest.mark.parametrize("gradients", [False, True])
def test_attention_can_be_traced(gradients: bool) -> None:
    shapes, starts = torch.tensor([[2, 2]]), torch.tensor([0])

    def attend(value: Any, places: Any, weights: Any) -> Any:
        return ours.ms_deform_attn(value, shapes, starts, places, weights)

    def arguments(batch: int) -> tuple[Any, ...]:
        sizes = (batch, 4, 1, 2), (batch, 3, 1, 1, 2, 2), (batch, 3, 1, 1, 2)
        return tuple(torch.rand(size, requires_grad=gradients) for size in sizes)

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*torch.jit.*deprecated")
        traced = torch.jit.trace(attend, arguments(1))
    for batch in (1, 3):
        given = arguments(batch)
        assert torch.equal(traced(*given), attend(*given))


def test_ms_deform_attn_with_respect_to_values_and_weights() -> None:
    value, sizes, starts, places, weights = tensors("ms_deform_attn", torch.float64)
    tangents = torch.rand_like(value), torch.rand_like(weights)

    def attend(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        return ours.ms_deform_attn(one, sizes, starts, places, other)

    found = jvp(attend, (value, weights), tangents)[1]
    all_equal(found, attend(tangents[0], weights) + attend(value, tangents[1]), rtol=1e-14, atol=1e-14)
    with pytest.raises(NotImplementedError, match=r"ms_deform_attn_forward: .* respect to sampling_loc; take reverse"):
        jvp(lambda at: ours.ms_deform_attn(value, sizes, starts, at, weights), (places,), (places,))


def test_vmap_with_a_step_that_divides_the_batch() -> None:
    """vmap makes batches larger; a step that was large enough must not become a number that is no divisor."""
    value, sizes, starts, places, weights = tensors("ms_deform_attn", batch=3)
    several = torch.rand(5, *value.shape)

    def attend(step: int, one: torch.Tensor) -> Any:
        return ours.ms_deform_attn(one, sizes, starts, places, weights, step)

    for step in (1, 3, 4, 64):
        wanted = torch.stack([attend(step, one) for one in several])
        all_equal(vmap(lambda one, step=step: attend(step, one))(several), wanted)
        gradients = vmap(grad(lambda one, step=step: attend(step, one).square().sum()))(several)
        alone = torch.stack([grad(lambda one: attend(64, one).square().sum())(one) for one in several])
        all_equal(gradients, alone)
    with pytest.raises(ValueError, match="im2col_step"):
        vmap(lambda one: attend(2, one))(several)


def test_only_the_gradients_asked_for() -> None:
    value, shapes, starts, places, weights, step = arguments("ms_deform_attn_forward")
    weights.requires_grad_()
    overload("ms_deform_attn_forward")(value, shapes, starts, places, weights, step).sum().backward()
    assert value.grad is None and places.grad is None and weights.grad is not None


def naive(value: torch.Tensor, shapes: torch.Tensor, places: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """ms_deform_attn from grid_sample."""
    batch, _, heads, channels = value.shape
    queries = places.shape[1]
    levels = value.split([int(h * w) for h, w in shapes], 1)
    sampled = []
    for number, (height, width) in enumerate(shapes.tolist()):
        one = levels[number].permute(0, 2, 3, 1).reshape(batch * heads, channels, height, width)
        grid = 2 * places[:, :, :, number].transpose(1, 2).flatten(0, 1) - 1
        sampled.append(nn.functional.grid_sample(one, grid, align_corners=False))  # zeros outside
    weights = weights.transpose(1, 2).reshape(batch * heads, 1, queries, -1)
    total = (torch.stack(sampled, -2).flatten(-2) * weights).sum(-1)
    return total.reshape(batch, heads * channels, queries).transpose(1, 2)


def test_ms_deform_attn_is_what_grid_sample_gives() -> None:
    value, shapes, starts, places, weights, step = (
        a.double().requires_grad_() if isinstance(a, torch.Tensor) and a.is_floating_point() else a
        for a in arguments("ms_deform_attn_forward")
    )
    found, wanted = (
        ours.ms_deform_attn(value, shapes, starts, places, weights, step),
        naive(value, shapes, places, weights),
    )
    all_equal(found, wanted, rtol=1e-10, atol=1e-12)
    factor = torch.rand_like(found)
    for one, other in zip(
        torch.autograd.grad((found * factor).sum(), (value, places, weights)),
        torch.autograd.grad((wanted * factor).sum(), (value, places, weights)),
        strict=True,
    ):
        all_equal(one, other, rtol=1e-9, atol=1e-11)
