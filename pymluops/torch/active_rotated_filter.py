"""ActiveRotatedFilter: all rotations of the filters of oriented convolutions."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator

__all__ = ["active_rotated_filter"]

_TABLE = [[[[1, 5, 2, 3]]], [[[2, 1, 3, 5]]], [[[3, 2, 1, 6]]], [[[4, 8, 7, 7]]],
          [[[5, 3, 6, 8]]], [[[6, 4, 8, 1]]], [[[7, 6, 5, 4]]], [[[8, 7, 4, 2]]]]  # fmt: skip
_SAMPLE = {"r": 8, "k": 1, "R": 4, "indices": _TABLE}
_FORWARD = TorchOperator(described("active_rotated_filter_forward"), folds=False, sample=_SAMPLE)
_BACKWARD = TorchOperator(
    described("active_rotated_filter_backward"), folds=False, autocast=False, sample={**_SAMPLE, "O": 2, "I": 3}
)
_FORWARD.differentiate(_BACKWARD, "grad_output", {"input": "out"}, linear=("input",))
_BACKWARD.differentiate(_FORWARD, "input", {"grad_output": "out"}, linear=("grad_output",))


def _formula(input: Tensor, indices: Tensor) -> Tensor:
    """Multiply the cells with matrices that have a one where a rotation moves a cell to."""
    count, planes, orientations, side, _ = input.shape
    cells, rotations = orientations * side * side, indices.shape[3]
    places = indices.reshape(cells, rotations).T[..., None] - 1
    moves = (places == torch.arange(cells)).to(input.dtype)
    moved = torch.einsum("oil,qle->oqie", input.reshape(count, planes, cells), moves)
    return moved.reshape(count * rotations, planes * orientations, side, side)


_ROTATE = TensorFunction(_FORWARD, formula=_formula)


@_ROTATE
def active_rotated_filter(input: Tensor, indices: Tensor) -> Tensor:
    """Make all rotations of filters, whose cells a table moves.

    `pymluops.active_rotated_filter_forward` describes where cells go. If a rotation moves two cells
    to one place, the gradient is not the derivative of the result.

    Parameters
    ----------
    input : Tensor, shape [O, I, r, k, k]
        O filters of I planes with r orientations of k x k cells; any floating type. r is a power of
        two, at most 128, and k is 1 or 3.
    indices : Tensor, shape [r, k, k, R]
        The table for R rotations, 2, 4 or 8: places from 1 to r * k * k, int32 or int64.

    Returns
    -------
    Tensor, shape [O * R, I * r, k, k]
        Like `input`.

    Raises
    ------
    ValueError
        If an argument is not as described.

    References
    ----------
    Zhou et al.: Oriented Response Networks. CVPR 2017, arXiv:1701.01833.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> filters = torch.tensor([5.0, 7.0]).reshape(1, 1, 2, 1, 1)
    >>> indices = torch.tensor([[1, 2], [2, 1]]).reshape(2, 1, 1, 2)
    >>> pymluops.torch.active_rotated_filter(filters, indices).flatten().tolist()
    [5.0, 7.0, 7.0, 5.0]
    """
    return cast("Tensor", (_ROTATE.through_torch if compiling() else _ROTATE.direct)(input, indices))
