"""ms_deform_attn for tensors of PyTorch, beyond what all functions have in common."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch
from torch import nn
from torch.func import grad, jvp, vmap

import pymluops
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


def test_vmap_with_any_step() -> None:
    """vmap makes batches larger, which the step need not divide either."""
    value, sizes, starts, places, weights = tensors("ms_deform_attn", batch=3)
    several = torch.rand(5, *value.shape)

    def attend(step: int, one: torch.Tensor) -> Any:
        return ours.ms_deform_attn(one, sizes, starts, places, weights, step)

    for step in (1, 2, 3, 4, 64):
        wanted = torch.stack([attend(step, one) for one in several])
        all_equal(vmap(lambda one, step=step: attend(step, one))(several), wanted)
        gradients = vmap(grad(lambda one, step=step: attend(step, one).square().sum()))(several)
        alone = torch.stack([grad(lambda one: attend(64, one).square().sum())(one) for one in several])
        all_equal(gradients, alone)
    with pytest.raises(ValueError, match=r"im2col_step: expected an integer from 1 to 2147483647, got 0"):
        vmap(lambda one: attend(0, one))(several)


#: Batches and steps that mlu-ops and mmcv refuse, beside some that they take.
STEPS = ((70, 64), (80, 64), (96, 64), (154, 64), (3, 2), (64, 64), (2, 64), (1, 1), (65, 2**31 - 1))


def made(batch: int, dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, ...]:
    random = torch.Generator().manual_seed(batch)
    value, places, weights = (
        torch.rand(size, generator=random, dtype=dtype)
        for size in ((batch, 10, 1, 2), (batch, 3, 1, 2, 2, 2), (batch, 3, 1, 2, 2))
    )
    return value, torch.tensor([[2, 3], [2, 2]]), torch.tensor([0, 6]), places, weights


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize(("batch", "step"), STEPS)
def test_any_step_computes(batch: int, step: int, dtype: torch.dtype) -> None:
    """Values and gradients are those of the samples one by one, whatever the step is."""
    given = made(batch, dtype)
    leaves = [one.requires_grad_() for one in given if one.is_floating_point()]
    found = ours.ms_deform_attn(*given, step)
    rows = [ours.ms_deform_attn(one[None], *given[1:3], *more, 1) for one, *more in _samples(given)]
    wanted = torch.cat(rows)
    assert torch.equal(found, wanted)
    factor = torch.rand_like(found)
    for got, want in zip(
        torch.autograd.grad((found * factor).sum(), leaves),
        torch.autograd.grad((wanted * factor).sum(), leaves),
        strict=True,
    ):
        assert torch.equal(got, want)
    with torch.no_grad():
        assert torch.equal(overload("ms_deform_attn_forward")(*given, step).flatten(2), found)
        assert torch.equal(
            vmap(lambda *one: ours.ms_deform_attn(*one, step), (0, None, None, 0, 0))(
                *(one[None] if one.is_floating_point() else one for one in given)
            )[0],
            found,
        )
    assert ours.ms_deform_attn(*(one.to("meta") for one in given), step).shape == found.shape


def _samples(given: tuple[torch.Tensor, ...]) -> Any:
    return zip(given[0], given[3].split(1), given[4].split(1), strict=True)


def test_a_step_of_the_module_and_of_compiled_code() -> None:
    layer = ours.MultiScaleDeformableAttention(8, 2, 1, 2, im2col_step=64, batch_first=True, dropout=0.0)
    given = torch.rand(70, 6, 8)
    maps = {"spatial_shapes": torch.tensor([[2, 3]]), "level_start_index": torch.tensor([0])}
    found = layer(given, reference_points=torch.rand(70, 6, 1, 2), **maps)
    found.sum().backward()
    assert found.shape == given.shape and layer.value_proj.weight.grad is not None
    compiled = torch.compile(ours.ms_deform_attn, backend="aot_eager", fullgraph=True, dynamic=True)
    for batch, step in ((3, 3), (70, 64), (80, 64), (5, 3)):
        assert torch.equal(compiled(*made(batch), step), ours.ms_deform_attn(*made(batch)))


@pytest.mark.parametrize("step", [0, -1, 2.5, True, "64", None, 2**31])
def test_a_step_that_is_no_positive_number_is_refused_by_name(step: Any) -> None:
    for dtype in (torch.float32, torch.float64):
        with pytest.raises(ValueError, match="im2col_step: expected an integer from 1 to 2147483647, got"):
            ours.ms_deform_attn(*made(3, dtype), step)


def test_the_call_without_torch_keeps_the_refusal() -> None:
    """So does the C function behind it; see tests/ops/test_ms_deform_attn_refusals.py."""
    given = [one.numpy() for one in made(70)]
    given[1:3] = (one.astype("int32") for one in given[1:3])
    with pytest.raises(pymluops.BadParamError, match="im2col_step: expected positive, and a divisor of B=70 or more"):
        pymluops.ms_deform_attn_forward(*given, 64)


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
