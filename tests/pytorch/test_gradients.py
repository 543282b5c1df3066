"""Gradients, against differences in float64."""

from __future__ import annotations

import pytest
import torch

import pymluops.torch
from torch_samples import GRADIENTS, LINEAR, WITHOUT, all_equal, arguments, overload, with_gradient


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradcheck(name: str) -> None:
    made = with_gradient(name, arguments(name, torch.float64))

    def first(*inputs: torch.Tensor) -> torch.Tensor:
        found = overload(name)(*inputs)
        return found[0] if isinstance(found, tuple) else found

    assert torch.autograd.gradcheck(first, made)


@pytest.mark.parametrize("name", LINEAR)
def test_gradgradcheck(name: str) -> None:
    assert torch.autograd.gradgradcheck(overload(name), with_gradient(name, arguments(name, torch.float64)))


@pytest.mark.parametrize("name", ["border_align_forward", "ms_deform_attn_forward"])
def test_a_second_gradient_is_refused_in_one_sentence(name: str) -> None:
    made = with_gradient(name, arguments(name))
    found = overload(name)(*made)
    found = found[0] if isinstance(found, tuple) else found
    (grad,) = torch.autograd.grad(found.square().sum(), made[0], create_graph=True)
    with pytest.raises(NotImplementedError, match="cannot be differentiated again"):
        grad.sum().backward()


@pytest.mark.parametrize("name", WITHOUT)
def test_neighbours_have_no_gradient(name: str) -> None:
    made = tuple(a.requires_grad_() if isinstance(a, torch.Tensor) else a for a in arguments(name))
    found = overload(name)(*made)
    for result in found if isinstance(found, tuple) else (found,):
        assert not result.requires_grad


def test_gradients_of_tin_shift() -> None:
    values, shifts = arguments("tin_shift_forward")
    grad = torch.randn_like(values)
    for kind, moved in (("true", -shifts), ("mmcv", shifts)):
        given = values.clone().requires_grad_()
        result = pymluops.torch.tin_shift(given, shifts, gradient=kind)
        all_equal(result, pymluops.torch.tin_shift(values, shifts))
        result.backward(grad)
        all_equal(given.grad, pymluops.torch.tin_shift(grad, moved))
    with pytest.raises(ValueError, match="'true' or 'mmcv'"):
        pymluops.torch.tin_shift(values, shifts, gradient="other")


def test_an_expanded_gradient() -> None:
    made = with_gradient("three_interpolate_forward", arguments("three_interpolate_forward"))
    overload("three_interpolate_forward")(*made).sum().backward()
    _, indices, weights = made
    wanted = torch.zeros(2, 7).scatter_add_(1, indices.flatten(1).long(), weights.flatten(1))
    all_equal(made[0].grad, wanted[:, None].expand(2, 3, 7), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_in_16_bits(name: str, dtype: torch.dtype) -> None:
    narrow = with_gradient(name, arguments(name, dtype))
    wide = tuple(
        a.detach().double().requires_grad_(a.requires_grad)
        if isinstance(a, torch.Tensor) and a.is_floating_point()
        else a
        for a in narrow
    )
    for made in (narrow, wide):
        found = overload(name)(*made)
        (found[0] if isinstance(found, tuple) else found).sum().backward()
    for i in GRADIENTS[name]:
        assert narrow[i].grad.dtype == dtype
        error = (narrow[i].grad.double() - wide[i].grad).abs().max()
        assert error <= 2 * torch.finfo(dtype).eps * wide[i].grad.abs().max(), i


def test_only_the_gradients_asked_for() -> None:
    value, shapes, starts, places, weights, step = arguments("ms_deform_attn_forward")
    weights.requires_grad_()
    overload("ms_deform_attn_forward")(value, shapes, starts, places, weights, step).sum().backward()
    assert value.grad is None and places.grad is None and weights.grad is not None
