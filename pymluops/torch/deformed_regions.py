"""DeformRoIPool: bilinear samples of regions of interest whose bins are moved, with gradients for maps and offsets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator
from pymluops.torch._pairs import pair
from pymluops.torch._region_formulas import bilinear_samples, fixed_grid, steps

__all__ = ["deform_roi_pool"]

# Numbers of images are not whole, so that a small step leads to no other image.
_ROIS = [[0.5, 1.2, 0.7, 6.3, 8.1], [1.5, -1.3, 2.2, 9.4, 6.6], [1.5, 3.1, 1.4, 5.2, 4.7], [0.5, 2.3, 3.6, 14.1, 12.2]]
_SAMPLE = {
    "B": 2, "R": 4, "H": 5, "W": 6, "spatial_scale": 0.5, "sampling_ratio": 2, "gamma": 0.25, "rois": _ROIS,
}  # fmt: skip

_FORWARD = TorchOperator(described("deform_roi_pool_forward"), folds=False, sample=_SAMPLE)
_BACKWARD = TorchOperator(described("deform_roi_pool_exact_backward"), folds=False, autocast=False, sample=_SAMPLE)
_FORWARD.differentiate(_BACKWARD, "grad_output", {"input": "grad_input", "offset": "grad_offset"}, linear=("input",))
_BACKWARD.refuse_gradient("the gradient of deform_roi_pool cannot be differentiated again")


def _formula(
    input: Tensor, rois: Tensor, offset: Tensor, rows: int, columns: int, scale: float, ratio: int, gamma: float
) -> Tensor:
    """Average the samples of each bin."""
    ratio = fixed_grid("deform_roi_pool", ratio)
    image, x1, y1, x2, y2 = rois.unbind(1)
    left, top = x1 * scale - 0.5, y1 * scale - 0.5
    width, height = (x2 * scale - 0.5) - left, (y2 * scale - 0.5) - top
    y = top[:, None, None] + steps(rows, ratio, rois) * (height / rows)[:, None, None]
    x = left[:, None, None] + steps(columns, ratio, rois) * (width / columns)[:, None, None]
    right, down = (offset * gamma).unbind(1)
    shape = (rois.shape[0], rows, columns, ratio, ratio)
    y = y[:, :, None, :, None] + (down * height[:, None, None])[:, :, :, None, None]
    x = x[:, None, :, None, :] + (right * width[:, None, None])[:, :, :, None, None]
    means = bilinear_samples(input, image, y.expand(shape).flatten(3), x.expand(shape).flatten(3)).mean(-1)
    return torch.where(torch.isfinite(rois).all(1)[:, None, None, None], means, torch.zeros_like(means))


def _public(input: Tensor, rois: Tensor, offset: Tensor, rows: int, columns: int, *numbers: Any) -> tuple[Any, ...]:
    return input, rois, offset, (rows, columns), *numbers


_POOL = TensorFunction(_FORWARD, orders={"input": (0, 2, 3, 1), "out": (0, 3, 1, 2)}, public=_public, formula=_formula)


@_POOL
def deform_roi_pool(
    input: Tensor,
    rois: Tensor,
    offset: Tensor | None,
    output_size: Sequence[int] | int,
    spatial_scale: float = 1.0,
    sampling_ratio: int = 0,
    gamma: float = 0.1,
) -> Tensor:
    """Average bilinear samples in the bins of regions, each of which an offset moves.

    Regions, bins and samples are those of `pymluops.deform_roi_pool_forward`. The gradient flows to
    `input` and `offset`, and is the true one, also for samples beside the outermost pixels.

    Parameters
    ----------
    input : Tensor, shape [B, C, H, W]
        Feature maps of B images; any floating type.
    rois : Tensor, shape [R, 5], like `input`
        Number of the image, x1, y1, x2, y2 in pixels of the image.
    offset : Tensor, shape [R, 2, ph, pw], like `input`, or None
        How far each bin moves, x before y: times `gamma` and the size of the region. None for no
        moves.
    output_size : int or (int, int)
        Number of bins along y and x, > 0.
    spatial_scale : float
        Size of the map divided by the size of the image.
    sampling_ratio : int
        Samples of a bin along an axis, at most 256; 0 for a sample each pixel.
    gamma : float
        What the offsets are multiplied with.

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
    Dai et al.: Deformable Convolutional Networks. ICCV 2017, arXiv:1703.06211.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> features, rois = torch.arange(16.0).reshape(1, 1, 4, 4), torch.tensor([[0.0, 1, 1, 3, 3]])
    >>> offset = torch.tensor([[[[0.5]], [[0.0]]]])  # half of the width to the right
    >>> [pymluops.torch.deform_roi_pool(features, rois, one, 1, gamma=1.0).item() for one in (None, offset)]
    [7.5, 8.5]
    """
    height, width = pair("deform_roi_pool", "mluOpDeformRoiPoolForward", output_size)
    if offset is None and torch.is_tensor(rois):
        offset = rois.new_zeros(*rois.shape[:1], 2, height, width)
    arguments = (input, rois, offset, height, width, spatial_scale, sampling_ratio, gamma)
    return cast("Tensor", (_POOL.through_torch if compiling() else _POOL.direct)(*arguments))
