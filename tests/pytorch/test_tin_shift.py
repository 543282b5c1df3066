"""tin_shift for tensors of PyTorch, beyond what all functions have in common."""

from __future__ import annotations

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

import pymluops
import pymluops.torch
import pymluops.torch as ours
from support.torch_samples import all_equal, arguments, tensors


def test_integers_that_int32_cannot_hold_are_refused() -> None:
    values, _ = arguments("tin_shift_forward")
    with pytest.raises(pymluops.BadParamError, match="values that int32 can hold"):
        ours.tin_shift(values, torch.full((2, 3), 2**32))


def test_shifts_beyond_the_clip() -> None:
    clip = torch.rand(1, 3, 4, 2)
    limit = 2**31
    for shift in (3, -3, limit - 1, -limit):
        given = clip.clone().requires_grad_()
        found = ours.tin_shift(given, torch.full((1, 2), shift, dtype=torch.int32))
        found.sum().backward()
        assert not found.any() and given.grad is not None and not given.grad.any()


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


def test_tensors_of_two_devices_are_refused() -> None:
    clip, shifts = tensors("tin_shift")
    with pytest.raises(ValueError, match="shifts: expected a tensor on meta, like input, got cpu"):
        ours.tin_shift(clip.to("meta"), shifts)
    with pytest.raises(ValueError, match="shifts: expected a tensor on cpu, like input, got meta"):
        ours.tin_shift(clip, shifts.to("meta"))


def test_make_fx_of_a_gradient() -> None:
    made = tensors("tin_shift")
    program = make_fx(torch.func.grad(lambda clip, shifts: ours.tin_shift(clip, shifts).square().sum()))(*made)
    others = tensors("tin_shift", seed=3)
    all_equal(program(*others), 2 * others[0] * ours.tin_shift(torch.ones_like(others[0]), -others[1]))


def test_script_compiles_the_operators_themselves() -> None:
    @torch.jit.script  # type: ignore[untyped-decorator]
    def shift(clip: torch.Tensor, shifts: torch.Tensor) -> torch.Tensor:
        return torch.ops.pymluops.tin_shift_forward(clip, shifts)

    made = tensors("tin_shift")
    all_equal(shift(*made), ours.tin_shift(*made))
