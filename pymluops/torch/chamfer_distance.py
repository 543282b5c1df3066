"""ChamferDistance: nearest points of two clouds in a plane."""

from __future__ import annotations

from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._library import TorchOperator

__all__ = ["chamfer_distance"]

_NEAREST = TorchOperator(described("chamfer_distance_forward"))
_NEAREST.without_gradient()


def chamfer_distance(xyz1: Tensor, xyz2: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Find the nearest point of the other cloud for each point of two clouds in a plane.

    The gradient flows to both clouds, in any mode and of any order: the library finds the points,
    and their distances are those that PyTorch computes.

    Parameters
    ----------
    xyz1 : Tensor, shape [B, N, 2]
        The first cloud of each of B batches; any floating type.
    xyz2 : Tensor, shape [B, M, 2], like `xyz1`
        The second cloud.

    Returns
    -------
    dist1 : Tensor, shape [B, N]
        Squared distances of the first points from the nearest of the second ones; 0 if there are
        none.
    dist2 : Tensor, shape [B, M]
        Those of the second points.
    idx1 : Tensor, shape [B, N], int32
        Numbers of the nearest second points; of equally near ones the first.
    idx2 : Tensor, shape [B, M], int32
        Numbers of the nearest first points.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> xyz1, xyz2 = torch.tensor([[[0.0, 0], [3, 0]]]), torch.tensor([[[1.0, 0], [0, 2], [5, 0]]])
    >>> dist1, dist2, idx1, idx2 = pymluops.torch.chamfer_distance(xyz1, xyz2)
    >>> dist1.tolist(), idx2.tolist()
    ([[1.0, 4.0]], [[0, 0, 1]])
    """
    dist1, dist2, idx1, idx2 = _NEAREST(xyz1, xyz2)
    if xyz1.shape[1] == 0 or xyz2.shape[1] == 0:
        return dist1, dist2, idx1, idx2
    return _squared(xyz1, xyz2, idx1), _squared(xyz2, xyz1, idx2), idx1, idx2


def _squared(points: Tensor, others: Tensor, numbers: Tensor) -> Tensor:
    """Return the squared distances of points from those others that numbers name."""
    apart = others.gather(1, numbers.long()[..., None].expand(-1, -1, 2)) - points
    x, y = apart.unbind(-1)
    return x * x + y * y
