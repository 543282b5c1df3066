"""Derivatives in forward mode, and every other transform of torch.func, of functions, operators and compiled graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.autograd.forward_ad as forward_ad
from torch.func import functionalize, grad, hessian, jacfwd, jacrev, jvp, linearize, vmap

import pymluops.torch as ours
from support.example import GATHERING, MOVING, SAMPLING
from support.torch_samples import (
    AGAIN,
    DIFFERENTIABLE,
    FUNCTIONS,
    INEXACT,
    LINEAR,
    OPERATORS,
    all_equal,
    mapped,
    tensors,
)

Function = Callable[[torch.Tensor], Any]


def of_first(name: str, **options: Any) -> tuple[Function, torch.Tensor]:
    """Return a function as one of its first argument, and that."""
    first, *others = tensors(name, torch.float64, **options)
    return lambda one: FUNCTIONS[name](one, *others), first


def by_dual_numbers(function: Function, value: torch.Tensor, tangent: torch.Tensor) -> Any:
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(function(forward_ad.make_dual(value, tangent))).tangent


@pytest.mark.filterwarnings("ignore:Attempted to insert a get_attr")  # linearize, of any captured tensor
@pytest.mark.parametrize("requires_grad", [False, True], ids=["plain", "grad"])
@pytest.mark.parametrize("name", LINEAR)
def test_the_derivative_of_a_linear_function_is_the_function(name: str, requires_grad: bool) -> None:
    function, value = of_first(name)
    tangent = torch.rand_like(value)
    wanted = function(tangent)
    assert wanted.any()
    value.requires_grad_(requires_grad)
    all_equal(by_dual_numbers(function, value, tangent), wanted)
    found, derivative = jvp(function, (value,), (tangent,))
    all_equal((found, derivative), (function(value), wanted))
    result, push = linearize(function, value.detach())
    all_equal((result, push(tangent)), (found, wanted))


@pytest.mark.parametrize("name", LINEAR)
def test_forward_mode_gives_the_jacobian_of_reverse_mode(name: str) -> None:
    function, value = of_first(name, batch=1)
    if name in INEXACT:  # its gradient is another one on purpose
        parts = torch.eye(value.numel(), dtype=value.dtype).reshape(-1, *value.shape)
        columns = torch.stack([function(part) for part in parts], -1)
        all_equal(jacfwd(function)(value), columns.reshape(*columns.shape[:-1], *value.shape))
        return
    all_equal(jacfwd(function)(value), jacrev(function)(value))
    if name not in AGAIN:
        return
    twice = hessian(lambda one: function(one).square().sum() / 2)(value)
    columns = jacrev(function)(value).reshape(-1, value.numel())
    all_equal(twice.reshape(2 * (value.numel(),)), columns.T @ columns, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", [name for name in DIFFERENTIABLE if 0 in DIFFERENTIABLE[name] and name not in LINEAR])
@pytest.mark.parametrize("transform", [jvp, by_dual_numbers], ids=["jvp", "dual"])
def test_what_has_no_derivative_in_forward_mode_says_so(transform: Any, name: str) -> None:
    function, value = of_first(name)
    given = (value,) if transform is jvp else value
    with pytest.raises(NotImplementedError, match=r"pymluops::\w+: there is no forward-mode .* take reverse mode"):
        transform(function, given, given)
    with pytest.raises(NotImplementedError, match="cannot be differentiated again"):
        jacrev(grad(lambda one: function(one).square().sum()))(value)


def test_arguments_without_a_gradient_count_as_constants() -> None:
    features, near, weights = tensors(GATHERING.family)
    assert not jvp(lambda one: GATHERING.in_torch(ours)(features, near, one), (weights,), (weights,))[1].any()
    maps, boxes = tensors(SAMPLING.family)
    assert not jvp(lambda one: SAMPLING.in_torch(ours)(maps, one, 3), (boxes,), (boxes,))[1].any()
    for name in (name for name, places in DIFFERENTIABLE.items() if not places):
        function, value = of_first(name)
        if not value.is_floating_point():
            continue
        result, derivative = jvp(function, (value,), (value,))
        all_equal(result, function(value))
        assert not any(one.any() for one in (derivative if isinstance(derivative, tuple) else (derivative,)))


# ---- Operators themselves, and compiled graphs, which call them ----------------------------------


def shifted(clip: torch.Tensor, shifts: torch.Tensor) -> torch.Tensor:
    return getattr(OPERATORS, MOVING.name)(clip, shifts)


TRANSFORMS: dict[str, Callable[[Function], Function]] = {
    "grad": lambda function: grad(lambda one: function(one).square().sum()),
    "jvp": lambda function: lambda one: jvp(function, (one,), (one,))[1],
    "jacfwd": jacfwd,
    "jacrev": jacrev,
    "vmap": lambda function: lambda one: vmap(function)(one[None])[0],
    "vmap of grad": lambda function: lambda one: vmap(grad(lambda part: function(part).square().sum()))(one[None])[0],
    "dual numbers": lambda function: lambda one: by_dual_numbers(function, one, one),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_transforms_of_an_operator(transform: str) -> None:
    clip, shifts = tensors(MOVING.family, batch=1)
    wanted = TRANSFORMS[transform](lambda one: MOVING.in_torch(ours)(one, shifts))(clip)
    assert wanted.any()
    all_equal(TRANSFORMS[transform](lambda one: shifted(one, shifts))(clip), wanted)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_transforms_in_a_compiled_graph(transform: str, backend: str) -> None:
    torch._dynamo.reset()
    clip, shifts = tensors(MOVING.family, batch=1)
    function = TRANSFORMS[transform](lambda one: MOVING.in_torch(ours)(one, shifts))
    compiled = torch.compile(function, backend=backend, fullgraph=True)
    for value in (clip, torch.rand_like(clip)):
        found = compiled(value)
        assert found.any()
        all_equal(found, function(value))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functionalize(name: str) -> None:
    made = tensors(name)
    wanted = FUNCTIONS[name](*made)
    all_equal(functionalize(FUNCTIONS[name])(*made), wanted)
    dims = mapped(name)
    single = (one if dim is None else one[None] for one, dim in zip(made, dims, strict=True))
    found = vmap(functionalize(FUNCTIONS[name]), in_dims=dims)(*single)
    found, wanted = ((r if isinstance(r, tuple) else (r,)) for r in (found, wanted))
    all_equal([one[0] for one in found], wanted)


@pytest.mark.parametrize("name", [name for name in DIFFERENTIABLE if 0 in DIFFERENTIABLE[name]])
def test_a_gradient_by_torch_func_under_autocast(name: str) -> None:
    made = tensors(name, torch.bfloat16)
    with torch.autocast("cpu", torch.bfloat16):
        found = grad(lambda one: FUNCTIONS[name](one, *made[1:]).square().sum())(made[0])
    wide = [one.float() if one.is_floating_point() else one for one in made]
    wanted = grad(lambda one: FUNCTIONS[name](one, *wide[1:]).square().sum())(wide[0])
    assert found.dtype == torch.bfloat16
    all_equal(found, wanted.bfloat16())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_results_can_be_changed_in_place(dtype: torch.dtype) -> None:
    for name in (name for name, places in DIFFERENTIABLE.items() if places):
        made = [*tensors(name, dtype)]
        place = DIFFERENTIABLE[name][0]
        made[place] = made[place].clone().requires_grad_()
        found = FUNCTIONS[name](*made)
        found += 1
        found.sum().backward()
        assert made[place].grad is not None and made[place].grad.any()
