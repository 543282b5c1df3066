"""Reading LiDAR and depth-camera scans: raw float32 ``.bin``, ``.npy`` and ``.ply``."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from pymluops._shown import shortened
from pymluops.demo.arrays import Array
from pymluops.demo.errors import InputError
from pymluops.demo.files import check_file, opened
from pymluops.demo.npy import NpyHeader, read_header
from pymluops.demo.ply import read_ply
from pymluops.demo.records import MAX_COLUMNS, Records, Table, first_columns, read_records, thinning

GUESSED_FROM = 200_000
"""Values at the start of a raw file that tell its number of columns."""

MAX_COORDINATE = 1e8
"""Metres. Projected map coordinates reach 1e7; beyond this the values are something else."""

COLUMN_NAMES = {
    3: ("x", "y", "z"),
    4: ("x", "y", "z", "intensity"),
    5: ("x", "y", "z", "intensity", "ring"),
    6: ("x", "y", "z", "r", "g", "b"),
}


@dataclass(frozen=True)
class Scan:
    """Points in metres, with whatever else the sensor said about each of them."""

    source: str
    xyz: Array
    extras: Array
    names: tuple[str, ...]
    synthetic: bool = False
    notes: tuple[str, ...] = field(default=())

    @property
    def columns(self) -> int:
        """Number of values a point has, coordinates included."""
        return 3 + int(self.extras.shape[1])


def read_scan(path: Path, columns: int | None = None) -> Scan:
    """Read a scan, the format chosen by the file's suffix. Memory does not grow with the file.

    Parameters
    ----------
    path
        ``.bin`` (rows of float32), ``.npy`` (2-D, or 1-D with fields x, y, z) or ``.ply``.
    columns
        Values a row of a ``.bin`` file has. Guessed from the file when None.
    """
    check_file(path)
    suffix = path.suffix.lower()
    if columns is not None and suffix != ".bin":
        raise InputError(path, "--columns is for raw .bin files; this format tells its columns itself")
    if suffix == ".bin":
        return _finish(path, *_read_bin(path, columns))
    if suffix == ".npy":
        return _finish(path, _read_npy(path))
    if suffix == ".ply":
        return _finish(path, read_ply(path))
    kind = shortened(suffix, 20) if suffix else "without a suffix"
    raise InputError(path, f"unknown scan format {kind!r}; known: .bin, .npy, .ply")


def _read_bin(path: Path, columns: int | None) -> tuple[Table, tuple[str, ...]]:
    with opened(path) as (file, size):
        notes: tuple[str, ...] = ()
        if columns is None:
            nuscenes = path.name.lower().endswith(".pcd.bin")
            columns = 5 if nuscenes else guess_columns(file.read(4 * GUESSED_FROM), size)
            notes = ("the number of columns is a guess",) if columns != 4 else ()
        if size % (4 * columns):
            raise InputError(path, f"{size} bytes is not a whole number of {columns}-column float32 rows")
        places = tuple((4 * i, np.dtype("<f4")) for i in range(columns))
        records = Records(0, 4 * columns, size // (4 * columns), places)
        values = read_records(path, file, records)
    return Table(values, column_names(columns), records.count, thinning(records.count)[0]), notes


def column_names(columns: int) -> tuple[str, ...]:
    """Return the usual names of a raw file's columns."""
    return COLUMN_NAMES.get(columns) or (*COLUMN_NAMES[4], *(f"column {i}" for i in range(4, columns)))


def guess_columns(head: bytes, size: int) -> int:
    """Return the likely number of float32 columns: 4 unless the size or the values clearly say otherwise.

    Neighbouring rows of a scan are alike, column by column. So the mean difference of values c
    places apart is small for the right c, and large for a wrong one, which compares x with y or z.

    Parameters
    ----------
    head
        The first bytes of the file.
    size
        How many it has in all.
    """
    fitting = [c for c in (4, 5, 6, 3) if size % (4 * c) == 0]
    if len(fitting) < 2:
        return fitting[0] if fitting else 4
    with np.errstate(invalid="ignore"):  # a signalling NaN is a NaN
        values = np.frombuffer(head[: 4 * GUESSED_FROM], "<f4").astype(np.float64)
    values = np.where(np.isfinite(values), values, 0.0)
    spread = {c: float(np.abs(values[c:] - values[:-c]).mean()) if values.size > 2 * c else np.inf for c in fitting}
    best = min(fitting, key=lambda c: spread[c])
    return 4 if 4 in fitting and not spread[best] < 0.75 * spread[4] else best


