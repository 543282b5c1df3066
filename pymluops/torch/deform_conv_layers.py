"""Deformable convolutions as layers, with the arguments, parameters and states of mmcv's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from pymluops.torch._modes import TracedModule
from pymluops.torch._pairs import pair
from pymluops.torch.deform_conv import deform_conv2d, modulated_deform_conv2d

__all__ = ["DeformConv2d", "DeformConv2dPack", "ModulatedDeformConv2d", "ModulatedDeformConv2dPack"]

_C_FUNCTION = "mluopsExtDeformConvForward"


class _Layer(TracedModule):
    """Sizes, groups and the filter, which all layers have."""

    bias: nn.Parameter | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sequence[int] | int,
        stride: Sequence[int] | int,
        padding: Sequence[int] | int,
        dilation: Sequence[int] | int,
        groups: int,
        deform_groups: int,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        for channels in ("in_channels", "out_channels"):
            if groups < 1 or {"in_channels": in_channels, "out_channels": out_channels}[channels] % groups:
                raise ValueError(f"{name}: groups: expected a divisor of {channels}, got {groups}")
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size = pair(name, _C_FUNCTION, kernel_size, "kernel_size")
        self.stride = pair(name, _C_FUNCTION, stride, "stride")
        self.padding = pair(name, _C_FUNCTION, padding, "padding", 0)
        self.dilation = pair(name, _C_FUNCTION, dilation, "dilation")
        self.groups, self.deform_groups = groups, deform_groups
        self.transposed, self.output_padding = False, (0,)  # as a convolution of PyTorch has them
        self.weight = nn.Parameter(torch.empty(out_channels, in_channels // groups, *self.kernel_size))

    def _offset_layer(self, numbers: int) -> nn.Conv2d:
        """Return the convolution that finds `numbers` of each place of the filter, all 0 at first."""
        channels = self.deform_groups * numbers * self.kernel_size[0] * self.kernel_size[1]
        layer = nn.Conv2d(self.in_channels, channels, self.kernel_size, self.stride, self.padding, self.dilation)
        nn.init.zeros_(layer.weight)
        if layer.bias is not None:
            nn.init.zeros_(layer.bias)
        return layer

    def _numbers(self) -> tuple[Any, ...]:
        return self.stride, self.padding, self.dilation, self.groups, self.deform_groups


class DeformConv2d(_Layer):
    """`deform_conv2d` with a filter, like `mmcv.ops.DeformConv2d`.

    Parameters
    ----------
    in_channels, out_channels : int
        Channels of the maps and of the result.
    kernel_size, stride, padding, dilation : int or (int, int)
        As in `torch.nn.Conv2d`.
    groups : int
        Groups of channels that are convolved by themselves.
    deform_groups : int
        Groups of channels with offsets of their own.
    bias : bool
        False: the layer has none.
    im2col_step : int
        At least 1; no effect.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> layer = pymluops.torch.DeformConv2d(2, 4, 3, padding=1)
    >>> layer(torch.rand(1, 2, 5, 6), torch.zeros(1, 18, 5, 6)).shape
    torch.Size([1, 4, 5, 6])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sequence[int] | int,
        stride: Sequence[int] | int = 1,
        padding: Sequence[int] | int = 0,
        dilation: Sequence[int] | int = 1,
        groups: int = 1,
        deform_groups: int = 1,
        bias: bool = False,
        im2col_step: int = 32,
    ) -> None:
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, deform_groups)
        if bias:
            raise ValueError(f"{type(self).__name__}: bias: expected False, got {bias}")
        if im2col_step < 1:
            raise ValueError(f"{type(self).__name__}: im2col_step: expected at least 1, got {im2col_step}")
        self.im2col_step = im2col_step
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the filter anew, as mmcv does: uniformly, after He et al."""
        nn.init.kaiming_uniform_(self.weight, nonlinearity="relu")

    def _convolve(self, x: Tensor, offset: Tensor) -> Tensor:
        window = self.stride, self.padding, self.dilation
        groups = self.groups, self.deform_groups
        return deform_conv2d(x, offset, self.weight, *window, *groups, False, self.im2col_step)

    def forward(self, x: Tensor, offset: Tensor) -> Tensor:
        """Return the convolution of maps; those smaller than the filter get zeros at the right and below.

        Parameters
        ----------
        x : Tensor, shape [N, in_channels, H, W]
            The maps; any floating type.
        offset : Tensor, shape [N, 2 * deform_groups * kh * kw, Ho, Wo], like `x`
            Steps along y and x of each place of the filter.

        Returns
        -------
        Tensor, shape [N, out_channels, Ho, Wo]
            Like `x`.
        """
        below, right = (max(self.kernel_size[i] - x.shape[2 + i], 0) for i in range(2))
        if not (below or right):
            return self._convolve(x, offset)
        x, offset = (nn.functional.pad(one, (0, right, 0, below)) for one in (x, offset))
        out = self._convolve(x, offset)
        return out[:, :, : out.shape[2] - below, : out.shape[3] - right].contiguous()

    def __repr__(self) -> str:
        """Return the arguments, in lines as mmcv has them."""
        names = [
            "in_channels",
            "out_channels",
            "kernel_size",
            "stride",
            "padding",
            "dilation",
            "groups",
            "deform_groups",
        ]
        lines = [f"{name}={getattr(self, name)},\n" for name in names]
        return f"{type(self).__name__}({''.join(lines)}bias=False)"


class DeformConv2dPack(DeformConv2d):
    """`DeformConv2d` that finds its offsets by a convolution, like `mmcv.ops.DeformConv2dPack` (DCN).

    Parameters
    ----------
    *args, **kwargs
        As of `DeformConv2d`.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> layer = pymluops.torch.DeformConv2dPack(2, 4, 3, padding=1)
    >>> layer(torch.rand(1, 2, 5, 6)).shape, sorted(layer.state_dict())
    (torch.Size([1, 4, 5, 6]), ['conv_offset.bias', 'conv_offset.weight', 'weight'])
    """

    _version = 2

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conv_offset = self._offset_layer(2)

    def init_offset(self) -> None:
        """Let all offsets be 0."""
        for parameter in self.conv_offset.parameters():
            nn.init.zeros_(parameter)

    def forward(self, x: Tensor) -> Tensor:  # type: ignore[override]
        """Return the convolution of maps [N, in_channels, H, W]."""
        return self._convolve(x, self.conv_offset(x))


class ModulatedDeformConv2d(_Layer):
    """`modulated_deform_conv2d` with a filter and a bias, like `mmcv.ops.ModulatedDeformConv2d`.

    Parameters
    ----------
    in_channels, out_channels : int
        Channels of the maps and of the result.
    kernel_size, stride, padding, dilation : int or (int, int)
        As in `torch.nn.Conv2d`.
    groups : int
        Groups of channels that are convolved by themselves.
    deform_groups : int
        Groups of channels with offsets and weights of their own.
    bias : bool or str
        Whether a bias is added; any text means yes, as in mmcv.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> layer = pymluops.torch.ModulatedDeformConv2d(2, 4, 3, padding=1)
    >>> layer(torch.rand(1, 2, 5, 6), torch.zeros(1, 18, 5, 6), torch.ones(1, 9, 5, 6)).shape
    torch.Size([1, 4, 5, 6])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sequence[int] | int,
        stride: Sequence[int] | int = 1,
        padding: Sequence[int] | int = 0,
        dilation: Sequence[int] | int = 1,
        groups: int = 1,
        deform_groups: int = 1,
        bias: bool | str = True,
    ) -> None:
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, deform_groups)
        self.register_parameter("bias", nn.Parameter(torch.empty(out_channels)) if bias else None)
        self.init_weights()

    def init_weights(self) -> None:
        """Draw the filter anew, uniformly between plus and minus 1 / sqrt(in_channels * kh * kw)."""
        bound = 1 / math.sqrt(self.in_channels * self.kernel_size[0] * self.kernel_size[1])
        nn.init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(self, x: Tensor, offset: Tensor, mask: Tensor) -> Tensor:
        """Return the convolution of maps.

        Parameters
        ----------
        x : Tensor, shape [N, in_channels, H, W]
            The maps; any floating type.
        offset : Tensor, shape [N, 2 * deform_groups * kh * kw, Ho, Wo], like `x`
            Steps along y and x of each place of the filter.
        mask : Tensor, shape [N, deform_groups * kh * kw, Ho, Wo], like `x`
            Weights of the places.

        Returns
        -------
        Tensor, shape [N, out_channels, Ho, Wo]
            Like `x`.
        """
        return modulated_deform_conv2d(x, offset, mask, self.weight, self.bias, *self._numbers())


