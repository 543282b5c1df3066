"""Maxima over the pairs of a sparse tensor's rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import Tensor

from pymluops.torch.sparse._modules import SparseModule
from pymluops.torch.sparse._pairs import get_conv_output_size, get_indice_pairs
from pymluops.torch.sparse._tensor import SparseConvTensor


class _MaxPool(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, features: Tensor, sources: Tensor, targets: Tensor, rows: int) -> Tensor:
        out = features.new_zeros((rows, features.shape[1]))
        out.scatter_reduce_(0, targets[:, None].expand(-1, features.shape[1]), features[sources], "amax")
        ctx.save_for_backward(features, out, sources, targets)
        return out

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        (grad,) = grad_outputs
        features, out, sources, targets = ctx.saved_tensors
        chosen = features[sources] == out[targets]
        found = torch.zeros_like(features).index_add(0, sources, torch.where(chosen, grad[targets], 0))
        return found, None, None, None


_max_pool: Any = cast("Any", _MaxPool).apply  # torch leaves its type open


def indice_maxpool(features: Tensor, indice_pairs: Tensor, indice_pair_num: Tensor, num_activate_out: int) -> Tensor:
    """Take for each output row the maximum of 0 and of the input rows that are paired with it.

    Parameters
    ----------
    features : Tensor, shape [L, C]
        Features of the input rows.
    indice_pairs : Tensor, shape [K, 2, L], int32
        Input and output rows, as `get_indice_pairs` returns them.
    indice_pair_num : Tensor, shape [K]
        Number of pairs of each cell.
    num_activate_out : int
        Number of output rows.

    Returns
    -------
    Tensor
        Shape [num_activate_out, C]. A gradient goes to every input that equals the maximum, as in mmcv.

    Raises
    ------
    IndexError
        If a pair has a row that does not exist.
    """
    counted = torch.arange(indice_pairs.shape[2]) < indice_pair_num.to(torch.int64)[:, None]
    sources, targets = indice_pairs[:, 0][counted].long(), indice_pairs[:, 1][counted].long()
    for rows, count in ((sources, len(features)), (targets, int(num_activate_out))):
        if len(rows) and not 0 <= int(rows.min()) <= int(rows.max()) < count:
            found = f"{int(rows.min())} to {int(rows.max())}"
            raise IndexError(f"indice_maxpool: indice_pairs: expected rows from 0 to {count - 1}, got {found}")
    out: Tensor = _max_pool(features, sources, targets, int(num_activate_out))
    return out


class SparseMaxPool(SparseModule):
    """Maximum over the rows under a window; a place with negative rows alone gets 0, as in mmcv.

    Parameters
    ----------
    ndim : int
        Number of axes.
    kernel_size, stride, padding, dilation : int or sequence of int
        As in any pooling.
    subm : bool
        Whether the output rows are the input rows.
    """

    def __init__(
        self,
        ndim: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        subm: bool = False,
    ) -> None:
        super().__init__()
        self.ndim, self.subm = ndim, subm
        sizes = (kernel_size, stride, padding, dilation)
        per_axis = [list(v) if isinstance(v, Sequence) else [v] * ndim for v in sizes]
        self.kernel_size, self.stride, self.padding, self.dilation = per_axis

    def forward(self, input: SparseConvTensor) -> SparseConvTensor:
        """Pool a sparse tensor."""
        window = (self.kernel_size, self.stride, self.padding, self.dilation)
        places, pairs, num = get_indice_pairs(
            input.indices, input.batch_size, input.spatial_shape, *window, subm=self.subm
        )
        features = indice_maxpool(input.features, pairs, num, len(places))
        shape = input.spatial_shape if self.subm else get_conv_output_size(input.spatial_shape, *window)
        out = SparseConvTensor(features, places, shape, input.batch_size, input.grid)
        out.indice_dict = input.indice_dict
        return out


class SparseMaxPool2d(SparseMaxPool):
    """`SparseMaxPool` of 2 axes."""

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
    ) -> None:
        super().__init__(2, kernel_size, stride, padding, dilation)


class SparseMaxPool3d(SparseMaxPool):
    """`SparseMaxPool` of 3 axes."""

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
    ) -> None:
        super().__init__(3, kernel_size, stride, padding, dilation)
