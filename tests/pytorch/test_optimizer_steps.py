"""The optimiser AdamW against that of PyTorch."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch

import pymluops.torch as ours

TYPES = (torch.float32, torch.float64, torch.bfloat16, torch.float16)
NUMBERS: dict[str, Any] = {"lr": 0.05, "betas": (0.8, 0.95), "eps": 1e-6, "weight_decay": 0.3}


def parameters(dtype: torch.dtype, *shapes: tuple[int, ...]) -> list[torch.nn.Parameter]:
    torch.manual_seed(0)
    return [torch.nn.Parameter(torch.randn(shape).to(dtype)) for shape in shapes or ((7, 13), (3,), (), (0, 4))]


def learn(params: list[torch.nn.Parameter], optimizer: torch.optim.Optimizer, steps: int, first: int = 0) -> None:
    for number in range(first, first + steps):
        torch.manual_seed(number)
        for param in params:
            gradient = torch.randn(param.shape)
            param.grad = gradient.to(torch.bfloat16).to(param.dtype)  # the same for all types
        optimizer.step()


def wide(params: list[torch.nn.Parameter]) -> list[torch.nn.Parameter]:
    return [torch.nn.Parameter(param.detach().clone().to(torch.promote_types(param.dtype, torch.float32)))
            for param in params]  # fmt: skip


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_steps(dtype: torch.dtype) -> None:
    params = parameters(dtype)
    others = wide(params)
    mine, theirs = ours.AdamW(params, **NUMBERS), torch.optim.AdamW(others, **NUMBERS)
    versions = [param._version for param in params]
    learn(params, mine, 6)
    learn(others, theirs, 6)
    for param, other in zip(params, others, strict=True):
        torch.testing.assert_close(param, other.to(dtype), rtol=1e-12 if dtype == torch.float64 else None, atol=None
                                   if dtype != torch.float64 else 1e-12)  # fmt: skip
        if not param.numel():
            continue
        state = mine.state[param]
        for name in ("exp_avg", "exp_avg_sq", "step"):
            assert state[name].dtype == theirs.state[other][name].dtype
            torch.testing.assert_close(state[name], theirs.state[other][name])
        if dtype in (torch.bfloat16, torch.float16):
            torch.testing.assert_close(state["master"], other.detach())
            assert torch.equal(param.detach(), state["master"].to(dtype))
    assert all(param._version > before for param, before in zip(params, versions, strict=True) if param.numel())


@pytest.mark.parametrize("size", [1e-22, 1e-19, 1e19, 1e20])
def test_gradients_of_any_size(size: float) -> None:
    params = parameters(torch.float32, (5,))
    others = wide(params)
    for param in (*params, *others):
        param.grad = torch.tensor([1.0, -1, 3, -0.5, 0]) * size
    ours.AdamW(params, lr=0.1, eps=1e-30).step()
    torch.optim.AdamW(others, lr=0.1, eps=1e-30).step()
    torch.testing.assert_close(params[0], others[0])


def test_layouts_of_memory_and_groups() -> None:
    params = parameters(torch.float32, (2, 3, 4, 5), (6, 4), (9,))
    with torch.no_grad():
        params[0].data = params[0].data.to(memory_format=torch.channels_last)
        params[1].data = params[1].data.t()
    others = wide(params)
    groups = [{"params": params[:2], "weight_decay": 0.0}, {"params": params[2:], "lr": 0.5}]
    same = [{"params": others[:2], "weight_decay": 0.0}, {"params": others[2:], "lr": 0.5}]
    learn(params, ours.AdamW(groups), 3)
    learn(others, torch.optim.AdamW(same), 3)
    assert params[0].is_contiguous(memory_format=torch.channels_last)
    for param, other in zip(params, others, strict=True):
        torch.testing.assert_close(param, other)


@pytest.mark.parametrize("mine_first", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_states_go_to_the_optimiser_of_pytorch_and_back(dtype: torch.dtype, mine_first: bool) -> None:
    params = parameters(dtype)
    others = wide(params)
    kinds: list[Any] = [ours.AdamW, torch.optim.AdamW]
    first, second = kinds if mine_first else kinds[::-1]
    learn(params, one := first(params, **NUMBERS), 2)
    learn(params, two := _moved(one, second(params, **NUMBERS)), 2, 2)
    assert isinstance(two, second)
    learn(others, torch.optim.AdamW(others, **NUMBERS), 4)
    for param, other in zip(params, others, strict=True):
        torch.testing.assert_close(param, other)


def _moved(one: Any, two: Any) -> Any:
    two.load_state_dict(copy.deepcopy(one.state_dict()))
    return two


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_a_loaded_state_goes_on_as_the_first(dtype: torch.dtype) -> None:
    params, again = parameters(dtype), parameters(dtype)
    mine = ours.AdamW(params, **NUMBERS)
    learn(params, mine, 2)
    with torch.no_grad():
        for param, other in zip(params, again, strict=True):
            other.copy_(param)
    second = _moved(mine, ours.AdamW(again, lr=1))
    for param in again:
        assert all(value.dtype == mine.state[params[0]][name].dtype for name, value in second.state[param].items())
    learn(params, mine, 2, 2)
    learn(again, second, 2, 2)
    for param, other in zip(params, again, strict=True):
        assert torch.equal(param, other)


def test_gradients_are_scaled_and_what_is_not_finite_is_left_out() -> None:
    params = parameters(torch.float32, (5,))
    others = wide(params)
    before = params[0].detach().clone()
    mine = ours.AdamW(params, grad_scale=128, need_remove_nan=True)
    theirs = torch.optim.AdamW(others)
    gradient = torch.tensor([1.0, -2, torch.nan, 3, torch.inf])
    params[0].grad, others[0].grad = gradient * 128, gradient
    mine.step()
    theirs.step()
    finite = gradient.isfinite()
    torch.testing.assert_close(params[0].detach()[finite], others[0].detach()[finite])
    assert params[0][2] == before[2] and mine.state[params[0]]["exp_avg"][2] == 0
    plain = parameters(torch.float32, (5,))
    plain[0].grad = gradient
    ours.AdamW(plain).step()
    assert plain[0].detach().isnan().tolist() == [False, False, True, False, True]


def test_a_network_learns_with_a_closure_and_a_schedule() -> None:
    torch.manual_seed(1)
    layer, values = torch.nn.Linear(4, 1), torch.randn(64, 4)
    wanted = values @ torch.tensor([[1.0], [-2], [3], [0.5]])
    optimizer = ours.AdamW(layer.parameters(), lr=0.1, weight_decay=0)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.99)

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(layer(values), wanted)
        loss.backward()
        return loss.detach()

    first = float(optimizer.step(closure))
    for _ in range(300):
        last = float(optimizer.step(closure))
        schedule.step()
    assert last < 1e-4 * first


def test_arguments_of_the_optimiser_of_pytorch() -> None:
    weight = torch.nn.Parameter(torch.ones(2))
    ours.AdamW([weight], fused=True, foreach=False, amsgrad=False, maximize=False, capturable=False)
    for name in ("amsgrad", "maximize", "capturable", "differentiable"):
        with pytest.raises(ValueError, match=f"AdamW: {name}: expected False, got True"):
            ours.AdamW([weight], **{name: True})


def test_refusals() -> None:
    params = parameters(torch.float32, (3,))
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"lr": -1}, "lr: expected at least 0, got -1"),
        ({"betas": (0.9, 1.0)}, "betas: expected two numbers from 0 to below 1"),
        ({"eps": 0}, "eps: expected above 0"),
        ({"weight_decay": -0.1}, "weight_decay: expected at least 0"),
        ({"grad_scale": 0}, "grad_scale: expected other than 0"),
    ]
    for numbers, text in wrong:
        with pytest.raises(ValueError, match=f"AdamW: {text}"):
            ours.AdamW(params, **numbers)
    params[0].grad = torch.ones(3).to_sparse()
    with pytest.raises(ValueError, match="not sparse"):
        ours.AdamW(params).step()
    whole = torch.nn.Parameter(torch.ones(3, dtype=torch.complex64))
    whole.grad = torch.ones_like(whole)
    with pytest.raises(ValueError, match="parameters of float32, float64, bfloat16 or float16 on the CPU, got"):
        ours.AdamW([whole]).step()
    there = torch.nn.Parameter(torch.ones(3, device="meta"))
    there.grad = torch.ones_like(there)
    with pytest.raises(ValueError, match=r"got torch\.float32 on meta"):
        ours.AdamW([there]).step()
    for name in ("amsgrad", "maximize"):
        with pytest.raises(ValueError, match=f"AdamW: {name}: expected False, got True"):
            ours.AdamW([{"params": params, name: True}])
        theirs = torch.optim.AdamW(wide(params), **{name: True})
        loaded = ours.AdamW(params)
        loaded.load_state_dict(theirs.state_dict())
        with pytest.raises(ValueError, match=f"AdamW: {name}: expected False, got True"):
            loaded.step()


GROUPS: list[dict[str, Any]] = [
    {"lr": -1.0},
    {"lr": float("nan")},
    {"eps": 0},
    {"betas": (1.5, 0.9)},
    {"grad_scale": 0},
]


@pytest.mark.parametrize("wrong", GROUPS, ids=str)
def test_numbers_of_groups(wrong: dict[str, Any]) -> None:
    first, second = parameters(torch.float32, (3,), (2,))
    name = next(iter(wrong))
    with pytest.raises(ValueError, match=f"AdamW: {name}: expected"):
        ours.AdamW([{"params": [first]}, {"params": [second], **wrong}])
    optimizer = ours.AdamW([{"params": [first]}])
    with pytest.raises(ValueError, match=f"AdamW: {name}: expected"):
        optimizer.add_param_group({"params": [second], **wrong})
    assert len(optimizer.param_groups) == 1
    optimizer.add_param_group({"params": [second], "lr": 0.5})
    optimizer.param_groups[1] |= wrong
    learn_nothing([first, second], optimizer, f"AdamW: {name}: expected")


def learn_nothing(params: list[torch.nn.Parameter], optimizer: torch.optim.Optimizer, text: str) -> None:
    """A step that is refused changes no parameter and no state."""
    before = [param.detach().clone() for param in params]
    for param in params:
        if param.grad is None:
            param.grad = torch.ones_like(param)
    with pytest.raises(ValueError, match=text):
        optimizer.step()
    assert all(torch.equal(param, old) for param, old in zip(params, before, strict=True))
    assert not optimizer.state


def test_a_refused_step_changes_nothing() -> None:
    params = parameters(torch.float32, (3,), (2,))
    params[1].grad = torch.ones(2).to_sparse()
    learn_nothing(params, ours.AdamW(params), "not sparse")
    low = parameters(torch.bfloat16, (3,))
    learn_nothing([*params[:1], *low], ours.AdamW([*params[:1], *low], need_remove_nan=True), "need_remove_nan")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("whole", [True, False])
def test_compiled_steps(whole: bool, dtype: torch.dtype) -> None:
    """Parameters of one shape keep their own states, whether the step is compiled or what calls it."""
    params, others = parameters(dtype, (4,), (4,), (4, 1)), parameters(dtype, (4,), (4,), (4, 1))
    mine, same = ours.AdamW(params, lr=0.1), ours.AdamW(others, lr=0.1)
    torch._dynamo.reset()

    def training() -> None:
        for number, param in enumerate(params):
            param.grad = param.detach() * 2 + (-100.0) ** number
        mine.step()

    step = torch.compile(training if whole else mine.step, backend="eager")
    for _ in range(3):
        for number, (param, other) in enumerate(zip(params, others, strict=True)):
            param.grad = param.detach() * 2 + (-100.0) ** number
            other.grad = other.detach() * 2 + (-100.0) ** number
        step()
        same.step()
    for param, other in zip(params, others, strict=True):
        assert torch.equal(param, other)
        assert mine.state[param]["step"] == 3


def _loaded(param: torch.nn.Parameter) -> None:
    param.copy_(torch.tensor([3.0, -2.0, 0.125]))


def _replaced(param: torch.nn.Parameter) -> None:
    param.data = torch.tensor([3.0, -2.0, 0.125], dtype=param.dtype)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("change", [_loaded, _replaced, lambda param: param.clamp_(min=0.1)])
@pytest.mark.parametrize("copied", [False, True])
def test_changes_between_steps_reach_the_copy(copied: bool, change: Any, dtype: torch.dtype) -> None:
    (param,) = parameters(dtype, (3,))
    mine = ours.AdamW([param], lr=1e-3)
    learn([param], mine, 3)
    with torch.no_grad():
        change(param)
    there = param.detach().clone()
    if copied:
        state = copy.deepcopy(mine.state_dict())
        mine = ours.AdamW([param], lr=1e-3)
        mine.load_state_dict(state)
    master = mine.state[param]["master"].clone()
    param.grad = torch.zeros_like(param)
    mine.param_groups[0]["lr"] = 0.0
    mine.step()
    assert torch.equal(param, there)
    kept = master.to(dtype) == there
    assert torch.equal(mine.state[param]["master"], torch.where(kept, master, there.float()))


@pytest.mark.parametrize("after", [torch.bfloat16, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("before", [torch.bfloat16, torch.float32], ids=str)
def test_a_model_that_is_cast_between_steps(before: torch.dtype, after: torch.dtype) -> None:
    layer = torch.nn.Linear(3, 2).to(before)
    mine = ours.AdamW(layer.parameters(), lr=0.1)
    for dtype in (before, after):
        layer.to(dtype)
        mine.zero_grad()
        layer(torch.ones(1, 3, dtype=dtype)).sum().backward()
        mine.step()
    for param in layer.parameters():
        state = mine.state[param]
        kind = torch.float32 if after == torch.bfloat16 else after
        assert param.dtype == after and state["exp_avg"].dtype == kind
        assert ("master" in state) == (after == torch.bfloat16)