class ModulatedDeformConv2dPack(ModulatedDeformConv2d):
    """`ModulatedDeformConv2d` that finds offsets and weights by a convolution, like mmcv's of that name (DCNv2).

    Parameters
    ----------
    *args, **kwargs
        As of `ModulatedDeformConv2d`.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> layer = pymluops.torch.ModulatedDeformConv2dPack(2, 4, 3, padding=1)
    >>> layer(torch.rand(1, 2, 5, 6)).shape, sorted(layer.state_dict())
    (torch.Size([1, 4, 5, 6]), ['bias', 'conv_offset.bias', 'conv_offset.weight', 'weight'])
    """

    _version = 2

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conv_offset = self._offset_layer(3)

    def init_weights(self) -> None:
        """Draw the filter anew; all offsets are 0, and all weights 1 / 2."""
        super().init_weights()
        if hasattr(self, "conv_offset"):  # not yet while the base class is made
            for parameter in self.conv_offset.parameters():
                nn.init.zeros_(parameter)

    def forward(self, x: Tensor) -> Tensor:  # type: ignore[override]
        """Return the convolution of maps [N, in_channels, H, W]."""
        first, second, mask = self.conv_offset(x).chunk(3, dim=1)
        return super().forward(x, torch.cat([first, second], 1), mask.sigmoid())
