"""Pairs of input and output rows of sparse convolutions that the library's `get_indice_pairs` does not have.

These are convolutions in four dimensions, transposed ones, and dilated sub-manifold ones. Written with NumPy, for any
number of dimensions.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


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


def find_pairs(
    indices: NDArray[np.int32], shape: Convolution
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Return (out_indices, indice_pairs, indice_num).

    Parameters
    ----------
    indices : array, shape [L, D+1], int32
        Batch and place of each input row, inside of batch and space.
    shape : Convolution
        The convolution.

    Returns
    -------
    out_indices : array, shape [n, D+1], int32
        The input rows in sub-manifold mode, else all places that are reached, in ascending order.
    indice_pairs : array, shape [K, 2, L], int32
        Input and output row of each pair of each filter cell, then -1.
    indice_num : array, shape [K], int32
        Number of pairs of each filter cell.
    """
    reached = list(_reached(indices, shape))
    if shape.subm:
        # Of rows that repeat the first is the output.
        sites, row_of_site = np.unique(_numbers(indices.T.astype(np.int64), shape.space), return_index=True)
        out_indices = indices.copy()
    else:
        sites = np.unique(np.concatenate([sites for _, sites in reached]))
        row_of_site = np.arange(len(sites))
        out_indices = np.stack(np.unravel_index(sites, (shape.batch, *shape.out_space)), 1).astype(np.int32)
    pairs = np.full((len(reached), 2, len(indices)), -1, np.int32)
    counts = np.zeros(len(reached), np.int32)
    for k, (rows, targets) in enumerate(reached):
        place = np.searchsorted(sites, targets)
        active = place < len(sites)
        active[active] = sites[place[active]] == targets[active]
        counts[k] = np.count_nonzero(active)
        pairs[k, 0, : counts[k]] = rows[active]
        pairs[k, 1, : counts[k]] = row_of_site[place[active]]
    return out_indices, pairs, counts


def _reached(indices: NDArray[np.int32], shape: Convolution) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield for each filter cell the input rows that reach an output place, and the numbers of these places."""
    batch, *axes = indices.T.astype(np.int64)
    for cell in itertools.product(*map(range, shape.kernel)):
        inside = np.ones(len(indices), bool)
        targets: list[NDArray[np.int64]] = []
        for axis, place in enumerate(axes):
            stride, shift = shape.stride[axis], cell[axis] * shape.dilation[axis] - shape.padding[axis]
            if shape.transposed:
                target = place * stride + shift
            else:
                target, rest = np.divmod(place - shift, stride)
                inside &= rest == 0
            inside &= (target >= 0) & (target < shape.out_space[axis])
            targets.append(target)
        rows = np.flatnonzero(inside)
        yield rows, _numbers(np.stack([batch, *targets])[:, rows], shape.out_space)


def _numbers(columns: NDArray[np.int64], space: tuple[int, ...]) -> NDArray[np.int64]:
    """Return the numbers of places, given batch and place by columns."""
    number: NDArray[np.int64] = columns[0]
    for place, size in zip(columns[1:], space, strict=True):
        number = number * size + place
    return number


def count_places(shape: Convolution) -> int:
    """Return how many numbers of places there are, which must fit into 63 bits."""
    return shape.batch * max(math.prod(shape.space), math.prod(shape.out_space))
