"""RoIAlignRotated and RiRoIAlignRotated: bilinear samples of turned regions of interest."""

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

__all__ = ["riroi_align_rotated", "roi_align_rotated"]

_SAMPLE = {"B": 2, "H": 5, "W": 6, "spatial_scale": 0.5, "sampling_ratio": 2, "aligned": True, "clockwise": False}
_TURNING = {
    "B": 2,
    "H": 5,
    "W": 6,
    "C": 4,
    "spatial_scale": 0.5,
    "num_samples": 2,
    "num_orientations": 4,
    "clockwise": True,
}

_FORWARD = TorchOperator(described("roi_align_rotated_forward"), folds=False, sample=_SAMPLE)
_BACKWARD = TorchOperator(described("roi_align_rotated_backward"), folds=False, autocast=False, sample=_SAMPLE)
_FORWARD.differentiate(_BACKWARD, "top_grad", {"features": "out"}, linear=("features",))
_BACKWARD.differentiate(_FORWARD, "features", {"top_grad": "out"}, linear=("top_grad",))
_TURNING_FORWARD = TorchOperator(described("riroi_align_rotated_forward"), folds=False, sample=_TURNING)
_TURNING_BACKWARD = TorchOperator(
    described("riroi_align_rotated_backward"), folds=False, autocast=False, sample=_TURNING
)
_TURNING_FORWARD.differentiate(_TURNING_BACKWARD, "grad_output", {"input": "out"})
_TURNING_BACKWARD.refuse_gradient("the gradient of riroi_align_rotated cannot be differentiated again")


def _formula(
    features: Tensor, rois: Tensor, rows: int, columns: int, scale: float, ratio: int, aligned: bool, clockwise: bool
) -> Tensor:
    """Average the samples of each bin."""
    ratio = fixed_grid("roi_align_rotated", ratio)
    image, x, y, width, height, angle = rois.unbind(1)
    off = 0.5 if aligned else 0.0
    width, height = width * scale, height * scale
    if not aligned:
        width, height = width.clamp(min=1), height.clamp(min=1)
    angle = -angle if clockwise else angle
    shape = (rois.shape[0], rows, columns, ratio, ratio)
    up = (height[:, None, None] * (steps(rows, ratio, rois) / rows - 0.5))[:, :, None, :, None].expand(shape)
    right = (width[:, None, None] * (steps(columns, ratio, rois) / columns - 0.5))[:, None, :, None, :].expand(shape)
    up, right = up.flatten(3), right.flatten(3)
    sine, cosine, centre_y, centre_x = (
        one[:, None, None, None] for one in (angle.sin(), angle.cos(), y * scale - off, x * scale - off)
    )
    places = (up * cosine - right * sine + centre_y, up * sine + right * cosine + centre_x)
    means = bilinear_samples(features, image, *places).mean(-1)
    there = torch.isfinite(rois).all(1) & (width >= 0) & (height >= 0)
    return torch.where(there[:, None, None, None], means, torch.zeros_like(means))


def _turning_formula(
    input: Tensor, rois: Tensor, rows: int, columns: int, scale: float, ratio: int, orientations: int, clockwise: bool
) -> Tensor:
    """Average the samples, and mix each two orientations that the angle lies between."""
    means = _formula(input, rois, rows, columns, scale, ratio, False, clockwise)
    number = rois[:, 5] * orientations / (2 * torch.pi)
    part = (number - number.floor())[:, None, None, None, None]
    own = torch.arange(orientations)
    lower = torch.remainder(own - torch.nan_to_num(number.floor()).long()[:, None], orientations)
    upper = torch.remainder(lower + 1, orientations)
    count, channels = means.shape[0], means.shape[1] // orientations
    parts = means.reshape(count, channels, orientations, rows, columns)
    first, second = (parts.gather(2, place[:, None, :, None, None].expand_as(parts)) for place in (lower, upper))
    mixed = (first * (1 - part) + second * part).reshape(means.shape)
    return torch.where(torch.isfinite(rois).all(1)[:, None, None, None], mixed, torch.zeros_like(mixed))


def _public(maps: Tensor, rois: Tensor, rows: int, columns: int, *numbers: Any) -> tuple[Any, ...]:
    return maps, rois, (rows, columns), *numbers


