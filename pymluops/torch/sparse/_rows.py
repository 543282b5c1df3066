"""Sums of rows by indice pairs, and products of rows channel by channel, as differentiable functions.

All are linear in each argument, and the gradients of each are among the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

from pymluops.torch.sparse._dispatch import differentiate, register, register_composite, tracing

__all__ = ["Block", "blocks", "check_pairs", "pairs_to", "row_products", "row_sums"]

#: Elements of the rows that are looked at together: temporary tensors stay within a cache.
_BLOCK = 2**19


class Block(NamedTuple):
    """Some of the pairs of one cell."""

    cell: int
    sources: Tensor
    targets: Tensor


def blocks(pairs: Tensor, num: Tensor, channels: int, inverse: bool = False) -> Iterator[Block]:
    """Yield the rows read and the rows written, a part of one cell's pairs at a time."""
    step = max(1, _BLOCK // max(1, channels))
    for cell, count in enumerate(num.tolist()):
        for begin in range(0, count, step):
            first, second = pairs[cell, :, begin : min(count, begin + step)].long()
            yield Block(cell, second, first) if inverse else Block(cell, first, second)


def check_pairs(function: str, features: Tensor, pairs: Tensor, num: Tensor, rows: int, inverse: bool = False) -> None:
    """Check that features are rows, and that all pairs are of rows that exist.

    Raises
    ------
    ValueError
        If shapes or numbers do not fit.
    IndexError
        If a pair has a row that does not exist.
    """
    if features.dim() != 2:
        raise ValueError(f"{function}: features: expected shape [L, C], got {list(features.shape)}")
    cells = pairs.shape[0] if pairs.dim() == 3 else -1
    if pairs.dim() != 3 or pairs.shape[1] != 2 or list(num.shape) != [cells]:
        found = f"{list(pairs.shape)} and {list(num.shape)}"
        raise ValueError(f"{function}: indice_pairs: expected shapes [K, 2, L] and [K], got {found}")
    ends = (rows, features.shape[0]) if inverse else (features.shape[0], rows)
    for cell, count in enumerate(num.tolist()):
        if not 0 <= count <= pairs.shape[2]:
            expected = f"from 0 to {pairs.shape[2]}"
            raise ValueError(f"{function}: indice_pair_num: expected numbers {expected}, got {count}")
        if not count:
            continue
        for side, end in enumerate(ends):
            least, most = (int(row) for row in pairs[cell, side, :count].aminmax())
            if not 0 <= least <= most < end:
                wrong = f"expected rows from 0 to {end - 1}, got {least} to {most}"
                raise IndexError(f"{function}: indice_pairs: {wrong}")


def pairs_to(targets: Tensor) -> tuple[Tensor, Tensor]:
    """Return pairs of one cell that send each row to its target, and their number."""
    rows = targets.shape[0]
    sources = torch.arange(rows, dtype=torch.int32, device=targets.device)
    pairs = torch.stack([sources, targets.to(torch.int32)])[None]
    return pairs, torch.ones_like(pairs[:, 0]).sum(1, dtype=torch.int32)


def _wide(dtype: torch.dtype) -> torch.dtype:
    """Return the type that sums are computed in."""
    return torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype


def _add(out: Tensor, targets: Tensor, rows: Tensor) -> None:
    # An index of one value a row is what PyTorch has a fast way for, unlike index_add_.
    out.scatter_add_(0, targets[:, None].expand_as(rows), rows)


def _sums(features: Tensor, pairs: Tensor, num: Tensor, inverse: int, rows: int) -> Tensor:
    check_pairs("row_sums", features, pairs, num, rows, bool(inverse))
    wide, channels = _wide(features.dtype), features.shape[1]
    out = features.new_zeros((rows, channels), dtype=wide)
    for _, sources, targets in blocks(pairs, num, channels, bool(inverse)):
        _add(out, targets, features.detach().index_select(0, sources).to(wide))
    return out.to(features.dtype)


def _products(features: Tensor, cells: Tensor, pairs: Tensor, num: Tensor, inverse: int, rows: int) -> Tensor:
    check_pairs("row_products", features, pairs, num, rows, bool(inverse))
    wide, channels = _wide(features.dtype), features.shape[1]
    if list(cells.shape) != [pairs.shape[0], channels]:
        expected = [pairs.shape[0], channels]
        raise ValueError(f"row_products: cells: expected shape {expected}, got {list(cells.shape)}")
    out, factors = features.new_zeros((rows, channels), dtype=wide), cells.detach().to(wide)
    for cell, sources, targets in blocks(pairs, num, channels, bool(inverse)):
        _add(out, targets, features.detach().index_select(0, sources).to(wide) * factors[cell])
    return out.to(features.dtype)


def _factors(features: Tensor, grad: Tensor, pairs: Tensor, num: Tensor, inverse: int) -> Tensor:
    check_pairs("row_factors", features, pairs, num, grad.shape[0], bool(inverse))
    wide, channels = _wide(features.dtype), features.shape[1]
    out = features.new_zeros((pairs.shape[0], channels), dtype=wide)
    for cell, sources, targets in blocks(pairs, num, channels, bool(inverse)):
        read = features.detach().index_select(0, sources).to(wide)
        out[cell] += (read * grad.detach().index_select(0, targets).to(wide)).sum(0)
    return out.to(features.dtype)


# ---- As operators of torch -----------------------------------------------------------------------

_SUMS = register(
    "sparse_row_sums(Tensor features, Tensor pairs, Tensor num, int inverse, SymInt rows) -> Tensor",
    _sums,
    lambda features, pairs, num, inverse, rows: features.new_empty((rows, features.shape[1])),
)
_PRODUCTS = register(
    "sparse_row_products(Tensor features, Tensor cells, Tensor pairs, Tensor num, int inverse, SymInt rows) -> Tensor",
    _products,
    lambda features, cells, pairs, num, inverse, rows: features.new_empty((rows, features.shape[1])),
)
_FACTORS = register(
    "sparse_row_factors(Tensor features, Tensor grad, Tensor pairs, Tensor num, int inverse) -> Tensor",
    _factors,
    lambda features, grad, pairs, num, inverse: features.new_empty((pairs.shape[0], features.shape[1])),
)


def _keep_sums(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    features, pairs, num, ctx.inverse, _ = inputs
    ctx.save_for_backward(pairs, num)
    ctx.rows = features.shape[0]


def _of_sums(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    pairs, num = ctx.saved_tensors
    return _row_sums(grad, pairs, num, 1 - ctx.inverse, ctx.rows), None, None, None, None


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    ctx.save_for_backward(*inputs[:4])
    ctx.inverse = inputs[4]


def _of_products(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    features, cells, *pairs = ctx.saved_tensors
    first = second = None
    if ctx.needs_input_grad[0]:
        first = _row_products(grad, cells, *pairs, 1 - ctx.inverse, features.shape[0])
    if ctx.needs_input_grad[1]:
        second = _row_factors(features, grad, *pairs, ctx.inverse)
    return first, second, None, None, None, None


def _of_factors(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    features, other, *pairs = ctx.saved_tensors
    first = second = None
    if ctx.needs_input_grad[0]:
        first = _row_products(other, grad, *pairs, 1 - ctx.inverse, features.shape[0])
    if ctx.needs_input_grad[1]:
        second = _row_products(features, grad, *pairs, ctx.inverse, other.shape[0])
    return first, second, None, None, None


_row_sums: Any = differentiate(_SUMS, _keep_sums, _of_sums)
_row_products: Any = differentiate(_PRODUCTS, _keep, _of_products)
_row_factors: Any = differentiate(_FACTORS, _keep, _of_factors)

# torch.jit.trace records tensors, but writes an integer argument of an operator down as a constant.
_COUNTED_SUMS = register_composite(
    "sparse_row_sums_counted(Tensor features, Tensor pairs, Tensor num, Tensor rows) -> Tensor",
    lambda features, pairs, num, rows: _row_sums(features, pairs, num, 0, int(rows)),
)
_COUNTED_PRODUCTS = register_composite(
    "sparse_row_products_counted(Tensor features, Tensor cells, Tensor pairs, Tensor num, Tensor rows, int inverse)"
    " -> Tensor",
    lambda features, cells, pairs, num, rows, inverse: _row_products(features, cells, pairs, num, inverse, int(rows)),
)


def row_sums(features: Tensor, pairs: Tensor, num: Tensor, rows: int) -> Tensor:
    """Return for each output row the sum of the input rows that are paired with it."""
    if tracing() and isinstance(rows, Tensor):
        return _COUNTED_SUMS(features, pairs, num, rows)
    out: Tensor = _row_sums(features, pairs, num, 0, rows)
    return out


def row_products(features: Tensor, cells: Tensor, pairs: Tensor, num: Tensor, rows: int, inverse: bool) -> Tensor:
    """Add for each output row the input rows paired with it, each times the row of its cell, channel by channel."""
    if tracing() and isinstance(rows, Tensor):
        return _COUNTED_PRODUCTS(features, cells, pairs, num, rows, int(inverse))
    out: Tensor = _row_products(features, cells, pairs, num, int(inverse), rows)
    return out
