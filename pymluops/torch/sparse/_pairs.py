"""Pairs of input and output rows of sparse convolutions of 1 to 4 dims, transposed ones too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

import pymluops
from pymluops.ops._sparse_extension import PAIRS, pairs_arguments
from pymluops.torch._library import follow_threads


def _each(name: str, value: int | Sequence[int], ndim: int, least: int) -> list[int]:
    """Return one integer for each axis."""
    given: Any = value
    values = [int(v) for v in given] if isinstance(given, (Sequence, Tensor, np.ndarray)) else [int(given)] * ndim
    if len(values) != ndim or min(values) < least:
        raise ValueError(f"get_indice_pairs: {name}: expected {ndim} integers >= {least}, got {value!r}")
    return values


def get_conv_output_size(
    input_size: Sequence[int],
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> list[int]:
    """Return the size of a convolution's output along each axis; a kernel of -1 leaves one place."""
    axes = zip(input_size, kernel_size, stride, padding, dilation, strict=True)
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
    axes = zip(input_size, kernel_size, stride, padding, dilation, output_padding, strict=True)
    sizes: list[int] = []
    for i, k, s, p, d, extra in axes:
        if k == -1:
            raise ValueError("get_deconv_output_size: kernel_size: expected positive sizes, got -1")
        sizes.append((i - 1) * s - 2 * p + d * (k - 1) + 1 + extra)
    return sizes


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
        As in any convolution. In sub-manifold mode the stride is 1 and the padding ``ksize // 2``, whatever is given.
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
    ndim = indices.shape[1] - 1 if indices.dim() == 2 else 0
    if not 1 <= ndim <= 4:
        raise ValueError(f"get_indice_pairs: indices: expected shape [L, 2 to 5], got {list(indices.shape)}")
    space, kernel = _each("spatial_shape", spatial_shape, ndim, 1), _each("ksize", ksize, ndim, 1)
    steps, pads = _each("stride", stride, ndim, 1), _each("padding", padding, ndim, 0)
    gaps, extra = _each("dilation", dilation, ndim, 1), _each("out_padding", out_padding, ndim, 0)
    if subm:
        steps, pads, out = [1] * ndim, [k // 2 for k in kernel], space
    elif transpose:
        out = get_deconv_output_size(space, kernel, steps, pads, gaps, extra)
    else:
        out = get_conv_output_size(space, kernel, steps, pads, gaps)
    if min(out) < 1:
        raise ValueError(f"get_indice_pairs: ksize: expected a filter that fits into {space}, got output space {out}")
    geometry = _Geometry(int(batch_size), space, kernel, steps, pads, gaps, out, bool(subm), bool(transpose))
    follow_threads()
    indices = indices.detach().to(torch.int32).contiguous()
    return _lifted(indices, geometry) if geometry.plain else _general(indices, geometry)


def _lifted(indices: Tensor, g: _Geometry) -> tuple[Tensor, Tensor, Tensor]:
    """Find pairs in 3 dims, the first of which may have size 1."""
    missing = 3 - len(g.space)
    if missing:
        indices = torch.cat([indices[:, :1], indices.new_zeros((len(indices), missing)), indices[:, 1:]], 1)

    def lift(values: list[int], fill: int) -> list[int]:
        return [fill] * missing + values

    found = pymluops.get_indice_pairs(
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
