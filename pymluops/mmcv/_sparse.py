"""Functions of ``mmcv._ext`` for sparse convolutions, under the names and with the arguments of its bindings.

Pairs come from the library's `get_indice_pairs` for convolutions in two and three dimensions, and from `_pairs` for
what it lacks. The convolutions gather rows, multiply them by the filter's cells with PyTorch's matrix product and add
them to output rows, cell after cell. float16 and bfloat16 are computed in float32 and rounded once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from pymluops.mmcv._pairs import Convolution, count_places, find_pairs
from pymluops.mmcv._tensors import (
    check_floats,
    check_int32,
    check_shape,
    compute_type,
    dense,
    extension_function,
    refuse,
)
from pymluops.mmcv._torch import Tensor, load_torch, operators

# ---- pairs -----------------------------------------------------------------------------------------------------------


@extension_function
def get_indice_pairs_2d_forward(
    indices: Tensor,
    batchSize: int,
    outSpatialShape: Sequence[int],
    spatialShape: Sequence[int],
    kernelSize: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    outPadding: Sequence[int],
    _subM: int,
    _transpose: int,
) -> list[Tensor]:
    """Return out_indices, indice_pairs and indice_num of a convolution in two dimensions; indices are [L, 3]."""
    lists = (outSpatialShape, spatialShape, kernelSize, stride, padding, dilation)
    return _pairs("get_indice_pairs_2d_forward", 2, indices, batchSize, lists, _subM, _transpose)


@extension_function
def get_indice_pairs_3d_forward(
    indices: Tensor,
    batchSize: int,
    outSpatialShape: Sequence[int],
    spatialShape: Sequence[int],
    kernelSize: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    outPadding: Sequence[int],
    _subM: int,
    _transpose: int,
) -> list[Tensor]:
    """Return out_indices, indice_pairs and indice_num of a convolution in three dimensions; indices are [L, 4]."""
    lists = (outSpatialShape, spatialShape, kernelSize, stride, padding, dilation)
    return _pairs("get_indice_pairs_3d_forward", 3, indices, batchSize, lists, _subM, _transpose)


@extension_function
def get_indice_pairs_4d_forward(
    indices: Tensor,
    batchSize: int,
    outSpatialShape: Sequence[int],
    spatialShape: Sequence[int],
    kernelSize: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    outPadding: Sequence[int],
    _subM: int,
    _transpose: int,
) -> list[Tensor]:
    """Return out_indices, indice_pairs and indice_num of a convolution in four dimensions; indices are [L, 5]."""
    lists = (outSpatialShape, spatialShape, kernelSize, stride, padding, dilation)
    return _pairs("get_indice_pairs_4d_forward", 4, indices, batchSize, lists, _subM, _transpose)


@extension_function
def get_indice_pairs_2d_backward(
    indices: Tensor,
    gridOut: Tensor,
    batchSize: int,
    outSpatialShape: Sequence[int],
    spatialShape: Sequence[int],
    kernelSize: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    outPadding: Sequence[int],
    _subM: int,
    _transpose: int,
) -> list[Tensor]:
    """Do what `get_indice_pairs_2d_forward` does; gridOut, memory for a table of all places, is not needed."""
    lists = (outSpatialShape, spatialShape, kernelSize, stride, padding, dilation)
    return _pairs("get_indice_pairs_2d_backward", 2, indices, batchSize, lists, _subM, _transpose)


@extension_function
def get_indice_pairs_3d_backward(
    indices: Tensor,
    gridOut: Tensor,
    batchSize: int,
    outSpatialShape: Sequence[int],
    spatialShape: Sequence[int],
    kernelSize: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    outPadding: Sequence[int],
    _subM: int,
    _transpose: int,
) -> list[Tensor]:
    """Do what `get_indice_pairs_3d_forward` does; gridOut, memory for a table of all places, is not needed."""
    lists = (outSpatialShape, spatialShape, kernelSize, stride, padding, dilation)
    return _pairs("get_indice_pairs_3d_backward", 3, indices, batchSize, lists, _subM, _transpose)


def _pairs(
    function: str,
    ndim: int,
    indices: Tensor,
    batch_size: int,
    lists: tuple[Sequence[int], ...],
    subm: int,
    transposed: int,
) -> list[Tensor]:
    check_int32(function, indices=indices)
    check_shape(function, "indices", indices, (None, ndim + 1))
    shape = _convolution(function, ndim, batch_size, lists, bool(subm), bool(transposed))
    rows = dense(indices)
    if not shape.transposed and ndim < 4 and (not shape.subm or set(shape.dilation) == {1}):
        return _pairs_of_library(rows, shape)
    _check_rows(function, rows, shape)
    torch = load_torch()
    return [torch.from_numpy(array) for array in find_pairs(rows.numpy(), shape)]


def _convolution(
    function: str, ndim: int, batch_size: int, lists: tuple[Sequence[int], ...], subm: bool, transposed: bool
) -> Convolution:
    """Read the arguments. A sub-manifold convolution has stride 1 and is centred, whatever is given."""
    names = ("outSpatialShape", "spatialShape", "kernelSize", "stride", "padding", "dilation")
    numbers = [tuple(int(number) for number in numbers) for numbers in lists]
    for name, values in zip(names, numbers, strict=True):
        least = 0 if name == "padding" else 1
        if len(values) != ndim or min(values) < least:
            raise refuse(function, name, f"{ndim} numbers of at least {least}", list(values))
    out_space, space, kernel, stride, padding, dilation = numbers
    if batch_size < 1:
        raise refuse(function, "batchSize", "at least 1", batch_size)
    if subm:
        out_space, stride, padding, transposed = space, (1,) * ndim, tuple(size // 2 for size in kernel), False
    return Convolution(batch_size, space, out_space, kernel, stride, padding, dilation, subm, transposed)


def _pairs_of_library(rows: Tensor, shape: Convolution) -> list[Tensor]:
    """Let the library find the pairs. In two dimensions there is one layer of voxels."""
    layer = (1,) * (3 - len(shape.space))
    no_padding = (0,) * len(layer)
    if layer:
        rows = load_torch().nn.functional.pad(rows, (1, 0))[:, [1, 0, 2, 3]]  # batch, 0, height, width
    out_indices, pairs, counts = operators.get_indice_pairs(
        dense(rows),
        batch_size=shape.batch,
        spatial_shape=layer + shape.space,
        kernel_size=layer + shape.kernel,
        stride=layer + shape.stride,
        padding=no_padding + shape.padding,
        dilation=layer + shape.dilation,
        subm=shape.subm,
        out_spatial_shape=layer + shape.out_space,
    )
    return [dense(out_indices[:, [0, 2, 3]] if layer else out_indices), pairs, counts]


def _check_rows(function: str, rows: Tensor, shape: Convolution) -> None:
    """Check that rows lie inside of batch and space, and that all places can be numbered."""
    if count_places(shape) >= 2**63:
        raise refuse(function, "outSpatialShape", "fewer than 2**63 places", list(shape.out_space))
    ends = load_torch().tensor((shape.batch, *shape.space))
    wrong = ((rows < 0) | (rows >= ends)).any(1)
    if bool(wrong.any()):
        row = int(wrong.nonzero()[0])
        expected = f"rows below {[shape.batch, *shape.space]}"
        raise refuse(function, "indices", expected, f"{rows[row].tolist()} in row {row}")


# ---- convolution -----------------------------------------------------------------------------------------------------


@extension_function
def indice_conv_forward(
    features: Tensor, filters: Tensor, indicePairs: Tensor, indiceNum: Tensor, numActOut: int, _inverse: int, _subM: int
) -> Tensor:
    """Return the convolved features [numActOut, Co] of features [L, Ci], filters [..., Ci, Co]."""
    name = "indice_conv_forward"
    dtype = check_floats(name, features=features, filters=filters)
    _check_convolution(name, features, filters, indicePairs, indiceNum)
    rows = _Rows(name, indicePairs, indiceNum, bool(_inverse), features.shape[0], numActOut)
    return _convolve(features, filters, rows, bool(_subM)).to(dtype)


@extension_function
def fused_indice_conv_forward(
    features: Tensor,
    filters: Tensor,
    bias: Tensor,
    indicePairs: Tensor,
    indiceNum: Tensor,
    numActOut: int,
    _inverse: int,
    _subM: int,
) -> Tensor:
    """Return what `indice_conv_forward` does, with bias [Co] added to every row."""
    name = "fused_indice_conv_forward"
    dtype = check_floats(name, features=features, filters=filters, bias=bias)
    _check_convolution(name, features, filters, indicePairs, indiceNum)
    check_shape(name, "bias", bias, (filters.shape[-1],))
    rows = _Rows(name, indicePairs, indiceNum, bool(_inverse), features.shape[0], numActOut)
    result = _convolve(features, filters, rows, bool(_subM))
    result += dense(bias, result.dtype)
    return result.to(dtype)


@extension_function
def indice_conv_backward(
    features: Tensor,
    filters: Tensor,
    outGrad: Tensor,
    indicePairs: Tensor,
    indiceNum: Tensor,
    _inverse: int,
    _subM: int,
) -> list[Tensor]:
    """Return the gradients of features and filters; outGrad is [numActOut, Co]."""
    name = "indice_conv_backward"
    dtype = check_floats(name, features=features, filters=filters, outGrad=outGrad)
    _check_convolution(name, features, filters, indicePairs, indiceNum)
    check_shape(name, "outGrad", outGrad, (None, filters.shape[-1]))
    kind = _kind(dtype)
    values, cells, grad = dense(features, kind), _cells(filters, kind), dense(outGrad, kind)
    grad_values, grad_cells = values.new_zeros(values.shape), cells.new_zeros(cells.shape)
    rows = _Rows(name, indicePairs, indiceNum, bool(_inverse), values.shape[0], grad.shape[0])
    centre = rows.centre(bool(_subM))
    for k, sources, targets in rows.cells(centre):
        sent = grad[targets]
        grad_cells[k] = values[sources].T @ sent
        grad_values.index_add_(0, sources, sent @ cells[k].T)
    if centre is not None:
        grad_cells[centre] = values.T @ grad
        grad_values += grad @ cells[centre].T
    return [grad_values.to(dtype), grad_cells.view(filters.shape).to(dtype)]


class _Rows(NamedTuple):
    """The pairs of a convolution: which rows are read and which are written under each cell."""

    function: str
    pairs: Tensor  # [K, 2, L]
    counts: Tensor  # [K]
    inverse: bool
    read: int  # number of rows
    written: int

    def centre(self, subm: bool) -> int | None:
        """Return the cell under which every row of a sub-manifold convolution meets itself; an even filter has none."""
        if not (subm and len(self.counts) % 2):
            return None
        if self.read != self.written:
            raise refuse(self.function, "numActOut", f"{self.read}, the number of features", self.written)
        return len(self.counts) // 2

    def cells(self, left_out: int | None = None) -> Iterator[tuple[int, Tensor, Tensor]]:
        """Yield number, rows read and rows written of each cell that has pairs."""
        for k, count in enumerate(self.counts.tolist()):
            if count and k != left_out:
                both = self.pairs[k, :, :count].long()
                sources, targets = both[int(self.inverse)], both[1 - int(self.inverse)]
                for rows, end in ((sources, self.read), (targets, self.written)):
                    least, most = (int(row) for row in rows.aminmax())
                    if least < 0 or most >= end:
                        wrong = least if least < 0 else most
                        raise refuse(self.function, "indicePairs", f"rows from 0 to {end - 1}", wrong)
                yield k, sources, targets


def _convolve(features: Tensor, filters: Tensor, rows: _Rows, subm: bool) -> Tensor:
    kind = _kind(features.dtype)
    values, cells = dense(features, kind), _cells(filters, kind)
    centre = rows.centre(subm)
    result = values.new_zeros((rows.written, cells.shape[2])) if centre is None else values @ cells[centre]
    for k, sources, targets in rows.cells(centre):
        result.index_add_(0, targets, values[sources] @ cells[k])
    return result


def _kind(dtype: Any) -> Any:
    torch = load_torch()
    return compute_type(dtype, torch.float32, torch.float64)


def _cells(filters: Tensor, kind: Any) -> Tensor:
    """Return the filter as [K, Ci, Co]."""
    return dense(filters, kind).view(-1, *filters.shape[-2:])


def _check_convolution(function: str, features: Tensor, filters: Tensor, pairs: Tensor, counts: Tensor) -> None:
    check_int32(function, indicePairs=pairs, indiceNum=counts)
    if filters.ndim < 2:
        raise refuse(function, "filters", "two dimensions or more", filters.ndim)
    check_shape(function, "features", features, (None, filters.shape[-2]))
    _check_pairs(function, pairs, counts)
    cells = filters.numel() // max(1, filters.shape[-1] * filters.shape[-2])
    if filters.numel() and cells != len(counts):
        raise refuse(function, "filters", f"{len(counts)} cells, as indiceNum", cells)


def _check_pairs(function: str, pairs: Tensor, counts: Tensor) -> None:
    check_shape(function, "indiceNum", counts, (None,))
    check_shape(function, "indicePairs", pairs, (len(counts), 2, None))
    if len(counts) and not 0 <= int(counts.min()) <= int(counts.max()) <= pairs.shape[2]:
        raise refuse(function, "indiceNum", f"numbers from 0 to {pairs.shape[2]}", counts.tolist())


# ---- maximum ---------------------------------------------------------------------------------------------------------


@extension_function
def indice_maxpool_forward(features: Tensor, indicePairs: Tensor, indiceNum: Tensor, numAct: int) -> Tensor:
    """Return for each of numAct output rows the maximum of 0 and the feature rows that reach it."""
    name = "indice_maxpool_forward"
    check_floats(name, features=features)
    check_shape(name, "features", features, (None, None))
    check_int32(name, indicePairs=indicePairs, indiceNum=indiceNum)
    _check_pairs(name, indicePairs, indiceNum)
    values = dense(features)
    result = values.new_zeros((numAct, values.shape[1]))
    values = values.where(~values.isnan(), -load_torch().inf)  # NaN never wins
    rows = _Rows(name, indicePairs, indiceNum, False, values.shape[0], numAct)
    for _, sources, targets in rows.cells():
        places = targets[:, None].expand(-1, values.shape[1])
        result.scatter_reduce_(0, places, values[sources], "amax")
    return result


@extension_function
def indice_maxpool_backward(
    features: Tensor, outFeatures: Tensor, outGrad: Tensor, indicePairs: Tensor, indiceNum: Tensor
) -> Tensor:
    """Return the gradient of the features: that of an output row goes to every feature that equals the maximum."""
    name = "indice_maxpool_backward"
    check_floats(name, features=features, outFeatures=outFeatures, outGrad=outGrad)
    check_shape(name, "features", features, (None, None))
    check_shape(name, "outFeatures", outFeatures, (None, features.shape[1]))
    check_shape(name, "outGrad", outGrad, outFeatures.shape)
    check_int32(name, indicePairs=indicePairs, indiceNum=indiceNum)
    _check_pairs(name, indicePairs, indiceNum)
    values, largest, grad = dense(features), dense(outFeatures), dense(outGrad)
    result = values.new_zeros(values.shape)
    rows = _Rows(name, indicePairs, indiceNum, False, values.shape[0], largest.shape[0])
    for _, sources, targets in rows.cells():
        equal = values[sources] == largest[targets]
        result.index_add_(0, sources, grad[targets].where(equal, 0))
    return result
