"""Pairs of input and output rows of sparse convolutions of 1 to 4 dims, transposed ones too."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from pymluops.ops._sparse_extension import PAIRS, pairs_arguments
from pymluops.ops.get_indice_pairs import get_indice_pairs as pairs_of_arrays
from pymluops.torch._library import follow_threads
from pymluops.torch._numbers import flag
from pymluops.torch.sparse._dispatch import register, shapes_of
from pymluops.torch.sparse._numbers import sizes, whole
from pymluops.torch.sparse._places import checked_places
from pymluops.torch.sparse._tensor import Window


def _window(function: str, input_size: Any, **window: Any) -> list[list[int]]:
    """Return the sizes of a window along each axis, each argument refused by its name."""
    if not isinstance(input_size, (Sequence, Tensor, np.ndarray)) or getattr(input_size, "ndim", 1) == 0:
        raise ValueError(f"{function}: input_size: expected an integer for each axis, got {input_size!r}")
    ndim, least = len(input_size), {"kernel_size": -1, "stride": 1, "dilation": 1}
    return [sizes(function, name, value, ndim, least.get(name, 0))
            for name, value in {"input_size": input_size, **window}.items()]  # fmt: skip


def get_conv_output_size(
    input_size: Sequence[int],
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> list[int]:
    """Return the size of a convolution's output along each axis; a kernel of -1 leaves one place."""
    given = {"kernel_size": kernel_size, "stride": stride, "padding": padding, "dilation": dilation}
    axes = zip(*_window("get_conv_output_size", input_size, **given), strict=True)
    return [1 if k == -1 else (i + 2 * p - d * (k - 1) - 1) // s + 1 for i, k, s, p, d in axes]


def get_deconv_output_size(
    input_size: Sequence[int],
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    output_padding: Sequence[int],
) -> list[int]:
    """Return the size of a transposed convolution's output along each axis."""
    given = {"kernel_size": kernel_size, "stride": stride, "padding": padding, "dilation": dilation}
    window = _window("get_deconv_output_size", input_size, **given, output_padding=output_padding)
    found: list[int] = []
    for i, k, s, p, d, extra in zip(*window, strict=True):
        if k == -1:
            raise ValueError("get_deconv_output_size: kernel_size: expected positive sizes, got -1")
        found.append((i - 1) * s - 2 * p + d * (k - 1) + 1 + extra)
    return found


class _Geometry(NamedTuple):
    batch: int
    space: list[int]
    kernel: list[int]
    stride: list[int]
    padding: list[int]
    dilation: list[int]
    out: list[int]
    subm: bool
    transpose: bool

    @property
    def plain(self) -> bool:
        """Whether `pymluops.get_indice_pairs` has it, perhaps with axes of size 1 before its own."""
        steps = list(zip(self.stride, self.dilation, strict=True))
        dilated = any(d != 1 for _, d in steps) if self.subm else any(s != 1 and d != 1 for s, d in steps)
        return len(self.space) <= 3 and not self.transpose and not dilated


def get_indice_pairs(
    indices: Tensor,
    batch_size: int,
    spatial_shape: Sequence[int],
    ksize: int | Sequence[int] = 3,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    out_padding: int | Sequence[int] = 0,
    subm: bool = False,
    transpose: bool = False,
    grid: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Find which input rows meet which output rows under each cell of a filter.

    Parameters
    ----------
    indices : Tensor, shape [L, 1 + ndim], int32
        Places of the input rows: batch, then one coordinate for each of 1 to 4 axes.
    batch_size : int
        Number of batches.
    spatial_shape : sequence of int
        Size of the input space along each axis.
    ksize, stride, padding, dilation : int or sequence of int
        As in any convolution. In sub-manifold mode the stride is 1 and the padding ``ksize // 2``,
        whatever is given.
    out_padding : int or sequence of int
        What a transposed convolution adds to the size of its output.
    subm : bool
        Sub-manifold mode: the output rows are the input rows.
    transpose : bool
        Transposed convolution: cell k sends place i to ``i*stride - padding + k*dilation``.
    grid : Tensor, optional
        Not used.

    Returns
    -------
    out_indices : Tensor, shape [rows, 1 + ndim], int32
        Places of the output rows, ascending, or those of the input rows in sub-manifold mode.
    indice_pairs : Tensor, shape [K, 2, L], int32
        Input and output rows of each cell, -1 after the last pair.
    indice_num : Tensor, shape [K], int32
        Number of pairs of each cell.

    Raises
    ------
    ValueError
        If an argument is not as described, or nothing is left of the space.
    BadParamError
        If a place lies outside of the batches or the space.
    """
    name = "get_indice_pairs"
    shape = shapes_of(indices)[0]
    ndim = shape[1] - 1 if len(shape) == 2 else 0
    if not 1 <= ndim <= 4:
        raise ValueError(f"get_indice_pairs: indices: expected shape [L, 2 to 5], got {shape}")
    space, kernel = sizes(name, "spatial_shape", spatial_shape, ndim, 1), sizes(name, "ksize", ksize, ndim, 1)
    steps, pads = sizes(name, "stride", stride, ndim, 1), sizes(name, "padding", padding, ndim, 0)
    gaps, extra = sizes(name, "dilation", dilation, ndim, 1), sizes(name, "out_padding", out_padding, ndim, 0)
    batch = whole(name, "batch_size", batch_size, 0)
    if indices.dtype != torch.int32:
        indices = checked_places(name, indices, batch, space)
    if flag(name, "subm", subm):
        pairs, num = _SUB_MANIFOLD(indices, batch, space, kernel, gaps)
        return indices.contiguous(), pairs, num
    if flag(name, "transpose", transpose):
        out = get_deconv_output_size(space, kernel, steps, pads, gaps, extra)
    else:
        out = get_conv_output_size(space, kernel, steps, pads, gaps)
    if min(out) < 1:
        raise ValueError(f"get_indice_pairs: ksize: expected a filter that fits into {space}, got output space {out}")
    return _REGULAR(indices, batch, space, kernel, steps, pads, gaps, out, bool(transpose))


def find_pairs(indices: Tensor, window: Window, out_space: Sequence[int]) -> tuple[Tensor, Tensor, Tensor]:
    """Find pairs with the padding and the output space that are given, whatever the kind.

    Parameters
    ----------
    indices : Tensor, shape [L, 1 + ndim], int32
        Places of the input rows, which were checked.
    window : Window
        The convolution.
    out_space : sequence of int
        Size of the output space along each axis.

    Returns
    -------
    tuple of Tensor
        As `get_indice_pairs` returns them.

    Raises
    ------
    ValueError
        If nothing is left of the space.
    """
    space, kernel, gaps = window.spatial_shape, window.kernel_size, window.dilation
    if min(out_space) < 1:
        expected = f"expected a filter that fits into {space}, got output space {list(out_space)}"
        raise ValueError(f"get_indice_pairs: ksize: {expected}")
    if window.kind == "sub-manifold":
        pairs, num = _SUB_MANIFOLD(indices, window.batch_size, space, kernel, gaps, window.padding)
        return indices, pairs, num
    transposed = window.kind == "transposed"
    geometry = (window.batch_size, space, kernel, window.stride, window.padding, gaps)
    return _REGULAR(indices, *geometry, list(out_space), transposed)


def _find(indices: Tensor, geometry: _Geometry) -> tuple[Tensor, Tensor, Tensor]:
    follow_threads()
    indices = indices.contiguous()
    return _lifted(indices, geometry) if geometry.plain else _general(indices, geometry)


# ---- As operators of torch, so that traced and exported programs find the pairs of their inputs --


def _regular(
    indices: Tensor,
    batch: int,
    space: list[int],
    kernel: list[int],
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    out_space: list[int],
    transpose: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    window = (list(space), list(kernel), list(stride), list(padding), list(dilation), list(out_space))
    return _find(indices, _Geometry(batch, *window, False, transpose))


def _fake_regular(indices: Tensor, batch: int, space: list[int], kernel: list[int], *_: Any) -> tuple[Tensor, ...]:
    context: Any = torch.library.get_ctx()
    # PyTorch's normalisation cannot be compiled for rows that may be one or none.
    rows, cells = context.new_dynamic_size(min=2), math.prod(kernel)
    shapes = ((rows, indices.shape[1]), (cells, 2, indices.shape[0]), (cells,))
    return tuple(indices.new_empty(shape, dtype=torch.int32) for shape in shapes)


def _sub_manifold(
    indices: Tensor,
    batch: int,
    space: list[int],
    kernel: list[int],
    dilation: list[int],
    padding: list[int] | None = None,
) -> tuple[Tensor, Tensor]:
    ones, middle = [1] * len(space), [k // 2 for k in kernel] if padding is None else list(padding)
    geometry = _Geometry(batch, list(space), list(kernel), ones, middle, list(dilation), list(space), True, False)
    _, pairs, num = _find(indices, geometry)
    if all(at % gap == 0 for at, gap in zip(middle, dilation, strict=True)):
        # Under the cell that moves nothing every row meets itself; the library lets repeated places
        # meet the first.
        cell = 0
        for size, at, gap in zip(kernel, middle, dilation, strict=True):
            cell = cell * size + at // gap
        pairs[cell, 1] = pairs[cell, 0]
    return pairs, num


def _fake_sub_manifold(indices: Tensor, batch: int, space: list[int], kernel: list[int], *_: Any) -> tuple[Tensor, ...]:
    cells = math.prod(kernel)
    shapes = ((cells, 2, indices.shape[0]), (cells,))
    return tuple(indices.new_empty(shape, dtype=torch.int32) for shape in shapes)


_PLACES = "Tensor indices, SymInt batch, SymInt[] space, SymInt[] kernel"
_REGULAR = register(
    f"sparse_pairs({_PLACES}, SymInt[] stride, SymInt[] padding, SymInt[] dilation, SymInt[] out_space, "
    "bool transpose) -> (Tensor, Tensor, Tensor)",
    _regular,
    _fake_regular,
)
_SUB_MANIFOLD = register(
    f"sparse_subm_pairs({_PLACES}, SymInt[] dilation, SymInt[]? padding=None) -> (Tensor, Tensor)",
    _sub_manifold,
    _fake_sub_manifold,
)


def _lifted(indices: Tensor, g: _Geometry) -> tuple[Tensor, Tensor, Tensor]:
    """Find pairs in 3 dims, the first of which may have size 1."""
    missing = 3 - len(g.space)
    if missing:
        indices = torch.cat([indices[:, :1], indices.new_zeros((len(indices), missing)), indices[:, 1:]], 1)

    def lift(values: list[int], fill: int) -> list[int]:
        return [fill] * missing + values

    found = pairs_of_arrays(
        indices, batch_size=g.batch, spatial_shape=lift(g.space, 1), kernel_size=lift(g.kernel, 1),
        stride=lift(g.stride, 1), padding=lift(g.padding, 0), dilation=lift(g.dilation, 1), subm=g.subm,
        out_spatial_shape=lift(g.out, 1),
    )  # fmt: skip
    out: Any = found.out_indices
    if missing:
        out = torch.cat([out[:, :1], out[:, 1 + missing :]], 1)
    return out, found.indice_pairs, found.indice_num


def _general(indices: Tensor, g: _Geometry) -> tuple[Tensor, Tensor, Tensor]:
    """Find pairs of any kind."""
    axes = (g.space, g.kernel, g.out, g.stride, g.padding, g.dilation)
    arrays, scalars = pairs_arguments(indices, g.batch, axes, g.subm, g.transpose)
    found: Any = PAIRS(None, arrays, scalars, True)
    pairs, out, num, count = found
    used = int(count[0])
    return out[:used].clone() if used < len(out) else out, pairs, num
