"""Products of features and filters by indice pairs, as differentiable functions.

Three products belong together: outputs C(f, w), feature gradients D(g, w) and filter gradients E(f,
g). Each is linear in both arguments, and the gradients of each are the other two, so they can be
differentiated any number of times.
"""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor

from pymluops._core import Operator
from pymluops.errors import BadParamError
from pymluops.ops._sparse_extension import FEATURE_GRADIENT, FILTER_GRADIENT, OUTPUTS
from pymluops.torch._library import follow_threads
from pymluops.torch._modes import untraced
from pymluops.torch.sparse._dispatch import compiling, register_composite, tracing, transformed, watched
from pymluops.torch.sparse._numbers import whole


def _computable(tensor: Tensor) -> Tensor:
    """Return a tensor that the library takes: packed, without a gradient, and bfloat16 as float32."""
    if tensor.requires_grad:
        tensor = tensor.detach()
    if not tensor.is_contiguous() or tensor.is_neg():
        tensor = tensor.contiguous().resolve_neg()
    return tensor.float() if tensor.dtype == torch.bfloat16 else tensor


def _integers(operator: Operator, name: str, tensor: Tensor, dtype: torch.dtype) -> Tensor:
    """Return packed integers; those that are packed already come back as they are."""
    if tensor.dtype == dtype:
        return tensor if tensor.is_contiguous() else tensor.contiguous()
    if tensor.dtype not in (torch.int32, torch.int64):
        raise BadParamError(f"{operator.name}: {name}: expected dtype int32 or int64, got {tensor.dtype}")
    found = tensor.to(dtype)
    if dtype == torch.int32 and not torch.equal(found.to(torch.int64), tensor):
        raise BadParamError(f"{operator.name}: {name}: expected values that int32 can hold, got larger ones")
    return found.contiguous()


def _run(operator: Operator, arrays: tuple[Tensor, ...], scalars: tuple[int, ...]) -> Tensor:
    first, second, pairs, num = arrays
    follow_threads()
    integers = (
        _integers(operator, "indice_pairs", pairs, torch.int32),
        _integers(operator, "indice_pair_num", num, torch.int64),
    )
    found: Tensor = operator(None, (_computable(first), _computable(second), *integers, None), scalars)
    return found if found.dtype == first.dtype else found.to(first.dtype)


def _outputs(features: Tensor, filters: Tensor, pairs: Tensor, num: Tensor, inverse: int, rows: int) -> Tensor:
    return _run(OUTPUTS, (features, filters, pairs, num), (inverse, rows))


def _feature_gradient(grad: Tensor, filters: Tensor, pairs: Tensor, num: Tensor, inverse: int, rows: int) -> Tensor:
    return _run(FEATURE_GRADIENT, (grad, filters, pairs, num), (inverse, rows))


def _filter_gradient(features: Tensor, grad: Tensor, pairs: Tensor, num: Tensor, inverse: int) -> Tensor:
    return _run(FILTER_GRADIENT, (features, grad, pairs, num), (inverse,))


# ---- Gradients -----------------------------------------------------------------------------------


class _Products(NamedTuple):
    """The three products: as plain calls with gradients, or as operators that torch has registered."""

    outputs: Any
    feature_gradient: Any
    filter_gradient: Any


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    """Keep the two factors, the pairs and their direction for the gradients."""
    ctx.save_for_backward(*inputs[:4])
    ctx.inverse = inputs[4]


