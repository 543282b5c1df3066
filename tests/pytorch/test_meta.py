"""Tensors without memory: results have the right shapes and types, refusals are those of tensors with memory."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._subclasses import FakeTensorMode

import pymluops
import pymluops.torch as ours
from support.torch_samples import FUNCTIONS, asking_for_gradients, mapped, tensors

DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def outline(results: Any) -> list[Any]:
    each = results if isinstance(results, tuple) else (results,)
    return [(one.shape, one.dtype, one.stride(), one.requires_grad) for one in each]


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_results(name: str, dtype: torch.dtype, grad: bool) -> None:
    made = tensors(name, dtype, batch=3)
    made = asking_for_gradients(name, made) if grad else made
    wanted = outline(FUNCTIONS[name](*made))
    meta = [one.detach().to("meta").requires_grad_(one.requires_grad) for one in made]
    found = FUNCTIONS[name](*meta)
    assert outline(found) == wanted
    first = found[0] if isinstance(found, tuple) else found
    assert first.device.type == "meta"
    if first.requires_grad:
        first.sum().backward()
        assert all(one.grad.shape == one.shape and one.grad.device.type == "meta" for one in meta if one.requires_grad)
    with FakeTensorMode() as mode:
        assert outline(FUNCTIONS[name](*map(mode.from_tensor, made))) == wanted


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nothing_to_compute(name: str) -> None:
    made = [one[:0] if dim == 0 else one for one, dim in zip(tensors(name), mapped(name), strict=True)]
    try:
        wanted = outline(FUNCTIONS[name](*made))
    except pymluops.BadParamError as refusal:
        assert None in mapped(name)  # there is work without a batch, which has nothing to read
        with pytest.raises(pymluops.BadParamError, match=re.escape(str(refusal))):
            FUNCTIONS[name](*(one.to("meta") for one in made))
    else:
        assert outline(FUNCTIONS[name](*(one.to("meta") for one in made))) == wanted


def rand(*shape: int) -> torch.Tensor:
    return torch.rand(shape)


def whole(*shape: int) -> torch.Tensor:
    return torch.zeros(shape, dtype=torch.int32)


def attend(value: torch.Tensor, queries: int = 3, step: int = 64) -> Callable[..., Any]:
    batch = value.shape[0]
    places, weights = rand(batch, queries, 1, 1, 2, 2), rand(batch, queries, 1, 1, 2)
    return lambda to: ours.ms_deform_attn(*map(to, (value, whole(1, 2), whole(1), places, weights)), step)


#: Calls that are refused for sizes, types or numbers; `to` moves a tensor.
REFUSED: dict[str, Callable[..., Any]] = {
    "groups": lambda to: ours.tin_shift(to(rand(2, 3, 6, 2)), to(whole(2, 4))),
    "no groups": lambda to: ours.tin_shift(to(rand(2, 3, 6, 2)), to(whole(2, 0))),
    "groups of an empty clip": lambda to: ours.tin_shift(to(rand(0, 3, 6, 2)), to(whole(0, 4))),
    "batch": lambda to: ours.tin_shift(to(rand(2, 3, 6, 2)), to(whole(1, 3))),
    "batch of an empty clip": lambda to: ours.tin_shift(to(rand(0, 3, 6, 2)), to(whole(1, 3))),
    "dims": lambda to: ours.tin_shift(to(rand(2, 3, 6)), to(whole(2, 3))),
    "floating shifts": lambda to: ours.tin_shift(to(rand(2, 3, 6, 2)), to(rand(2, 3))),
    "floating shifts of nothing": lambda to: ours.tin_shift(to(rand(0, 3, 6, 2)), to(rand(0, 3))),
    "integers": lambda to: ours.tin_shift(to(whole(2, 3, 6, 2)), to(whole(2, 3))),
    "mask": lambda to: ours.psa_mask(to(rand(2, 9, 3, 3)), 0, 2),
    "negative mask": lambda to: ours.psa_mask(to(rand(2, 9, 3, 3)), 0, (-3, -3)),
    "no pixels": lambda to: ours.border_align(to(rand(1, 8, 0, 3)), to(rand(1, 2, 4)), 3),
    "boxes of another batch": lambda to: ours.border_align(to(rand(2, 8, 3, 3)), to(rand(1, 2, 4)), 3),
    "boxes for no maps": lambda to: ours.border_align(to(rand(0, 8, 3, 3)), to(rand(1, 2, 4)), 3),
    "pool": lambda to: ours.border_align(to(rand(1, 8, 3, 3)), to(rand(1, 2, 4)), 0),
    "pool for nothing": lambda to: ours.border_align(to(rand(0, 8, 3, 3)), to(rand(0, 2, 4)), 0),
    "other types": lambda to: ours.border_align(to(rand(1, 8, 3, 3)), to(rand(1, 2, 4)).double(), 3),
    "weights": lambda to: ours.three_interpolate(to(rand(1, 2, 5)), to(whole(1, 4, 3)), to(rand(1, 3, 3))),
    "neighbours": lambda to: ours.three_interpolate(to(rand(1, 2, 5)), to(whole(1, 4, 2)), to(rand(1, 4, 2))),
    "indices of nothing": lambda to: ours.three_interpolate(to(rand(0, 2, 5)), to(whole(1, 4, 3)), to(rand(0, 4, 3))),
    "coordinates": lambda to: ours.three_nn(to(rand(1, 4, 2)), to(rand(1, 5, 3))),
    "coordinates of nothing": lambda to: ours.three_nn(to(rand(0, 4, 2)), to(rand(0, 5, 3))),
    "points": lambda to: ours.ball_query(0, 1, 4, to(rand(2, 5, 3)), to(rand(1, 5, 3))),
    "samples": lambda to: ours.ball_query(0, 1, -1, to(rand(1, 5, 3)), to(rand(1, 5, 3))),
    "samples of nothing": lambda to: ours.ball_query(0, 1, -1, to(rand(0, 5, 3)), to(rand(0, 5, 3))),
    "step": attend(rand(4, 4, 1, 2), step=0),
    "negative step": attend(rand(4, 4, 1, 2), step=-1),
    "heads": attend(rand(4, 4, 2, 2)),
    "keys of nothing": attend(rand(0, 4, 2, 2)),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str) -> None:
    with pytest.raises((ValueError, AssertionError)) as wanted:
        REFUSED[case](lambda one: one)
    assert issubclass(wanted.type, (pymluops.BadParamError, AssertionError))
    text = re.escape(str(wanted.value))
    with pytest.raises(wanted.type, match=text):
        REFUSED[case](lambda one: one.to("meta"))
    with FakeTensorMode() as mode, pytest.raises(wanted.type, match=text):
        REFUSED[case](mode.from_tensor)


def test_modules() -> None:
    with torch.device("meta"):
        layer = ours.MultiScaleDeformableAttention(32, 4, 2, batch_first=True)
        query, points = torch.rand(2, 5, 32), torch.rand(2, 5, 2, 2)
        maps = {"spatial_shapes": torch.ones(2, 2, dtype=torch.int64), "level_start_index": torch.zeros(2).long()}
        found = layer(query, value=torch.rand(2, 16, 32), reference_points=points, **maps)
        assert found.shape == (2, 5, 32) and found.device.type == "meta"
        clip = torch.rand(2, 3, 4, 5)
        assert ours.TINShift()(clip, torch.zeros(2, 2, dtype=torch.int32)).shape == clip.shape
        assert ours.PSAMask("collect", 3)(torch.rand(2, 9, 4, 5)).shape == (2, 20, 4, 5)
        assert ours.BorderAlign(3)(torch.rand(2, 8, 4, 5), torch.rand(2, 7, 4)).shape == (2, 2, 7, 4)
