"""Reading LiDAR and depth-camera scans: raw float32 ``.bin``, ``.npy`` and ``.ply``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pymluops.demo.arrays import Array
from pymluops.demo.errors import InputError
from pymluops.demo.files import check_file, load_npy, read_bytes
from pymluops.demo.ply import read_ply

MAX_POINTS = 150_000
"""Points a demo works on. A larger scan is thinned out evenly, and the report says so."""

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
    """Read a scan, the format chosen by the file's suffix.

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
        return _read_bin(path, columns)
    if suffix == ".npy":
        return _finish(path, *_read_npy(path))
    if suffix == ".ply":
        return _finish(path, *read_ply(path))
    raise InputError(path, f"unknown scan format {suffix or 'without a suffix'!r}; known: .bin, .npy, .ply")


def _read_bin(path: Path, columns: int | None) -> Scan:
    data = read_bytes(path)
    notes: tuple[str, ...] = ()
    if columns is None:
        columns = 5 if path.name.lower().endswith(".pcd.bin") else guess_columns(data)
        notes = (f"{columns} columns guessed",) if columns != 4 else ()
    if len(data) % (4 * columns):
        raise InputError(path, f"{len(data)} bytes is not a whole number of {columns}-column float32 rows")
    table = np.frombuffer(data, "<f4").reshape(-1, columns)
    return _finish(path, table, column_names(columns), notes)


def column_names(columns: int) -> tuple[str, ...]:
    """Return the usual names of a raw file's columns."""
    return COLUMN_NAMES.get(columns) or (*COLUMN_NAMES[4], *(f"column {i}" for i in range(4, columns)))


def guess_columns(data: bytes) -> int:
    """Return the likely number of float32 columns: 4 unless the size or the values clearly say otherwise.

    Neighbouring rows of a scan are alike, column by column. So the mean difference of values c places apart is small
    for the right c, and large for a wrong one, which compares x with y or z.
    """
    fitting = [c for c in (4, 5, 6, 3) if len(data) % (4 * c) == 0]
    if len(fitting) < 2:
        return fitting[0] if fitting else 4
    values = np.frombuffer(data, "<f4")[:200_000].astype(np.float64)
    values = np.where(np.isfinite(values), values, 0.0)
    spread = {c: float(np.abs(values[c:] - values[:-c]).mean()) if values.size > 2 * c else np.inf for c in fitting}
    best = min(fitting, key=lambda c: spread[c])
    return 4 if 4 in fitting and not spread[best] < 0.75 * spread[4] else best


def _read_npy(path: Path) -> tuple[Array, tuple[str, ...]]:
    table = load_npy(path)
    if table.dtype.names:
        return _table_of_fields(path, table)
    if table.dtype.kind not in "fiu":
        raise InputError(path, f"holds {table.dtype} values; expected real numbers")
    if table.ndim != 2 or table.shape[1] < 3:
        raise InputError(path, f"has shape {list(table.shape)}; expected [points, 3 or more columns]")
    return table, column_names(table.shape[1])


def _table_of_fields(path: Path, records: Array) -> tuple[Array, tuple[str, ...]]:
    """Return the table of a record array, with the fields x, y, z in front."""
    fields = records.dtype.names or ()
    if records.ndim != 1 or not {"x", "y", "z"} <= set(fields):
        raise InputError(path, f"has fields {', '.join(fields)}; expected one dimension with x, y, z among the fields")
    names = ("x", "y", "z", *(name for name in fields if name not in "xyz"))
    bad = [name for name in names if records.dtype[name].kind not in "fiu"]
    if bad:
        raise InputError(path, f"field {bad[0]} holds {records.dtype[bad[0]]} values; expected real numbers")
    return np.stack([records[name].astype(np.float64) for name in names], axis=1), names


def _finish(path: Path, table: Array, names: Sequence[str], notes: tuple[str, ...] = ()) -> Scan:
    """Check the values, thin a very large scan out, and split the coordinates from the rest."""
    count = len(table)
    if count == 0:
        raise InputError(path, "holds no points")
    finite = np.isfinite(table).all(axis=1)
    if not finite.all():
        first = int(np.argmin(finite))
        bad = count - int(np.count_nonzero(finite))
        raise InputError(path, f"{bad:,} of {count:,} points hold NaN or infinite values, the first is point {first:,}")
    largest = float(np.abs(table[:, :3].astype(np.float64)).max())
    if largest > MAX_COORDINATE:
        hint = "; is the number of columns right?" if path.suffix.lower() == ".bin" else ""
        raise InputError(path, f"x, y, z reach {largest:.3g}; coordinates in metres are expected{hint}")
    step = -(-count // MAX_POINTS)
    if step > 1:
        notes = (*notes, f"every {step}. point of {count:,}")
    xyz = table[::step, :3].astype(np.float64)
    extras = _squeeze_range(table[::step, 3:])
    return Scan(str(path), xyz, extras, tuple(names), notes=notes)


def _squeeze_range(extras: Array) -> Array:
    """Return the other columns scaled into [-1, 1]; they are features, their unit does not matter."""
    values = extras.astype(np.float64)
    scale = np.abs(values).max(axis=0, initial=0.0)
    return (values / np.where(scale > 0, scale, 1.0)).astype(np.float32)
