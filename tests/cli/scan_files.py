"""Small scans and the files that hold them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

PLY_TYPES = {
    "i1": "char", "u1": "uchar", "i2": "short", "u2": "ushort",
    "i4": "int", "u4": "uint", "f4": "float", "f8": "double",
}  # fmt: skip


def small_scan(count: int = 400, columns: int = 4, seed: int = 0) -> np.ndarray:
    """Points on a floor and on a wall, with the further columns between 0 and 1."""
    rng = np.random.default_rng(seed)
    xyz = rng.uniform((0, 0, 0), (8, 6, 2.5), (count, 3))
    xyz[: count // 2, 2] = rng.normal(0, 0.01, count // 2)
    xyz[count // 2 :, 1] = rng.normal(6, 0.01, count - count // 2)
    return np.concatenate([xyz, rng.random((count, columns - 3))], axis=1).astype(np.float32)


def write_bin(path: Path, table: np.ndarray) -> Path:
    path.write_bytes(table.astype("<f4").tobytes())
    return path


def ply_bytes(records: np.ndarray, encoding: str, before: bytes = b"", header_before: str = "") -> bytes:
    """A PLY file of the records; `before` is the body of an element that stands before the vertices."""
    properties = "".join(f"property {PLY_TYPES[records.dtype[n].str[1:]]} {n}\n" for n in records.dtype.names)
    header = (
        f"ply\nformat {encoding} 1.0\ncomment written by a test\n{header_before}"
        f"element vertex {len(records)}\n{properties}end_header\n"
    )
    if encoding == "ascii":
        body = "".join(" ".join(repr(v) for v in row.item()) + "\n" for row in records).encode()
    else:
        order = "<" if encoding == "binary_little_endian" else ">"
        body = records.astype(records.dtype.newbyteorder(order)).tobytes()
    return header.encode() + before + body


def vertex_records(table: np.ndarray, types: tuple[str, ...], names: tuple[str, ...]) -> np.ndarray:
    """The table's columns as records of the given types."""
    records = np.zeros(len(table), dtype=[(name, kind) for name, kind in zip(names, types, strict=True)])
    for i, name in enumerate(names):
        records[name] = table[:, i].astype(records.dtype[name])
    return records
