"""BorderAlign: the features along the borders of boxes of BorderDet."""

from __future__ import annotations

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator
from pymluops.torch._modes import TracedModule, sizes

__all__ = ["BorderAlign", "border_align"]

_FORWARD = TorchOperator(described("border_align_forward"), sample={"H": 5, "W": 6, "C": 2, "pool_size": 3})
_BACKWARD = TorchOperator(described("border_align_backward"), autocast=False)
_FORWARD.differentiate(_BACKWARD, "grad_output", {"input": "out"})
_BACKWARD.refuse_gradient("the gradient of border_align cannot be differentiated again")


def _formula(input: Tensor, boxes: Tensor, pool_size: int) -> Tensor:
    """Take the largest of all samples along each border."""
    batch, channels, height, width = input.shape
    x1, y1, x2, y2 = boxes.unbind(-1)
    step_x, step_y = (x2 - x1) / pool_size, (y2 - y1) / pool_size
    still = torch.zeros_like(step_x)
    number = torch.arange(pool_size + 1).to(boxes.dtype)
    x = (
        torch.stack([x1, x1, x2, x2], 1)[..., None]
        + torch.stack([step_x, still, -step_x, still], 1)[..., None] * number
    )
    y = (
        torch.stack([y1, y1, y2, y2], 1)[..., None]
        + torch.stack([still, step_y, still, -step_y], 1)[..., None] * number
    )
    pixels = input.reshape(batch, 4, channels // 4, height * width)
    left, right, part_x = _pixels(x, width)
    upper, lower, part_y = _pixels(y, height)
    total = torch.zeros_like(x)[:, :, None]
    for row, along_y in ((upper, 1 - part_y), (lower, part_y)):
        for column, along_x in ((left, 1 - part_x), (right, part_x)):
            places = (row * width + column).flatten(2)[:, :, None].expand(-1, -1, channels // 4, -1)
            values = pixels.gather(3, places).reshape(batch, 4, channels // 4, boxes.shape[1], pool_size + 1)
            total = total + values * (along_y * along_x)[:, :, None]
    inside = (y >= -1) & (y <= height) & (x >= -1) & (x <= width)
    return torch.where(inside[:, :, None], total, torch.zeros_like(total)).amax(-1).permute(0, 2, 3, 1)


def _pixels(position: Tensor, size: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return the pixels below and above a position on a map, and how far it is from the one below."""
    position = position.clamp(0, size - 1)
    low = position.floor()
    return low.long(), (low + 1).clamp(max=size - 1).long(), position - low


def _check(input: Tensor, boxes: Tensor, pool_size: int) -> None:
    shape, map_shape = sizes(boxes), sizes(input)
    assert len(shape) == 3, f"border_align: boxes: expected [N, K, 4], got {[*shape]}"
    assert shape[2] == 4, f"border_align: boxes: expected [N, K, 4], got {[*shape]}"
    fits = len(map_shape) == 4 and map_shape[1] % 4 == 0
    assert fits, f"border_align: input: expected [N, 4*C, H, W], got {[*map_shape]}"


_BORDER_ALIGN = TensorFunction(
    _FORWARD,
    orders={"input": (0, 2, 3, 1), "out": (0, 3, 1, 2)},
    shapes={"argmax_idx": None},
    check=_check,
    formula=_formula,
)


@_BORDER_ALIGN
def border_align(input: Tensor, boxes: Tensor, pool_size: int) -> Tensor:
    """Take the largest of ``pool_size + 1`` samples along each border of each box.

    Border e (0 top, 1 left, 2 bottom, 3 right) samples channels ``e*C`` to ``(e+1)*C`` by bilinear
    interpolation, as `pymluops.border_align_forward` describes. The gradient flows to `input` only.

    Parameters
    ----------
    input : Tensor, shape [N, 4*C, H, W]
        Feature map, C channels for each border; any floating type.
    boxes : Tensor, shape [N, K, 4], like `input`
        x1, y1, x2, y2 in pixels of the feature map.
    pool_size : int
        Number of steps along a border, > 0.

    Returns
    -------
    Tensor, shape [N, C, K, 4]
        Like `input`, contiguous.

    Raises
    ------
    AssertionError
        If a shape is not as described.
    ValueError
        If the library refuses an argument.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> features = torch.arange(9.0).reshape(1, 1, 3, 3).repeat(1, 4, 1, 1)
    >>> pymluops.torch.border_align(features, torch.tensor([[[0.0, 0.0, 2.0, 2.0]]]), 2).flatten().tolist()
    [2.0, 6.0, 8.0, 8.0]
    """
    return (_BORDER_ALIGN.through_torch if compiling() else _BORDER_ALIGN.direct)(input, boxes, pool_size)


class BorderAlign(TracedModule):
    """`border_align` as a module.

    Parameters
    ----------
    pool_size : int
        Number of steps along a border.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> pymluops.torch.BorderAlign(10)(torch.rand(1, 8, 5, 6), torch.rand(1, 30, 4)).shape
    torch.Size([1, 2, 30, 4])
    """

    def __init__(self, pool_size: int) -> None:
        super().__init__()
        self.pool_size = pool_size

    def forward(self, input: Tensor, boxes: Tensor) -> Tensor:
        """Return the largest sample of each border."""
        return border_align(input, boxes, self.pool_size)

    def extra_repr(self) -> str:
        """Return the argument."""
        return f"pool_size={self.pool_size}"
