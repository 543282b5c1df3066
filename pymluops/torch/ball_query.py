"""BallQuery: the points in balls or shells around centres of PointNet++."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from pymluops import _arguments
from pymluops.ops._described import described
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator

__all__ = ["ball_query", "stack_ball_query"]

_NAMES = _arguments.Names("ball_query", "mluOpBallQuery")
_FORWARD = TorchOperator(described("ball_query"), sample={"M": 4, "nsample": 4, "min_radius": 0.2, "max_radius": 1.5})
_FORWARD.without_gradient()
_STACK = TorchOperator(
    described("stack_ball_query"),
    validate=True,
    folds=False,
    sample={
        "B": 2, "M": 4, "N": 9, "new_xyz_batch_cnt": [3, 1], "xyz_batch_cnt": [4, 5], "nsample": 4, "max_radius": 1.5,
    },
)  # fmt: skip
_STACK.without_gradient()


def _formula(center_xyz: Tensor, xyz: Tensor, min_radius: float, max_radius: float, sample_num: int) -> Tensor:
    """Sort the numbers of the points that count."""
    squared = (center_xyz[:, :, None] - xyz[:, None]).square().sum(-1)
    counts = (squared == 0) | ((squared >= min_radius**2) & (squared < max_radius**2))
    points = xyz.shape[1]
    numbers = torch.where(counts, torch.arange(points), points)
    missing = torch.full_like(numbers[..., :1], points).expand(-1, -1, sample_num)
    first = torch.cat([numbers, missing], -1).topk(sample_num, -1, largest=False)[0]
    found = torch.where(first < points, first, first[..., :1])
    return torch.where(found < points, found, 0).int()


def _public(center_xyz: Tensor, xyz: Tensor, min_radius: float, max_radius: float, sample_num: int) -> tuple[Any, ...]:
    return min_radius, max_radius, sample_num, xyz, center_xyz


def _stacked(
    center: Tensor, center_cnt: Tensor, xyz: Tensor, cnt: Tensor, radius: float, number: int
) -> tuple[Any, ...]:
    return radius, number, xyz, center, cnt, center_cnt


def _stack_formula(
    center: Tensor, center_cnt: Tensor, xyz: Tensor, cnt: Tensor, max_radius: float, sample_num: int
) -> Tensor:
    """Let the points of other batches lie outside of each ball."""
    ends, center_ends = cnt.long().cumsum(0), center_cnt.long().cumsum(0)
    batch = (torch.arange(center.shape[0])[:, None] >= center_ends).sum(1)
    own = (torch.arange(xyz.shape[0])[:, None] >= ends).sum(1) == batch[:, None]
    counts = own & ((center[:, None] - xyz).square().sum(-1) < max_radius**2)
    points = xyz.shape[0]
    numbers = torch.where(counts, torch.arange(points), points)
    missing = torch.full_like(numbers[:, :1], points).expand(-1, sample_num)
    first = torch.cat([numbers, missing], 1).topk(sample_num, 1, largest=False)[0]
    found = torch.where(first < points, first, first[:, :1])
    nothing = torch.where(torch.arange(sample_num) == 0, -1, 0)
    return torch.where(found < points, found - (ends - cnt.long())[batch][:, None], nothing).int()


_BALL_QUERY = TensorFunction(_FORWARD, formula=_formula, public=_public)
_STACK_BALL_QUERY = TensorFunction(_STACK, formula=_stack_formula, public=_stacked)


@_BALL_QUERY
def ball_query(
    min_radius: float,
    max_radius: float,
    sample_num: int,
    xyz: Tensor,
    center_xyz: Tensor,
    xyz_batch_cnt: Tensor | None = None,
    center_xyz_batch_cnt: Tensor | None = None,
) -> Tensor:
    """Find the first points that lie in a shell around each centre.

    A point counts for a centre if its squared distance is 0, or at least ``min_radius**2`` and
    below ``max_radius**2``. Where fewer than `sample_num` points count, the first one fills the
    other places; a centre without a point has zeros. With counts it does what
    `stack_ball_query` does, for batches of different sizes.

    Parameters
    ----------
    min_radius, max_radius : float
        Radii of the shell, ``0 <= min_radius < max_radius``.
    sample_num : int
        Number of indices for each centre.
    xyz : Tensor, shape [B, N, 3]
        The points; any floating type.
    center_xyz : Tensor, shape [B, M, 3], like `xyz`
        The centres.
    xyz_batch_cnt, center_xyz_batch_cnt : Tensor, shape [B], int32 or int64, optional
        How many points and centres each batch has, where these are [N, 3] and [M, 3]; `min_radius`
        is 0 then.

    Returns
    -------
    Tensor, shape [B, M, sample_num], or [M, sample_num] with counts, int32
        Numbers of points, ascending.

    Raises
    ------
    AssertionError
        If ``min_radius >= max_radius``.
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> points = torch.tensor([[[9.0, 0, 0], [1, 0, 0], [0, 1, 0]]])
    >>> pymluops.torch.ball_query(0, 2, 3, points, torch.zeros(1, 1, 3)).tolist()
    [[[1, 2, 1]]]
    """
    if type(min_radius) is not float or type(max_radius) is not float:
        min_radius, max_radius = _radius("min_radius", min_radius), _radius("max_radius", max_radius)
    assert min_radius < max_radius, f"ball_query: expected min_radius < max_radius, got {min_radius} and {max_radius}"
    if xyz_batch_cnt is not None or center_xyz_batch_cnt is not None:
        if xyz_batch_cnt is None or center_xyz_batch_cnt is None:
            raise ValueError("ball_query: expected both xyz_batch_cnt and center_xyz_batch_cnt, got one")
        if min_radius != 0:
            raise ValueError(f"ball_query: min_radius: expected 0 with counts, got {min_radius}")
        return stack_ball_query(max_radius, sample_num, xyz, center_xyz, xyz_batch_cnt, center_xyz_batch_cnt)
    way = _BALL_QUERY.through_torch if compiling() else _BALL_QUERY.direct
    return way(center_xyz, xyz, min_radius, max_radius, sample_num)


def _radius(name: str, radius: Any) -> Any:
    """Return a radius as Python's number, but one that stands for others, to a compiler."""
    return radius if isinstance(radius, (torch.SymInt, torch.SymFloat)) else _arguments.real(_NAMES, name, radius)


