"""Numbers of any kind where the functions want integers, and calls that a trace would not see."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pymluops.mmcv._extension import IMPLEMENTED

pytest.importorskip("torch")


def calls(torch: Any, ext: ModuleType) -> dict[str, Callable[[Callable[[int], Any]], Any]]:
    """Calls that return what they compute; `n` makes each integer among the arguments."""

    def written(name: str, *arguments: Any) -> Any:
        getattr(ext, name)(*arguments)
        return arguments

    rand, whole = torch.rand, lambda *shape: torch.zeros(shape, dtype=torch.int32)
    maps, boxes, masks, spread = rand(1, 8, 4, 4), rand(1, 3, 4), rand(1, 6, 4, 5), rand(1, 20, 4, 5)
    points, near, weights, centres = rand(2, 3, 7), whole(2, 5, 3), rand(2, 5, 3), rand(2, 4, 3)
    sizes, starts = torch.tensor([[2, 2]]), torch.tensor([0])
    attention = rand(3, 4, 1, 2), sizes, starts, rand(3, 3, 1, 1, 2, 2), rand(3, 3, 1, 1, 2)
    rows = torch.tensor([[0, 1, 1, 1], [0, 1, 2, 1]], dtype=torch.int32)
    features, filters, pairs, counts = rand(2, 3), rand(1, 1, 1, 3, 4), whole(1, 2, 2), whole(1)
    cubes = [4, 4, 4], [4, 4, 4], [3, 3, 3], [1, 1, 1], [1, 1, 1], [1, 1, 1], [0, 0, 0]

    def psa(n: Any) -> tuple[Any, ...]:
        return n(1), n(1), n(4), n(5), n(3), n(2), n(1), n(0)

    return {
        "psamask_forward": lambda n: written("psamask_forward", masks, spread, *psa(n)),
        "psamask_backward": lambda n: written("psamask_backward", spread, masks, *psa(n)),
        "border_align_forward": lambda n: written(
            "border_align_forward", maps, boxes, rand(1, 2, 3, 4), whole(1, 2, 3, 4), n(3)
        ),
        "border_align_backward": lambda n: written(
            "border_align_backward", torch.ones(1, 2, 3, 4), boxes, whole(1, 2, 3, 4), rand(1, 8, 4, 4), n(3)
        ),
        "three_interpolate_forward": lambda n: written(
            "three_interpolate_forward", points, near, weights, rand(2, 3, 5), n(2), n(3), n(7), n(5)
        ),
        "three_interpolate_backward": lambda n: written(
            "three_interpolate_backward", torch.ones(2, 3, 5), near, weights, rand(2, 3, 7), n(2), n(3), n(5), n(7)
        ),
        "three_nn_forward": lambda n: written(
            "three_nn_forward", weights, centres, rand(2, 5, 3), whole(2, 5, 3), n(2), n(5), n(4)
        ),
        "ball_query_forward": lambda n: written(
            "ball_query_forward", centres, weights, whole(2, 4, 3), n(2), n(5), n(4), 0.0, 1.0, n(3)
        ),
        "stack_ball_query_forward": lambda n: written(
            "stack_ball_query_forward", centres[0], whole(1) + 4, weights[0], whole(1) + 5, whole(4, 3), 1.0, n(3)
        ),
        "ms_deform_attn_forward": lambda n: ext.ms_deform_attn_forward(*attention, n(3)),
        "get_indice_pairs_3d_forward": lambda n: ext.get_indice_pairs_3d_forward(
            rows, n(1), *[[n(one) for one in numbers] for numbers in cubes], n(0), n(0)
        ),
        "indice_conv_forward": lambda n: ext.indice_conv_forward(features, filters, pairs, counts, n(2), n(0), n(0)),
        "indice_conv_backward": lambda n: ext.indice_conv_backward(
            features, filters, rand(2, 4), pairs, counts, n(0), n(0)
        ),
        "indice_maxpool_forward": lambda n: ext.indice_maxpool_forward(features, pairs, counts, n(2)),
    }


NAMES = (
    *("psamask_forward", "psamask_backward", "border_align_forward", "border_align_backward"),
    *("three_interpolate_forward", "three_interpolate_backward", "three_nn_forward", "ball_query_forward"),
    *("stack_ball_query_forward", "ms_deform_attn_forward", "get_indice_pairs_3d_forward", "indice_conv_forward"),
    *("indice_conv_backward", "indice_maxpool_forward"),
)


def flat(found: Any) -> list[Any]:
    return [found] if hasattr(found, "numel") else [one for one in found if hasattr(one, "numel") and one.ndim]


@pytest.mark.parametrize("kind", ["int64", "uint8", "array", "tensor", "whole float"])
@pytest.mark.parametrize("name", NAMES)
def test_integers_of_every_kind(torch: Any, ext: ModuleType, name: str, kind: str) -> None:
    kinds: dict[str, Callable[[int], Any]] = {
        "int64": np.int64,
        "uint8": np.uint8,
        "array": np.array,
        "tensor": torch.tensor,
        "whole float": float,
    }
    torch.manual_seed(0)
    wanted = flat(calls(torch, ext)[name](int))
    torch.manual_seed(0)
    found = flat(calls(torch, ext)[name](kinds[kind]))
    assert wanted
    for one, other in zip(found, wanted, strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_integer_is_refused_by_name(torch: Any, ext: ModuleType, name: str) -> None:
    call = calls(torch, ext)[name]
    for wrong in (lambda n: n + 0.5, str, lambda n: None, lambda n: float("nan"), lambda n: [n]):
        with pytest.raises(RuntimeError, match=rf"^{name}: \w+: expected an integer, got "):
            call(wrong)


def test_every_function_with_integers_is_here() -> None:
    """But for those that share their code with another one."""
    twins = {"get_indice_pairs_2d_forward", "get_indice_pairs_4d_forward", "fused_indice_conv_forward"}
    twins |= {"get_indice_pairs_2d_backward", "get_indice_pairs_3d_backward", "ms_deform_attn_backward"}
    with_integers = {
        name
        for name, function in IMPLEMENTED.items()
        if any(of.annotation == "int" for of in inspect.signature(function).parameters.values())
    }
    assert with_integers - twins == set(NAMES)


def test_a_trace_that_would_keep_the_result_is_refused(torch: Any, ext: ModuleType) -> None:
    from torch._subclasses import FakeTensorMode
    from torch.fx.experimental.proxy_tensor import make_fx

    def shift(clip: Any, shifts: Any) -> Any:
        output = torch.zeros_like(clip)
        ext.tin_shift_forward(clip, shifts, output)
        return output

    clip, shifts = torch.rand(1, 3, 4, 2), torch.tensor([[1, 0]], dtype=torch.int32)
    text = r"tin_shift_forward: make_fx and torch\.export cannot .*; take those of pymluops\.torch, or torch\.compile"
    for mode in ("real", "fake", "symbolic"):
        with pytest.raises(RuntimeError, match=text):
            make_fx(shift, tracing_mode=mode)(clip, shifts)
    with FakeTensorMode() as mode, pytest.raises(RuntimeError, match=text):
        shift(mode.from_tensor(clip), mode.from_tensor(shifts))
    torch._dynamo.reset()
    compiled = torch.compile(shift, backend="eager")
    for values in (clip, torch.rand_like(clip)):
        assert torch.equal(compiled(values, shifts), shift(values, shifts))
