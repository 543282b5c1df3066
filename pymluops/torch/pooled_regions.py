"""RoIPool: the largest pixel in the bins of regions of interest, from Fast R-CNN."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator
from pymluops.torch._modes import TracedModule
from pymluops.torch._pairs import pair

__all__ = ["RoIPool", "roi_pool"]

_SAMPLE = {"B": 2, "H": 5, "W": 6, "spatial_scale": 0.5}

_FORWARD = TorchOperator(described("roi_pool_forward"), folds=False, sample=_SAMPLE)
_BACKWARD = TorchOperator(described("roi_pool_backward"), folds=False, autocast=False, sample=_SAMPLE)
_FORWARD.differentiate(_BACKWARD, "grad_output", {"input": "out"})
_BACKWARD.refuse_gradient("the gradient of roi_pool cannot be differentiated again")


def _nearest(value: Tensor) -> Tensor:
    return value.sign() * (value.abs() + 0.5).floor()


def _inside(low: Tensor, high: Tensor, scale: float, rounded: bool, bins: int, size: int) -> Tensor:
    """Return [R, bins, size]: whether a bin has a pixel of an axis."""
    if rounded:
        start, length = _nearest(low * scale), (_nearest(high * scale) - _nearest(low * scale) + 1).clamp(min=1)
    else:
        start, length = low * scale, (high + 1) * scale - low * scale
    step = (length / bins)[:, None]
    number, pixel = torch.arange(bins).to(low.dtype), torch.arange(size).to(low.dtype)
    begin, end = number * step, (number + 1) * step
    if rounded:
        begin, end = begin.floor() + start[:, None], end.ceil() + start[:, None]
    else:
        begin, end = (begin + start[:, None]).floor(), (end + start[:, None]).ceil()
    has = (length > 0)[:, None, None]
    return has & (pixel >= begin[..., None]) & (pixel < end[..., None])


def _formula(input: Tensor, rois: Tensor, rows: int, columns: int, scale: float, rounded: bool) -> Tensor:
    """Take the largest pixel along each axis, of those that bins have."""
    batch, _, height, width = input.shape
    image, x1, y1, x2, y2 = rois.unbind(1)
    there = ((image > -1) & (image < batch) & torch.isfinite(rois).all(1))[:, None, None]
    inside_y = _inside(y1, y2, scale, rounded, rows, height) & there
    inside_x = _inside(x1, x2, scale, rounded, columns, width) & there
    images = input.index_select(0, torch.nan_to_num(image).clamp(0, batch - 1).long())
    lowest = torch.full_like(images[:1, :1, :1, :1], -torch.inf)[0, 0, 0, 0]
    narrow = torch.where(inside_x[:, None, None], images[:, :, :, None], lowest).amax(-1)
    result = torch.where(inside_y[:, None, :, :, None], narrow[:, :, None], lowest).amax(3)
    has = inside_y.any(-1)[:, None, :, None] & inside_x.any(-1)[:, None, None]
    return torch.where(has, result, torch.zeros_like(result))


_POOL = TensorFunction(
    _FORWARD,
    orders={"input": (0, 2, 3, 1), "out": (0, 3, 1, 2)},
    shapes={"argmax": None},
    formula=_formula,
    public=lambda input, rois, rows, columns, scale, rounded: (input, rois, (rows, columns), scale, rounded),
)


@_POOL
def roi_pool(
    input: Tensor,
    rois: Tensor,
    output_size: Sequence[int] | int,
    spatial_scale: float = 1.0,
    rounded: bool = True,
) -> Tensor:
    """Take the largest pixel in each bin of regions.

    Regions and bins are those of `pymluops.roi_pool_forward`. The gradient flows to `input` only.

    Parameters
    ----------
    input : Tensor, shape [B, C, H, W]
        Feature maps of B images; any floating type.
    rois : Tensor, shape [R, 5], like `input`
        Number of the image, x1, y1, x2, y2 in pixels of the image.
    output_size : int or (int, int)
        Number of bins along y and x, > 0.
    spatial_scale : float
        Size of the map divided by the size of the image, > 0.
    rounded : bool
        Whether corners are whole pixels of the map; mmcv's are not.

    Returns
    -------
    Tensor, shape [R, C, ph, pw]
        Like `input`, contiguous.

    Raises
    ------
    ValueError
        If an argument is not as described.

    References
    ----------
    Girshick: Fast R-CNN. ICCV 2015, arXiv:1504.08083.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> features = torch.arange(16.0).reshape(1, 1, 4, 4)
    >>> pymluops.torch.roi_pool(features, torch.tensor([[0.0, 0, 0, 3, 3]]), 2).flatten().tolist()
    [5.0, 7.0, 13.0, 15.0]
    """
    height, width = pair("roi_pool", "mluopsExtRoiPoolForward", output_size)
    arguments = (input, rois, height, width, spatial_scale, rounded)
    return cast("Tensor", (_POOL.through_torch if compiling() else _POOL.direct)(*arguments))


class RoIPool(TracedModule):
    """`roi_pool` as a module.

    Parameters
    ----------
    output_size : int or (int, int)
        Number of bins along y and x.
    spatial_scale : float
        Size of the map divided by the size of the image.
    rounded : bool
        Whether corners are whole pixels of the map.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> pool = pymluops.torch.RoIPool(7, 0.25)
    >>> pool(torch.rand(1, 3, 20, 30), torch.tensor([[0.0, 2, 3, 50, 60]])).shape
    torch.Size([1, 3, 7, 7])
    """

    def __init__(self, output_size: Sequence[int] | int, spatial_scale: float = 1.0, rounded: bool = True) -> None:
        super().__init__()
        self.output_size = output_size
        self.spatial_scale = spatial_scale
        self.rounded = rounded

    def forward(self, input: Tensor, rois: Tensor) -> Tensor:
        """Return the largest pixel of each bin."""
        return roi_pool(input, rois, self.output_size, self.spatial_scale, self.rounded)

    def extra_repr(self) -> str:
        """Return the arguments."""
        return f"output_size={self.output_size}, spatial_scale={self.spatial_scale}, rounded={self.rounded}"
