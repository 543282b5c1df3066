"""Distinct places, and the rows that share one."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from pymluops.torch.sparse._dispatch import register
from pymluops.torch.sparse._pool_functions import indice_avgpool, indice_maxpool
from pymluops.torch.sparse._rows import pairs_to, row_sums

__all__ = ["REDUCTIONS", "distinct", "occupied", "reduced"]

#: What becomes of rows with the same place.
REDUCTIONS = ("sum", "mean", "max")


def _distinct(indices: Tensor, batch: int, space: Sequence[int]) -> tuple[Tensor, Tensor]:
    sizes = [batch, *space]
    if math.prod(sizes) >= 2**63:
        places, group = indices.unique(dim=0, return_inverse=True)
        return places, group
    place = indices[:, 0].long()
    for axis, size in enumerate(space):
        place = place * size + indices[:, axis + 1]
    found, group = place.unique(return_inverse=True)
    places = indices.new_empty((len(found), indices.shape[1]))
    for axis in reversed(range(1, len(sizes))):
        places[:, axis] = found % sizes[axis]
        found = found.div(sizes[axis], rounding_mode="floor")
    places[:, 0] = found
    return places, group


def _fake_distinct(indices: Tensor, batch: int, space: Sequence[int]) -> tuple[Tensor, Tensor]:
    # As in _pairs.py: two rows at least, so that a normalisation may follow.
    rows = torch.library.get_ctx().new_dynamic_size(min=2)
    return indices.new_empty((rows, indices.shape[1])), indices.new_empty((indices.shape[0],), dtype=torch.int64)


_DISTINCT = register(
    "sparse_distinct(Tensor indices, SymInt batch, SymInt[] space) -> (Tensor, Tensor)", _distinct, _fake_distinct
)


def distinct(indices: Tensor, batch: int, space: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Return each place once, ascending by batch and place, and for each row the number of its place."""
    places, group = _DISTINCT(indices, batch, list(space))
    return places, group


def reduced(features: Tensor, group: Tensor, rows: int, reduce: str) -> Tensor:
    """Return one row for each place: the sum, the mean or the maximum of those in its group."""
    pairs, num = pairs_to(group)
    if reduce == "sum":
        return row_sums(features, pairs, num, rows)
    if reduce == "mean":
        return indice_avgpool(features, pairs, num, rows)
    return indice_maxpool(features, pairs, num, rows, true_maximum=True)


def _occupied(dense: Tensor) -> Tensor:
    return (dense != 0).any(-1).nonzero().to(torch.int32).contiguous()


def _fake_occupied(dense: Tensor) -> Tensor:
    rows = torch.library.get_ctx().new_dynamic_size(min=2)
    return dense.new_empty((rows, dense.dim() - 1), dtype=torch.int32)


_OCCUPIED = register("sparse_occupied(Tensor dense) -> Tensor", _occupied, _fake_occupied)


def occupied(dense: Tensor) -> Tensor:
    """Return the places [rows, 1 + ndim] of a tensor, channels last, at which some channel is not 0."""
    places: Tensor = _OCCUPIED(dense)
    return places