@_STACK_BALL_QUERY
def stack_ball_query(
    max_radius: float,
    sample_num: int,
    xyz: Tensor,
    center_xyz: Tensor,
    xyz_batch_cnt: Tensor,
    center_xyz_batch_cnt: Tensor,
) -> Tensor:
    """Find the first points in a ball around each centre, in batches of different sizes.

    A point counts if its squared distance is below ``max_radius**2``. Where fewer than `sample_num`
    points count, the first one fills the other places; a centre without a point has -1, then zeros.

    Parameters
    ----------
    max_radius : float
        Radius of the ball.
    sample_num : int
        Number of indices for each centre.
    xyz : Tensor, shape [N, 3]
        The points of all batches, those of the first batch first; any floating type.
    center_xyz : Tensor, shape [M, 3], like `xyz`
        The centres of all batches.
    xyz_batch_cnt, center_xyz_batch_cnt : Tensor, shape [B], int32 or int64
        How many points and how many centres each batch has.

    Returns
    -------
    Tensor, shape [M, sample_num], int32
        Numbers of points, ascending, counted from the first point of the batch.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> points = torch.tensor([[9.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    >>> counts, one_each = torch.tensor([1, 2]), torch.tensor([1, 1])
    >>> pymluops.torch.stack_ball_query(2, 3, points, torch.zeros(2, 3), counts, one_each).tolist()
    [[-1, 0, 0], [0, 1, 0]]
    """
    if type(max_radius) is not float:
        max_radius = _radius("max_radius", max_radius)
    way = _STACK_BALL_QUERY.through_torch if compiling() else _STACK_BALL_QUERY.direct
    return way(center_xyz, center_xyz_batch_cnt, xyz, xyz_batch_cnt, max_radius, sample_num)
