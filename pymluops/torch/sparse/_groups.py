"""Convolutions of groups of channels: each group of inputs makes a group of outputs."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from pymluops.torch.sparse._dispatch import shapes_of
from pymluops.torch.sparse._functions import indice_conv, indice_inverse_conv
from pymluops.torch.sparse._rows import row_products

__all__ = ["convolve_groups", "multiply_groups"]


def multiply_groups(features: Tensor, matrix: Tensor, groups: int) -> Tensor:
    """Multiply each row [groups*Ci] by the matrices [Ci, groups*Co] of its groups."""
    if groups == 1:
        return features @ matrix
    rows = features.unflatten(1, (groups, -1))
    return torch.einsum("lgi,igo->lgo", rows, matrix.unflatten(1, (groups, -1))).flatten(1)


def convolve_groups(
    features: Tensor, weight: Tensor, pairs: Tensor, num: Tensor, rows: int, groups: int, inverse: bool
) -> Tensor:
    """Convolve rows [L, groups*Ci] with filters [*kernel_size, Ci, groups*Co].

    Parameters
    ----------
    features, weight : Tensor
        Rows and filters.
    pairs, num : Tensor
        The pairs of each cell.
    rows : int
        Number of output rows.
    groups : int
        Number of groups.
    inverse : bool
        Go from the second row of a pair to the first one.
    """
    convolve = indice_inverse_conv if inverse else indice_conv
    if groups == 1:
        return convolve(features, weight, pairs, num, rows)
    if shapes_of(weight)[0][-2] == 1:
        return _convolve_channels(features, weight, pairs, num, rows, inverse)
    parts = zip(features.chunk(groups, 1), weight.chunk(groups, -1), strict=True)
    return torch.cat([convolve(part, filters, pairs, num, rows) for part, filters in parts], 1)


def _convolve_channels(
    features: Tensor, weight: Tensor, pairs: Tensor, num: Tensor, rows: Any, inverse: bool
) -> Tensor:
    """Convolve each channel with filters of its own."""
    dtype = torch.promote_types(features.dtype, weight.dtype)
    features, cells = features.to(dtype), weight.flatten(0, -2).to(dtype)
    (*_, outputs), (_, inputs) = shapes_of(weight, features)
    each = outputs // inputs
    if each > 1:
        features = features.repeat_interleave(each, 1)
    return row_products(features, cells, pairs, num, rows, inverse)
