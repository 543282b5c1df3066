"""Indice pairs of any number of axes, one row and one filter cell at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Pairs(NamedTuple):
    out_indices: np.ndarray
    indice_pairs: np.ndarray
    indice_num: np.ndarray


class Window(NamedTuple):
    """Kernel, stride, padding and dilation along each axis."""

    kernel: Sequence[int]
    stride: Sequence[int]
    padding: Sequence[int]
    dilation: Sequence[int]


def _target(place: Sequence[int], cell: Sequence[int], w: Window, out: Sequence[int], transpose: bool) -> tuple | None:
    """Where a cell sends a place, None if nowhere."""
    found = []
    for axis, i in enumerate(place):
        if transpose:
            o = i * w.stride[axis] - w.padding[axis] + cell[axis] * w.dilation[axis]
        else:
            o, rest = divmod(i + w.padding[axis] - cell[axis] * w.dilation[axis], w.stride[axis])
            if rest:
                return None
        if not 0 <= o < out[axis]:
            return None
        found.append(o)
    return tuple(found)


def pairs(indices: np.ndarray, window: Window, out: Sequence[int], subm: bool, transpose: bool) -> Pairs:
    """Output rows in ascending order of their places; in sub-manifold mode the input rows, the first of equal ones."""
    rows = [tuple(int(i) for i in row) for row in indices]
    cells = list(np.ndindex(*window.kernel))
    met = []
    for cell in cells:
        sent = [(number, _target(row[1:], cell, window, out, transpose)) for number, row in enumerate(rows)]
        met.append([(number, (rows[number][0], *place)) for number, place in sent if place is not None])
    reached = rows if subm else sorted({place for cell in met for _, place in cell})
    number_of: dict[tuple, int] = {}
    for number, place in enumerate(reached):
        number_of.setdefault(place, number)
    found = np.full((len(cells), 2, len(rows)), -1, np.int32)
    num = np.zeros(len(cells), np.int32)
    for k, cell_pairs in enumerate(met):
        for source, place in cell_pairs:
            if place in number_of:
                found[k, :, num[k]] = source, number_of[place]
                num[k] += 1
    return Pairs(np.array(reached, np.int32).reshape(-1, indices.shape[1]), found, num)