def _read_npy(path: Path) -> Table:
    with opened(path) as (file, size):
        header = read_header(path, file, size)
        shape, dtype = header.shape, header.dtype
        if dtype.names:
            return _read_fields(path, file, header)
        if dtype.kind not in "fiu":
            raise InputError(path, f"holds {shortened(str(dtype), 60)} values; expected real numbers")
        if len(shape) != 2 or shape[1] < 3:
            text = shortened(str(list(shape)), 60)
            raise InputError(path, f"has shape {text}; expected [points, 3 or more columns]")
        count, width = shape
        used, bytes_each = min(width, MAX_COLUMNS), dtype.itemsize
        if header.fortran:  # a column lies in one piece
            columns = [
                Records(header.offset + i * count * bytes_each, bytes_each, count, ((0, dtype),)) for i in range(used)
            ]
            values = np.concatenate([read_records(path, file, column) for column in columns], axis=1)
        else:
            places = tuple((i * bytes_each, dtype) for i in range(used))
            values = read_records(path, file, Records(header.offset, width * bytes_each, count, places))
    return Table(values, column_names(used), count, thinning(count)[0], left_out=width - used)


def _read_fields(path: Path, file: BinaryIO, header: NpyHeader) -> Table:
    """Return the table of a record array, with the fields x, y, z in front."""
    fields: dict[str, Any] = {str(name): field for name, field in (header.dtype.fields or {}).items()}
    names = header.dtype.names or ()
    if len(header.shape) != 1 or not {"x", "y", "z"} <= set(names):
        listed = shortened(", ".join(names), 80)
        raise InputError(path, f"has fields {listed}; expected one dimension with x, y, z among the fields")
    chosen = tuple(names[i] for i in first_columns(names))
    for name in chosen:
        if fields[name][0].kind not in "fiu":
            kind = shortened(str(fields[name][0]), 60)
            raise InputError(path, f"field {shortened(name, 40)} holds {kind} values; expected real numbers")
    places = tuple((fields[name][1], fields[name][0]) for name in chosen)
    count = header.shape[0]
    values = read_records(path, file, Records(header.offset, header.dtype.itemsize, count, places))
    return Table(values, chosen, count, thinning(count)[0], left_out=len(names) - len(chosen))


def _finish(path: Path, table: Table, notes: tuple[str, ...] = ()) -> Scan:
    """Check the values, drop points that are not finite, and split the coordinates from the rest."""
    if table.count == 0:
        raise InputError(path, "holds no points")
    values = table.values
    if table.left_out:
        notes = (*notes, f"the first {len(table.names)} columns of {len(table.names) + table.left_out:,}")
    if table.step > 1:
        notes = (*notes, f"1 in {table.step:,} of {table.count:,} points")
    finite = np.isfinite(values).all(axis=1)
    dropped = len(values) - int(np.count_nonzero(finite))
    if dropped == len(values):
        raise InputError(path, f"has NaN or infinite values in every one of {dropped:,} points")
    if dropped:
        values = values[finite]
        notes = (*notes, f"{dropped:,} with NaN or infinite values dropped")
    largest = float(np.abs(values[:, :3]).max())
    if largest > MAX_COORDINATE:
        hint = "; is the number of columns right?" if path.suffix.lower() == ".bin" else ""
        raise InputError(path, f"x, y, z reach {largest:.3g}; coordinates in metres are expected{hint}")
    return Scan(str(path), np.ascontiguousarray(values[:, :3]), _squeeze_range(values[:, 3:]), table.names, notes=notes)


def _squeeze_range(extras: Array) -> Array:
    """Return the other columns scaled into [-1, 1]; they are features, their unit does not matter."""
    scale = np.abs(extras).max(axis=0, initial=0.0)
    return (extras / np.where(scale > 0, scale, 1.0)).astype(np.float32)
