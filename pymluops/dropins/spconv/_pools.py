"""Pools with spconv's arguments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from pymluops.dropins.spconv._algorithms import ConvAlgo
from pymluops.dropins.spconv._convolutions import chosen_algorithm
from pymluops.dropins.spconv._modules import SparseModule
from pymluops.dropins.spconv._tensor import IndiceData, SparseConvTensor, require
from pymluops.dropins.spconv._windows import Windowed
from pymluops.torch import sparse

__all__ = [
    "SparseAvgPool",
    "SparseAvgPool1d",
    "SparseAvgPool2d",
    "SparseAvgPool3d",
    "SparseAvgPool4d",
    "SparseGlobalAvgPool",
    "SparseGlobalMaxOrAvgPool",
    "SparseGlobalMaxPool",
    "SparseMaxPool",
    "SparseMaxPool1d",
    "SparseMaxPool2d",
    "SparseMaxPool3d",
    "SparseMaxPool4d",
]

_Sizes = int | Sequence[int]


class _Pool(SparseModule, Windowed):
    """A layer that makes one row of the rows under a window."""

    _average = False
    transposed = inverse = False

    def __init__(
        self,
        ndim: int,
        kernel_size: _Sizes = 3,
        stride: _Sizes | None = 1,
        padding: _Sizes = 0,
        dilation: _Sizes = 1,
        indice_key: str | None = None,
        subm: bool = False,
        algo: ConvAlgo | None = None,
        record_voxel_count: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(name=name)
        self._called = type(self).__name__
        self._set_window(ndim, kernel_size, kernel_size if stride is None else stride, padding, dilation)
        self.subm, self.indice_key = subm, indice_key
        self.algo = chosen_algorithm(algo, math.prod(self.kernel_size), 128)
        self.record_voxel_count = record_voxel_count and not subm
        if self.record_voxel_count:
            self.register_buffer("max_num_voxels_during_training", torch.zeros(1, dtype=torch.int32))

    def get_max_num_voxels(self) -> Tensor | None:
        """Return the buffer with the largest number of output rows, None without one."""
        return getattr(self, "max_num_voxels_during_training", None)

    def forward(self, input: SparseConvTensor) -> SparseConvTensor:
        """Pool a sparse tensor."""
        places = self._checked_places(input)
        if not self.subm and self.indice_key is not None:
            free = self.indice_key not in input.indice_dict
            require(free, f"{self._called}: indice_key: expected a new one, got {self.indice_key!r} again")
        data = self._data(input, places)
        out = data.out_indices
        pairs = (data.indice_pairs, data.indice_pair_num, out.shape[0])
        if self._average:
            features = sparse.indice_avgpool(input.features, *pairs)
        else:
            features = sparse.indice_maxpool(input.features, *pairs, self.algo != ConvAlgo.Native)
        counter: Any = self.get_max_num_voxels()
        if counter is not None:
            counter.clamp_(min=out.shape[0])
        kept = input.indice_dict
        if self.indice_key is not None:
            kept = {**kept, self.indice_key: IndiceData.of(data, self.algo)}
        return input.with_rows(features, out, data.out_shape, kept)

    def extra_repr(self) -> str:
        """Tell the window."""
        facts = f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"
        return f"{facts}, dilation={self.dilation}, algo={self.algo}"


class SparseMaxPool(_Pool):
    """Maximum over the rows under a window, which may be negative; with `ConvAlgo.Native` it begins at 0.

    Parameters
    ----------
    ndim : int
        Number of axes.
    kernel_size, stride, padding, dilation : int or sequence of int
        As in any pooling; the stride is the kernel size if none is given.
    indice_key : str, optional
        Keeps the pairs for an inverse convolution.
    subm : bool
        Whether the output rows are the input rows.
    algo : ConvAlgo, optional
        See above; spconv takes `Native` by itself only for windows of more than 128 cells.
    record_voxel_count : bool
        Keep the largest number of output rows in a buffer.
    name : str, optional
        Kept as an attribute.
    """


class SparseAvgPool(_Pool):
    """Mean over the rows under a window; arguments as those of `SparseMaxPool`."""

    _average = True


class _Of:
    """A pool whose number of axes follows from its class."""

    _ndim = 3

    def __init__(
        self,
        kernel_size: _Sizes,
        stride: _Sizes | None = None,
        padding: _Sizes = 0,
        dilation: _Sizes = 1,
        indice_key: str | None = None,
        algo: ConvAlgo | None = None,
        record_voxel_count: bool = False,
        name: str | None = None,
    ) -> None:
        pool: Any = super()
        pool.__init__(
            self._ndim, kernel_size, stride, padding, dilation, indice_key=indice_key, algo=algo,
            record_voxel_count=record_voxel_count, name=name,
        )  # fmt: skip


class SparseMaxPool1d(_Of, SparseMaxPool):
    """`SparseMaxPool` of 1 axis."""

    _ndim = 1


class SparseMaxPool2d(_Of, SparseMaxPool):
    """`SparseMaxPool` of 2 axes."""

    _ndim = 2


class SparseMaxPool3d(_Of, SparseMaxPool):
    """`SparseMaxPool` of 3 axes."""


class SparseMaxPool4d(_Of, SparseMaxPool):
    """`SparseMaxPool` of 4 axes."""

    _ndim = 4


class SparseAvgPool1d(_Of, SparseAvgPool):
    """`SparseAvgPool` of 1 axis."""

    _ndim = 1


class SparseAvgPool2d(_Of, SparseAvgPool):
    """`SparseAvgPool` of 2 axes."""

    _ndim = 2


class SparseAvgPool3d(_Of, SparseAvgPool):
    """`SparseAvgPool` of 3 axes."""


class SparseAvgPool4d(_Of, SparseAvgPool):
    """`SparseAvgPool` of 4 axes."""

    _ndim = 4


class SparseGlobalMaxOrAvgPool(SparseModule):
    """Maximum or mean over all rows of each batch, [batch_size, C].

    Parameters
    ----------
    is_mean : bool
        Which of the two.
    name : str, optional
        Kept as an attribute.
    """

    def __init__(self, is_mean: bool, name: str | None = None) -> None:
        super().__init__(name=name)
        self.is_mean = is_mean
        self._pool = sparse.SparseGlobalAvgPool() if is_mean else sparse.SparseGlobalMaxPool()

    def forward(self, input: SparseConvTensor) -> Tensor:
        """Pool a sparse tensor."""
        found: Tensor = self._pool(input)
        return found


class SparseGlobalMaxPool(SparseGlobalMaxOrAvgPool):
    """Maximum over all rows of each batch, [batch_size, C]; 0 for a batch without rows."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(is_mean=False, name=name)


class SparseGlobalAvgPool(SparseGlobalMaxOrAvgPool):
    """Mean over all rows of each batch, [batch_size, C]; 0 for a batch without rows."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(is_mean=True, name=name)
