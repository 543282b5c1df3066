"""Tensors that hold the right values in another shape.

A compiled mmcv reads and writes most tensors by their memory: it takes sizes from some of them, and
from numbers, and looks at the shapes of no others. So callers pass boxes [N * H * W, 5] where
[N, H, W, 5] is meant, or [N, 1] for [N]. A function that has refused a shape is called again with
views, if dims that lie side by side in one shape are one dim in the other, and all sizes are known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pymluops.mmcv._shapes import NOTHING, Shape
from pymluops.mmcv._torch import Tensor, load_torch

__all__ = ["ShapeError", "call_again"]


class ShapeError(RuntimeError):
    """A tensor does not have the shape that is expected. Nothing has been written."""


class _Fitted(NamedTuple):
    """Views by the names of arguments, and copies whose values go back to the tensor that they are of."""

    views: dict[str, Tensor]
    copies: list[tuple[Tensor, Tensor]]


def call_again(
    function: Callable[..., Any],
    given: Mapping[str, Any],
    shapes: Mapping[str, str],
    refusal: ShapeError,
) -> Any:
    """Call a function with views of its tensors that have the shapes it wants.

    Parameters
    ----------
    function : callable
        Takes the arguments in their order.
    given : mapping
        The arguments by name.
    shapes : mapping of str to str
        The shape of each tensor in the terms of `Shape`; several with ``|`` in between.
    refusal : ShapeError
        What is raised if there are no such views.
    """
    sizes = {**NOTHING, **{name: value for name, value in given.items() if type(value) is int}}
    # Sizes of regions go by two names.
    sizes |= {f"pooled_{key[8:]}": value for key, value in sizes.items() if key.startswith("aligned_")}
    tensors = {name: given[name] for name in shapes if _has_values(given.get(name))}
    fitted = _fit(tensors, shapes, sizes)
    if fitted is None:
        raise refusal
    try:
        found = function(*{**given, **fitted.views}.values())
    except ShapeError:
        raise refusal from None
    for tensor, copy in fitted.copies:
        tensor.copy_(copy.view(tensor.shape))
    return found


def _has_values(tensor: object) -> bool:
    return isinstance(tensor, load_torch().Tensor)


def _fit(tensors: Mapping[str, Tensor], shapes: Mapping[str, str], sizes: dict[str, int]) -> _Fitted | None:
    """Return views with the shapes, or None. Tensors that fit as they are tell the sizes of others."""
    waiting, fitted = dict(tensors), _Fitted({}, [])
    while waiting:
        left = len(waiting)
        for name, tensor in list(waiting.items()):
            if _agrees(shapes[name], tuple(tensor.shape), sizes):
                del waiting[name]
        if len(waiting) == left:
            break
    for name, tensor in list(waiting.items()):  # dims of one behind those that are meant
        text = shapes[name].partition("|")[0]
        rank = len(text.split())
        if set(tensor.shape[rank:]) == {1} and _agrees(text, tuple(tensor.shape[:rank]), sizes):
            _view(fitted, name, waiting.pop(name), tuple(tensor.shape[:rank]))
    for name, tensor in waiting.items():
        wanted = _wanted(shapes[name], tuple(tensor.shape), sizes)
        if wanted is None:
            return None
        _view(fitted, name, tensor, wanted)
    return fitted if fitted.views else None


def _agrees(text: str, found: tuple[int, ...], sizes: dict[str, int]) -> bool:
    """Tell whether a shape is one of these, and learn sizes from it."""
    for one in text.split("|"):
        shape, trial = Shape(one, set(sizes)), dict(sizes)
        if shape.agrees(found, trial):
            sizes |= trial
            return True
    return False


def _wanted(text: str, found: tuple[int, ...], sizes: dict[str, int]) -> tuple[int, ...] | None:
    """Return which of the shapes, whose sizes are all known, is this one with dims split or joined."""
    for one in text.split("|"):
        try:
            wanted = Shape(one, set(sizes)).of(dict(sizes))
        except KeyError:
            continue
        if _is_regrouped(found, wanted):
            return wanted
    return None


def _is_regrouped(found: Sequence[int], wanted: Sequence[int]) -> bool:
    """Whether the dims of one shape are those of the other, some of them split."""
    if math.prod(found) != math.prod(wanted):
        return False
    if not math.prod(found):
        return True
    borders = [{math.prod(shape[: i + 1]) for i in range(len(shape))} | {1} for shape in (found, wanted)]
    return borders[0] <= borders[1] or borders[1] <= borders[0]


def _view(fitted: _Fitted, name: str, tensor: Tensor, shape: tuple[int, ...]) -> None:
    """Add a view, or a copy where the strides allow no view."""
    plain = tensor.detach()
    try:
        fitted.views[name] = plain.view(shape)
    except RuntimeError:
        fitted.views[name] = plain.contiguous().view(shape)
        fitted.copies.append((plain, fitted.views[name]))
