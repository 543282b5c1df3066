"""Samples that vmap maps over: calls with all of them at once, or one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

__all__ = ["fold", "one_by_one", "unfold"]


def fold(tensor: Any, dim: int | None, count: int) -> Any:
    """Return the samples along `dim`, or `count` times the same one, below each other."""
    whole = tensor.movedim(dim, 0) if dim is not None else tensor.unsqueeze(0)
    return whole.expand(count, *whole.shape[1:]).flatten(0, 1)


def unfold(results: Any, count: int, rows: Any) -> Any:
    """Return the results of `count` samples of together `rows` rows, and along which dims they are."""
    each = results if isinstance(results, tuple) else (results,)
    each = tuple(result.reshape(count, rows // count, *result.shape[1:]) for result in each)
    return (each, (0,) * len(each)) if isinstance(results, tuple) else (each[0], 0)


def one_by_one(call: Callable[..., Any], count: int, in_dims: Sequence[int | None], arguments: Sequence[Any]) -> Any:
    """Return what `unfold` returns, of a call for each sample."""
    found = [call(*_sample(in_dims, arguments, number)) for number in range(max(count, 1))]
    if not isinstance(found[0], tuple):
        return torch.stack(found)[:count], 0
    return tuple(torch.stack(results)[:count] for results in zip(*found, strict=True)), (0,) * len(found[0])


def _sample(in_dims: Sequence[int | None], arguments: Sequence[Any], number: int) -> Iterator[Any]:
    """Yield the arguments of one call; zeros where there is no sample, for the shapes of the results."""
    for one, dim in zip(arguments, in_dims, strict=True):
        if dim is None:
            yield one
        elif one.shape[dim]:
            yield one.select(dim, number)
        else:
            yield one.new_zeros([size for axis, size in enumerate(one.shape) if axis != dim % one.ndim])
