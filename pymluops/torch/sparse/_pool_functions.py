"""Maxima and means over the pairs of a sparse tensor's rows."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from pymluops.torch._numbers import flag
from pymluops.torch.sparse._dispatch import compiling, differentiate, register, register_composite, tracing
from pymluops.torch.sparse._numbers import whole
from pymluops.torch.sparse._rows import blocks, check_pairs, row_sums

__all__ = ["indice_avgpool", "indice_maxpool"]


def _largest(features: Tensor, pairs: Tensor, num: Tensor, rows: int, true_maximum: bool) -> Tensor:
    """Return the maxima; a row without pairs has 0."""
    channels = features.shape[1]
    out = features.new_full((rows, channels), -torch.inf if true_maximum else 0)
    for _, sources, targets in blocks(pairs, num, channels):
        places = targets[:, None].expand(-1, channels)
        out.scatter_reduce_(0, places, features.index_select(0, sources), "amax")
    if true_maximum:
        reached = torch.zeros(rows, dtype=torch.bool)
        for _, _, targets in blocks(pairs, num, 1):
            reached[targets] = True
        out[~reached] = 0
    return out


def _to_inputs(grad: Tensor, features: Tensor, pairs: Tensor, num: Tensor, true_maximum: bool = False) -> Tensor:
    """Give the gradient of each output row to all inputs that equal the maximum."""
    out, found = _largest(features, pairs, num, grad.shape[0], true_maximum), torch.zeros_like(features)
    for _, sources, targets in blocks(pairs, num, features.shape[1]):
        chosen = features.index_select(0, sources) == out.index_select(0, targets)
        found.index_add_(0, sources, torch.where(chosen, grad.index_select(0, targets), 0))
    return found


def _to_outputs(
    values: Tensor, features: Tensor, pairs: Tensor, num: Tensor, rows: int, true_maximum: bool = False
) -> Tensor:
    """Add for each output row the values of the inputs that equal the maximum: the adjoint of `_to_inputs`."""
    out, found = _largest(features, pairs, num, rows, true_maximum), values.new_zeros((rows, values.shape[1]))
    for _, sources, targets in blocks(pairs, num, features.shape[1]):
        chosen = features.index_select(0, sources) == out.index_select(0, targets)
        found.index_add_(0, targets, torch.where(chosen, values.index_select(0, sources), 0))
    return found


def _compute(features: Tensor, pairs: Tensor, num: Tensor, rows: int, true_maximum: bool = False) -> Tensor:
    check_pairs("indice_maxpool", features, pairs, num, rows)
    return _largest(features.detach(), pairs, num, rows, true_maximum)


# ---- As operators of torch -----------------------------------------------------------------------

_OPERATOR = register(
    "sparse_max_pool(Tensor features, Tensor pairs, Tensor num, SymInt rows, bool true_maximum=False) -> Tensor",
    _compute,
    lambda features, pairs, num, rows, true_maximum=False: features.new_empty((rows, features.shape[1])),
)
_TO_INPUTS = register(
    "sparse_max_pool_to_inputs(Tensor grad, Tensor features, Tensor pairs, Tensor num, bool true_maximum=False)"
    " -> Tensor",
    _to_inputs,
    lambda grad, features, pairs, num, true_maximum=False: torch.empty_like(features),
)
_TO_OUTPUTS = register(
    "sparse_max_pool_to_outputs(Tensor values, Tensor features, Tensor pairs, Tensor num, SymInt rows, "
    "bool true_maximum=False) -> Tensor",
    _to_outputs,
    lambda values, features, pairs, num, rows, true_maximum=False: values.new_empty((rows, values.shape[1])),
)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    # Not the output: an in-place operation may follow.
    ctx.save_for_backward(*inputs[:3])
    ctx.true_maximum = inputs[4]


def _keep_linear(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    ctx.save_for_backward(*inputs[1:4])
    ctx.rows, ctx.true_maximum = inputs[0].shape[0], inputs[-1]


def _of_pool(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    return _gradient(grad, *ctx.saved_tensors, ctx.true_maximum), None, None, None, None


def _of_gradient(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    return _adjoint(grad, *ctx.saved_tensors, ctx.rows, ctx.true_maximum), None, None, None, None


def _of_adjoint(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    return _gradient(grad, *ctx.saved_tensors, ctx.true_maximum), None, None, None, None, None


_max_pool: Any = differentiate(_OPERATOR, _keep, _of_pool)
_gradient: Any = differentiate(_TO_INPUTS, _keep_linear, _of_gradient)
_adjoint: Any = differentiate(_TO_OUTPUTS, _keep_linear, _of_adjoint)


# For torch.jit.trace, as in _functions.py.
_COUNTED = register_composite(
    "sparse_max_pool_counted(Tensor features, Tensor pairs, Tensor num, Tensor rows, bool true_maximum=False)"
    " -> Tensor",
    lambda features, pairs, num, rows, true_maximum=False: _max_pool(features, pairs, num, int(rows), true_maximum),
)


def indice_maxpool(
    features: Tensor,
    indice_pairs: Tensor,
    indice_pair_num: Tensor,
    num_activate_out: int,
    true_maximum: bool = False,
) -> Tensor:
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
    true_maximum : bool
        The maximum of the input rows alone, which may be negative; a row without pairs is 0.

    Returns
    -------
    Tensor
        Shape [num_activate_out, C]. A gradient goes to every input that equals the maximum, as in
        mmcv.

    Raises
    ------
    ValueError
        If shapes or numbers are not as described.
    IndexError
        If a pair has a row that does not exist.
    """
    true_maximum = flag("indice_maxpool", "true_maximum", true_maximum)
    if tracing() and isinstance(num_activate_out, Tensor):
        return _COUNTED(features, indice_pairs, indice_pair_num, num_activate_out, true_maximum)
    if not compiling() and not isinstance(num_activate_out, torch.SymInt):
        num_activate_out = whole("indice_maxpool", "num_activate_out", num_activate_out, 0)
    out: Tensor = _max_pool(features, indice_pairs, indice_pair_num, num_activate_out, true_maximum)
    return out


def indice_avgpool(features: Tensor, indice_pairs: Tensor, indice_pair_num: Tensor, num_activate_out: int) -> Tensor:
    """Take for each output row the mean of the input rows that are paired with it.

    Parameters
    ----------
    features : Tensor, shape [L, C]
        Features of the input rows. float16 and bfloat16 are computed in float32.
    indice_pairs : Tensor, shape [K, 2, L], int32
        Input and output rows, as `get_indice_pairs` returns them.
    indice_pair_num : Tensor, shape [K]
        Number of pairs of each cell.
    num_activate_out : int
        Number of output rows.

    Returns
    -------
    Tensor
        Shape [num_activate_out, C]; 0 for a row without pairs. It can be differentiated any number
        of times.

    Raises
    ------
    ValueError
        If shapes or numbers are not as described.
    IndexError
        If a pair has a row that does not exist.
    """
    rows: Any = num_activate_out
    if not compiling() and not tracing() and not isinstance(num_activate_out, torch.SymInt):
        rows = whole("indice_avgpool", "num_activate_out", num_activate_out, 0)
    wide = features.float() if features.dtype in (torch.float16, torch.bfloat16) else features
    sums = row_sums(wide, indice_pairs, indice_pair_num, rows)
    counts = row_sums(torch.ones_like(wide.detach()[:, :1]), indice_pairs, indice_pair_num, rows)
    return (sums / counts.clamp(min=1)).to(features.dtype)
