"""CARAFE under mmcv's other names: the naive one, which computes the same, and the module that finds its weights."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from pymluops.torch._modes import TracedModule
from pymluops.torch.carafe_upsample import CARAFE, carafe

__all__ = ["CARAFENaive", "CARAFEPack", "carafe_naive"]


def carafe_naive(features: Tensor, masks: Tensor, kernel_size: int, group_size: int, scale_factor: int) -> Tensor:
    """Return `carafe` of the arguments: mmcv's two functions differ in memory and time alone.

    Parameters
    ----------
    features, masks : Tensor
        As in `carafe`.
    kernel_size, group_size, scale_factor : int
        As in `carafe`.

    Returns
    -------
    Tensor, shape [N, C, scale_factor * H, scale_factor * W]
        Like `features`.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> maps, masks = torch.rand(1, 4, 3, 3), torch.rand(1, 25, 6, 6)
    >>> naive, other = (f(maps, masks, 5, 1, 2) for f in (pymluops.torch.carafe_naive, pymluops.torch.carafe))
    >>> torch.equal(naive, other)
    True
    """
    return carafe(features, masks, kernel_size, group_size, scale_factor)


class CARAFENaive(CARAFE):
    """`carafe_naive` as a module, like `mmcv.ops.CARAFENaive`.

    Parameters
    ----------
    kernel_size, group_size, scale_factor : int
        As in `carafe`.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> pymluops.torch.CARAFENaive(5, 1, 2)(torch.rand(1, 4, 3, 3), torch.rand(1, 25, 6, 6)).shape
    torch.Size([1, 4, 6, 6])
    """


class CARAFEPack(TracedModule):
    """`carafe` with layers that find its weights, like `mmcv.ops.CARAFEPack`.

    Parameters
    ----------
    channels : int
        Channels of the maps.
    scale_factor : int
        How many times as high and as wide the result is.
    up_kernel, up_group : int
        Side of a window and groups of channels of `carafe`.
    encoder_kernel, encoder_dilation : int
        Those of the convolution that finds the weights.
    compressed_channels : int
        Channels that it works on.

    References
    ----------
    Wang et al.: CARAFE: Content-Aware ReAssembly of FEatures. ICCV 2019, arXiv:1905.02188.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> pymluops.torch.CARAFEPack(4, 2)(torch.rand(1, 4, 3, 5)).shape
    torch.Size([1, 4, 6, 10])
    """

    def __init__(
        self,
        channels: int,
        scale_factor: int,
        up_kernel: int = 5,
        up_group: int = 1,
        encoder_kernel: int = 3,
        encoder_dilation: int = 1,
        compressed_channels: int = 64,
    ) -> None:
        super().__init__()
        self.channels, self.scale_factor = channels, scale_factor
        self.up_kernel, self.up_group = up_kernel, up_group
        self.encoder_kernel, self.encoder_dilation = encoder_kernel, encoder_dilation
        self.compressed_channels = compressed_channels
        self.channel_compressor = nn.Conv2d(channels, compressed_channels, 1)
        self.content_encoder = nn.Conv2d(
            compressed_channels,
            up_kernel * up_kernel * up_group * scale_factor * scale_factor,
            encoder_kernel,
            padding=(encoder_kernel - 1) * encoder_dilation // 2,
            dilation=encoder_dilation,
        )
        self.init_weights()

    def init_weights(self) -> None:
        """Draw the weights of the layers anew, after Glorot et al.; those of the last one are near 0."""
        for layer in (self.channel_compressor, self.content_encoder):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(cast("Tensor", layer.bias))
        nn.init.normal_(self.content_encoder.weight, std=0.001)

    def kernel_normalizer(self, mask: Tensor) -> Tensor:
        """Return weights of windows whose sum is 1, for each pixel of the result."""
        mask = nn.functional.pixel_shuffle(mask, self.scale_factor)
        groups = mask.shape[1] // self.up_kernel**2
        windows = mask.unflatten(1, (groups, -1))
        return torch.softmax(windows, dim=2).flatten(1, 2)

    def feature_reassemble(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return the enlarged maps."""
        return carafe(x, mask, self.up_kernel, self.up_group, self.scale_factor)

    def forward(self, x: Tensor) -> Tensor:
        """Return maps [N, C, H, W] enlarged, [N, C, scale_factor * H, scale_factor * W]."""
        mask = self.kernel_normalizer(self.content_encoder(self.channel_compressor(x)))
        return self.feature_reassemble(x, mask)
