"""Sparse convolutions of every kind, as functions of mluops_ext.h: pairs of rows, and products by them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from pymluops._core import Operator
from pymluops.enums import DataType
from pymluops.ops._schema import INT32, Scalar, Tensor

__all__ = ["FEATURE_GRADIENT", "FILTER_GRADIENT", "OUTPUTS", "PAIRS", "pairs_arguments"]

_REALS = (DataType.FLOAT, DataType.HALF, DataType.DOUBLE)
_INT64 = (DataType.INT64,)
_MOST_ROWS = 2**31 - 1

# ---- Products ------------------------------------------------------------------------------------

_INDICE_PAIRS = Tensor("indice_pairs", INT32, "K 2 L")
_INDICE_NUM = Tensor("indice_num", _INT64, "K")
_INVERSE = Scalar("inverse", minimum=0, maximum=1)

OUTPUTS = Operator(
    "mluopsExtIndiceConvolutionForward",
    "indice_conv",
    (
        Tensor("features", _REALS, "rows Ci"),
        Tensor("filters", "features", "K Ci Co"),
        _INDICE_PAIRS,
        _INDICE_NUM,
        Tensor("out", "features", "num_act_out Co", output=True, parameter="features_out"),
    ),
    (_INVERSE, Scalar("num_act_out", minimum=0)),
    workspace="mluopsExtGetIndiceConvolutionForwardWorkspaceSize",
)
FEATURE_GRADIENT = Operator(
    "mluopsExtIndiceConvolutionBackwardData",
    "indice_conv",
    (
        Tensor("output_grad", _REALS, "rows Co"),
        Tensor("filters", "output_grad", "K Ci Co"),
        _INDICE_PAIRS,
        _INDICE_NUM,
        Tensor("out", "output_grad", "num_act_in Ci", output=True, parameter="input_grad"),
    ),
    (_INVERSE, Scalar("num_act_in", minimum=0)),
    workspace="mluopsExtGetIndiceConvolutionBackwardDataWorkspaceSize",
)
FILTER_GRADIENT = Operator(
    "mluopsExtIndiceConvolutionBackwardFilter",
    "indice_conv",
    (
        Tensor("features", _REALS, "rows Ci"),
        Tensor("output_grad", "features", "others Co"),
        _INDICE_PAIRS,
        _INDICE_NUM,
        Tensor("out", "features", "K Ci Co", output=True, parameter="filters_grad"),
    ),
    (_INVERSE,),
    workspace="mluopsExtGetIndiceConvolutionBackwardFilterWorkspaceSize",
)

# ---- Pairs ---------------------------------------------------------------------------------------

_AXES = ("input_space", "filter_space", "output_space", "stride", "pad", "dilation")

PAIRS = Operator(
    "mluopsExtGetIndicePairs",
    "get_indice_pairs",
    (
        Tensor("indices", INT32, "L axes+1"),
        *(Tensor(name, _INT64, "axes") for name in _AXES),
        Tensor("indice_pairs", INT32, "K 2 L", output=True),
        Tensor("out_indices", INT32, "rows axes+1", output=True),
        Tensor("indice_num", INT32, "K", output=True),
        Tensor("num_act_out", _INT64, "1", output=True),
    ),
    (
        Scalar("batch_size", parameter="batch"),
        Scalar("subm", minimum=0, maximum=1, parameter="sub_m"),
        Scalar("transpose", minimum=0, maximum=1),
        Scalar("ksize", symbol="K"),
        Scalar("rows", minimum=0),
    ),
)


def pairs_arguments(
    indices: Any, batch: int, axes: Sequence[Sequence[int]], subm: bool, transpose: bool
) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    """Return the arrays and scalars of a call of `PAIRS`, with room for all output rows that there can be.

    Parameters
    ----------
    indices : array, shape [L, 1 + ndim], int32
        Batch and place of each input row.
    batch : int
        Number of batches.
    axes : sequence of sequence of int
        Input space, kernel, output space, stride, padding and dilation, a number for each axis.
    subm, transpose : bool
        The kind of convolution.
    """
    space, kernel, out = axes[:3]
    cells = math.prod(kernel)
    most = min(cells * len(indices), batch * math.prod(out), _MOST_ROWS // (1 + len(space)))
    rows = len(indices) if subm else most
    arrays = (indices, *(np.array(values, np.int64) for values in axes), None, None, None, None)
    return arrays, (batch, int(subm), int(transpose), cells, rows)
