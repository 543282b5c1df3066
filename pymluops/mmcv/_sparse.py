"""Functions of ``mmcv._ext`` for sparse convolutions, under the names and with the arguments of its bindings.

Pairs come from the library's `get_indice_pairs` for convolutions in two and three dimensions, and from its extension
for what that lacks; products come from the extension too, which takes float64, float32 and float16. bfloat16 is
computed in float32.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from pymluops._core import Operator
from pymluops.mmcv._kernels import run_on_cpu
from pymluops.mmcv._tensors import (
    check_floats,
    check_int32,
    check_shape,
    compute_type,
    dense,
    extension_function,
    refuse,
    whole_number,
)
from pymluops.mmcv._torch import Tensor, load_torch, operators
from pymluops.ops._sparse_extension import FEATURE_GRADIENT, FILTER_GRADIENT, OUTPUTS, PAIRS, pairs_arguments


class Convolution(NamedTuple):
    """Shape of a sparse convolution: all but `batch` and the flags have a number for each axis."""

    batch: int
    space: tuple[int, ...]
    out_space: tuple[int, ...]
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    subm: bool
    transposed: bool

    @property
    def plain(self) -> bool:
        """Whether `get_indice_pairs` of the library has it, perhaps with an axis of size 1 before its own."""
        dilated = any(d > 1 and (self.subm or s > 1) for s, d in zip(self.stride, self.dilation, strict=True))
        return len(self.space) < 4 and not self.transposed and not dilated


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
    return _pairs_of_library(rows, shape) if shape.plain else _pairs_of_extension(rows, shape)


def _convolution(
    function: str, ndim: int, batch_size: int, lists: tuple[Sequence[int], ...], subm: bool, transposed: bool
) -> Convolution:
    """Read the arguments. A sub-manifold convolution has stride 1 and is centred, whatever is given."""
    names = ("outSpatialShape", "spatialShape", "kernelSize", "stride", "padding", "dilation")
    numbers = [
        tuple(whole_number(function, name, number) for number in numbers)
        for name, numbers in zip(names, lists, strict=True)
    ]
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


def _pairs_of_extension(rows: Tensor, shape: Convolution) -> list[Tensor]:
    """Let the library's extension find the pairs, of any kind."""
    axes = (shape.space, shape.kernel, shape.out_space, shape.stride, shape.padding, shape.dilation)
    arrays, scalars = pairs_arguments(rows, shape.batch, axes, shape.subm, shape.transposed)
    pairs, out_indices, counts, used = run_on_cpu(PAIRS, arrays, scalars)
    return [out_indices[: int(used[0])].clone(), pairs, counts]


# ---- convolution -----------------------------------------------------------------------------------------------------


@extension_function
def indice_conv_forward(
    features: Tensor, filters: Tensor, indicePairs: Tensor, indiceNum: Tensor, numActOut: int, _inverse: int, _subM: int
) -> Tensor:
    """Return the convolved features [numActOut, Co] of features [L, Ci], filters [..., Ci, Co]."""
    name = "indice_conv_forward"
    dtype = check_floats(name, features=features, filters=filters)
    _check_convolution(name, features, filters, indicePairs, indiceNum)
    pairs = _checked_pairs(name, features, indicePairs, indiceNum, bool(_subM), numActOut)
    kind = compute_type(dtype)
    return _product(OUTPUTS, dense(features, kind), _cells(filters, kind), pairs, _inverse, numActOut).to(dtype)


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
    pairs = _checked_pairs(name, features, indicePairs, indiceNum, bool(_subM), numActOut)
    kind = compute_type(dtype, load_torch().float32)  # so that the sum with the bias is rounded once
    result = _product(OUTPUTS, dense(features, kind), _cells(filters, kind), pairs, _inverse, numActOut)
    result += dense(bias, kind)
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
    pairs = _checked_pairs(name, features, indicePairs, indiceNum, bool(_subM), outGrad.shape[0])
    kind = compute_type(dtype)
    values, cells, grad = dense(features, kind), _cells(filters, kind), dense(outGrad, kind)
    grad_values = _product(FEATURE_GRADIENT, grad, cells, pairs, _inverse, len(values))
    grad_filters = values.new_empty(filters.shape)  # the gradient of a parameter, which is to be no view
    _product(FILTER_GRADIENT, values, grad, pairs, _inverse, out=grad_filters.view(cells.shape))
    return [grad_values.to(dtype), grad_filters.to(dtype)]


def _product(
    operator: Operator,
    first: Tensor,
    second: Tensor,
    pairs: tuple[Tensor, Tensor],
    inverse: int,
    *rows: int,
    out: Tensor | None = None,
) -> Any:
    """Return a product of two tensors by pairs and their counts; `rows` is the number of rows of the result."""
    return run_on_cpu(operator, (first, second, *pairs, out), (int(bool(inverse)), *rows))


def _checked_pairs(
    function: str, features: Tensor, pairs: Tensor, counts: Tensor, subm: bool, written: int
) -> tuple[Tensor, Tensor]:
    """Return pairs and counts as the extension takes them.

    Under the centre of a sub-manifold filter every row meets itself, whatever the pairs say; an even filter has none.
    """
    torch = load_torch()
    pairs, counts = dense(pairs), dense(counts, torch.int64)
    rows = features.shape[0]
    if not (subm and len(counts) % 2):
        return pairs, counts
    if rows != written:
        raise refuse(function, "numActOut", f"{rows}, the number of features", written)
    centre, itself = len(counts) // 2, torch.arange(rows, dtype=torch.int32).expand(2, -1)
    if counts[centre] != rows or not torch.equal(pairs[centre, :, :rows], itself):
        given, counts = pairs, counts.clone()
        pairs = given.new_full((*given.shape[:2], max(rows, given.shape[2])), -1)
        pairs[..., : given.shape[2]] = given
        pairs[centre, :, :rows], counts[centre] = itself, rows
    return pairs, counts


def _cells(filters: Tensor, kind: Any) -> Tensor:
    """Return the filter as [K, Ci, Co]."""
    return dense(filters, kind).view(math.prod(filters.shape[:-2]), *filters.shape[-2:])


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
    for sources, targets in _cell_by_cell(name, indicePairs, indiceNum, values.shape[0], numAct):
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
    for sources, targets in _cell_by_cell(name, indicePairs, indiceNum, values.shape[0], largest.shape[0]):
        equal = values[sources] == largest[targets]
        result.index_add_(0, sources, grad[targets].where(equal, 0))
    return result


def _cell_by_cell(
    function: str, pairs: Tensor, counts: Tensor, read: int, written: int
) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield the rows read and the rows written under each cell that has pairs."""
    for k, count in enumerate(counts.tolist()):
        if count:
            sources, targets = pairs[k, :, :count].long()
            for rows, end in ((sources, read), (targets, written)):
                least, most = (int(row) for row in rows.aminmax())
                if least < 0 or most >= end:
                    wrong = least if least < 0 else most
                    raise refuse(function, "indicePairs", f"rows from 0 to {end - 1}", wrong)
            yield sources, targets
