"""BezierAlign: bilinear samples of regions between two curves, with a gradient for the maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator
from pymluops.torch._pairs import pair
from pymluops.torch._region_formulas import bilinear_samples, fixed_grid

__all__ = ["bezier_align"]

_SAMPLE = {"B": 2, "H": 5, "W": 6, "spatial_scale": 0.5, "sampling_ratio": 2, "aligned": True}

_FORWARD = TorchOperator(described("bezier_align_forward"), folds=False, sample=_SAMPLE)
_BACKWARD = TorchOperator(described("bezier_align_backward"), folds=False, autocast=False, sample=_SAMPLE)
_FORWARD.differentiate(_BACKWARD, "grad_output", {"input": "out"}, linear=("input",))
_BACKWARD.differentiate(_FORWARD, "input", {"grad_output": "out"}, linear=("grad_output",))


def _formula(input: Tensor, rois: Tensor, rows: int, columns: int, scale: float, ratio: int, aligned: bool) -> Tensor:
    """Average the samples around places between the curves."""
    ratio = fixed_grid("bezier_align", ratio)
    points = rois[:, 1:].unflatten(1, (8, 2)) * scale
    upper, lower = points[:, :4], points[:, 4:].flip(1)
    extent = torch.maximum((upper[:, 0] - upper[:, 3]).abs(), (lower[:, 0] - lower[:, 3]).abs())
    extent = extent if aligned else extent.clamp(min=1)
    u, v = (torch.arange(count).to(rois.dtype) / count for count in (columns, rows))
    weights = torch.stack([(1 - u) ** 3, 3 * u * (1 - u) ** 2, 3 * u**2 * (1 - u), u**3])
    top, bottom = (torch.einsum("kj,rkd->rjd", weights, curve)[:, None] for curve in (upper, lower))
    down = v[:, None, None]
    centre = down * bottom + (1 - down) * top - (0.5 if aligned else 0.0)
    part = (torch.arange(ratio).to(rois.dtype) + 0.5) / ratio - 0.5
    shape = (rois.shape[0], rows, columns, ratio, ratio)
    x = centre[..., 0, None, None] + (extent[:, 0, None] / columns * part)[:, None, None, None, :]
    y = centre[..., 1, None, None] + (extent[:, 1, None] / rows * part)[:, None, None, :, None]
    means = bilinear_samples(input, rois[:, 0], y.expand(shape).flatten(3), x.expand(shape).flatten(3)).mean(-1)
    return torch.where(torch.isfinite(rois).all(1)[:, None, None, None], means, torch.zeros_like(means))


def _public(input: Tensor, rois: Tensor, rows: int, columns: int, *numbers: Any) -> tuple[Any, ...]:
    return input, rois, (rows, columns), *numbers


_ALIGN = TensorFunction(_FORWARD, orders={"input": (0, 2, 3, 1), "out": (0, 3, 1, 2)}, public=_public, formula=_formula)


@_ALIGN
def bezier_align(
    input: Tensor,
    rois: Tensor,
    output_size: Sequence[int] | int,
    spatial_scale: float = 1.0,
    sampling_ratio: int = 0,
    aligned: bool = True,
) -> Tensor:
    """Average bilinear samples in the bins between two Bezier curves.

    Regions, bins and samples are those of `pymluops.bezier_align_forward`. The gradient flows to
    `input` only.

    Parameters
    ----------
    input : Tensor, shape [B, C, H, W]
        Feature maps of B images; any floating type.
    rois : Tensor, shape [R, 17], like `input`
        Number of the image, then x and y of eight points in pixels of the image: those of the upper
        curve from left to right, and those of the lower one from right to left.
    output_size : int or (int, int)
        Number of bins along y and x, > 0.
    spatial_scale : float
        Size of the map divided by the size of the image, > 0.
    sampling_ratio : int
        Samples of a bin along an axis, at most 256; 0 for a sample each pixel.
    aligned : bool
        Whether a pixel's centre is half a pixel from its corner, as it should be.

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
    Liu et al.: ABCNet: Real-time Scene Text Spotting with Adaptive Bezier-Curve Network. CVPR 2020,
    arXiv:2002.10200.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> features = torch.tensor([[[[1.0, 2, 5], [3, 4, 7]]]])
    >>> rois = torch.tensor([[0.0, 0, 0, 1, 0, 2, 0, 3, 0, 3, 2, 2, 2, 1, 2, 0, 2]])
    >>> pymluops.torch.bezier_align(features, rois, 2, 1.0, 1, aligned=False).flatten().tolist()
    [1.0, 3.5, 3.0, 5.5]
    """
    height, width = pair("bezier_align", "mluopsExtBezierAlignForward", output_size)
    arguments = (input, rois, height, width, spatial_scale, sampling_ratio, aligned)
    return cast("Tensor", (_ALIGN.through_torch if compiling() else _ALIGN.direct)(*arguments))
