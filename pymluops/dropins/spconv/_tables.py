"""Modules of spconv that take or make several sparse tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from pymluops.dropins.spconv._modules import SparseModule
from pymluops.dropins.spconv._tensor import SparseConvTensor, require
from pymluops.torch.sparse import sparse_add

__all__ = ["AddTable", "AddTableMisaligned", "ConcatTable", "JoinTable"]


def _alike(name: str, tensors: Sequence[SparseConvTensor]) -> SparseConvTensor:
    """Return the first of tensors with the same space, batches and number of rows."""
    first = tensors[0]
    for other in tensors[1:]:
        for fact in ("spatial_shape", "batch_size"):
            expected, found = getattr(first, fact), getattr(other, fact)
            require(expected == found, f"{name}: input: expected {fact} {expected}, got {found}")
        rows, others = first.features.shape[0], other.features.shape[0]
        require(rows == others, f"{name}: input: expected {rows} rows, got {others}")
    return first


class _Table(SparseModule):
    """A module that makes one sparse tensor of several."""

    def input_spatial_size(self, out_size: Any) -> Any:
        """Return the size that it wants for an output: the same."""
        return out_size


class JoinTable(_Table):
    """Puts the channels of sparse tensors with the same places side by side."""

    def forward(self, input: Sequence[SparseConvTensor]) -> SparseConvTensor:
        """Join a list of tensors."""
        return _alike("JoinTable", input).replace_feature(torch.cat([x.features for x in input], 1))


class AddTable(_Table):
    """Adds sparse tensors with the same places."""

    def forward(self, input: Sequence[SparseConvTensor]) -> SparseConvTensor:
        """Add a list of tensors."""
        return _alike("AddTable", input).replace_feature(sum([x.features for x in input[1:]], input[0].features))


class AddTableMisaligned(_Table):
    """Adds sparse tensors at the places of all of them."""

    def forward(self, input: Sequence[SparseConvTensor]) -> Any:
        """Add a list of tensors."""
        return sparse_add(*input)


class ConcatTable(SparseModule):
    """Applies several modules to one input and returns the list of results."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name=name)

    def forward(self, input: Any) -> list[Any]:
        """Apply all modules."""
        return [module(input) for module in self._modules.values() if module is not None]

    def add(self, module: nn.Module) -> ConcatTable:
        """Append a module."""
        self.add_module(str(len(self._modules)), module)
        return self

    def input_spatial_size(self, out_size: Any) -> Any:
        """Return the size that the first module wants."""
        first: Any = next(iter(self._modules.values()))
        return first.input_spatial_size(out_size)
