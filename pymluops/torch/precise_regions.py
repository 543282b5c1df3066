"""PrRoIPool: means of maps over regions of interest, with gradients for maps and regions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator
from pymluops.torch._pairs import pair

__all__ = ["prroi_pool"]

# Numbers of images are not whole, so that a small step leads to no other image.
_ROIS = [[0.5, 1.2, 0.7, 6.3, 8.1], [1.5, -1.3, 2.2, 9.4, 6.6], [1.5, 3.1, 1.4, 5.2, 4.7], [0.5, 2.3, 3.6, 14.1, 12.2]]
_SAMPLE = {"B": 2, "R": 4, "H": 5, "W": 6, "spatial_scale": 0.5, "rois": _ROIS}

_FORWARD = TorchOperator(described("prroi_pool_forward"), folds=False, sample=_SAMPLE)
_BACKWARD = TorchOperator(described("prroi_pool_backward"), folds=False, autocast=False, sample=_SAMPLE)
_COOR_BACKWARD = TorchOperator(described("prroi_pool_coor_backward"), folds=False, autocast=False, sample=_SAMPLE)
_FORWARD.differentiate(
    _BACKWARD, "grad_output", {"input": "out"}, more=((_COOR_BACKWARD, {"rois": "out"}),), linear=("input",)
)
for _gradient in (_BACKWARD, _COOR_BACKWARD):
    _gradient.refuse_gradient("the gradient of prroi_pool cannot be differentiated again")


def _shares(low: Tensor, length: Tensor, bins: int, size: int) -> Tensor:
    """Return [R, bins, size]: the share of each pixel of an axis in each bin."""
    pixel, step = torch.arange(size).to(low.dtype), (length / bins)[:, None, None]
    begin = low[:, None, None] + torch.arange(bins).to(low.dtype)[:, None] * step - pixel
    end = begin + step
    up, top, down, bottom = begin.clamp(-1, 0), end.clamp(-1, 0), begin.clamp(0, 1), end.clamp(0, 1)
    return (top - up) * (1 + (up + top) / 2) + (bottom - down) * (1 - (down + bottom) / 2)


def _formula(input: Tensor, rois: Tensor, rows: int, columns: int, scale: float) -> Tensor:
    """Weigh the pixels by their shares along each axis."""
    batch, _, height, width = input.shape
    image, x1, y1, x2, y2 = rois.unbind(1)
    across, down = ((high - low).clamp(min=0) * scale for low, high in ((x1, x2), (y1, y2)))
    area = down / rows * (across / columns)
    there = (image > -1) & (image < batch) & torch.isfinite(rois).all(1) & (area > 0)
    images = input.index_select(0, torch.nan_to_num(image).clamp(0, batch - 1).long())
    shares_y, shares_x = _shares(y1 * scale, down, rows, height), _shares(x1 * scale, across, columns, width)
    sums = torch.einsum("rih,rchw,rjw->rcij", shares_y, images, shares_x)
    means = sums / torch.where(there, area, torch.ones_like(area))[:, None, None, None]
    return torch.where(there[:, None, None, None], means, torch.zeros_like(means))


def _public(input: Tensor, rois: Tensor, rows: int, columns: int, scale: float) -> tuple[Any, ...]:
    return input, rois, (rows, columns), scale


_POOL = TensorFunction(_FORWARD, orders={"input": (0, 2, 3, 1), "out": (0, 3, 1, 2)}, public=_public, formula=_formula)


@_POOL
def prroi_pool(input: Tensor, rois: Tensor, output_size: Sequence[int] | int, spatial_scale: float = 1.0) -> Tensor:
    """Average maps over the bins of regions, by integrals instead of samples.

    `pymluops.prroi_pool_forward` describes the computation. The gradient flows to `input` and to
    the corners in `rois`.

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
    Jiang et al.: Acquisition of Localization Confidence for Accurate Object Detection. ECCV 2018,
    arXiv:1807.11590.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> features, rois = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), torch.tensor([[0.0, 0, 0, 1, 1]])
    >>> pymluops.torch.prroi_pool(features, rois, 2).flatten().tolist()
    [1.75, 2.25, 2.75, 3.25]
    """
    height, width = pair("prroi_pool", "mluopsExtPrRoiPoolForward", output_size)
    arguments = (input, rois, height, width, spatial_scale)
    return cast("Tensor", (_POOL.through_torch if compiling() else _POOL.direct)(*arguments))
