"""Several sparse tensors as one: sums, channels side by side, batches one after the other."""

from __future__ import annotations

from typing import Any

import torch

from pymluops.torch.sparse._tensor import SparseConvTensor
from pymluops.torch.sparse._union import distinct, reduced

__all__ = ["sparse_add", "sparse_cat", "sparse_collate"]


def _checked(function: str, tensors: tuple[Any, ...], *alike: str) -> list[SparseConvTensor]:
    """Return the tensors, all sparse, one at least, and alike in some facts."""
    if not tensors:
        raise ValueError(f"{function}: tensors: expected one or more, got none")
    for number, tensor in enumerate(tensors):
        if not isinstance(tensor, SparseConvTensor):
            raise TypeError(f"{function}: tensor {number}: expected a SparseConvTensor, got {type(tensor).__name__}")
        for name in alike:
            expected, found = (_fact(one, name) for one in (tensors[0], tensor))
            if expected != found:
                raise ValueError(f"{function}: tensor {number}: expected {name} {expected}, got {found}")
    return list(tensors)


def _fact(tensor: SparseConvTensor, name: str) -> Any:
    if name == "channels":
        return tensor.features.shape[1]
    return list(tensor.spatial_shape) if name == "spatial_shape" else tensor.batch_size


def sparse_add(*tensors: SparseConvTensor) -> SparseConvTensor:
    """Add sparse tensors whose places may differ: as the sum of the dense tensors, at all places of any of them.

    Parameters
    ----------
    *tensors : SparseConvTensor
        Of the same space, batch size and channels.

    Returns
    -------
    SparseConvTensor
        If all have the same places in the same order, these and the `indice_dict` of the first one;
        else each place once, ascending by batch and place.

    Raises
    ------
    TypeError
        If an argument is no sparse tensor.
    ValueError
        If there is none, or they differ in space, batch size or channels.
    """
    first, *others = _checked("sparse_add", tensors, "spatial_shape", "batch_size", "channels")
    return first._plus(*others)


def sparse_cat(*tensors: SparseConvTensor) -> SparseConvTensor:
    """Put the channels of sparse tensors side by side, at all places of any of them; elsewhere a tensor is 0.

    Parameters
    ----------
    *tensors : SparseConvTensor
        Of the same space and batch size.

    Returns
    -------
    SparseConvTensor
        Each place once, ascending by batch and place.

    Raises
    ------
    TypeError
        If an argument is no sparse tensor.
    ValueError
        If there is none, or they differ in space or batch size.
    """
    terms = _checked("sparse_cat", tensors, "spatial_shape", "batch_size")
    first, places = terms[0], [term.checked_indices() for term in terms]
    union, group = distinct(torch.cat(places), first.batch_size, first.spatial_shape)
    rows = union.shape[0]
    groups = group.split([one.shape[0] for one in places])
    parts = [reduced(term.features, own, rows, "sum") for term, own in zip(terms, groups, strict=True)]
    return first.with_rows(torch.cat(parts, 1), union, first.spatial_shape, {})


def sparse_collate(*tensors: SparseConvTensor) -> SparseConvTensor:
    """Put the batches of sparse tensors one after the other.

    Parameters
    ----------
    *tensors : SparseConvTensor
        Of the same space and channels.

    Returns
    -------
    SparseConvTensor
        The rows of all, whose batch size is the sum of theirs.

    Raises
    ------
    TypeError
        If an argument is no sparse tensor.
    ValueError
        If there is none, or they differ in space or channels.
    """
    terms = _checked("sparse_collate", tensors, "spatial_shape", "channels")
    places, batches = [], 0
    for term in terms:
        own = term.checked_indices().clone()
        own[:, 0] += batches
        places.append(own)
        batches += term.batch_size
    features = torch.cat([term.features for term in terms])
    return SparseConvTensor(features, torch.cat(places), terms[0].spatial_shape, batches)
