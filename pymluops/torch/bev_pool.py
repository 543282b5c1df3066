"""BevPool: the pooling of BEVFusion."""

from __future__ import annotations

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator

__all__ = ["bev_pool"]

_SAMPLE = {
    "B": 1, "D": 1, "H": 2, "W": 3, "N": 5, "K": 2,
    "geometry": [[0, 1, 0, 0], [0, 1, 0, 0], [1, 2, 0, 0], [1, 2, 0, 0], [1, 2, 0, 0]],
    "interval_lengths": [2, 3], "interval_starts": [0, 2],
}  # fmt: skip
_FORWARD = TorchOperator(described("bev_pool_forward"), validate=True, folds=False, sample=_SAMPLE)
_BACKWARD = TorchOperator(described("bev_pool_backward"), validate=True, folds=False, autocast=False, sample=_SAMPLE)
_FORWARD.differentiate(_BACKWARD, "grad_output", {"features": "out"}, linear=("features",))
_BACKWARD.differentiate(_FORWARD, "features", {"grad_output": "out"}, linear=("grad_output",))


def _formula(
    features: Tensor, geometry: Tensor, lengths: Tensor, starts: Tensor, b: int, d: int, h: int, w: int
) -> Tensor:
    """Add rows to the cells of their intervals."""
    rows = torch.arange(features.shape[0], device=features.device)
    inside = (rows >= starts[:, None]) & (rows < (starts + lengths)[:, None])  # [K, N]
    place = geometry[starts.long()].long()
    cell = ((place[:, 3] * d + place[:, 2]) * h + place[:, 0]) * w + place[:, 1]
    cells = torch.arange(b * d * h * w, device=features.device)
    chosen = (cells[:, None] == cell).to(features.dtype) @ inside.to(features.dtype)
    return (chosen @ features).reshape(b, d, h, w, features.shape[1])


_POOL = TensorFunction(_FORWARD, formula=_formula)


@_POOL
def bev_pool(
    features: Tensor,
    geometry: Tensor,
    interval_lengths: Tensor,
    interval_starts: Tensor,
    batch: int,
    depth: int,
    height: int,
    width: int,
) -> Tensor:
    """Add up the rows of each interval, for the cell that its first row lies in.

    The gradient flows to `features` only.

    Parameters
    ----------
    features : Tensor, shape [N, C]
        The rows, those of a cell one after another; any floating type.
    geometry : Tensor, shape [N, 4], int32 or int64
        Cell of each row: along height, width and depth, and batch.
    interval_lengths, interval_starts : Tensor, shape [K], int32 or int64
        Number of rows and first row of each interval. It lies within the rows, and the cell of its
        first row within the grid.
    batch, depth, height, width : int
        Sizes of the grid.

    Returns
    -------
    Tensor, shape [batch, depth, height, width, C]
        Like `features`; 0 where no interval is.

    Raises
    ------
    ValueError
        If an argument is not as described; an interval or a cell out of range is named.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> features = torch.tensor([[1.0], [2.0], [4.0]])
    >>> geometry = torch.tensor([[0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]])
    >>> lengths, starts = torch.tensor([2, 1]), torch.tensor([0, 2])
    >>> pymluops.torch.bev_pool(features, geometry, lengths, starts, 1, 1, 1, 2).flatten().tolist()
    [4.0, 3.0]
    """
    arguments = (features, geometry, interval_lengths, interval_starts, batch, depth, height, width)
    return (_POOL.through_torch if compiling() else _POOL.direct)(*arguments)
