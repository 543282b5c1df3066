"""Knn: the k nearest points."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator
from pymluops.torch._numbers import flag

__all__ = ["knn"]

_FORWARD = TorchOperator(described("knn"), sample={"N": 6, "k": 3})
_FORWARD.without_gradient()


def _formula(xyz: Tensor, center_xyz: Tensor, k: int) -> Tensor:
    """Sort all distances."""
    squared = (center_xyz[:, :, None] - xyz[:, None]).square().sum(-1)
    missing = torch.full_like(squared[..., :1], float("inf")).expand(-1, -1, k)  # for sets of fewer points
    nearest, places = torch.cat([squared, missing], -1).topk(k, -1, largest=False)
    return (places * (nearest < float("inf")).long()).int().transpose(1, 2)


def _public(xyz: Tensor, center_xyz: Tensor, k: int) -> tuple[Any, ...]:
    return k, xyz, center_xyz


_KNN = TensorFunction(_FORWARD, orders={"idx": (0, 2, 1)}, shapes={"dist2": None}, formula=_formula, public=_public)


@_KNN
def knn(k: int, xyz: Tensor, center_xyz: Tensor | None = None, transposed: bool = False) -> Tensor:
    """Find the k points that are nearest to each centre.

    The result has no gradient, as in mmcv, and k may be 100 and more.

    Parameters
    ----------
    k : int
        Number of neighbours.
    xyz : Tensor, shape [B, N, 3], or [B, 3, N] if `transposed`
        The points; any floating type.
    center_xyz : Tensor, shape [B, M, 3], or [B, 3, M] if `transposed`, like `xyz`
        The centres; the points themselves if not given.
    transposed : bool
        Whether the coordinates are the second dim.

    Returns
    -------
    Tensor, shape [B, k, M], int32
        The numbers of the nearest points, the nearest first, and of equal distances the first.
        Where there are fewer points at a finite distance, the rest is 0.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> points = torch.tensor([[[5.0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 1]]])
    >>> pymluops.torch.knn(2, points, torch.zeros(1, 1, 3)).tolist()
    [[[1], [3]]]
    """
    centers = xyz if center_xyz is None else center_xyz
    if flag("knn", "transposed", transposed):
        xyz, centers = xyz.transpose(1, 2).contiguous(), centers.transpose(1, 2).contiguous()
    return (_KNN.through_torch if compiling() else _KNN.direct)(xyz, centers, k)
