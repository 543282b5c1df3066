"""The products of the sparse convolutions of mmcv."""

from __future__ import annotations

import math
from typing import Any

from pymluops._core import Operator
from pymluops.mmcv._binding import Row
from pymluops.mmcv._kernels import run_on_cpu
from pymluops.mmcv._tensors import (
    check_floats,
    check_int32,
    check_pairs,
    check_shape,
    compute_type,
    dense,
    extension_function_of,
    refuse,
)
from pymluops.mmcv._torch import Tensor, load_torch
from pymluops.ops._sparse_extension import FEATURE_GRADIENT, FILTER_GRADIENT, OUTPUTS

__all__ = ["fused_indice_conv_forward", "indice_conv_backward", "indice_conv_forward"]

ROWS = (
    Row(
        "SparseConv*, SparseInverseConv*, SparseConvTranspose*, SubMConv*",
        ("indice_conv_forward", "indice_conv_backward"),
        "forward, backward",
        "mluopsExtIndiceConvolutionForward, Backward* (float16, float32)",
        "mmcv's code lets through float32 and float16 only. A filter with the indice_key of a smaller one "
        "computes with its first cells, as in a compiled mmcv.",
    ),
    Row(
        "the same with fused_bn",
        ("fused_indice_conv_forward",),
        "forward",
        "mluopsExtIndiceConvolutionForward (float32)",
        "mmcv's code fails for anything but float16 features before it gets here (it reads filters.dtypes); "
        "mmcv._ext.fused_indice_conv_forward itself takes all types.",
    ),
)


@extension_function_of(features="L I", indicePairs="K 2 P", indiceNum="K")
def indice_conv_forward(
    features: Tensor, filters: Tensor, indicePairs: Tensor, indiceNum: Tensor, numActOut: int, _inverse: int, _subM: int
) -> Tensor:
    """Return the convolved features [numActOut, Co] of features [L, Ci], filters [..., Ci, Co]."""
    name = "indice_conv_forward"
    dtype = check_floats(name, features=features, filters=filters)
    _check_convolution(name, features, filters, indicePairs, indiceNum)
    pairs = _checked_pairs(name, features, indicePairs, indiceNum, bool(_subM), numActOut)
    kind = compute_type(dtype)
    cells = _cells(filters, kind)[: len(indiceNum)]
    return _product(OUTPUTS, dense(features, kind), cells, pairs, _inverse, numActOut).to(dtype)


@extension_function_of(features="L I", indicePairs="K 2 P", indiceNum="K")
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
    if bias.numel() != filters.shape[-1]:
        check_shape(name, "bias", bias, (filters.shape[-1],))
    pairs = _checked_pairs(name, features, indicePairs, indiceNum, bool(_subM), numActOut)
    kind = compute_type(dtype, load_torch().float32)  # so that the sum with the bias is rounded once
    cells = _cells(filters, kind)[: len(indiceNum)]
    result = _product(OUTPUTS, dense(features, kind), cells, pairs, _inverse, numActOut)
    result += dense(bias, kind).view(-1)
    return result.to(dtype)


@extension_function_of(features="L I", indicePairs="K 2 P", indiceNum="K")
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
    used = len(indiceNum)
    grad_values = _product(FEATURE_GRADIENT, grad, cells[:used], pairs, _inverse, len(values))
    grad_filters = values.new_empty(filters.shape)  # the gradient of a parameter, which is to be no view
    grad_cells = grad_filters.view(cells.shape)
    grad_cells[used:] = 0
    _product(FILTER_GRADIENT, values, grad, pairs, _inverse, out=grad_cells[:used])
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

    Under the centre of a sub-manifold filter every row meets itself, whatever the pairs say; an
    even filter has none.
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
    check_pairs(function, pairs, counts)
    cells = filters.numel() // max(1, filters.shape[-1] * filters.shape[-2])
    # More are legal: networks give a filter the indice_key of a smaller one, and mmcv's loop ends
    # with the pairs.
    if filters.numel() and cells < len(counts):
        raise refuse(function, "filters", f"at least {len(counts)} cells, as indiceNum", cells)
