"""Pools of regions as modules, with the arguments of mmcv's."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from pymluops.torch._modes import TracedModule
from pymluops.torch._pairs import pair
from pymluops.torch.bezier_regions import bezier_align
from pymluops.torch.precise_regions import prroi_pool
from pymluops.torch.turned_regions import riroi_align_rotated, roi_align_rotated

__all__ = ["BezierAlign", "PrRoIPool", "RiRoIAlignRotated", "RoIAlignRotated"]


class PrRoIPool(TracedModule):
    """`prroi_pool` as a module, like `mmcv.ops.PrRoIPool`.

    Parameters
    ----------
    output_size : int or (int, int)
        Number of bins along y and x.
    spatial_scale : float
        Size of the map divided by the size of the image.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> pool = pymluops.torch.PrRoIPool(7, 0.25)
    >>> pool(torch.rand(1, 3, 20, 30), torch.tensor([[0.0, 2, 3, 50, 60]])).shape
    torch.Size([1, 3, 7, 7])
    """

    def __init__(self, output_size: Sequence[int] | int, spatial_scale: float = 1.0) -> None:
        super().__init__()
        self.output_size = pair("PrRoIPool", "mluopsExtPrRoiPoolForward", output_size)
        self.spatial_scale = float(spatial_scale)

    def forward(self, features: Tensor, rois: Tensor) -> Tensor:
        """Return the mean of each bin."""
        return prroi_pool(features, rois, self.output_size, self.spatial_scale)

    def extra_repr(self) -> str:
        """Return the arguments."""
        return f"output_size={self.output_size}, spatial_scale={self.spatial_scale}"


class RoIAlignRotated(TracedModule):
    """`roi_align_rotated` as a module, like `mmcv.ops.RoIAlignRotated`.

    Parameters
    ----------
    output_size : int or (int, int)
        Number of bins along the sides of a region.
    spatial_scale : float
        Size of the map divided by the size of the image.
    sampling_ratio : int
        Samples of a bin along an axis; 0 for a sample each pixel.
    aligned : bool
        Whether a pixel's centre is half a pixel from its corner, as it should be.
    clockwise : bool
        Whether positive angles turn clockwise.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> pool = pymluops.torch.RoIAlignRotated(7, 0.25)
    >>> pool(torch.rand(1, 3, 20, 30), torch.tensor([[0.0, 40, 30, 50, 20, 0.5]])).shape
    torch.Size([1, 3, 7, 7])
    """

    def __init__(
        self,
        output_size: Sequence[int] | int,
        spatial_scale: float,
        sampling_ratio: int = 0,
        aligned: bool = True,
        clockwise: bool = False,
    ) -> None:
        super().__init__()
        self.output_size = pair("RoIAlignRotated", "mluOpRoiAlignRotatedForward", output_size)
        self.spatial_scale, self.sampling_ratio = float(spatial_scale), int(sampling_ratio)
        self.aligned, self.clockwise = aligned, clockwise

    def forward(self, input: Tensor, rois: Tensor) -> Tensor:
        """Return the mean of the samples of each bin."""
        numbers = self.spatial_scale, self.sampling_ratio, self.aligned, self.clockwise
        return roi_align_rotated(input, rois, self.output_size, *numbers)

    def extra_repr(self) -> str:
        """Return the arguments."""
        return (
            f"output_size={self.output_size}, spatial_scale={self.spatial_scale}, "
            f"sampling_ratio={self.sampling_ratio}, aligned={self.aligned}, clockwise={self.clockwise}"
        )


class RiRoIAlignRotated(TracedModule):
    """`riroi_align_rotated` as a module, like `mmcv.ops.RiRoIAlignRotated`.

    Parameters
    ----------
    out_size : int or (int, int)
        Number of bins along the sides of a region.
    spatial_scale : float
        Size of the map divided by the size of the image.
    num_samples : int
        Samples of a bin along an axis; 0 for a sample each pixel.
    num_orientations : int
        Number of channels that hold one feature in as many directions.
    clockwise : bool
        Whether positive angles turn clockwise.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> pool = pymluops.torch.RiRoIAlignRotated((7, 7), 0.25, num_samples=2)
    >>> pool(torch.rand(1, 16, 20, 30), torch.tensor([[0.0, 40, 30, 50, 20, 0.5]])).shape
    torch.Size([1, 16, 7, 7])
    """

    def __init__(
        self,
        out_size: Sequence[int] | int,
        spatial_scale: float,
        num_samples: int = 0,
        num_orientations: int = 8,
        clockwise: bool = False,
    ) -> None:
        super().__init__()
        self.out_size = out_size
        self.spatial_scale, self.num_samples = float(spatial_scale), int(num_samples)
        self.num_orientations, self.clockwise = int(num_orientations), clockwise

    def forward(self, features: Tensor, rois: Tensor) -> Tensor:
        """Return the mean of the samples of each bin, with the directions turned to those of the region."""
        numbers = self.spatial_scale, self.num_samples, self.num_orientations, self.clockwise
        return riroi_align_rotated(features, rois, self.out_size, *numbers)


class BezierAlign(TracedModule):
    """`bezier_align` as a module, like `mmcv.ops.BezierAlign`.

    Parameters
    ----------
    output_size : int or (int, int)
        Number of bins across and along the curves.
    spatial_scale : float
        Size of the map divided by the size of the image.
    sampling_ratio : int
        Samples of a bin along an axis; 0 for a sample each pixel.
    aligned : bool
        Whether a pixel's centre is half a pixel from its corner, as it should be.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> pool = pymluops.torch.BezierAlign((4, 8), 1.0, 2)
    >>> curves = torch.tensor([[0.0, 1, 1, 4, 2, 7, 2, 10, 1, 10, 5, 7, 6, 4, 6, 1, 5]])
    >>> pool(torch.rand(1, 3, 8, 12), curves).shape
    torch.Size([1, 3, 4, 8])
    """

    def __init__(
        self, output_size: Sequence[int] | int, spatial_scale: float, sampling_ratio: int, aligned: bool = True
    ) -> None:
        super().__init__()
        self.output_size = pair("BezierAlign", "mluopsExtBezierAlignForward", output_size)
        self.spatial_scale, self.sampling_ratio, self.aligned = float(spatial_scale), int(sampling_ratio), aligned

    def forward(self, input: Tensor, beziers: Tensor) -> Tensor:
        """Return the mean of the samples of each bin between two curves."""
        return bezier_align(input, beziers, self.output_size, self.spatial_scale, self.sampling_ratio, self.aligned)

    def extra_repr(self) -> str:
        """Return the arguments."""
        return (
            f"output_size={self.output_size}, spatial_scale={self.spatial_scale}, "
            f"sampling_ratio={self.sampling_ratio}, aligned={self.aligned}"
        )
