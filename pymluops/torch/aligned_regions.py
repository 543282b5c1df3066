"""RoIAlign: bilinear samples of regions of interest, from Mask R-CNN."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator
from pymluops.torch._modes import TracedModule
from pymluops.torch._numbers import flag
from pymluops.torch._pairs import pair
from pymluops.torch._region_formulas import bilinear_samples, fixed_grid, steps

__all__ = ["RoIAlign", "roi_align"]

_SAMPLE = {"B": 2, "H": 5, "W": 6, "spatial_scale": 0.5, "sampling_ratio": 2, "aligned": True}
_LAST = {"input": (0, 2, 3, 1), "out": (0, 3, 1, 2)}

_FORWARD = TorchOperator(described("roi_align_forward"), folds=False, sample=_SAMPLE)
_BACKWARD = TorchOperator(described("roi_align_backward"), folds=False, autocast=False, sample=_SAMPLE)
_FORWARD.differentiate(_BACKWARD, "grad_output", {"input": "out"}, linear=("input",))
_BACKWARD.differentiate(_FORWARD, "input", {"grad_output": "out"}, linear=("grad_output",))
_MAX_FORWARD = TorchOperator(described("roi_align_max_forward"), folds=False, sample=_SAMPLE)
_MAX_BACKWARD = TorchOperator(described("roi_align_max_backward"), folds=False, autocast=False, sample=_SAMPLE)
_MAX_FORWARD.differentiate(_MAX_BACKWARD, "grad_output", {"input": "out"})
_MAX_BACKWARD.refuse_gradient("the gradient of roi_align with pool_mode='max' cannot be differentiated again")


def _public(
    input: Tensor, rois: Tensor, height: int, width: int, scale: float, ratio: int, aligned: bool
) -> tuple[Tensor, Tensor, tuple[int, int], float, int, bool]:
    return input, rois, (height, width), scale, ratio, aligned


def _samples(
    input: Tensor, rois: Tensor, rows: int, columns: int, scale: float, ratio: int, aligned: bool
) -> tuple[Tensor, Tensor]:
    """Return the samples of each bin [R, C, ph, pw, S], and which regions are finite."""
    ratio = fixed_grid("roi_align", ratio)
    image, x1, y1, x2, y2 = rois.unbind(1)
    off = 0.5 if aligned else 0.0
    left, top = x1 * scale - off, y1 * scale - off
    width, height = (x2 * scale - off) - left, (y2 * scale - off) - top
    if not aligned:
        width, height = width.clamp(min=1), height.clamp(min=1)
    y = top[:, None, None] + steps(rows, ratio, input) * (height / rows)[:, None, None]
    x = left[:, None, None] + steps(columns, ratio, input) * (width / columns)[:, None, None]
    shape = (rois.shape[0], rows, columns, ratio, ratio)
    places = (y[:, :, None, :, None].expand(shape), x[:, None, :, None, :].expand(shape))
    finite = torch.isfinite(rois).all(1)[:, None, None, None]
    return bilinear_samples(input, image, *(place.flatten(3) for place in places)), finite


def _average_formula(input: Tensor, rois: Tensor, *numbers: Any) -> Tensor:
    samples, finite = _samples(input, rois, *numbers)
    return torch.where(finite, samples.mean(-1), torch.zeros_like(samples[..., 0]))


def _largest_formula(input: Tensor, rois: Tensor, *numbers: Any) -> Tensor:
    samples, finite = _samples(input, rois, *numbers)
    return torch.where(finite, samples.amax(-1), torch.zeros_like(samples[..., 0]))


_AVERAGE = TensorFunction(_FORWARD, orders=_LAST, public=_public, formula=_average_formula)
_LARGEST = TensorFunction(
    _MAX_FORWARD,
    orders=_LAST,
    shapes={"argmax_y": None, "argmax_x": None},
    public=_public,
    formula=_largest_formula,
    keywords={"pool_mode": "max"},
)


@_LARGEST
@_AVERAGE
def roi_align(
    input: Tensor,
    rois: Tensor,
    output_size: Sequence[int] | int,
    spatial_scale: float = 1.0,
    sampling_ratio: int = 0,
    aligned: bool | str = True,
    pool_mode: str | bool = "avg",
) -> Tensor:
    """Average bilinear samples in the bins of regions, or take the largest of them.

    Regions, bins and samples are those of `pymluops.roi_align_forward`. The gradient flows to
    `input` only.

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
    sampling_ratio : int
        Samples of a bin along an axis; 0 for a sample each pixel.
    aligned : bool
        Whether a pixel's centre is half a pixel from its corner, as it should be.
    pool_mode : str
        'avg' or 'max'. These two may also come in mmcv's order, `pool_mode` first.

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
    He et al.: Mask R-CNN. ICCV 2017, arXiv:1703.06870.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> features = torch.arange(16.0).reshape(1, 1, 4, 4)
    >>> pymluops.torch.roi_align(features, torch.tensor([[0.0, 0, 0, 4, 4]]), 2).flatten().tolist()
    [2.5, 4.5, 10.5, 12.5]
    """
    if isinstance(aligned, str):  # mmcv's order
        pool_mode, aligned = aligned, True if pool_mode == "avg" else pool_mode
    if pool_mode not in ("avg", "max"):
        raise ValueError(f"roi_align: pool_mode: expected 'avg' or 'max', got {pool_mode!r}")
    height, width = pair("roi_align", "mluopsExtRoiAlignForward", output_size)
    aligned = flag("roi_align", "aligned", aligned)
    arguments = (input, rois, height, width, spatial_scale, sampling_ratio, aligned)
    function = _LARGEST if pool_mode == "max" else _AVERAGE
    return cast("Tensor", (function.through_torch if compiling() else function.direct)(*arguments))


class RoIAlign(TracedModule):
    """`roi_align` as a module.

    Parameters
    ----------
    output_size : int or (int, int)
        Number of bins along y and x.
    spatial_scale : float
        Size of the map divided by the size of the image.
    sampling_ratio : int
        Samples of a bin along an axis; 0 for a sample each pixel.
    pool_mode : str
        'avg' or 'max'.
    aligned : bool
        Whether a pixel's centre is half a pixel from its corner, as it should be.
    use_torchvision : bool
        No effect.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> pool = pymluops.torch.RoIAlign(7, 0.25)
    >>> pool(torch.rand(1, 3, 20, 30), torch.tensor([[0.0, 2, 3, 50, 60]])).shape
    torch.Size([1, 3, 7, 7])
    """

    def __init__(
        self,
        output_size: Sequence[int] | int,
        spatial_scale: float = 1.0,
        sampling_ratio: int = 0,
        pool_mode: str = "avg",
        aligned: bool = True,
        use_torchvision: bool = False,
    ) -> None:
        super().__init__()
        self.output_size = pair("RoIAlign", "mluopsExtRoiAlignForward", output_size)
        self.spatial_scale = spatial_scale
        self.sampling_ratio = sampling_ratio
        self.aligned = aligned
        self.pool_mode = pool_mode
        self.use_torchvision = use_torchvision

    def forward(self, input: Tensor, rois: Tensor) -> Tensor:
        """Return the pooled samples of each bin."""
        numbers = (self.spatial_scale, self.sampling_ratio, self.aligned)
        return roi_align(input, rois, self.output_size, *numbers, self.pool_mode)

    def extra_repr(self) -> str:
        """Return the arguments."""
        return (
            f"output_size={self.output_size}, spatial_scale={self.spatial_scale}, "
            f"sampling_ratio={self.sampling_ratio}, pool_mode={self.pool_mode}, aligned={self.aligned}, "
            f"use_torchvision={self.use_torchvision}"
        )
