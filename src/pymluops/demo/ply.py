"""Reading the vertices of a PLY file: ASCII, binary little endian and binary big endian."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pymluops.demo.arrays import Array
from pymluops.demo.errors import InputError
from pymluops.demo.files import read_bytes

SCALARS = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1",
    "short": "i2", "int16": "i2", "ushort": "u2", "uint16": "u2",
    "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4",
    "float": "f4", "float32": "f4", "double": "f8", "float64": "f8",
}  # fmt: skip
BYTE_ORDERS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}


@dataclass
class _Element:
    """One element of the header. A list property is held as (name, type of the count, type of the items)."""

    name: str
    count: int
    scalars: list[tuple[str, str]] = field(default_factory=list)
    lists: list[tuple[str, str, str]] = field(default_factory=list)
    order: list[str] = field(default_factory=list)


@dataclass
class _Header:
    encoding: str
    elements: list[_Element]
    body: int


class _PlyError(Exception):
    """Something wrong with the file; the caller adds the file's name."""


def read_ply(path: Path) -> tuple[Array, tuple[str, ...]]:
    """Return the vertices as a table of float64 and the names of its columns, x, y, z first.

    Other elements, faces for instance, are passed over. Other vertex properties follow in the file's order.
    """
    data = read_bytes(path)
    try:
        header = _parse_header(data)
        vertex = _vertex_element(header)
        if header.encoding == "ascii":
            table = _read_ascii(data[header.body :], header, vertex)
        else:
            table = _read_binary(data, header, vertex)
    except _PlyError as problem:
        raise InputError(path, str(problem)) from problem
    names = [name for name, _ in vertex.scalars]
    columns = ("x", "y", "z", *(name for name in names if name not in ("x", "y", "z")))
    return table[:, [names.index(name) for name in columns]], columns


def _parse_header(data: bytes) -> _Header:
    if data[:3] != b"ply" or data[3:4] not in (b"\n", b"\r"):
        raise _PlyError("is not a PLY file: it does not begin with the line 'ply'")
    end = data.find(b"end_header")
    stop = data.find(b"\n", end)
    if end < 0 or stop < 0:
        raise _PlyError("is truncated: the PLY header has no end_header line")
    encoding = ""
    elements: list[_Element] = []
    for line in data[:end].decode("ascii", errors="replace").splitlines()[1:]:
        words = line.split()
        match words:
            case [] | ["comment", *_] | ["obj_info", *_]:
                continue
            case ["format", word, _] if word in BYTE_ORDERS:
                encoding = word
            case ["element", name, count] if count.isdecimal():
                elements.append(_Element(name, int(count)))
            case ["property", "list", count_type, item_type, name] if elements:
                elements[-1].lists.append((name, _scalar(count_type), _scalar(item_type)))
                elements[-1].order.append(name)
            case ["property", scalar_type, name] if elements:
                elements[-1].scalars.append((name, _scalar(scalar_type)))
                elements[-1].order.append(name)
            case _:
                raise _PlyError(f"has a PLY header line that cannot be understood: {line.strip()!r}")
    if not encoding:
        raise _PlyError("has a PLY header without a format line")
    return _Header(encoding, elements, stop + 1)


def _scalar(name: str) -> str:
    if name not in SCALARS:
        raise _PlyError(f"has a property of unknown PLY type {name!r}")
    return SCALARS[name]


def _vertex_element(header: _Header) -> _Element:
    vertices = [element for element in header.elements if element.name == "vertex"]
    if len(vertices) != 1:
        raise _PlyError(f"has {len(vertices)} vertex elements; expected 1")
    vertex = vertices[0]
    if vertex.lists:
        raise _PlyError(f"has a list property {vertex.lists[0][0]!r} in its vertices, which is not supported")
    missing = [axis for axis in "xyz" if axis not in vertex.order]
    if missing or len(set(vertex.order)) != len(vertex.order):
        raise _PlyError(f"has vertices without {missing[0]}" if missing else "has two vertex properties of one name")
    return vertex


def _read_ascii(body: bytes, header: _Header, vertex: _Element) -> Array:
    """Every row of an element is a line of its own."""
    lines = [line for line in body.split(b"\n") if line.strip()]
    start = sum(element.count for element in header.elements[: header.elements.index(vertex)])
    rows = lines[start : start + vertex.count]
    if len(rows) < vertex.count:
        raise _PlyError(f"is truncated: {len(rows):,} of {vertex.count:,} vertices are there")
    width = len(vertex.scalars)
    words = b" ".join(rows).split()
    if len(words) != vertex.count * width:
        raise _PlyError(f"has vertex lines with other than {width} values")
    try:
        return np.array(words, dtype=np.float64).reshape(vertex.count, width)
    except ValueError as error:
        raise _PlyError("has a vertex value that is not a number") from error


def _read_binary(data: bytes, header: _Header, vertex: _Element) -> Array:
    order = BYTE_ORDERS[header.encoding]
    offset = header.body
    for element in header.elements[: header.elements.index(vertex)]:
        offset = _skip(data, offset, element, order)
    dtype = np.dtype([(name, order + scalar) for name, scalar in vertex.scalars])
    there = max(len(data) - offset, 0) // dtype.itemsize
    if there < vertex.count:
        raise _PlyError(f"is truncated: {there:,} of {vertex.count:,} vertices are there")
    records = np.frombuffer(data, dtype, count=vertex.count, offset=offset)
    return np.stack([records[name].astype(np.float64) for name, _ in vertex.scalars], axis=1)


def _skip(data: bytes, offset: int, element: _Element, order: str) -> int:
    """Return the offset behind an element that stands before the vertices."""
    sizes = {name: np.dtype(scalar).itemsize for name, scalar in element.scalars}
    if not element.lists:
        return offset + element.count * sum(sizes.values())
    lists = {name: (np.dtype(order + count), np.dtype(item).itemsize) for name, count, item in element.lists}
    for _ in range(element.count):
        for name in element.order:
            if name in sizes:
                offset += sizes[name]
                continue
            count_type, item_size = lists[name]
            if offset + count_type.itemsize > len(data):
                raise _PlyError(f"is truncated inside its {element.name} element")
            length = np.frombuffer(data, count_type, count=1, offset=offset)[0]
            if not 0 <= length <= len(data):
                raise _PlyError(f"has a list of impossible length in its {element.name} element")
            offset += count_type.itemsize + int(length) * item_size
    return offset
