"""Furthest point sampling of PointNet++ and of 3DSSD."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator

__all__ = ["furthest_point_sample", "furthest_point_sample_with_dist", "stack_furthest_point_sample"]

_NUMBERS = {"max_squared_distance": math.inf, "min_squared_norm": -1.0}
_PLAIN = TorchOperator(described("furthest_point_sampling"), sample={"N": 7, "M": 4, **_NUMBERS})
_WITH_DIST = TorchOperator(
    described("furthest_point_sampling_with_dist"), sample={"N": 5, "M": 3, "max_distance": math.inf}
)
_STACK = TorchOperator(
    described("stack_furthest_point_sampling"),
    validate=True,
    folds=False,
    sample={
        "N": 8, "B": 2, "M": 4, "xyz_batch_cnt": [3, 5], "num_samples": [1, 3], "max_squared_distance": math.inf,
    },
)  # fmt: skip
for _operator in (_PLAIN, _WITH_DIST, _STACK):
    _operator.without_gradient()


def _one_after_another(least: Tensor, number: int, distances: Callable[[Tensor], Tensor]) -> Tensor:
    """Pick `number` points; `distances` has the distances from a pick of each batch."""
    pick = torch.zeros_like(least[:, :1]).long()
    picks = [pick[:, :0]]
    for i in range(number):
        if i > 0:
            least = torch.minimum(least, distances(pick))
            pick = least.argmax(1, keepdim=True)
        picks.append(pick)
    return torch.cat(picks, 1).int()


def _formula(xyz: Tensor, number: int, *_: Any) -> Tensor:
    """Compute the distances from each pick."""

    def distances(pick: Tensor) -> Tensor:
        return (xyz - xyz.gather(1, pick[..., None].expand(-1, 1, 3))).square().sum(-1)

    return _one_after_another(torch.full_like(xyz[..., 0], math.inf), number, distances)


def _formula_with_dist(dist: Tensor, number: int, *_: Any) -> Tensor:
    """Take the row of each pick."""

    def distances(pick: Tensor) -> Tensor:
        return dist.gather(1, pick[..., None].expand(-1, 1, dist.shape[2]))[:, 0]

    return _one_after_another(torch.full_like(dist[:, 0], math.inf), number, distances)


def _stack_formula(xyz: Tensor, counts: Tensor, samples: Tensor, total: int, *_: Any) -> Tensor:
    """Find the batch of each row and of each pick, and look at its rows only."""
    ends, last = counts.long().cumsum(0), samples.long().cumsum(0)
    batches = (torch.arange(xyz.shape[0])[:, None] >= ends).sum(1)
    least, picks = torch.full_like(xyz[:, 0], math.inf), [ends[:0]]
    for i in range(total):
        batch = (last <= i).sum(0, keepdim=True)
        own = batches == batch
        begins = last[batch] - samples.long()[batch] == i
        furthest = torch.where(own, least, -1.0).argmax(0, keepdim=True)
        pick = torch.where(begins, ends[batch] - counts.long()[batch], furthest)
        found = (xyz - xyz[pick]).square().sum(-1)
        least = torch.where(own, torch.minimum(least, found), least)
        picks.append(pick)
    return torch.cat(picks).int()


def _points_and_number(xyz: Tensor, number: int, *_: Any) -> tuple[Any, ...]:
    return xyz, number


def _stacked(xyz: Tensor, counts: Tensor, samples: Tensor, total: int, _: float) -> tuple[Any, ...]:
    return xyz, counts, samples, total


_SAMPLE = TensorFunction(_PLAIN, shapes={"dist2": None}, formula=_formula, public=_points_and_number)
_SAMPLE_WITH_DIST = TensorFunction(
    _WITH_DIST, shapes={"min_dist": None}, formula=_formula_with_dist, public=_points_and_number
)
_SAMPLE_STACK = TensorFunction(_STACK, shapes={"dist2": None}, formula=_stack_formula, public=_stacked)


@_SAMPLE
def furthest_point_sample(points_xyz: Tensor, num_points: int) -> Tensor:
    """Pick points one after another, each the one that lies furthest from all picks before it.

    The first pick is point 0. Of points at equal distances the first is picked; a point with a
    coordinate that is not finite is not, but as the first.

    Parameters
    ----------
    points_xyz : Tensor, shape [B, N, 3]
        The points; any floating type.
    num_points : int
        Number of picks M.

    Returns
    -------
    Tensor, shape [B, M], int32
        The numbers of the picks.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> points = torch.tensor([[[0.0, 0, 0], [1, 0, 0], [9, 0, 0], [5, 0, 0]]])
    >>> pymluops.torch.furthest_point_sample(points, 3).tolist()
    [[0, 2, 3]]
    """
    return (_SAMPLE.through_torch if compiling() else _SAMPLE.direct)(points_xyz, num_points, math.inf, -1.0)


@_SAMPLE_WITH_DIST
def furthest_point_sample_with_dist(points_dist: Tensor, num_points: int) -> Tensor:
    """Pick points one after another, by a matrix of the distances between them.

    Parameters
    ----------
    points_dist : Tensor, shape [B, N, N]
        ``points_dist[b, i, k]`` is the distance of point k from point i, or its square; any
        floating type.
    num_points : int
        Number of picks M.

    Returns
    -------
    Tensor, shape [B, M], int32
        The numbers of the picks. The first is 0, each later one has the greatest distance from all
        picks before it.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> places = torch.tensor([0.0, 1, 9, 5])
    >>> distances = (places[:, None] - places).abs()[None]
    >>> pymluops.torch.furthest_point_sample_with_dist(distances, 3).tolist()
    [[0, 2, 3]]
    """
    way = _SAMPLE_WITH_DIST.through_torch if compiling() else _SAMPLE_WITH_DIST.direct
    return way(points_dist, num_points, math.inf)


@_SAMPLE_STACK
def stack_furthest_point_sample(xyz: Tensor, xyz_batch_cnt: Tensor, num_samples: Tensor, total_samples: int) -> Tensor:
    """Pick points of batches of different sizes, as `furthest_point_sample` does of each.

    Parameters
    ----------
    xyz : Tensor, shape [N, 3]
        The points of all batches, those of the first batch first; any floating type.
    xyz_batch_cnt : Tensor, shape [B], int32 or int64
        How many points each batch has; their sum is N.
    num_samples : Tensor, shape [B], like `xyz_batch_cnt`
        Number of picks of each batch. Those of a batch without points are -1.
    total_samples : int
        Their sum M.

    Returns
    -------
    Tensor, shape [M], int32
        The rows of the picks.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> points = torch.tensor([[0.0, 0, 0], [1, 0, 0], [9, 0, 0], [5, 0, 0], [6, 0, 0]])
    >>> counts, picks = torch.tensor([3, 2]), torch.tensor([2, 1])
    >>> pymluops.torch.stack_furthest_point_sample(points, counts, picks, 3).tolist()
    [0, 2, 3]
    """
    way = _SAMPLE_STACK.through_torch if compiling() else _SAMPLE_STACK.direct
    return way(xyz, xyz_batch_cnt, num_samples, total_samples, math.inf)
