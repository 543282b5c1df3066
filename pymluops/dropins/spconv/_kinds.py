"""Convolutions of spconv whose number of axes and kind follow from their class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pymluops.dropins.spconv._algorithms import ConvAlgo
from pymluops.dropins.spconv._convolutions import SparseConvolution

__all__ = [
    "SparseConv1d",
    "SparseConv2d",
    "SparseConv3d",
    "SparseConv4d",
    "SparseConvTranspose1d",
    "SparseConvTranspose2d",
    "SparseConvTranspose3d",
    "SparseConvTranspose4d",
    "SparseInverseConv1d",
    "SparseInverseConv2d",
    "SparseInverseConv3d",
    "SparseInverseConv4d",
    "SubMConv1d",
    "SubMConv2d",
    "SubMConv3d",
    "SubMConv4d",
]

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
        algo: ConvAlgo | None = None,
        fp32_accum: bool | None = None,
        record_voxel_count: bool = False,
        large_kernel_fast_algo: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(
            self._ndim, in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias,
            indice_key=indice_key, algo=algo, fp32_accum=fp32_accum, record_voxel_count=record_voxel_count,
            large_kernel_fast_algo=large_kernel_fast_algo, name=name, **self._kind,
        )  # fmt: skip


class _SubManifold(SparseConvolution):
    """A sub-manifold convolution."""

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
        algo: ConvAlgo | None = None,
        fp32_accum: bool | None = None,
        large_kernel_fast_algo: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(
            self._ndim, in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, True,
            indice_key=indice_key, algo=algo, fp32_accum=fp32_accum, large_kernel_fast_algo=large_kernel_fast_algo,
            name=name,
        )  # fmt: skip


class _Inverse(SparseConvolution):
    """A convolution back along the pairs of another one."""

    _ndim = 3

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _Sizes,
        indice_key: str | None,
        bias: bool = True,
        algo: ConvAlgo | None = None,
        fp32_accum: bool | None = None,
        large_kernel_fast_algo: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(
            self._ndim, in_channels, out_channels, kernel_size, bias=bias, inverse=True, indice_key=indice_key,
            algo=algo, fp32_accum=fp32_accum, large_kernel_fast_algo=large_kernel_fast_algo, name=name,
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


class SubMConv1d(_SubManifold):
    """Sub-manifold convolution of 1 axis; see `SparseConvolution`."""

    _ndim = 1


class SubMConv2d(_SubManifold):
    """Sub-manifold convolution of 2 axes; see `SparseConvolution`."""

    _ndim = 2


class SubMConv3d(_SubManifold):
    """Sub-manifold convolution of 3 axes; see `SparseConvolution`."""


class SubMConv4d(_SubManifold):
    """Sub-manifold convolution of 4 axes; see `SparseConvolution`."""

    _ndim = 4


class SparseConvTranspose1d(_Plain):
    """Transposed convolution of 1 axis; see `SparseConvolution`."""

    _ndim, _kind = 1, {"transposed": True}


class SparseConvTranspose2d(_Plain):
    """Transposed convolution of 2 axes; see `SparseConvolution`."""

    _ndim, _kind = 2, {"transposed": True}


class SparseConvTranspose3d(_Plain):
    """Transposed convolution of 3 axes; see `SparseConvolution`."""

    _kind = {"transposed": True}  # noqa: RUF012


class SparseConvTranspose4d(_Plain):
    """Transposed convolution of 4 axes; see `SparseConvolution`."""

    _ndim, _kind = 4, {"transposed": True}


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
