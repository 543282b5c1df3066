"""``spconv.pytorch.ops``: pairs [2, K, L] and products with filters [Co, *kernel_size, Ci]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from pymluops.dropins.spconv._algorithms import ConvAlgo, activated
from pymluops.dropins.spconv._tensor import half_counts, rulebook
from pymluops.dropins.spconv._windows import centred, deconv_output_size
from pymluops.torch import sparse
from pymluops.torch.sparse._numbers import sizes, whole
from pymluops.torch.sparse._pairs import find_pairs
from pymluops.torch.sparse._places import checked_places
from pymluops.torch.sparse._tensor import Window

__all__ = [
    "get_conv_output_size",
    "get_deconv_output_size",
    "get_indice_pairs",
    "indice_conv",
    "indice_conv_backward",
    "indice_maxpool",
    "indice_maxpool_backward",
]

_Sizes = int | Sequence[int]

get_conv_output_size = sparse.get_conv_output_size


def get_deconv_output_size(
    input_size: Sequence[int],
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    output_padding: Sequence[int],
) -> list[int]:
    """Return the size of a transposed convolution's output along each axis; the dilation does not count."""
    axes = (input_size, kernel_size, stride, padding, output_padding)
    return deconv_output_size(*(list(values) for values in axes))


def get_indice_pairs(
    indices: Tensor,
    batch_size: int,
    spatial_shape: Sequence[int],
    algo: ConvAlgo,
    ksize: _Sizes,
    stride: _Sizes,
    padding: _Sizes,
    dilation: _Sizes,
    out_padding: _Sizes,
    subm: bool = False,
    transpose: bool = False,
    num_out_act_bound: int = -1,
) -> tuple[Tensor, Tensor, Tensor]:
    """Find which input rows meet which output rows under each cell of a filter.

    Parameters
    ----------
    indices : Tensor, shape [L, ndim + 1], int32
        Places of the input rows.
    batch_size, spatial_shape, ksize, stride, padding, dilation, out_padding, subm, transpose
        As in a layer.
    algo, num_out_act_bound
        Without meaning on a CPU.

    Returns
    -------
    out_indices : Tensor, shape [rows, ndim + 1], int32
        Places of the output rows, ascending, or those of the input rows in sub-manifold mode.
    indice_pairs : Tensor, shape [2, K, L], int32
        Input and output rows of each cell, -1 after the last pair.
    indice_pair_num : Tensor, shape [K], int32
        Number of pairs of each cell; in sub-manifold mode 0 from the centre on.
    """
    name, ndim = "get_indice_pairs", indices.shape[1] - 1

    def each(argument: str, value: Any, least: int) -> list[int]:
        return sizes(name, argument, value, ndim, least)

    space, kernel = each("spatial_shape", spatial_shape, 1), each("ksize", ksize, 1)
    steps, gaps = each("stride", stride, 1), each("dilation", dilation, 1)
    pads, extra = each("padding", padding, 0), each("out_padding", out_padding, 0)
    batch, kind = whole(name, "batch_size", batch_size, 0), "regular"
    if subm:
        kind, steps, pads, out = "sub-manifold", [1] * ndim, centred(kernel, gaps), space
    elif transpose:
        kind, out = "transposed", deconv_output_size(space, kernel, steps, pads, extra)
    else:
        out = get_conv_output_size(space, kernel, steps, pads, gaps)
    window = Window(kind, kernel, steps, pads, gaps, extra, space, batch)
    places, pairs, num = find_pairs(checked_places(name, indices, batch, space), window, out)
    return places, pairs.transpose(0, 1).contiguous(), half_counts(num) if subm else num


def indice_conv(
    features: Tensor,
    filters: Tensor,
    indice_pairs: Tensor,
    indice_pair_num: Tensor,
    num_activate_out: int,
    inverse: bool = False,
    subm: bool = False,
    algo: ConvAlgo = ConvAlgo.Native,
    timer: Any = None,
    bias: Tensor | None = None,
    act_alpha: float = 0,
    act_beta: float = 0,
    act_type: Any = None,
) -> Tensor:
    """Convolve rows by pairs; it can be differentiated any number of times.

    Parameters
    ----------
    features : Tensor, shape [L, Ci]
        Rows.
    filters : Tensor, shape [Co, *kernel_size, Ci]
        The filter.
    indice_pairs, indice_pair_num : Tensor
        As `get_indice_pairs` returns them.
    num_activate_out : int
        Number of output rows.
    inverse, subm : bool
        The kind.
    bias, act_alpha, act_beta, act_type
        A bias, and a function after it.
    algo, timer
        Without meaning on a CPU.
    """
    pairs, num = rulebook(indice_pairs, indice_pair_num, subm)
    convolve = sparse.indice_inverse_conv if inverse else sparse.indice_conv
    found = convolve(features, filters.movedim(0, -1), pairs, num, num_activate_out)
    found = found if bias is None else found + bias
    return activated(found, act_type, act_alpha)


def indice_conv_backward(
    features: Tensor,
    filters: Tensor,
    out_bp: Tensor,
    indice_pairs: Tensor,
    indice_pair_num: Tensor,
    inverse: bool = False,
    subm: bool = False,
    algo: ConvAlgo = ConvAlgo.Native,
    timer: Any = None,
) -> tuple[Tensor, Tensor]:
    """Return the gradients of features and filters of `indice_conv` for that of its result."""
    with torch.enable_grad():
        leaves = features.detach().requires_grad_(), filters.detach().requires_grad_()
        found = indice_conv(*leaves, indice_pairs, indice_pair_num, out_bp.shape[0], inverse, subm)
        first, second = torch.autograd.grad(found, leaves, out_bp.to(found.dtype))
    return first, second


def indice_maxpool(features: Tensor, indice_pairs: Tensor, indice_pair_num: Tensor, num_activate_out: int) -> Tensor:
    """Take for each output row the maximum of 0 and of the rows that are paired with it."""
    return sparse.indice_maxpool(features, *rulebook(indice_pairs, indice_pair_num, False), num_activate_out)


def indice_maxpool_backward(
    features: Tensor, out_features: Tensor, out_bp: Tensor, indice_pairs: Tensor, indice_pair_num: Tensor
) -> Tensor:
    """Return the gradient of the features of `indice_maxpool`: it goes to every row that equals the maximum."""
    with torch.enable_grad():
        leaf = features.detach().requires_grad_()
        found = indice_maxpool(leaf, indice_pairs, indice_pair_num, out_features.shape[0])
        (gradient,) = torch.autograd.grad(found, leaf, out_bp.to(found.dtype))
    return gradient
