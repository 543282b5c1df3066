"""Traces of every kind: a traced program computes, for other values and sizes, what the function computes."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

import pymluops.torch as ours
from pymluops.torch._function import FUNCTIONS as PUBLIC
from support.torch_samples import DIFFERENTIABLE, FUNCTIONS, all_equal, asking_for_gradients, misfit, tensors

every_function = pytest.mark.parametrize("name", FUNCTIONS)
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.*deprecated", "error::torch.jit.TracerWarning")


def gradients(function: Any, name: str, made: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    given = asking_for_gradients(name, made)
    result = function(*given)
    return torch.autograd.grad(result.square().sum(), [given[i] for i in DIFFERENTIABLE[name]])


@pytest.mark.parametrize("mode", ["grad", "no_grad", "inference"])
@every_function
def test_jit_trace(name: str, mode: str) -> None:
    function, made = FUNCTIONS[name], tensors(name)
    guard = {"grad": torch.enable_grad, "no_grad": torch.no_grad, "inference": torch.inference_mode}[mode]
    with guard():
        traced = torch.jit.trace(function, asking_for_gradients(name, made) if mode == "grad" else made)
    saved = io.BytesIO()
    torch.jit.save(traced, saved)
    saved.seek(0)
    for program in (traced, torch.jit.load(saved)):
        for batch, seed in ((2, 1), (3, 2)):
            others = tensors(name, batch=batch, seed=seed)
            all_equal(program(*others), function(*others))
            if DIFFERENTIABLE[name]:
                all_equal(gradients(program, name, others), gradients(function, name, others))


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if misfit(name, tensors(name)) is not None])
def test_a_traced_program_refuses_what_the_function_refuses(name: str) -> None:
    made = tensors(name)
    traced = torch.jit.trace(FUNCTIONS[name], made)
    wrong = misfit(name, made)
    assert wrong is not None
    with pytest.raises(Exception, match="expected"):
        traced(*wrong)


def test_a_trace_refuses_shapes_as_a_call_does() -> None:
    masks, maps, boxes = torch.rand(2, 8, 3, 3), torch.rand(2, 7, 3, 3), torch.rand(2, 4, 4)
    with pytest.raises(AssertionError, match="psa_mask: input: expected 9 channels, got 8"):
        torch.jit.trace(lambda one: ours.psa_mask(one, 0, 3), masks)
    with pytest.raises(AssertionError, match=r"border_align: input: expected \[N, 4\*C, H, W\], got \[2, 7, 3, 3\]"):
        torch.jit.trace(lambda one, other: ours.border_align(one, other, 3), (maps, boxes))


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
@pytest.mark.parametrize("tracing", ["real", "fake", "symbolic"])
@every_function
def test_make_fx(name: str, tracing: str, grad: bool) -> None:
    function, made = FUNCTIONS[name], tensors(name, batch=5)
    program = make_fx(function, tracing_mode=tracing)(*(asking_for_gradients(name, made) if grad else made))
    others = tensors(name, batch=5, seed=3)
    all_equal(program(*others), function(*others))
    if tracing == "symbolic":
        others = tensors(name, batch=7, seed=2)
        all_equal(program(*others), function(*others))
    called = [str(node.target) for node in program.graph.nodes if node.op == "call_function"]
    assert sum(target.startswith("pymluops.") for target in called) == 1
    assert not any("alias" in target or "dual" in target for target in called)


@every_function
def test_fx_keeps_the_function_as_one_node(name: str) -> None:
    """torch.fx.symbolic_trace calls it with stand-ins for tensors."""
    program = torch.fx.symbolic_trace(FUNCTIONS[name])
    others = tensors(name, seed=3)
    all_equal(program(*others), FUNCTIONS[name](*others))
    functions = [node.target for node in program.graph.nodes if node.op == "call_function"]
    assert functions[0].__module__ == "pymluops.torch"


@every_function
def test_modes_see_the_call(name: str) -> None:
    seen: list[Any] = []

    class Dispatch(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func)
            return func(*args, **(kwargs or {}))

    class Function(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func)
            return func(*args, **(kwargs or {}))

    made = tensors(name)
    wanted = FUNCTIONS[name](*made)
    with Dispatch():
        all_equal(FUNCTIONS[name](*made), wanted)
    assert sum(str(func).startswith("pymluops.") for func in seen) == 1
    seen.clear()
    with Function():
        all_equal(FUNCTIONS[name](*made), wanted)
    assert sum(getattr(func, "__module__", "") == "pymluops.torch" for func in seen) == 1


class Kept(torch.Tensor):
    """A subclass of tensors that results keep."""


@every_function
def test_subclasses_of_tensors_stay(name: str) -> None:
    made = tensors(name)
    found = FUNCTIONS[name](made[0].as_subclass(Kept), *made[1:])
    wanted = FUNCTIONS[name](*made)
    for one, other in zip(*(r if isinstance(r, tuple) else (r,) for r in (found, wanted)), strict=True):
        assert type(one) is Kept
        all_equal(one.as_subclass(torch.Tensor), other)


# ---- Modules -------------------------------------------------------------------------------------


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(4)
        self.layer = ours.MultiScaleDeformableAttention(32, 4, 2, dropout=0.0, batch_first=True)

    def forward(self, query: Any, value: Any, points: Any, shapes: Any, starts: Any) -> Any:
        maps = {"spatial_shapes": shapes, "level_start_index": starts}
        return self.layer(query, value=value, reference_points=points, **maps)


def attended(batch: int, queries: int, numbers: int = 2) -> tuple[torch.Tensor, ...]:
    torch.manual_seed(batch)
    query, value, points = (
        torch.rand(batch, queries, 32),
        torch.rand(batch, 16, 32),
        torch.rand(batch, queries, 2, numbers),
    )
    return query, value, points, torch.tensor([[3, 4], [2, 2]]), torch.tensor([0, 12])


def masks(batch: int) -> torch.Tensor:
    return torch.rand(batch, 6, batch, 5)


MODULES: dict[str, tuple[Callable[[], nn.Module], Callable[[int], tuple[torch.Tensor, ...]]]] = {
    "TINShift": (ours.TINShift, lambda batch: tensors("tin_shift", batch=batch, seed=batch)),
    "PSAMask": (
        lambda: ours.PSAMask("collect", (3, 2)),
        lambda batch: tensors("psa_mask-collect", batch=batch, seed=batch),
    ),
    "BorderAlign": (lambda: ours.BorderAlign(3), lambda batch: tensors("border_align", batch=batch, seed=batch)),
    "attention": (Attention, lambda batch: attended(batch, 2 * batch)),
    "boxes": (Attention, lambda batch: attended(batch, 2 * batch, 4)),
}


@pytest.mark.parametrize("name", MODULES)
def test_modules_traced(name: str) -> None:
    make, data = MODULES[name]
    module = make()
    with torch.no_grad():
        quiet = torch.jit.trace(module, data(4))
    for program in (torch.jit.trace(module, data(4)), quiet):
        for batch in (4, 7):
            all_equal(program(*data(batch)), module(*data(batch)))


@pytest.mark.thorough
@pytest.mark.parametrize("name", MODULES)
def test_modules_exported(name: str) -> None:
    make, data = MODULES[name]
    module = make()
    for program in (torch.export.export(module, data(4)), torch.export.export(module, data(4), strict=True)):
        all_equal(program.module()(*data(4)), module(*data(4)))


@pytest.mark.thorough
def test_the_attention_is_exported_for_every_batch(tmp_path: Any) -> None:
    module, batch, queries = Attention(), torch.export.Dim("batch"), torch.export.Dim("queries")
    sizes = ({0: batch, 1: queries}, {0: batch}, {0: batch, 1: queries}, None, None)
    torch.export.save(torch.export.export(module, attended(4, 6), dynamic_shapes=sizes), tmp_path / "program.pt2")
    program = torch.export.load(tmp_path / "program.pt2").module()
    for made in (attended(4, 6), attended(9, 3), attended(70, 2)):  # im2col_step is 64
        all_equal(program(*made), module(*made))


# ---- TorchScript ---------------------------------------------------------------------------------


def uses_psa_mask(masks: torch.Tensor) -> torch.Tensor:
    return ours.psa_mask(masks, 0, 3)


@pytest.mark.parametrize("name", PUBLIC)
def test_script_refuses_a_function_in_one_sentence(name: str) -> None:
    wanted = (
        rf"pymluops\.torch\.{name}: torch\.jit\.script does not compile it; take torch\.jit\.trace or torch\.export"
    )
    with pytest.raises(RuntimeError, match=wanted) as caught:
        torch.jit.script(getattr(ours, name))
    operator = str(caught.value).partition("torch.ops.pymluops.")[2].partition(",")[0]
    assert hasattr(torch.ops.pymluops, operator) and "\n" not in str(caught.value)


def test_script_refuses_programs_with_them() -> None:
    with pytest.raises(RuntimeError, match=r"pymluops\.torch\.psa_mask: torch\.jit\.script does not"):
        torch.jit.script(uses_psa_mask)
    for module in (make() for make, _ in MODULES.values()):
        with pytest.raises(
            RuntimeError, match=r"pymluops\.torch\.\w+: torch\.jit\.script does not .*torch\.jit\.trace"
        ):
            torch.jit.script(nn.Sequential(module))
