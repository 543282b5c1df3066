"""IngroupIndices: numbers of values within their groups."""

from __future__ import annotations

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator

__all__ = ["ingroup_indices"]

_INDICES = TorchOperator(described("ingroup_indices"), folds=False, sample={"N": 5, "groups": [7, 1, 7, 7, 1]})
_INDICES.without_gradient()


def _formula(groups: Tensor) -> Tensor:
    """Compare all pairs."""
    rows = torch.arange(groups.shape[0], device=groups.device)
    before = (groups == groups[:, None]) & (rows < rows[:, None])
    return before.to(torch.int32).sum(1).to(torch.int32)


_RANKS = TensorFunction(_INDICES, formula=_formula)


@_RANKS
def ingroup_indices(groups: Tensor) -> Tensor:
    """Count for each value the equal ones before it.

    Parameters
    ----------
    groups : Tensor, shape [N], int32 or int64
        The group of each element: any numbers that int32 can hold.

    Returns
    -------
    Tensor, shape [N], int32

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> pymluops.torch.ingroup_indices(torch.tensor([7, -1, 7, 7, -1])).tolist()
    [0, 0, 1, 2, 1]
    """
    return (_RANKS.through_torch if compiling() else _RANKS.direct)(groups)
