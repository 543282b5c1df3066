"""Products of features and filters by indice pairs, as differentiable functions.

Three products belong together: outputs C(f, w), feature gradients D(g, w) and filter gradients E(f, g). Each is linear
in both arguments, and the gradients of each are the other two, so they can be differentiated any number of times.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import torch
from torch import Tensor

from pymluops._core import Operator
from pymluops.enums import DataType
from pymluops.ops._schema import INT32, Scalar
from pymluops.ops._schema import Tensor as Described

_REALS = (DataType.FLOAT, DataType.HALF, DataType.DOUBLE)
_PAIRS = Described("indice_pairs", INT32, "K 2 L")
_NUM = Described("indice_num", (DataType.INT64,), "K")
_INVERSE = Scalar("inverse", minimum=0, maximum=1)

_OUTPUTS = Operator(
    "mluopsExtIndiceConvolutionForward",
    "indice_conv",
    (
        Described("features", _REALS, "rows Ci"),
        Described("filters", "features", "K Ci Co"),
        _PAIRS,
        _NUM,
        Described("out", "features", "num_act_out Co", output=True, parameter="features_out"),
    ),
    (_INVERSE, Scalar("num_act_out", minimum=0)),
    workspace="mluopsExtGetIndiceConvolutionForwardWorkspaceSize",
)
_FEATURE_GRADIENT = Operator(
    "mluopsExtIndiceConvolutionBackwardData",
    "indice_conv",
    (
        Described("output_grad", _REALS, "rows Co"),
        Described("filters", "output_grad", "K Ci Co"),
        _PAIRS,
        _NUM,
        Described("out", "output_grad", "num_act_in Ci", output=True, parameter="input_grad"),
    ),
    (_INVERSE, Scalar("num_act_in", minimum=0)),
    workspace="mluopsExtGetIndiceConvolutionBackwardDataWorkspaceSize",
)
_FILTER_GRADIENT = Operator(
    "mluopsExtIndiceConvolutionBackwardFilter",
    "indice_conv",
    (
        Described("features", _REALS, "rows Ci"),
        Described("output_grad", "features", "others Co"),
        _PAIRS,
        _NUM,
        Described("out", "features", "K Ci Co", output=True, parameter="filters_grad"),
    ),
    (_INVERSE,),
    workspace="mluopsExtGetIndiceConvolutionBackwardFilterWorkspaceSize",
)


class _Rulebook(NamedTuple):
    """Which rows meet: pairs [K, 2, L], their numbers [K] in int64, and the numbers of rows of both kinds."""

    pairs: Tensor
    num: Tensor
    inverse: int
    inputs: int
    outputs: int


def _computable(tensor: Tensor) -> Tensor:
    """Return a tensor that the library takes: packed, without a gradient, and bfloat16 as float32."""
    if tensor.requires_grad:
        tensor = tensor.detach()
    if not tensor.is_contiguous() or tensor.is_neg():
        tensor = tensor.contiguous().resolve_neg()
    return tensor.float() if tensor.dtype == torch.bfloat16 else tensor


def _run(operator: Operator, book: _Rulebook, first: Tensor, second: Tensor, *rows: int) -> Tensor:
    arrays = (_computable(first), _computable(second), book.pairs, book.num, None)
    found: Tensor = operator(None, arrays, (book.inverse, *rows))
    return found if found.dtype == first.dtype else found.to(first.dtype)


class _Outputs(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, features: Tensor, filters: Tensor, book: _Rulebook) -> Tensor:
        ctx.book = book
        ctx.save_for_backward(features, filters)
        return _run(_OUTPUTS, book, features, filters, book.outputs)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        (grad,) = grad_outputs
        features, filters = ctx.saved_tensors
        of_features = _feature_gradient(grad, filters, ctx.book) if ctx.needs_input_grad[0] else None
        of_filters = _filter_gradient(features, grad, ctx.book) if ctx.needs_input_grad[1] else None
        return of_features, of_filters, None


class _FeatureGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, output_grad: Tensor, filters: Tensor, book: _Rulebook) -> Tensor:
        ctx.book = book
        ctx.save_for_backward(output_grad, filters)
        return _run(_FEATURE_GRADIENT, book, output_grad, filters, book.inputs)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        (grad,) = grad_outputs
        output_grad, filters = ctx.saved_tensors
        of_output_grad = _outputs(grad, filters, ctx.book) if ctx.needs_input_grad[0] else None
        of_filters = _filter_gradient(grad, output_grad, ctx.book) if ctx.needs_input_grad[1] else None
        return of_output_grad, of_filters, None


class _FilterGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, features: Tensor, output_grad: Tensor, book: _Rulebook) -> Tensor:
        ctx.book = book
        ctx.save_for_backward(features, output_grad)
        return _run(_FILTER_GRADIENT, book, features, output_grad)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        (grad,) = grad_outputs
        features, output_grad = ctx.saved_tensors
        of_features = _feature_gradient(output_grad, grad, ctx.book) if ctx.needs_input_grad[0] else None
        of_output_grad = _outputs(features, grad, ctx.book) if ctx.needs_input_grad[1] else None
        return of_features, of_output_grad, None


# torch leaves the type of `apply` open.
_outputs: Any = cast("Any", _Outputs).apply
_feature_gradient: Any = cast("Any", _FeatureGradient).apply
_filter_gradient: Any = cast("Any", _FilterGradient).apply


def _convolve(
    features: Tensor,
    filters: Tensor,
    indice_pairs: Tensor,
    indice_pair_num: Tensor,
    num_activate_out: int,
    inverse: int,
) -> Tensor:
    if filters.dim() < 2:
        raise ValueError(f"indice_conv: filters: expected [..., Ci, Co], got {list(filters.shape)}")
    cells = filters if filters.dim() == 3 else filters.flatten(0, -3) if filters.dim() > 3 else filters[None]
    if features.dtype != filters.dtype:
        dtype = torch.promote_types(features.dtype, filters.dtype)
        features, cells = features.to(dtype), cells.to(dtype)
    pairs, num = _integers(indice_pairs, torch.int32), _integers(indice_pair_num, torch.int64)
    book = _Rulebook(pairs, num, inverse, len(features), int(num_activate_out))
    if torch.is_grad_enabled() and (features.requires_grad or cells.requires_grad):
        out: Tensor = _outputs(features, cells, book)
        return out
    return _run(_OUTPUTS, book, features, cells, book.outputs)


def _integers(tensor: Tensor, dtype: torch.dtype) -> Tensor:
    """Return packed integers; what is that already comes back as it is."""
    return tensor if tensor.dtype == dtype and tensor.is_contiguous() else tensor.to(dtype).contiguous()


def indice_conv(
    features: Tensor, filters: Tensor, indice_pairs: Tensor, indice_pair_num: Tensor, num_activate_out: int
) -> Tensor:
    """Convolve sparse features: ``out[o] += features[i] @ filters[k]`` for the pairs ``i, o`` of each filter cell k.

    Parameters
    ----------
    features : Tensor, shape [L, Ci], float16, bfloat16, float32 or float64
        Features of the input rows. bfloat16 is computed in float32.
    filters : Tensor, shape [*kernel_size, Ci, Co]
        The filter; K is the product of `kernel_size`.
    indice_pairs : Tensor, shape [K, 2, L], int32
        Input and output rows, as `get_indice_pairs` returns them.
    indice_pair_num : Tensor, shape [K]
        Number of pairs of each cell.
    num_activate_out : int
        Number of output rows.

    Returns
    -------
    Tensor
        Shape [num_activate_out, Co]. It can be differentiated any number of times.

    Raises
    ------
    BadParamError
        If an argument is not as described, or a pair has a row that does not exist.
    """
    return _convolve(features, filters, indice_pairs, indice_pair_num, num_activate_out, 0)


def indice_inverse_conv(
    features: Tensor, filters: Tensor, indice_pairs: Tensor, indice_pair_num: Tensor, num_activate_out: int
) -> Tensor:
    """Convolve back from the outputs of an earlier convolution to its inputs: as `indice_conv`, with pairs ``o, i``.

    Parameters
    ----------
    features : Tensor, shape [rows, Ci]
        Features of what were the output rows.
    filters : Tensor, shape [*kernel_size, Ci, Co]
        The filter.
    indice_pairs : Tensor, shape [K, 2, L], int32
        The pairs of the earlier convolution.
    indice_pair_num : Tensor, shape [K]
        Number of pairs of each cell.
    num_activate_out : int
        Number of rows that were the input of the earlier convolution.

    Returns
    -------
    Tensor
        Shape [num_activate_out, Co].

    Raises
    ------
    BadParamError
        If an argument is not as described, or a pair has a row that does not exist.
    """
    return _convolve(features, filters, indice_pairs, indice_pair_num, num_activate_out, 1)


def indice_subm_conv(
    features: Tensor, filters: Tensor, indice_pairs: Tensor, indice_pair_num: Tensor, num_activate_out: int
) -> Tensor:
    """Convolve with the pairs of a sub-manifold convolution; the same as `indice_conv`.

    Parameters
    ----------
    features : Tensor, shape [L, Ci]
        Features of the rows.
    filters : Tensor, shape [*kernel_size, Ci, Co]
        The filter.
    indice_pairs : Tensor, shape [K, 2, L], int32
        Input and output rows.
    indice_pair_num : Tensor, shape [K]
        Number of pairs of each cell.
    num_activate_out : int
        Number of rows, L.

    Returns
    -------
    Tensor
        Shape [num_activate_out, Co].

    Raises
    ------
    BadParamError
        If an argument is not as described, or a pair has a row that does not exist.
    """
    return _convolve(features, filters, indice_pairs, indice_pair_num, num_activate_out, 0)
