"""The header of a PLY file: which elements follow, how many, and what each consists of."""

from __future__ import annotations

from dataclasses import dataclass, field
from struct import Struct
from typing import BinaryIO

import numpy as np

from pymluops._shown import shortened

SCALARS = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1",
    "short": "i2", "int16": "i2", "ushort": "u2", "uint16": "u2",
    "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4",
    "float": "f4", "float32": "f4", "double": "f8", "float64": "f8",
}  # fmt: skip
STRUCT_CODES = {"i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "f4": "f", "f8": "d"}
BYTE_ORDERS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}

MAX_HEADER_BYTES = 1 << 20
MAX_COUNT_DIGITS = 18


class PlyError(Exception):
    """Something wrong with the file; the caller adds the file's name."""


@dataclass
class Element:
    """One element of the header. A list property is held as (name, type of the count, type of the items)."""

    name: str
    count: int
    scalars: list[tuple[str, str]] = field(default_factory=list)
    lists: list[tuple[str, str, str]] = field(default_factory=list)
    order: list[str] = field(default_factory=list)

    @property
    def shown(self) -> str:
        """The name as messages show it."""
        return shortened(self.name, 40)

    @property
    def least_bytes(self) -> int:
        """Bytes that a row has in a binary file if its lists are empty."""
        return sum(np.dtype(kind).itemsize for kind in (*(s for _, s in self.scalars), *(c for _, c, _ in self.lists)))

    def steps(self, order: str) -> list[tuple[int, Struct | None, int]]:
        """Return a row as a walk: bytes to pass over, then the number of a list's items and the size of one."""
        sizes = {name: np.dtype(scalar).itemsize for name, scalar in self.scalars}
        lists = {name: (Struct(order + STRUCT_CODES[count]), item) for name, count, item in self.lists}
        walk: list[tuple[int, Struct | None, int]] = []
        gap = 0
        for name in self.order:
            if name in sizes:
                gap += sizes[name]
                continue
            count_type, item = lists[name]
            walk.append((gap, count_type, np.dtype(item).itemsize))
            gap = 0
        return [*walk, (gap, None, 0)] if gap else walk


@dataclass
class Header:
    """The elements in file order, and the offset of the first byte after the header."""

    encoding: str
    elements: list[Element]
    body: int


def parse_header(file: BinaryIO) -> Header:
    """Read the header from the start of the file."""
    data = file.read(MAX_HEADER_BYTES)
    if data[:3] != b"ply" or data[3:4] not in (b"\n", b"\r"):
        raise PlyError("is not a PLY file: it does not begin with the line 'ply'")
    encoding = ""
    elements: list[Element] = []
    position = data.find(b"\n") + 1
    while (end := data.find(b"\n", position)) >= 0:
        line = data[position:end].decode("utf-8", errors="surrogateescape").strip()
        position = end + 1
        if line == "end_header":
            if not encoding:
                raise PlyError("has a PLY header without a format line")
            return Header(encoding, elements, position)
        encoding = _read_line(line, elements) or encoding
    if len(data) == MAX_HEADER_BYTES:
        raise PlyError(f"has a PLY header without an end_header line in the first {MAX_HEADER_BYTES:,} bytes")
    raise PlyError("is truncated: the PLY header has no end_header line")


def _read_line(line: str, elements: list[Element]) -> str:
    """Add a line to the elements; returns the encoding if the line names it."""
    match line.split():
        case [] | ["comment", *_] | ["obj_info", *_]:
            pass
        case ["format", word, _] if word in BYTE_ORDERS:
            return word
        case ["element", name, count] if count.isascii() and count.isdecimal():
            elements.append(Element(name, _count(name, count)))
        case ["property", "list", count_type, item_type, name] if elements:
            elements[-1].lists.append((name, _scalar(count_type), _scalar(item_type)))
            elements[-1].order.append(name)
        case ["property", scalar_type, name] if elements:
            elements[-1].scalars.append((name, _scalar(scalar_type)))
            elements[-1].order.append(name)
        case _:
            raise PlyError(f"has a PLY header line that cannot be understood: {shortened(line)!r}")
    return ""


def _count(name: str, text: str) -> int:
    digits = text.lstrip("0")
    if len(digits) > MAX_COUNT_DIGITS:
        raise PlyError(f"has a count of {len(digits):,} digits for its {shortened(name, 40)} element")
    return int(digits or "0")


def _scalar(name: str) -> str:
    if name not in SCALARS:
        raise PlyError(f"has a property of unknown PLY type {shortened(name, 40)!r}")
    return SCALARS[name]


def vertex_element(header: Header) -> Element:
    """Return the element that holds the points, which has x, y and z and no lists."""
    vertices = [element for element in header.elements if element.name == "vertex"]
    if len(vertices) != 1:
        raise PlyError(f"has {len(vertices)} vertex elements; expected 1")
    vertex = vertices[0]
    if vertex.lists:
        name = shortened(vertex.lists[0][0], 40)
        raise PlyError(f"has a list property {name!r} in its vertices, which is not supported")
    missing = [axis for axis in ("x", "y", "z") if axis not in vertex.order]
    if missing or len(set(vertex.order)) != len(vertex.order):
        raise PlyError(f"has vertices without {missing[0]}" if missing else "has two vertex properties of one name")
    return vertex
