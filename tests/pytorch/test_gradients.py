"""Gradients, against differences in float64."""

from __future__ import annotations

import pytest
import torch

from support.torch_samples import GRADIENTS, ONCE, TWICE, WITHOUT, arguments, overload, with_gradient


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradcheck(name: str) -> None:
    made = with_gradient(name, arguments(name, torch.float64))

    def first(*inputs: torch.Tensor) -> torch.Tensor:
        found = overload(name)(*inputs)
        return found[0] if isinstance(found, tuple) else found

    assert torch.autograd.gradcheck(first, made)


@pytest.mark.parametrize("name", TWICE)
def test_gradgradcheck(name: str) -> None:
    assert torch.autograd.gradgradcheck(overload(name), with_gradient(name, arguments(name, torch.float64)))


@pytest.mark.parametrize("name", ONCE)
def test_a_second_gradient_is_refused_in_one_sentence(name: str) -> None:
    made = with_gradient(name, arguments(name))
    found = overload(name)(*made)
    found = found[0] if isinstance(found, tuple) else found
    (grad,) = torch.autograd.grad(found.square().sum(), made[GRADIENTS[name][0]], create_graph=True)
    with pytest.raises(NotImplementedError, match="cannot be differentiated again"):
        grad.sum().backward()


@pytest.mark.parametrize("name", WITHOUT)
def test_there_is_no_gradient(name: str) -> None:
    made = tuple(
        a.requires_grad_() if isinstance(a, torch.Tensor) and a.is_floating_point() else a for a in arguments(name)
    )
    found = overload(name)(*made)
    for result in found if isinstance(found, tuple) else (found,):
        assert not result.requires_grad


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
