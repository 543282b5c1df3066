"""Places of a sparse tensor: checks of their ranges, and whether they are the same as earlier."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor

from pymluops.errors import BadParamError
from pymluops.torch.sparse._dispatch import compiling, register, watched

__all__ = ["check_invariants", "checked_places", "same_places", "snapshot", "version_of"]

_INTEGERS = (torch.int32, torch.int64, torch.int16, torch.int8, torch.uint8)


class check_invariants(contextlib.ContextDecorator):  # noqa: N801
    """Refuse sparse tensors in which two rows have the same place; off by default, as it sorts all places.

    A context manager and a decorator, as `torch.sparse.check_sparse_tensor_invariants` is. It
    counts for the whole process.

    Examples
    --------
    >>> import torch
    >>> from pymluops.torch import sparse
    >>> with sparse.check_invariants():
    ...     x = sparse.SparseConvTensor(torch.ones(2, 1), torch.tensor([[0, 1], [0, 2]]), [4], 1)
    """

    _enabled: ClassVar[bool] = False

    @classmethod
    def is_enabled(cls) -> bool:
        """Tell whether duplicate places are refused."""
        return check_invariants._enabled

    @classmethod
    def enable(cls) -> None:
        """Refuse duplicate places from now on."""
        check_invariants._enabled = True

    @classmethod
    def disable(cls) -> None:
        """Look for duplicate places no longer."""
        check_invariants._enabled = False

    def __enter__(self) -> None:
        self._before = check_invariants._enabled
        check_invariants._enabled = True

    def __exit__(self, *_: object) -> None:
        check_invariants._enabled = self._before


def _checked(function: str, indices: Tensor, batch: int, space: Sequence[int]) -> Tensor:
    """Return places as packed int32, after a look at all of them."""
    whole = indices
    if indices.dtype not in _INTEGERS:
        if not indices.is_floating_point():
            raise BadParamError(f"{function}: indices: expected integers, got dtype {indices.dtype}")
        whole = indices.trunc()
    limits = [batch, *space]
    if len(indices):
        least, most = (bound.tolist() for bound in torch.aminmax(whole, dim=0))
        # NaN is in no range, and differs from itself.
        inside = all(0 <= low <= high < limit for low, high, limit in zip(least, most, limits, strict=True))
        if not inside or (whole is not indices and not torch.equal(whole, indices)):
            raise _outside(function, indices, limits)
    places = whole.to(torch.int32).contiguous()
    if check_invariants.is_enabled():
        _refuse_duplicates(function, places)
    return places


def _outside(function: str, indices: Tensor, limits: list[int]) -> BadParamError:
    """Return the error that names the first wrong number."""
    ends = torch.tensor(limits, dtype=torch.float64 if indices.is_floating_point() else torch.int64)
    right = (indices >= 0) & (indices < ends)
    if indices.is_floating_point():
        right &= indices == indices.trunc()
    row, column = (~right).nonzero()[0].tolist()
    axis = f"axis {column - 1}" if column else "batch"
    values = indices[row].tolist()
    kind = " whole" if indices.is_floating_point() else ""
    expected = f"expected{kind} 0 <= {axis} < {limits[column]}, got {values[column]} at row {row} {values}"
    return BadParamError(f"{function}: indices: {expected}")


def _refuse_duplicates(function: str, places: Tensor) -> None:
    _, group, counts = places.unique(dim=0, return_inverse=True, return_counts=True)
    repeated = counts[group] > 1
    if repeated.any():
        first = int(repeated.nonzero()[0, 0])
        rows = (group == group[first]).nonzero()[:2, 0].tolist()
        found = f"{places[first].tolist()} at rows {rows[0]} and {rows[1]}"
        raise BadParamError(f"{function}: indices: expected each place once, got {found}")


def _compute(function: str, indices: Tensor, batch: int, space: Sequence[int]) -> Tensor:
    places = _checked(function, indices, batch, space)
    return places.clone() if places.data_ptr() == indices.data_ptr() else places  # no result is an argument


def _fake(function: str, indices: Tensor, batch: int, space: Sequence[int]) -> Tensor:
    return torch.empty_like(indices, dtype=torch.int32, memory_format=torch.contiguous_format)


_OPERATOR = register(
    "sparse_places(str function, Tensor indices, SymInt batch, SymInt[] space) -> Tensor", _compute, _fake
)


def checked_places(function: str, indices: Tensor, batch: int, space: Sequence[int]) -> Tensor:
    """Return places [L, 1 + ndim] as packed int32; such places come back themselves.

    Raises
    ------
    BadParamError
        If a number is not whole, or lies outside of the batches or the space; with
        `check_invariants`, if two rows have the same place. The message begins with `function`.
    """
    if watched(indices):
        return _OPERATOR(function, indices, batch, list(space))
    return _checked(function, indices, batch, space)


def version_of(tensor: Tensor) -> int | None:
    """Return a number that changes with each in-place operation, None where PyTorch counts none."""
    return None if compiling() or tensor.is_inference() else tensor._version


def snapshot(tensor: Tensor) -> Tensor:
    """Return a tensor whose changes will be noticed: a copy where PyTorch does not count them."""
    copied = not compiling() and tensor.is_inference() and not watched(tensor)
    return tensor.clone() if copied else tensor


def same_places(kept: Tensor, version: int | None, now: Tensor) -> bool:
    """Tell whether places are those that were kept when they had this version."""
    if compiling():
        return kept is now
    if version is not None and version != version_of(kept):
        return False
    # Values are not compared where PyTorch watches: a trace would keep the answer, fake tensors
    # have none.
    return kept is now or (not watched(kept, now) and torch.equal(kept, now))
