"""Reading tables out of files of any size, a piece at a time.

A demo works on `MAX_POINTS` rows at most. Of a longer table every n-th row is read, and memory does
not grow with the file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from pymluops.demo.arrays import Array
from pymluops.demo.errors import InputError

MAX_POINTS = 150_000
"""Points a demo works on. A larger scan is thinned out evenly, and the report says so."""

MAX_COLUMNS = 64
"""Columns that are read of a table. The operators use the first eleven."""

MAX_RECORD_BYTES = 1 << 16
"""The longest record that is read. Real ones have below 300 bytes."""

BLOCK_BYTES = 4 << 20
FAR_APART = 4096
"""Rows further apart, in bytes, are read one by one, without the bytes between them."""


@dataclass(frozen=True)
class Table:
    """Rows read from a file: every `step`-th of `count`, columns as in `names`, x, y, z first.

    `left_out` is the number of columns behind the first `MAX_COLUMNS`.
    """

    values: Array
    names: tuple[str, ...]
    count: int
    step: int
    left_out: int = 0


@dataclass(frozen=True)
class Records:
    """Equal records one after another: the first at `offset`, the next `stride` bytes behind it, `count` in all.

    `columns` holds the place within a record and the type of each column that is read.
    """

    offset: int
    stride: int
    count: int
    columns: tuple[tuple[int, np.dtype[Any]], ...]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The columns as one record type, which ends after the last of them."""
        names = [f"{i}" for i in range(len(self.columns))]
        offsets = [offset for offset, _ in self.columns]
        end = max(offset + kind.itemsize for offset, kind in self.columns)
        return np.dtype(
            {"names": names, "formats": [kind for _, kind in self.columns], "offsets": offsets, "itemsize": end}
        )


def thinning(count: int) -> tuple[int, int]:
    """Return n where every n-th of `count` rows is read, and how many rows that gives."""
    step = max(1, -(-count // MAX_POINTS))
    return step, -(-count // step)


def read_records(path: Path, file: BinaryIO, records: Records) -> Array:
    """Return every n-th record as a table of float64; n is that of `thinning`."""
    if records.dtype.itemsize > MAX_RECORD_BYTES:
        raise InputError(path, f"has records of more than {MAX_RECORD_BYTES:,} bytes, which are not read")
    step, rows = thinning(records.count)
    table = np.empty((rows, len(records.columns)))
    start = 0
    for piece in _pieces(path, file, records, step, rows):
        # A long double too large for float64 becomes infinite; a signalling NaN is a NaN.
        with np.errstate(over="ignore", invalid="ignore"):
            for i, name in enumerate(piece.dtype.names or ()):
                table[start : start + len(piece), i] = piece[name]
        start += len(piece)
    return table


def _pieces(path: Path, file: BinaryIO, records: Records, step: int, rows: int) -> Iterator[Array]:
    apart = records.stride * step
    dtype = records.dtype
    far = apart > FAR_APART
    at_once = max(1, BLOCK_BYTES // (dtype.itemsize if far else apart))
    for start in range(0, rows, at_once):
        number = min(at_once, rows - start)
        first = records.offset + start * apart
        if far:
            data = b"".join(os.pread(file.fileno(), dtype.itemsize, first + i * apart) for i in range(number))
            stride, needed = dtype.itemsize, number * dtype.itemsize
        else:
            stride, needed = apart, (number - 1) * apart + dtype.itemsize
            data = _read_at(file, first, needed)
        if len(data) < needed:
            raise InputError(path, "became shorter while it was read")
        yield np.ndarray((number,), dtype, data, strides=(stride,))


def _read_at(file: BinaryIO, offset: int, size: int) -> bytes:
    file.seek(offset)
    return file.read(size)


def first_columns(names: Sequence[str]) -> list[int]:
    """Return the places of the columns that are read: x, y, z, then the others in their order."""
    axes = ("x", "y", "z")
    others = [i for i, name in enumerate(names) if name not in axes]
    return ([names.index(axis) for axis in axes] + others)[:MAX_COLUMNS]
