"""ThreeNN: the three nearest points of PointNet++."""

from __future__ import annotations

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator

__all__ = ["stack_three_nn", "three_nn"]

_FORWARD = TorchOperator(described("three_nn_forward"), sample={"M": 6})
_FORWARD.without_gradient()
_STACK = TorchOperator(
    described("stack_three_nn"),
    validate=True,
    folds=False,
    sample={"B": 2, "N": 4, "M": 9, "unknown_batch_cnt": [3, 1], "known_batch_cnt": [4, 5]},
)
_STACK.without_gradient()


def _formula(target: Tensor, source: Tensor) -> tuple[Tensor, Tensor]:
    """Sort all distances."""
    squared = (target[:, :, None] - source[:, None]).square().sum(-1)
    missing = torch.full_like(target, float("inf"))  # three more, for sources of fewer points
    nearest, places = torch.cat([squared, missing], -1).topk(3, -1, largest=False)
    found = nearest < float("inf")
    return nearest.sqrt(), (places * found.long()).int()


def _stacked(unknown: Tensor, unknown_cnt: Tensor, known: Tensor, known_cnt: Tensor) -> tuple[Tensor, ...]:
    return unknown, known, unknown_cnt, known_cnt


def _stack_formula(target: Tensor, target_cnt: Tensor, source: Tensor, source_cnt: Tensor) -> tuple[Tensor, Tensor]:
    """Let the points of other batches be infinitely far."""
    ends, target_ends = source_cnt.long().cumsum(0), target_cnt.long().cumsum(0)
    batch = (torch.arange(target.shape[0])[:, None] >= target_ends).sum(1)
    own = (torch.arange(source.shape[0])[:, None] >= ends).sum(1) == batch[:, None]
    squared = torch.where(own, (target[:, None] - source).square().sum(-1), float("inf"))
    missing = torch.full_like(target, float("inf"))
    nearest, places = torch.cat([squared, missing], -1).topk(3, -1, largest=False)
    first = (ends - source_cnt.long())[batch][:, None]
    return nearest.sqrt(), torch.where(nearest < float("inf"), places, first).int()


_THREE_NN = TensorFunction(_FORWARD, roots=("dist2",), formula=_formula)
_STACK_THREE_NN = TensorFunction(_STACK, roots=("dist2",), formula=_stack_formula, public=_stacked)


@_THREE_NN
def three_nn(target: Tensor, source: Tensor) -> tuple[Tensor, Tensor]:
    """Find the three nearest source points of each target point.

    Neither result has a gradient, as in mmcv.

    Parameters
    ----------
    target : Tensor, shape [B, N, 3]
        The points to find neighbours for; any floating type.
    source : Tensor, shape [B, M, 3], like `target`
        The points among which they are found.

    Returns
    -------
    dist : Tensor, shape [B, N, 3]
        Distances to the three nearest points, ascending; infinity where there are fewer. Not
        squared.
    idx : Tensor, shape [B, N, 3], int32
        Their numbers; of equal distances the first.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> source = torch.tensor([[[5.0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 1]]])
    >>> dist, idx = pymluops.torch.three_nn(torch.zeros(1, 1, 3), source)
    >>> dist.tolist(), idx.tolist()
    ([[[1.0, 1.0, 2.0]]], [[[1, 3, 2]]])
    """
    return (_THREE_NN.through_torch if compiling() else _THREE_NN.direct)(target, source)


@_STACK_THREE_NN
def stack_three_nn(
    target: Tensor, source: Tensor, target_batch_cnt: Tensor, source_batch_cnt: Tensor
) -> tuple[Tensor, Tensor]:
    """Find the three nearest source points of each target point, in batches of different sizes.

    Neither result has a gradient.

    Parameters
    ----------
    target : Tensor, shape [N, 3]
        The points to find neighbours for, of all batches, those of the first batch first; any
        floating type.
    source : Tensor, shape [M, 3], like `target`
        The points of all batches among which they are found.
    target_batch_cnt, source_batch_cnt : Tensor, shape [B], int32 or int64
        How many of them each batch has.

    Returns
    -------
    dist : Tensor, shape [N, 3]
        Distances to the three nearest points, ascending; infinity where there are fewer. Not
        squared.
    idx : Tensor, shape [N, 3], int32
        Their rows; of equal distances the first. Where there are fewer, the first row of the batch.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> source = torch.tensor([[5.0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 1]])
    >>> one, four = torch.tensor([1]), torch.tensor([4])
    >>> dist, idx = pymluops.torch.stack_three_nn(torch.zeros(1, 3), source, one, four)
    >>> dist.tolist(), idx.tolist()
    ([[1.0, 1.0, 2.0]], [[1, 3, 2]])
    """
    way = _STACK_THREE_NN.through_torch if compiling() else _STACK_THREE_NN.direct
    return way(target, target_batch_cnt, source, source_batch_cnt)
