"""Psamask: the masks of the point-wise attention of PSANet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from pymluops import _arguments
from pymluops.ops._described import described
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator
from pymluops.torch._modes import TracedModule, sizes

__all__ = ["PSAMask", "psa_mask"]

_TYPES = {"collect": 0, "distribute": 1}
_NAMES = _arguments.Names("psa_mask", "mluOpPsamaskForward")

_FORWARD = TorchOperator(described("psamask_forward"), sample={"h_mask": 3, "w_mask": 2})
_BACKWARD = TorchOperator(described("psamask_backward"), autocast=False)
_FORWARD.differentiate(_BACKWARD, "dy", {"x": "out"}, linear=("x",))
_BACKWARD.differentiate(_FORWARD, "x", {"dy": "out"}, linear=("dy",))


def _formula(input: Tensor, collect: int, h_mask: int, w_mask: int) -> Tensor:
    """Gather the mask cell that each pair of positions meets in."""
    batch, _, height, width = input.shape
    rows, columns = torch.arange(height), torch.arange(width)
    i = (rows[:, None] - rows + (h_mask - 1) // 2)[:, None, :, None]  # [h2, w2, h, w]
    j = (columns[:, None] - columns + (w_mask - 1) // 2)[None, :, None, :]
    inside = (i >= 0) & (i < h_mask) & (j >= 0) & (j < w_mask)
    cells = i.clamp(0, h_mask - 1) * w_mask + j.clamp(0, w_mask - 1)
    cells = cells.reshape(1, height * width, height, width).expand(batch, height * width, height, width)
    spread = input.gather(1, cells) * inside.reshape(1, height * width, height, width).to(input.dtype)
    if not collect:  # what a position collects from another one, it gets from this
        spread = spread.reshape(batch, height * width, height * width).transpose(1, 2)
    return spread.reshape(batch, height * width, height, width)


def _check(input: Tensor, collect: int, h_mask: int, w_mask: int) -> None:
    assert input.ndim == 4, f"psa_mask: input: expected 4 dims, got {input.ndim}"
    given = sizes(input)[1]
    assert given == h_mask * w_mask, f"psa_mask: input: expected {h_mask * w_mask} channels, got {given}"


def _public(input: Tensor, collect: int, h_mask: int, w_mask: int) -> tuple[Any, ...]:
    return input, 1 - collect, (h_mask, w_mask)


# What the library lets targets collect, with channels last, is what positions distribute with
# channels first.
_PSA_MASK = TensorFunction(
    _FORWARD, orders={"x": (0, 2, 3, 1)}, shapes={"out": "N H*W H W"}, check=_check, formula=_formula, public=_public
)


@_PSA_MASK
def psa_mask(input: Tensor, psa_type: int | str, mask_size: int | Sequence[int]) -> Tensor:
    """Spread the mask of every position over the whole feature map.

    A mask is centred on its position. With ``h2 = i + h - (h_mask - 1) // 2``, and w2 alike, every
    mask cell (i, j) that falls on the map goes to::

        collect:     output[n, h2*W + w2, h,  w ] = input[n, i*w_mask + j, h, w]
        distribute:  output[n, h*W  + w,  h2, w2] = input[n, i*w_mask + j, h, w]

    Parameters
    ----------
    input : Tensor, shape [N, h_mask*w_mask, H, W]
        One mask for each position; any floating type.
    psa_type : {0, 1} or {"collect", "distribute"}
        Which way attention flows.
    mask_size : int or (int, int)
        Height and width of a mask.

    Returns
    -------
    Tensor, shape [N, H*W, H, W]
        Like `input`, contiguous.

    Raises
    ------
    AssertionError
        If the shape of `input` does not fit `mask_size`, or `psa_type` is unknown.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> x = torch.tensor([[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]).reshape(1, 3, 1, 2)  # a map of 1 x 2, masks of 1 x 3
    >>> pymluops.torch.psa_mask(x, 0, (1, 3))[0, :, 0].tolist()
    [[2.0, 4.0], [3.0, 5.0]]
    """
    distribute = _is_distribute(psa_type)
    if type(mask_size) is int and 0 < mask_size <= _arguments.INT32_MAX:
        h_mask = w_mask = mask_size
    else:
        h_mask, w_mask = _mask_sizes(mask_size)
    way = _PSA_MASK.through_torch if compiling() else _PSA_MASK.direct
    return way(input, 1 - distribute, h_mask, w_mask)


def _is_distribute(psa_type: Any) -> int:
    """Return 1 for the type "distribute" and 0 for "collect"."""
    found: Any = _TYPES.get(psa_type) if isinstance(psa_type, str) else psa_type
    if type(found) is not int and _arguments.is_integer(found):
        found = int(found)
    fits = type(found) is int and found in (0, 1)
    assert fits, f"psa_mask: psa_type: expected 0 (collect) or 1 (distribute), got {psa_type!r}"
    return found


def _mask_sizes(mask_size: Any) -> tuple[int, int]:
    """Return the height and the width of masks: one integer for both or two, of Python, NumPy or a tensor."""
    if compiling():  # integers may be symbols
        if isinstance(mask_size, int):
            return mask_size, mask_size
        if isinstance(mask_size, (tuple, list)) and len(mask_size) == 2:
            return mask_size[0], mask_size[1]
    height, width = _arguments.integers(_NAMES, "mask_size", mask_size, 2, 1)
    return height, width


class PSAMask(TracedModule):
    """`psa_mask` as a module.

    Parameters
    ----------
    psa_type : {"collect", "distribute"}
        Which way attention flows.
    mask_size : int or (int, int)
        Height and width of a mask.

    Raises
    ------
    AssertionError
        If `psa_type` is unknown.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> pymluops.torch.PSAMask("collect", (3, 3))(torch.rand(2, 9, 4, 5)).shape
    torch.Size([2, 20, 4, 5])
    """

    def __init__(self, psa_type: str, mask_size: int | Sequence[int]) -> None:
        super().__init__()
        assert psa_type in ("collect", "distribute"), f"PSAMask: psa_type: got {psa_type!r}"
        self.psa_type = psa_type
        self.mask_size = mask_size if type(mask_size) is int else _mask_sizes(mask_size)

    def forward(self, input: Tensor) -> Tensor:
        """Return the masks spread over the map."""
        return psa_mask(input, self.psa_type, self.mask_size)

    def extra_repr(self) -> str:
        """Return the arguments."""
        return f"psa_type={self.psa_type}, mask_size={self.mask_size}"