def _of_outputs(products: _Products, ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    features, filters, *pairs = ctx.saved_tensors
    first = second = None
    if ctx.needs_input_grad[0]:
        first = products.feature_gradient(grad, filters, *pairs, ctx.inverse, features.shape[0])
    if ctx.needs_input_grad[1]:
        second = products.filter_gradient(features, grad, *pairs, ctx.inverse)
    return first, second, None, None, None, None


def _of_feature_gradient(products: _Products, ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    output_grad, filters, *pairs = ctx.saved_tensors
    first = second = None
    if ctx.needs_input_grad[0]:
        first = products.outputs(grad, filters, *pairs, ctx.inverse, output_grad.shape[0])
    if ctx.needs_input_grad[1]:
        second = products.filter_gradient(grad, output_grad, *pairs, ctx.inverse)
    return first, second, None, None, None, None


def _of_filter_gradient(products: _Products, ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    features, output_grad, *pairs = ctx.saved_tensors
    first = second = None
    if ctx.needs_input_grad[0]:
        first = products.feature_gradient(output_grad, grad, *pairs, ctx.inverse, features.shape[0])
    if ctx.needs_input_grad[1]:
        second = products.outputs(features, grad, *pairs, ctx.inverse, output_grad.shape[0])
    return first, second, None, None, None


def _mapped(name: str) -> Any:
    """Return how torch.vmap maps a product: call by call, since each has rows and pairs of its own to go through."""

    def vmap(info: Any, in_dims: tuple[int | None, ...], *args: Any) -> tuple[Tensor, int]:
        product = getattr(_PLAIN, name)
        each = [
            product(*(arg if dim is None else arg.select(dim, i) for arg, dim in zip(args, in_dims, strict=True)))
            for i in range(info.batch_size)
        ]
        return torch.stack(each), 0

    return vmap


class _Outputs(torch.autograd.Function):
    forward = staticmethod(_outputs)
    setup_context = staticmethod(_keep)
    vmap = staticmethod(_mapped("outputs"))

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        return _of_outputs(_products(), ctx, *grad_outputs)


class _FeatureGradient(torch.autograd.Function):
    forward = staticmethod(_feature_gradient)
    setup_context = staticmethod(_keep)
    vmap = staticmethod(_mapped("feature_gradient"))

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        return _of_feature_gradient(_products(), ctx, *grad_outputs)


class _FilterGradient(torch.autograd.Function):
    forward = staticmethod(_filter_gradient)
    setup_context = staticmethod(_keep)
    vmap = staticmethod(_mapped("filter_gradient"))

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        return _of_filter_gradient(_products(), ctx, *grad_outputs)


# torch leaves the type of `apply` open.
_PLAIN = _Products(*(cast("Any", kind).apply for kind in (_Outputs, _FeatureGradient, _FilterGradient)))
_WITHOUT_GRADIENTS = _Products(_outputs, _feature_gradient, _filter_gradient)

# `apply` asks for the signature at every call, and making it takes longer than a small product.
for _call in _WITHOUT_GRADIENTS:
    _call.__signature__ = inspect.signature(_call)


def _products() -> _Products:
    """Return the products for a backward pass: their gradients are only recorded for `create_graph` and transforms."""
    return _PLAIN if torch.is_grad_enabled() or transformed() is not None else _WITHOUT_GRADIENTS


# ---- Registration, for torch.compile and torch.export; a plain call costs less -------------------

_ROWS = "Tensor pairs, Tensor num, int inverse, SymInt rows"
_SCHEMAS = {
    "sparse_outputs": f"(Tensor features, Tensor filters, {_ROWS}) -> Tensor",
    "sparse_feature_gradient": f"(Tensor grad, Tensor filters, {_ROWS}) -> Tensor",
    "sparse_filter_gradient": "(Tensor features, Tensor grad, Tensor pairs, Tensor num, int inverse) -> Tensor",
}


def _fake_outputs(features: Tensor, filters: Tensor, pairs: Tensor, num: Tensor, inverse: int, rows: int) -> Tensor:
    return features.new_empty((rows, filters.shape[2]))


def _fake_feature_gradient(
    grad: Tensor, filters: Tensor, pairs: Tensor, num: Tensor, inverse: int, rows: int
) -> Tensor:
    return grad.new_empty((rows, filters.shape[1]))


def _fake_filter_gradient(features: Tensor, grad: Tensor, pairs: Tensor, num: Tensor, inverse: int) -> Tensor:
    return features.new_empty((pairs.shape[0], features.shape[1], grad.shape[1]))


def _register(name: str, call: Any, fake: Any, gradient: Any) -> Any:
    """Register a product, and return it as an operator of torch."""

    def backward(ctx: Any, grad: Tensor) -> Any:
        return gradient(_REGISTERED, ctx, grad)

    library: Any = torch.library
    library.define(f"pymluops::{name}", _SCHEMAS[name])
    library.impl(f"pymluops::{name}", "cpu", untraced(call))
    library.register_fake(f"pymluops::{name}", fake)
    library.register_autograd(f"pymluops::{name}", backward, setup_context=_keep)
    return getattr(torch.ops.pymluops, name)


_REGISTERED = _Products(
    _register("sparse_outputs", _outputs, _fake_outputs, _of_outputs),
    _register("sparse_feature_gradient", _feature_gradient, _fake_feature_gradient, _of_feature_gradient),
    _register("sparse_filter_gradient", _filter_gradient, _fake_filter_gradient, _of_filter_gradient),
)


def _counted(features: Tensor, filters: Tensor, pairs: Tensor, num: Tensor, rows: Tensor, inverse: int) -> Tensor:
    return _REGISTERED.outputs(features, filters, pairs, num, inverse, int(rows))


# torch.jit.trace records tensors, but writes an integer argument of an operator down as a constant.
_COUNTED = register_composite(
    "sparse_outputs_counted(Tensor features, Tensor filters, Tensor pairs, Tensor num, Tensor rows, int inverse)"
    " -> Tensor",
    _counted,
)


def _convolve(
    features: Tensor,
    filters: Tensor,
    indice_pairs: Tensor,
    indice_pair_num: Tensor,
    num_activate_out: int,
    function: str,
) -> Tensor:
    inverse = int(function == "indice_inverse_conv")
    if filters.dim() < 2:
        raise ValueError(f"{function}: filters: expected [..., Ci, Co], got {list(filters.shape)}")
    cells = filters if filters.dim() == 3 else filters.flatten(0, -3) if filters.dim() > 3 else filters[None]
    if features.dtype != filters.dtype:
        dtype = torch.promote_types(features.dtype, filters.dtype)
        features, cells = features.to(dtype), cells.to(dtype)
    if tracing() and isinstance(num_activate_out, Tensor):
        return _COUNTED(features, cells, indice_pairs, indice_pair_num, num_activate_out, inverse)
    if not compiling() and not isinstance(num_activate_out, torch.SymInt):
        num_activate_out = whole(function, "num_activate_out", num_activate_out, 0)
    arguments = features, cells, indice_pairs, indice_pair_num, inverse, num_activate_out
    out: Tensor
    if not compiling() and transformed() is not None:
        out = _PLAIN.outputs(*arguments)
    elif watched(features, cells, indice_pairs, indice_pair_num):
        out = _REGISTERED.outputs(*arguments)
    elif torch.is_grad_enabled() and (features.requires_grad or cells.requires_grad):
        out = _PLAIN.outputs(*arguments)
    else:
        out = _outputs(*arguments)
    return out


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
    return _convolve(features, filters, indice_pairs, indice_pair_num, num_activate_out, "indice_conv")


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
    return _convolve(features, filters, indice_pairs, indice_pair_num, num_activate_out, "indice_inverse_conv")


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
    return _convolve(features, filters, indice_pairs, indice_pair_num, num_activate_out, "indice_subm_conv")
