"""CARAFE: enlarging maps by weighted sums of windows."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator
from pymluops.torch._modes import TracedModule

__all__ = ["CARAFE", "carafe"]

_SIZES = {"H": 3, "W": 2, "C": 4, "kernel_size": 3, "group_size": 2, "scale_factor": 2}
_FORWARD = TorchOperator(described("carafe_forward"), sample=_SIZES)
_BACKWARD = TorchOperator(described("carafe_backward"), autocast=False)
_FORWARD.differentiate(_BACKWARD, "grad_output", {"input": "grad_input", "mask": "grad_mask"}, linear=("input", "mask"))
_BACKWARD.refuse_gradient("the gradient of carafe cannot be differentiated again")

_FIRST, _LAST = (0, 3, 1, 2), (0, 2, 3, 1)


def _formula(input: Tensor, mask: Tensor, kernel: int, groups: int, scale: int) -> Tensor:
    """Add up shifted maps, each weighted by its cell of the windows."""
    batch, channels, height, width = input.shape
    before = (kernel - 1) // 2
    after = kernel - 1 - before
    rows = [input.new_zeros((batch, channels, count, width)) for count in (before, after)]
    padded = torch.cat((rows[0], input, rows[1]), 2)
    columns = [input.new_zeros((batch, channels, height + kernel - 1, count)) for count in (before, after)]
    padded = torch.cat((columns[0], padded, columns[1]), 3)
    weights = mask.reshape(batch, groups, kernel * kernel, 1, height, scale, width, scale)
    total: Any = 0
    for cell in range(kernel * kernel):
        row, column = divmod(cell, kernel)
        part = padded[:, :, row : row + height, column : column + width]
        part = part.reshape(batch, groups, channels // groups, height, 1, width, 1)
        total = total + part * weights[:, :, cell]
    found: Tensor = total.reshape(batch, channels, height * scale, width * scale)
    return found


_ENLARGE = TensorFunction(_FORWARD, orders={"input": _LAST, "mask": _LAST, "out": _FIRST}, formula=_formula)


@_ENLARGE
def carafe(features: Tensor, masks: Tensor, kernel_size: int, group_size: int, scale_factor: int) -> Tensor:
    """Enlarge maps by weighted sums of windows: `carafe` and `carafe_naive` of mmcv.

    `pymluops.carafe_forward` has the formula. Gradients flow to both tensors.

    Parameters
    ----------
    features : Tensor, shape [N, C, H, W]
        Maps of any floating type.
    masks : Tensor, shape [N, group_size * kernel_size**2, scale_factor * H, scale_factor * W]
        Weights of the windows, like `features`.
    kernel_size : int
        Side of a window.
    group_size : int
        Groups of channels with weights of their own.
    scale_factor : int
        How many times as high and as wide the result is.

    Returns
    -------
    Tensor, shape [N, C, scale_factor * H, scale_factor * W]
        Like `features`.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> maps, masks = torch.tensor([1.0, 2, 4]).reshape(1, 1, 1, 3), torch.zeros(1, 9, 1, 3)
    >>> masks[:, [3, 5]] = 1
    >>> pymluops.torch.carafe(maps, masks, 3, 1, 1).flatten().tolist()
    [2.0, 5.0, 2.0]
    """
    call = _ENLARGE.through_torch if compiling() else _ENLARGE.direct
    found: Tensor = call(features, masks, kernel_size, group_size, scale_factor)
    return found


class CARAFE(TracedModule):
    """`carafe` as a module, like `mmcv.ops.CARAFE`.

    Parameters
    ----------
    kernel_size, group_size, scale_factor : int
        As in `carafe`.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> pymluops.torch.CARAFE(5, 1, 2)(torch.rand(1, 4, 3, 3), torch.rand(1, 25, 6, 6)).shape
    torch.Size([1, 4, 6, 6])
    """

    def __init__(self, kernel_size: int, group_size: int, scale_factor: int) -> None:
        super().__init__()
        self.kernel_size, self.group_size, self.scale_factor = kernel_size, group_size, scale_factor

    def forward(self, features: Tensor, masks: Tensor) -> Tensor:
        """Return `carafe` of the tensors."""
        return carafe(features, masks, self.kernel_size, self.group_size, self.scale_factor)
