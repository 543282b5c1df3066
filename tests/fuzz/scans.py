"""Scan files of every format, damaged: the reader gives a scan or one refusal, in bounded time and memory.

A case is the file's suffix, a line feed and the file.
"""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np

from cli.scan_files import ply_bytes, small_scan, vertex_records
from fuzz.case_runner import FindingError
from fuzz.file_damage import damage, npy_header
from pymluops.demo.errors import InputError
from pymluops.demo.scans import Scan, read_scan

EDGE_COUNTS = (
    "0",
    "1",
    "-1",
    "3",
    "40",
    "99999",
    "1000000000000",
    "18446744073709551616",
    "1" * 5000,
    "1e3",
    "0x10",
    "",
)
TYPES = ("char", "uchar", "short", "ushort", "int", "uint", "float", "double", "float32", "uint8", "int128", "list", "")
NAMES = ("x", "y", "z", "intensity", "red", "nx", "x", "vertex_indices", "", "x y")
DTYPES = ("<f4", ">f8", "<f2", "<i4", "|u1", "<f16", "<c8", "|O", "<U3", "|b1", "<M8[s]", "|V0", "<i8")


def _bin(rng: random.Random) -> bytes:
    return small_scan(rng.choice((1, 20, 60)), rng.choice((3, 4, 5, 6)), rng.randrange(99)).tobytes()


def _npy(rng: random.Random) -> bytes:
    if rng.random() < 0.5:
        return npy_header(rng) + _bin(rng)
    table = small_scan(rng.choice((1, 40)), rng.choice((3, 4)))
    if rng.random() < 0.3:
        table = vertex_records(
            table[:, :3], tuple(rng.choice(("f4", "f8", "i4", "u1")) for _ in range(3)), ("x", "y", "z")
        )
    elif rng.random() < 0.5:
        table = table.astype(rng.choice(DTYPES[:5] + DTYPES[9:10]))
    stream = io.BytesIO()
    np.save(stream, table)
    return stream.getvalue()


def _ply(rng: random.Random) -> bytes:
    if rng.random() < 0.5:
        return _ply_of_grammar(rng)
    types = tuple(rng.choice(("f4", "f8", "i2", "u1")) for _ in range(4))
    records = vertex_records(small_scan(rng.choice((1, 30))), types, ("x", "y", "z", "intensity"))
    before = ""
    if rng.random() < 0.3:
        before = f"element camera {rng.choice(EDGE_COUNTS)}\nproperty list uchar int views\n"
    return ply_bytes(records, rng.choice(("ascii", "binary_little_endian", "binary_big_endian")), b"\x02" * 9, before)


def _ply_of_grammar(rng: random.Random) -> bytes:
    """A header that the grammar allows, or nearly so, and some body."""
    lines = ["ply", f"format {rng.choice(('ascii', 'binary_little_endian', 'binary_big_endian', 'pdf'))} 1.0"]
    for _ in range(rng.randrange(1, 4)):
        lines.append(f"element {rng.choice(('vertex', 'vertex', 'face', 'edge', ''))} {rng.choice(EDGE_COUNTS)}")
        names = ["x", "y", "z"] if rng.random() < 0.6 else []
        for name in names + rng.choices(NAMES, k=rng.randrange(3)):
            if rng.random() < 0.15:
                lines.append(f"property list {rng.choice(TYPES)} {rng.choice(TYPES)} {name}")
            else:
                lines.append(f"property {rng.choice(TYPES[:9]) if rng.random() < 0.9 else rng.choice(TYPES)} {name}")
    if rng.random() < 0.95:
        lines.append("end_header")
    body = rng.choice((b"", b"1 2 3\n" * 40, b"\xff" * 400, rng.randbytes(300), b"nan inf -1e999\n" * 9))
    return "\n".join(lines).encode() + b"\n" + body


MAKERS = {".bin": _bin, ".pcd.bin": _bin, ".npy": _npy, ".ply": _ply}


class Scans:
    """The target; `read` is what it looks at."""

    def __init__(self, read: Callable[..., Scan] = read_scan) -> None:
        self.read = read

    def prepare(self) -> None:
        pass

    def make(self, rng: random.Random) -> bytes:
        suffix = rng.choice((*MAKERS, ".ply", ".ply", ".npy"))
        data = MAKERS[suffix](rng)
        if rng.random() < 0.7:
            data = damage(data, rng)
        if rng.random() < 0.02:
            suffix = rng.choice((".bin", ".npy", ".ply", ".xyz", ""))
        return suffix.encode() + b"\n" + data

    def check(self, case: bytes, folder: Path) -> None:
        suffix, _, data = case.partition(b"\n")
        path = folder / f"scan{suffix.decode()}"
        path.write_bytes(data)
        for columns in (None, 5) if suffix.endswith(b".bin") else (None,):
            try:
                scan = self.read(path, columns)
            except InputError as error:
                if "\n" in str(error):
                    raise FindingError(f"a refusal of more than one line: {error}") from None
            else:
                self._check_scan(scan)

    def _check_scan(self, scan: Scan) -> None:
        for part in (scan.xyz, scan.extras):
            if part.ndim != 2 or len(part) != len(scan.xyz) or not np.isfinite(part).all():
                raise FindingError(f"a scan of shape {part.shape} with values that are not finite")
        if scan.xyz.shape[1] != 3 or len(scan.names) != scan.columns:
            raise FindingError(f"a scan with columns {scan.names}")


TARGET = Scans()