_ALIGN = TensorFunction(
    _FORWARD, orders={"features": (0, 2, 3, 1), "out": (0, 3, 1, 2)}, public=_public, formula=_formula
)
_TURN = TensorFunction(
    _TURNING_FORWARD, orders={"input": (0, 2, 3, 1), "out": (0, 3, 1, 2)}, public=_public, formula=_turning_formula
)


@_ALIGN
def roi_align_rotated(
    input: Tensor,
    rois: Tensor,
    output_size: Sequence[int] | int,
    spatial_scale: float = 1.0,
    sampling_ratio: int = 0,
    aligned: bool = True,
    clockwise: bool = False,
) -> Tensor:
    """Average bilinear samples in the bins of turned regions.

    Regions, bins and samples are those of `pymluops.roi_align_rotated_forward`. The gradient flows
    to `input` only.

    Parameters
    ----------
    input : Tensor, shape [B, C, H, W]
        Feature maps of B images; any floating type.
    rois : Tensor, shape [R, 6], like `input`
        Number of the image, x and y of the centre, width, height in pixels of the image, angle in
        radians.
    output_size : int or (int, int)
        Number of bins along y and x, > 0.
    spatial_scale : float
        Size of the map divided by the size of the image, at least 0.
    sampling_ratio : int
        Samples of a bin along an axis, at most 256; 0 for a sample each pixel.
    aligned : bool
        Whether a pixel's centre is half a pixel from its corner, as it should be.
    clockwise : bool
        Whether angles go from y to x.

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
    Xie et al.: Oriented R-CNN. ICCV 2021, arXiv:2108.05699.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> features = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    >>> rois = torch.tensor([[0, 0.5, 0.5, 1, 1, 0]])
    >>> pymluops.torch.roi_align_rotated(features, rois, 2, 1.0, 2).flatten().tolist()
    [1.0, 1.25, 1.5, 1.75]
    """
    height, width = pair("roi_align_rotated", "mluOpRoiAlignRotatedForward", output_size)
    arguments = (input, rois, height, width, spatial_scale, sampling_ratio, aligned, clockwise)
    return cast("Tensor", (_ALIGN.through_torch if compiling() else _ALIGN.direct)(*arguments))


@_TURN
def riroi_align_rotated(
    input: Tensor,
    rois: Tensor,
    output_size: Sequence[int] | int,
    spatial_scale: float,
    num_samples: int = 0,
    num_orientations: int = 8,
    clockwise: bool = False,
) -> Tensor:
    """Average bilinear samples in the bins of turned regions, and turn the orientations of the channels as well.

    `pymluops.riroi_align_rotated_forward` describes the computation. The gradient flows to `input`
    only.

    Parameters
    ----------
    input : Tensor, shape [B, C, H, W]
        Feature maps of B images; the orientations of a channel follow each other. Any floating
        type.
    rois : Tensor, shape [R, 6], like `input`
        Number of the image, x and y of the centre, width, height in pixels of the image, angle in
        radians.
    output_size : int or (int, int)
        Number of bins along y and x, > 0.
    spatial_scale : float
        Size of the map divided by the size of the image, > 0.
    num_samples : int
        Samples of a bin along an axis, at most 256; 0 for a sample each pixel.
    num_orientations : int
        Orientations of a channel, a divisor of C, at most 256.
    clockwise : bool
        Whether angles go from y to x.

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
    Han et al.: ReDet: A Rotation-equivariant Detector for Aerial Object Detection. CVPR 2021,
    arXiv:2103.07733.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> features = torch.arange(4.0).reshape(1, 4, 1, 1)
    >>> rois = torch.tensor([[0, 0, 0, 1, 1, torch.pi / 2]])
    >>> pymluops.torch.riroi_align_rotated(features, rois, 1, 1.0, 1, 4).round().flatten().tolist()
    [3.0, 0.0, 1.0, 2.0]
    """
    height, width = pair("riroi_align_rotated", "mluopsExtRiRoiAlignRotatedForward", output_size)
    arguments = (input, rois, height, width, spatial_scale, num_samples, num_orientations, clockwise)
    return cast("Tensor", (_TURN.through_torch if compiling() else _TURN.direct)(*arguments))
