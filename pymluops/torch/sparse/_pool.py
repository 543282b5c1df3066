"""Maxima over the pairs of a sparse tensor's rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from pymluops.torch.sparse._dispatch import compiling, differentiate, register, register_composite, tracing
from pymluops.torch.sparse._modules import SparseModule
from pymluops.torch.sparse._numbers import sizes, whole
from pymluops.torch.sparse._pairs import get_conv_output_size, get_indice_pairs
from pymluops.torch.sparse._tensor import SparseConvTensor

#: Elements of the rows that are looked at together: temporary tensors stay within a cache.
_BLOCK = 2**19


def _blocks(pairs: Tensor, num: Tensor, channels: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield input and output rows, a part of one cell's pairs at a time."""
    step = max(1, _BLOCK // max(1, channels))
    for cell, count in enumerate(num.tolist()):
        for begin in range(0, count, step):
            sources, targets = pairs[cell, :, begin : min(count, begin + step)].long()
            yield sources, targets


def _largest(features: Tensor, pairs: Tensor, num: Tensor, rows: int) -> Tensor:
    out = features.new_zeros((rows, features.shape[1]))
    for sources, targets in _blocks(pairs, num, features.shape[1]):
        places = targets[:, None].expand(-1, features.shape[1])
        out.scatter_reduce_(0, places, features.index_select(0, sources), "amax")
    return out


def _to_inputs(grad: Tensor, features: Tensor, pairs: Tensor, num: Tensor) -> Tensor:
    """Give the gradient of each output row to all inputs that equal the maximum."""
    out, found = _largest(features, pairs, num, grad.shape[0]), torch.zeros_like(features)
    for sources, targets in _blocks(pairs, num, features.shape[1]):
        chosen = features.index_select(0, sources) == out.index_select(0, targets)
        found.index_add_(0, sources, torch.where(chosen, grad.index_select(0, targets), 0))
    return found


def _to_outputs(values: Tensor, features: Tensor, pairs: Tensor, num: Tensor, rows: int) -> Tensor:
    """Add for each output row the values of the inputs that equal the maximum: the adjoint of `_to_inputs`."""
    out, found = _largest(features, pairs, num, rows), values.new_zeros((rows, values.shape[1]))
    for sources, targets in _blocks(pairs, num, features.shape[1]):
        chosen = features.index_select(0, sources) == out.index_select(0, targets)
        found.index_add_(0, targets, torch.where(chosen, values.index_select(0, sources), 0))
    return found


def _compute(features: Tensor, pairs: Tensor, num: Tensor, rows: int) -> Tensor:
    if features.dim() != 2:
        raise ValueError(f"indice_maxpool: features: expected shape [L, C], got {list(features.shape)}")
    cells = pairs.shape[0] if pairs.dim() == 3 else -1
    if pairs.dim() != 3 or pairs.shape[1] != 2 or list(num.shape) != [cells]:
        found = f"{list(pairs.shape)} and {list(num.shape)}"
        raise ValueError(f"indice_maxpool: indice_pairs: expected shapes [K, 2, L] and [K], got {found}")
    for cell, count in enumerate(num.tolist()):
        if not 0 <= count <= pairs.shape[2]:
            expected = f"from 0 to {pairs.shape[2]}"
            raise ValueError(f"indice_maxpool: indice_pair_num: expected numbers {expected}, got {count}")
        if not count:
            continue
        for side, end in ((0, features.shape[0]), (1, rows)):
            least, most = (int(row) for row in pairs[cell, side, :count].aminmax())
            if not 0 <= least <= most < end:
                wrong = f"expected rows from 0 to {end - 1}, got {least} to {most}"
                raise IndexError(f"indice_maxpool: indice_pairs: {wrong}")
    return _largest(features.detach(), pairs, num, rows)


# ---- As operators of torch -------------------------------------------------------------------------------------------

_OPERATOR = register(
    "sparse_max_pool(Tensor features, Tensor pairs, Tensor num, SymInt rows) -> Tensor",
    _compute,
    lambda features, pairs, num, rows: features.new_empty((rows, features.shape[1])),
)
_TO_INPUTS = register(
    "sparse_max_pool_to_inputs(Tensor grad, Tensor features, Tensor pairs, Tensor num) -> Tensor",
    _to_inputs,
    lambda grad, features, pairs, num: torch.empty_like(features),
)
_TO_OUTPUTS = register(
    "sparse_max_pool_to_outputs(Tensor values, Tensor features, Tensor pairs, Tensor num, SymInt rows) -> Tensor",
    _to_outputs,
    lambda values, features, pairs, num, rows: values.new_empty((rows, values.shape[1])),
)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    # Not the output: an in-place operation may follow.
    ctx.save_for_backward(*inputs[:3])


def _keep_linear(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    ctx.save_for_backward(*inputs[1:4])
    ctx.rows = inputs[0].shape[0]


_max_pool: Any = differentiate(
    _OPERATOR, _keep, lambda ctx, grad: (_gradient(grad, *ctx.saved_tensors), None, None, None)
)
_gradient: Any = differentiate(
    _TO_INPUTS, _keep_linear, lambda ctx, grad: (_adjoint(grad, *ctx.saved_tensors, ctx.rows), None, None, None)
)
_adjoint: Any = differentiate(
    _TO_OUTPUTS, _keep_linear, lambda ctx, grad: (_gradient(grad, *ctx.saved_tensors), None, None, None, None)
)


def _counted(features: Tensor, pairs: Tensor, num: Tensor, rows: Tensor) -> Tensor:
    return _max_pool(features, pairs, num, int(rows))


# For torch.jit.trace, as in _functions.py.
_COUNTED = register_composite(
    "sparse_max_pool_counted(Tensor features, Tensor pairs, Tensor num, Tensor rows) -> Tensor", _counted
)


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
    ValueError
        If shapes or numbers are not as described.
    IndexError
        If a pair has a row that does not exist.
    """
    if tracing() and isinstance(num_activate_out, Tensor):
        return _COUNTED(features, indice_pairs, indice_pair_num, num_activate_out)
    if not compiling() and not isinstance(num_activate_out, torch.SymInt):
        num_activate_out = whole("indice_maxpool", "num_activate_out", num_activate_out, 0)
    out: Tensor = _max_pool(features, indice_pairs, indice_pair_num, num_activate_out)
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
        name = type(self).__name__
        self.kernel_size, self.stride = (
            sizes(name, "kernel_size", kernel_size, ndim, 1),
            sizes(name, "stride", stride, ndim, 1),
        )
        self.padding, self.dilation = (
            sizes(name, "padding", padding, ndim, 0),
            sizes(name, "dilation", dilation, ndim, 1),
        )

    def forward(self, input: SparseConvTensor) -> SparseConvTensor:
        """Pool a sparse tensor."""
        window = (self.kernel_size, self.stride, self.padding, self.dilation)
        given = input.checked_indices()
        places, pairs, num = get_indice_pairs(given, input.batch_size, input.spatial_shape, *window, subm=self.subm)
        if self.subm:
            places = given
        features = indice_maxpool(input.features, pairs, num, places.shape[0])
        shape = input.spatial_shape if self.subm else get_conv_output_size(input.spatial_shape, *window)
        return input.with_rows(features, places, shape, input.indice_dict)


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
