"""moe_dispatch with fewer places than samples, as a capacity factor below 1 gives them."""

from __future__ import annotations

import pytest
import torch
from torch.func import grad, vmap

import pymluops.torch as ours
from support.torch_samples import all_equal


def routed(samples: int, experts: int, dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
    """Gates, experts, the place of each sample in the order of the samples, and the samples."""
    random = torch.Generator().manual_seed(samples)
    indices = torch.randint(0, experts, (samples,), generator=random)
    chosen = torch.nn.functional.one_hot(indices, experts)
    locations = (chosen.cumsum(0) * chosen).sum(1) - 1
    gates, values = torch.rand(samples, generator=random), torch.randn(samples, 3, generator=random)
    return gates.to(dtype), indices, locations, values.to(dtype)


def reference(gates: torch.Tensor, indices: torch.Tensor, locations: torch.Tensor, values: torch.Tensor,
              capacity: int, experts: int) -> torch.Tensor:  # fmt: skip
    """The dispatch as a product with a mask of zeros and ones, as in GShard."""
    expert, place = torch.nn.functional.one_hot(indices, experts), torch.arange(capacity)
    there = (expert[:, :, None] * (locations[:, None] == place)[:, None]).to(values.dtype)  # [S, E, Cap]
    return torch.einsum("sec,s,sh->ech", there, gates, values).flatten(0, 1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize(("samples", "capacity", "experts"), [(40, 4, 4), (7, 1, 1), (9, 1, 8), (30, 0, 3)])
def test_values_and_gradients(samples: int, capacity: int, experts: int, dtype: torch.dtype) -> None:
    gates, indices, locations, values = routed(samples, experts, dtype)
    gates.requires_grad_()
    values.requires_grad_()
    found, wanted = (
        call(gates, indices, locations, values, capacity, experts) for call in (ours.moe_dispatch, reference)
    )
    tolerance = {"rtol": 1e-2, "atol": 1e-2} if dtype == torch.bfloat16 else {"rtol": 1e-5, "atol": 1e-6}
    all_equal(found, wanted, **tolerance)
    factor = torch.rand_like(found)
    given = torch.autograd.grad((found * factor).sum(), (gates, values))
    expected = torch.autograd.grad((wanted * factor).sum(), (gates, values))
    all_equal(given, expected, **tolerance)
    dropped = locations >= capacity
    assert dropped.any()
    assert (given[0][dropped] == 0).all() and (given[1][dropped] == 0).all()


def test_gradients_of_second_order() -> None:
    gates, indices, locations, values = routed(9, 2, torch.float64)
    inputs = gates.requires_grad_(), values.requires_grad_()

    def dispatch(gates: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        return ours.moe_dispatch(gates, indices, locations, values, 2, 2)

    assert torch.autograd.gradcheck(dispatch, inputs)
    assert torch.autograd.gradgradcheck(dispatch, inputs)


def test_modes_of_pytorch() -> None:
    given, other = routed(9, 2, torch.float32), routed(9, 2, torch.float32)
    other[0].mul_(2)
    wanted = ours.moe_dispatch(*other, 2, 2)
    traced = torch.jit.trace(lambda *one: ours.moe_dispatch(*one, 2, 2), given, check_trace=False)
    all_equal(traced(*other), wanted)
    mapped = vmap(lambda gates: ours.moe_dispatch(gates, *other[1:], 2, 2))(torch.stack([other[0], 2 * other[0]]))
    all_equal(mapped, torch.stack([wanted, 2 * wanted]))
    slope = grad(lambda gates: ours.moe_dispatch(gates, *other[1:], 2, 2).sum())(other[0])
    assert (slope == 0).tolist() == (other[2] >= 2).tolist()
    assert ours.moe_dispatch(*(one.to("meta") for one in other), 2, 2).shape == wanted.shape


@pytest.mark.thorough
def test_compiled_for_any_number_of_samples() -> None:
    compiled = torch.compile(ours.moe_dispatch, backend="aot_eager", fullgraph=True, dynamic=True)
    for samples in (3, 9, 30):
        given = routed(samples, 2, torch.float32)
        all_equal(compiled(*given, 2, 2), ours.moe_dispatch(*given, 2, 2))
