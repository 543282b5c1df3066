"""Sparse convolutions whose number of axes and kind follow from their class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pymluops.torch.sparse._convolutions import SparseConvolution

_Sizes = int | Sequence[int]


class _Plain(SparseConvolution):
    """A convolution that makes its own pairs."""

    _ndim = 3
    _kind: dict[str, Any] = {}  # noqa: RUF012

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _Sizes,
        stride: _Sizes = 1,
        padding: _Sizes = 0,
        dilation: _Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        indice_key: str | None = None,
    ) -> None:
        super().__init__(
            self._ndim, in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias,
            indice_key=indice_key, **self._kind,
        )  # fmt: skip


class _Transposed(SparseConvolution):
    """A transposed convolution."""

    _ndim = 3

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _Sizes,
        stride: _Sizes = 1,
        padding: _Sizes = 0,
        dilation: _Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        indice_key: str | None = None,
        output_padding: _Sizes = 0,
    ) -> None:
        super().__init__(
            self._ndim, in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias,
            output_padding=output_padding, transposed=True, indice_key=indice_key,
        )  # fmt: skip


class _Inverse(SparseConvolution):
    """A convolution back along the pairs of another one."""

    _ndim = 3

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _Sizes,
        indice_key: str | None = None,
        bias: bool = True,
        groups: int = 1,
    ) -> None:
        super().__init__(
            self._ndim, in_channels, out_channels, kernel_size, groups=groups, bias=bias, inverse=True,
            indice_key=indice_key,
        )  # fmt: skip


class SparseConv1d(_Plain):
    """Convolution of 1 axis; see `SparseConvolution`."""

    _ndim = 1


class SparseConv2d(_Plain):
    """Convolution of 2 axes; see `SparseConvolution`."""

    _ndim = 2


class SparseConv3d(_Plain):
    """Convolution of 3 axes; see `SparseConvolution`."""


class SparseConv4d(_Plain):
    """Convolution of 4 axes; see `SparseConvolution`."""

    _ndim = 4


class SubMConv1d(_Plain):
    """Sub-manifold convolution of 1 axis; see `SparseConvolution`."""

    _ndim, _kind = 1, {"subm": True}


class SubMConv2d(_Plain):
    """Sub-manifold convolution of 2 axes; see `SparseConvolution`."""

    _ndim, _kind = 2, {"subm": True}


class SubMConv3d(_Plain):
    """Sub-manifold convolution of 3 axes; see `SparseConvolution`."""

    _kind = {"subm": True}  # noqa: RUF012


class SubMConv4d(_Plain):
    """Sub-manifold convolution of 4 axes; see `SparseConvolution`."""

    _ndim, _kind = 4, {"subm": True}


class SparseConvTranspose1d(_Transposed):
    """Transposed convolution of 1 axis; see `SparseConvolution`."""

    _ndim = 1


class SparseConvTranspose2d(_Transposed):
    """Transposed convolution of 2 axes; see `SparseConvolution`."""

    _ndim = 2


class SparseConvTranspose3d(_Transposed):
    """Transposed convolution of 3 axes; see `SparseConvolution`."""


class SparseConvTranspose4d(_Transposed):
    """Transposed convolution of 4 axes; see `SparseConvolution`."""

    _ndim = 4


class SparseInverseConv1d(_Inverse):
    """Inverse convolution of 1 axis; see `SparseConvolution`."""

    _ndim = 1


class SparseInverseConv2d(_Inverse):
    """Inverse convolution of 2 axes; see `SparseConvolution`."""

    _ndim = 2


class SparseInverseConv3d(_Inverse):
    """Inverse convolution of 3 axes; see `SparseConvolution`."""


class SparseInverseConv4d(_Inverse):
    """Inverse convolution of 4 axes; see `SparseConvolution`."""

    _ndim = 4
