"""The features of points, and of groups of points, of PointNet++."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator

__all__ = ["gather_points", "grouping_operation"]

_SIZES = {"C": 3, "N": 7}
_COUNTS = {
    **{"N": 7, "B": 2, "M": 4, "S": 3, "features_batch_cnt": [3, 4], "idx_batch_cnt": [3, 1]},
    "idx": [[0, 2, 2], [1, -1, 0], [2, 1, 0], [3, 0, 3]],
}
_GATHER = TorchOperator(described("gather_points_forward"), validate=True, sample=_SIZES)
_GATHER_BACKWARD = TorchOperator(described("gather_points_backward"), validate=True, autocast=False)
_GROUP = TorchOperator(described("group_points_forward"), validate=True, sample=_SIZES)
_GROUP_BACKWARD = TorchOperator(described("group_points_backward"), validate=True, autocast=False)
_STACK = TorchOperator(described("stack_group_points_forward"), validate=True, folds=False, sample=_COUNTS)
_STACK_BACKWARD = TorchOperator(described("stack_group_points_backward"), validate=True, folds=False, autocast=False)
for _forward, _backward in ((_GATHER, _GATHER_BACKWARD), (_GROUP, _GROUP_BACKWARD), (_STACK, _STACK_BACKWARD)):
    _forward.differentiate(_backward, "grad_output", {"features": "out"}, linear=("features",))
    _backward.differentiate(_forward, "features", {"grad_output": "out"}, linear=("grad_output",))


def _gather_formula(features: Tensor, idx: Tensor) -> Tensor:
    """Gather with an index for each channel."""
    return features.gather(2, idx.long()[:, None].expand(-1, features.shape[1], -1))


def _group_formula(features: Tensor, idx: Tensor) -> Tensor:
    """Gather the points of all groups at once."""
    batch, groups, samples = idx.shape
    return _gather_formula(features, idx.reshape(batch, -1)).reshape(batch, features.shape[1], groups, samples)


def _stack_formula(features: Tensor, features_batch_cnt: Tensor, idx: Tensor, idx_batch_cnt: Tensor) -> Tensor:
    """Take rows of all batches, which begin where the counts before them end."""
    ends, groups = features_batch_cnt.long().cumsum(0), idx_batch_cnt.long().cumsum(0)
    batch = (torch.arange(idx.shape[0])[:, None] >= groups).sum(1)
    counts = features_batch_cnt.long()[batch][:, None]
    there = (idx >= 0) & (idx < counts)
    rows = torch.where(there, idx.long() + ends[batch][:, None] - counts, 0)
    return (features[rows] * there[..., None].to(features.dtype)).transpose(1, 2)


def _stacked(features: Tensor, features_cnt: Tensor, idx: Tensor, idx_cnt: Tensor) -> tuple[Any, ...]:
    return features, idx, idx_cnt, features_cnt


_GATHER_POINTS = TensorFunction(_GATHER, formula=_gather_formula)
_GROUPING = TensorFunction(_GROUP, formula=_group_formula)
_STACK_GROUPING = TensorFunction(_STACK, formula=_stack_formula, public=_stacked)


@_GATHER_POINTS
def gather_points(features: Tensor, indices: Tensor) -> Tensor:
    """Take the features of some points.

    Parameters
    ----------
    features : Tensor, shape [B, C, N]
        C features of each of N points; any floating type.
    indices : Tensor, shape [B, M], int32 or int64
        Numbers of M points, 0 to N-1.

    Returns
    -------
    Tensor, shape [B, C, M]
        Like `features`.

    Raises
    ------
    ValueError
        If an argument is not as described; an index out of range is named.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> features = torch.tensor([[[10.0, 20.0, 30.0]]])
    >>> pymluops.torch.gather_points(features, torch.tensor([[2, 0]])).tolist()
    [[[30.0, 10.0]]]
    """
    return (_GATHER_POINTS.through_torch if compiling() else _GATHER_POINTS.direct)(features, indices)


@_GROUPING
@_STACK_GROUPING
def grouping_operation(
    features: Tensor,
    indices: Tensor,
    features_batch_cnt: Tensor | None = None,
    indices_batch_cnt: Tensor | None = None,
) -> Tensor:
    """Take the features of groups of points, for batches of one size or of different sizes.

    Parameters
    ----------
    features : Tensor, shape [B, C, N], or [N, C] with counts
        C features of each of N points; any floating type.
    indices : Tensor, shape [B, M, S], or [M, S] with counts, int32 or int64
        Numbers of the S points of each of M groups. With counts they begin at the first point of
        the batch, and a number that is no point of it gives zeros; else they are 0 to N-1.
    features_batch_cnt, indices_batch_cnt : Tensor, shape [B], int32 or int64
        How many points and how many groups each batch has, where these stand one after another.

    Returns
    -------
    Tensor, shape [B, C, M, S], or [M, C, S] with counts
        Like `features`.

    Raises
    ------
    ValueError
        If an argument is not as described; without counts, an index out of range is named.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> features = torch.tensor([[[10.0, 20.0, 30.0]]])
    >>> pymluops.torch.grouping_operation(features, torch.tensor([[[2, 0], [1, 1]]])).tolist()
    [[[[30.0, 10.0], [20.0, 20.0]]]]
    """
    if indices_batch_cnt is None or features_batch_cnt is None:
        if indices_batch_cnt is not features_batch_cnt:
            raise ValueError("grouping_operation: expected both indices_batch_cnt and features_batch_cnt, got one")
        return (_GROUPING.through_torch if compiling() else _GROUPING.direct)(features, indices)
    way = _STACK_GROUPING.through_torch if compiling() else _STACK_GROUPING.direct
    return way(features, features_batch_cnt, indices, indices_batch_cnt)
