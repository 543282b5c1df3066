"""Small tensors, which go to the library without torch's dispatcher."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import pymluops.torch as ops
from pymluops.torch import _operators
from pymluops.torch._library import TorchOperator


class _Watched(TorchDispatchMode):
    """Makes calls go through torch."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def _small_calls() -> list[tuple[TorchOperator, Callable[[], Any]]]:
    """Return calls on small tensors of all layouts, with integers of 64 bits, and the operator of each."""
    torch.manual_seed(0)
    maps = torch.randn(2, 8, 5, 6).to(memory_format=torch.channels_last)
    masks, boxes = torch.randn(2, 3, 5, 9).permute(0, 3, 1, 2), 5 * torch.rand(4, 2, 3).permute(1, 2, 0)
    clip, shifts = torch.randn(2, 8, 4, 5)[:, :, :, ::2], torch.tensor([[1, 0], [-1, 2]]).t()
    points, weights = torch.randn(2, 3, 7).transpose(1, 2), torch.rand(2, 4, 6)[..., :3]
    near = torch.randint(0, 7, (2, 3, 4)).transpose(1, 2)
    sizes, starts = torch.tensor([[2, 3], [1, 1]]), torch.tensor([0, 6])
    value, parts = torch.randn(2, 2, 7, 3).transpose(1, 2), torch.rand(2, 4, 2, 2, 5)
    places = torch.rand(2, 2, 4, 2, 2, 5).movedim(1, -1)
    return [
        (_operators.TIN_SHIFT, lambda: ops.tin_shift(clip, shifts)),
        (_operators.PSA_MASK, lambda: ops.psa_mask(masks, "collect", 3)),
        (_operators.PSA_MASK, lambda: ops.psa_mask(masks.contiguous(), "distribute", (3, 3))),
        (_operators.BORDER_ALIGN, lambda: ops.border_align(maps, boxes, 3)),
        (_operators.BORDER_ALIGN, lambda: ops.border_align(maps.contiguous().half(), boxes.half(), 3)),
        (_operators.THREE_INTERPOLATE, lambda: ops.three_interpolate(points.transpose(1, 2), near, weights)),
        (_operators.THREE_NN, lambda: ops.three_nn(points, points[:, 1:6])),
        (_operators.BALL_QUERY, lambda: ops.ball_query(0.0, 1.5, 4, points, points[:, ::2])),
        (_operators.MS_DEFORM_ATTN, lambda: ops.ms_deform_attn(value, sizes, starts, places, parts)),
    ]


def _several(results: Any) -> list[torch.Tensor]:
    return [results] if isinstance(results, torch.Tensor) else list(results)


@pytest.mark.parametrize("number", range(9))
def test_small_tensors_of_any_layout_go_to_the_library_at_once(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    operator, call = _small_calls()[number]
    with _Watched():
        through_torch = call()
    monkeypatch.setattr(operator, "overload", None)
    found = call()
    for one, other in zip(_several(found), _several(through_torch), strict=True):
        assert one.is_contiguous() and one.dtype == other.dtype
        torch.testing.assert_close(one, other, rtol=0, atol=0)


def test_large_tensors_of_another_layout_give_the_same() -> None:
    maps, boxes = torch.randn(1, 16, 40, 40), 40 * torch.rand(1, 50, 4)
    found = ops.border_align(maps, boxes, 4)
    halves = [ops.border_align(maps.view(1, 4, 4, 40, 40)[:, :, i].contiguous(), boxes, 4) for i in range(4)]
    torch.testing.assert_close(found, torch.cat(halves, 1), rtol=0, atol=0)
    masks = torch.randn(3, 49, 20, 21)
    whole = ops.psa_mask(masks, 0, 7)
    parts = torch.cat([ops.psa_mask(mask[None], 0, 7) for mask in masks])
    torch.testing.assert_close(whole, parts, rtol=0, atol=0)
