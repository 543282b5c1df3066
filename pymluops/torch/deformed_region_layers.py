"""Deformable pools of regions as modules, with the arguments, parameters and states of mmcv's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn

from pymluops.torch._modes import TracedModule
from pymluops.torch._pairs import pair
from pymluops.torch.deformed_regions import deform_roi_pool

__all__ = ["DeformRoIPool", "DeformRoIPoolPack", "ModulatedDeformRoIPoolPack"]


class DeformRoIPool(TracedModule):
    """`deform_roi_pool` as a module, like `mmcv.ops.DeformRoIPool`.

    Parameters
    ----------
    output_size : int or (int, int)
        Number of bins along y and x.
    spatial_scale : float
        Size of the map divided by the size of the image.
    sampling_ratio : int
        Samples of a bin along an axis; 0 for a sample each pixel.
    gamma : float
        Length of an offset of 1, in sizes of the region.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> pool = pymluops.torch.DeformRoIPool(7, 0.25)
    >>> pool(torch.rand(1, 3, 20, 30), torch.tensor([[0.0, 2, 3, 50, 60]])).shape
    torch.Size([1, 3, 7, 7])
    """

    def __init__(
        self,
        output_size: Sequence[int] | int,
        spatial_scale: float = 1.0,
        sampling_ratio: int = 0,
        gamma: float = 0.1,
    ) -> None:
        super().__init__()
        self.output_size = pair(type(self).__name__, "mluOpDeformRoiPoolForward", output_size)
        self.spatial_scale, self.sampling_ratio, self.gamma = float(spatial_scale), int(sampling_ratio), float(gamma)

    def _pool(self, input: Tensor, rois: Tensor, offset: Tensor | None) -> Tensor:
        numbers = self.spatial_scale, self.sampling_ratio, self.gamma
        return deform_roi_pool(input, rois, offset, self.output_size, *numbers)

    def forward(self, input: Tensor, rois: Tensor, offset: Tensor | None = None) -> Tensor:
        """Return the mean of the samples of each bin, which `offset` [R, 2, ph, pw] moves."""
        return self._pool(input, rois, offset)


class _Pack(DeformRoIPool):
    """Base of the modules that find offsets by layers."""

    def __init__(
        self,
        output_size: Sequence[int] | int,
        output_channels: int,
        deform_fc_channels: int = 1024,
        spatial_scale: float = 1.0,
        sampling_ratio: int = 0,
        gamma: float = 0.1,
    ) -> None:
        super().__init__(output_size, spatial_scale, sampling_ratio, gamma)
        self.output_channels, self.deform_fc_channels = output_channels, deform_fc_channels
        self.offset_fc = self._layers(2, 2)

    def _layers(self, inner: int, numbers: int, *last: nn.Module) -> nn.Sequential:
        """Return `inner` hidden layers, and one that finds `numbers` of each bin, all 0 at first."""
        bins = self.output_size[0] * self.output_size[1]
        sizes = [bins * self.output_channels, *[self.deform_fc_channels] * inner]
        layers: list[nn.Module] = []
        for size in sizes[:inner]:
            layers += [nn.Linear(size, self.deform_fc_channels), nn.ReLU(inplace=True)]
        found = nn.Linear(self.deform_fc_channels, bins * numbers)
        nn.init.zeros_(found.weight)
        nn.init.zeros_(found.bias)
        return nn.Sequential(*layers, found, *last)

    def _pooled(self, input: Tensor, rois: Tensor) -> tuple[Tensor, Tensor]:
        """Return the means of bins in their places, [R, C * ph * pw], and of those that are moved."""
        if input.shape[1] != self.output_channels:
            raise ValueError(
                f"{type(self).__name__}: input: expected {self.output_channels} channels, got {input.shape[1]}"
            )
        still = self._pool(input, rois, None).flatten(1)
        offset = self.offset_fc(still).view(rois.shape[0], 2, *self.output_size)
        return still, self._pool(input, rois, offset)


class DeformRoIPoolPack(_Pack):
    """`DeformRoIPool` that finds its offsets by layers, like `mmcv.ops.DeformRoIPoolPack`.

    Parameters
    ----------
    output_size : int or (int, int)
        Number of bins along y and x.
    output_channels : int
        Channels of the maps.
    deform_fc_channels : int
        Channels of the hidden layers.
    spatial_scale, sampling_ratio, gamma
        As of `DeformRoIPool`.

    Raises
    ------
    ValueError
        If the maps have other channels.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> pool = pymluops.torch.DeformRoIPoolPack(2, 3, 8, 0.25)
    >>> pool(torch.rand(1, 3, 20, 30), torch.tensor([[0.0, 2, 3, 50, 60]])).shape
    torch.Size([1, 3, 2, 2])
    """

    def forward(self, input: Tensor, rois: Tensor) -> Tensor:  # type: ignore[override]
        """Return the mean of the samples of each bin, [R, C, ph, pw]."""
        return self._pooled(input, rois)[1]


class ModulatedDeformRoIPoolPack(_Pack):
    """`DeformRoIPoolPack` with a weight for each bin, like `mmcv.ops.ModulatedDeformRoIPoolPack`.

    Parameters
    ----------
    *args, **kwargs
        As of `DeformRoIPoolPack`.

    Raises
    ------
    ValueError
        If the maps have other channels.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> pool = pymluops.torch.ModulatedDeformRoIPoolPack(2, 3, 8, 0.25)
    >>> pool(torch.rand(1, 3, 20, 30), torch.tensor([[0.0, 2, 3, 50, 60]])).shape
    torch.Size([1, 3, 2, 2])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.mask_fc = self._layers(1, 1, nn.Sigmoid())

    def forward(self, input: Tensor, rois: Tensor) -> Tensor:  # type: ignore[override]
        """Return the weighted mean of the samples of each bin, [R, C, ph, pw]."""
        still, moved = self._pooled(input, rois)
        return moved * self.mask_fc(still).view(rois.shape[0], 1, *self.output_size)
