"""Small tensors, which go to the library without torch's dispatcher."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import pymluops.torch as ours
from support.torch_samples import FUNCTIONS, all_equal, in_half, operator_of, tensors


class _Watched(TorchDispatchMode):
    """Makes calls go through torch."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def _turned(one: torch.Tensor) -> torch.Tensor:
    """The same values, the first dims being the last in memory."""
    axes = tuple(reversed(range(one.ndim)))
    return one.permute(axes).contiguous().permute(axes)


#: Layouts and types of tensors with the same values, or nearly.
LAYOUTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "packed": lambda one: one,
    "turned": _turned,
    "gaps": lambda one: torch.stack([one, one], -1)[..., 0],
    "expanded": lambda one: one[:1].expand(one.shape),
    "long": lambda one: one if one.is_floating_point() else one.long(),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_small_tensors_of_any_layout_go_to_the_library_at_once(
    name: str, layout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [LAYOUTS[layout](one) if one.is_floating_point() or layout != "expanded" else one for one in tensors(name)]
    _goes_at_once(name, made, monkeypatch)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if in_half(name)])
def test_so_do_those_of_16_bits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _goes_at_once(name, tensors(name, torch.float16), monkeypatch)


def _goes_at_once(name: str, made: Sequence[torch.Tensor], monkeypatch: pytest.MonkeyPatch) -> None:
    with _Watched():
        through_torch = FUNCTIONS[name](*made)
    monkeypatch.setattr(operator_of(name), "overload", None)
    found = FUNCTIONS[name](*made)
    all_equal(found, through_torch)
    for one, other in zip(*((r if isinstance(r, tuple) else (r,)) for r in (found, through_torch)), strict=True):
        assert one.is_contiguous() and one.dtype == other.dtype


def test_large_tensors_of_another_layout_give_the_same() -> None:
    maps, boxes = torch.randn(1, 16, 40, 40), 40 * torch.rand(1, 50, 4)
    found = ours.border_align(maps, boxes, 4)
    halves = [ours.border_align(maps.view(1, 4, 4, 40, 40)[:, :, i].contiguous(), boxes, 4) for i in range(4)]
    torch.testing.assert_close(found, torch.cat(halves, 1), rtol=0, atol=0)
    masks = torch.randn(3, 49, 20, 21)
    whole = ours.psa_mask(masks, 0, 7)
    parts = torch.cat([ours.psa_mask(mask[None], 0, 7) for mask in masks])
    torch.testing.assert_close(whole, parts, rtol=0, atol=0)
