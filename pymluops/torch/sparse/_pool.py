"""Pools of sparse tensors as modules: maxima and means under a window, and of whole batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from pymluops.torch.sparse._modules import SparseModule
from pymluops.torch.sparse._pool_functions import indice_avgpool, indice_maxpool
from pymluops.torch.sparse._rows import pairs_to
from pymluops.torch.sparse._tensor import SparseConvTensor
from pymluops.torch.sparse._windows import Windowed

_Sizes = int | Sequence[int]


class _Pool(Windowed):
    """A layer that makes one row of the rows under a window."""

    transposed = inverse = False

    def __init__(
        self,
        ndim: int,
        kernel_size: _Sizes,
        stride: _Sizes,
        padding: _Sizes,
        dilation: _Sizes,
        subm: bool,
        indice_key: str | None,
    ) -> None:
        super().__init__()
        self._called = type(self).__name__
        self._set_window(ndim, kernel_size, stride, padding, dilation)
        self.subm, self.indice_key = subm, indice_key

    def _pooled(self, features: Tensor, pairs: Tensor, num: Tensor, rows: int) -> Tensor:
        raise NotImplementedError

    def forward(self, input: SparseConvTensor) -> SparseConvTensor:
        """Pool a sparse tensor."""
        data = self._data(input, self._checked_places(input))
        places = data.out_indices
        features = self._pooled(input.features, data.indice_pairs, data.indice_pair_num, places.shape[0])
        return input.with_rows(features, places, data.out_shape, self._with_key(input, data))

    def extra_repr(self) -> str:
        """Tell the window."""
        facts = f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"
        facts += f", dilation={self.dilation}" + (", subm" if self.subm else "")
        return facts + (f", indice_key={self.indice_key!r}" if self.indice_key else "")


class SparseMaxPool(_Pool):
    """Maximum over the rows under a window; a place with negative rows alone gets 0, as in mmcv.

    Parameters
    ----------
    ndim : int
        Number of axes, 1 to 4.
    kernel_size, stride, padding, dilation : int or sequence of int
        As in any pooling.
    subm : bool
        Whether the output rows are the input rows.
    true_maximum : bool
        The maximum of the rows alone, which may be negative, as `torch.nn.functional.max_pool3d`
        has it.
    indice_key : str, optional
        Keeps the pairs, so that an inverse convolution with this key goes back.
    """

    def __init__(
        self,
        ndim: int,
        kernel_size: _Sizes,
        stride: _Sizes = 1,
        padding: _Sizes = 0,
        dilation: _Sizes = 1,
        subm: bool = False,
        true_maximum: bool = False,
        indice_key: str | None = None,
    ) -> None:
        super().__init__(ndim, kernel_size, stride, padding, dilation, subm, indice_key)
        self.true_maximum = true_maximum

    def _pooled(self, features: Tensor, pairs: Tensor, num: Tensor, rows: int) -> Tensor:
        return indice_maxpool(features, pairs, num, rows, self.true_maximum)


class SparseAvgPool(_Pool):
    """Mean over the rows under a window; places without a row do not count.

    Parameters
    ----------
    ndim : int
        Number of axes, 1 to 4.
    kernel_size, stride, padding, dilation : int or sequence of int
        As in any pooling.
    subm : bool
        Whether the output rows are the input rows.
    indice_key : str, optional
        Keeps the pairs, so that an inverse convolution with this key goes back.
    """

    def __init__(
        self,
        ndim: int,
        kernel_size: _Sizes,
        stride: _Sizes = 1,
        padding: _Sizes = 0,
        dilation: _Sizes = 1,
        subm: bool = False,
        indice_key: str | None = None,
    ) -> None:
        super().__init__(ndim, kernel_size, stride, padding, dilation, subm, indice_key)

    def _pooled(self, features: Tensor, pairs: Tensor, num: Tensor, rows: int) -> Tensor:
        return indice_avgpool(features, pairs, num, rows)


class _MaxPoolOf(SparseMaxPool):
    """`SparseMaxPool` whose number of axes follows from its class."""

    _ndim = 3

    def __init__(
        self,
        kernel_size: _Sizes,
        stride: _Sizes = 1,
        padding: _Sizes = 0,
        dilation: _Sizes = 1,
        *,
        true_maximum: bool = False,
        indice_key: str | None = None,
    ) -> None:
        options: dict[str, Any] = {"true_maximum": true_maximum, "indice_key": indice_key}
        super().__init__(self._ndim, kernel_size, stride, padding, dilation, **options)


class SparseMaxPool1d(_MaxPoolOf):
    """`SparseMaxPool` of 1 axis."""

    _ndim = 1


class SparseMaxPool2d(_MaxPoolOf):
    """`SparseMaxPool` of 2 axes."""

    _ndim = 2


class SparseMaxPool3d(_MaxPoolOf):
    """`SparseMaxPool` of 3 axes."""


class SparseMaxPool4d(_MaxPoolOf):
    """`SparseMaxPool` of 4 axes."""

    _ndim = 4


class _AvgPoolOf(SparseAvgPool):
    """`SparseAvgPool` whose number of axes follows from its class."""

    _ndim = 3

    def __init__(
        self,
        kernel_size: _Sizes,
        stride: _Sizes = 1,
        padding: _Sizes = 0,
        dilation: _Sizes = 1,
        *,
        indice_key: str | None = None,
    ) -> None:
        super().__init__(self._ndim, kernel_size, stride, padding, dilation, indice_key=indice_key)


class SparseAvgPool1d(_AvgPoolOf):
    """`SparseAvgPool` of 1 axis."""

    _ndim = 1


class SparseAvgPool2d(_AvgPoolOf):
    """`SparseAvgPool` of 2 axes."""

    _ndim = 2


class SparseAvgPool3d(_AvgPoolOf):
    """`SparseAvgPool` of 3 axes."""


class SparseAvgPool4d(_AvgPoolOf):
    """`SparseAvgPool` of 4 axes."""

    _ndim = 4


def _of_batches(input: SparseConvTensor, pool: Any, *options: Any) -> Tensor:
    """Pool the rows of each batch."""
    given: Any = input
    if not isinstance(given, SparseConvTensor):
        raise TypeError(f"global pooling: input: expected a SparseConvTensor, got {type(given).__name__}")
    pairs, num = pairs_to(given.checked_indices()[:, 0])
    found: Tensor = pool(given.features, pairs, num, given.batch_size, *options)
    return found


class SparseGlobalMaxPool(SparseModule):
    """Maximum over all rows of each batch, [batch_size, C]; 0 for a batch without rows.

    Places without a row do not count, so a maximum may be negative. A gradient goes to every row
    that equals the maximum.
    """

    def forward(self, input: SparseConvTensor) -> Tensor:
        """Pool a sparse tensor."""
        return _of_batches(input, indice_maxpool, True)


class SparseGlobalAvgPool(SparseModule):
    """Mean over all rows of each batch, [batch_size, C]; 0 for a batch without rows."""

    def forward(self, input: SparseConvTensor) -> Tensor:
        """Pool a sparse tensor."""
        return _of_batches(input, indice_avgpool)
