"""PsRoiPool: the position-sensitive pooling of R-FCN."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator
from pymluops.torch._modes import TracedModule, is_overridden, override, sizes
from pymluops.torch._numbers import whole

__all__ = ["PSRoIPool", "ps_roi_pool"]

_FORWARD = TorchOperator(described("ps_roi_pool_forward"), folds=False)
_BACKWARD = TorchOperator(described("ps_roi_pool_backward"), folds=False, autocast=False)
_FORWARD.differentiate(_BACKWARD, "top_grad", {"input": "out"})
_BACKWARD.refuse_gradient("the gradient of ps_roi_pool cannot be differentiated again")


def _inside(low: Tensor, high: Tensor, scale: float, bins: int, size: int) -> Tensor:
    """Return [R, bins, size]: 1 where a bin has a pixel of an axis, else 0."""
    first, last = (corner.sign() * (corner.abs() + 0.5).floor() for corner in (low, high))
    start = (first * scale)[:, None]
    step = ((last + 1)[:, None] * scale - start).clamp(min=0.1) / bins
    number, pixel = torch.arange(bins).to(low.dtype), torch.arange(size).to(low.dtype)
    begin = (number * step + start).floor()[..., None]
    end = ((number + 1) * step + start).ceil()[..., None]
    return ((pixel >= begin) & (pixel < end)).to(low.dtype)


def _formula(input: Tensor, rois: Tensor, bins: int, _width: int, scale: float, _group: int, depth: int) -> Tensor:
    """Multiply the image of each region with the pixels of its bins, along each axis."""
    batch, _, height, width = input.shape
    image, x1, y1, x2, y2 = rois.unbind(1)
    rows, columns = _inside(y1, y2, scale, bins, height), _inside(x1, x2, scale, bins, width)
    images = input.index_select(0, image.clamp(0, batch - 1).long())
    parts = images.reshape(rois.shape[0], depth, bins, bins, height, width)
    total = torch.einsum("rdijhw,rih,rjw->rdij", parts, rows, columns)
    area = rows.sum(2)[:, None, :, None] * columns.sum(2)[:, None, None, :]
    there = ((image > -1) & (image < batch)).to(input.dtype)
    return total / area.clamp(min=1) * there[:, None, None, None]


_POOL = TensorFunction(
    _FORWARD,
    orders={"input": (0, 2, 3, 1), "out": (0, 3, 1, 2)},
    shapes={"mapping_channel": None},
    formula=_formula,
    public=lambda input, rois, height, _width, scale, _group, _depth: (input, rois, height, scale),
)


@_POOL
def ps_roi_pool(input: Tensor, rois: Tensor, output_size: int, spatial_scale: float = 1.0) -> Tensor:
    """Average the pixels of each bin of each region, each bin in channels of its own.

    The bins are those of `pymluops.ps_roi_pool_forward`: corners are rounded in pixels of the
    image, before they are scaled, where ``torchvision.ops.ps_roi_pool`` rounds them after that. The
    gradient flows to `input` only.

    Parameters
    ----------
    input : Tensor, shape [B, D * output_size**2, H, W]
        Feature maps of B images; any floating type.
    rois : Tensor, shape [R, 5], like `input`
        Number of the image, x1, y1, x2, y2 in pixels of the image.
    output_size : int
        Number of bins along an axis, > 0.
    spatial_scale : float
        Size of the map divided by the size of the image, > 0.

    Returns
    -------
    Tensor, shape [R, D, output_size, output_size]
        Like `input`, contiguous.

    Raises
    ------
    ValueError
        If an argument is not as described.

    References
    ----------
    Dai et al.: R-FCN: Object Detection via Region-based Fully Convolutional Networks. NIPS 2016,
    arXiv:1605.06409.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> features = torch.arange(4.0).reshape(1, 4, 1, 1).expand(1, 4, 2, 2)
    >>> pymluops.torch.ps_roi_pool(features, torch.tensor([[0.0, 0, 0, 1, 1]]), 2).flatten().tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    if is_overridden((input, rois)):  # such as what torch.fx follows, which has no sizes
        return cast("Tensor", override(ps_roi_pool, (input, rois), input, rois, output_size, spatial_scale))
    output_size = whole("ps_roi_pool", "output_size", output_size, 1)
    shape, square = sizes(input), output_size * output_size
    if len(shape) != 4 or shape[1] % square:
        raise ValueError(f"ps_roi_pool: input: expected [B, D*{output_size}*{output_size}, H, W], got {[*shape]}")
    arguments = (input, rois, output_size, output_size, spatial_scale, output_size, shape[1] // square)
    return (_POOL.through_torch if compiling() else _POOL.direct)(*arguments)


class PSRoIPool(TracedModule):
    """`ps_roi_pool` as a module.

    Parameters
    ----------
    output_size : int
        Number of bins along an axis.
    spatial_scale : float
        Size of the map divided by the size of the image.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> pool = pymluops.torch.PSRoIPool(3, 0.25)
    >>> pool(torch.rand(1, 18, 5, 6), torch.tensor([[0.0, 2, 3, 15, 16]])).shape
    torch.Size([1, 2, 3, 3])
    """

    def __init__(self, output_size: int, spatial_scale: float = 1.0) -> None:
        super().__init__()
        self.output_size = output_size
        self.spatial_scale = spatial_scale

    def forward(self, input: Tensor, rois: Tensor) -> Tensor:
        """Return the mean of each bin."""
        return ps_roi_pool(input, rois, self.output_size, self.spatial_scale)

    def extra_repr(self) -> str:
        """Return the arguments."""
        return f"output_size={self.output_size}, spatial_scale={self.spatial_scale}"
