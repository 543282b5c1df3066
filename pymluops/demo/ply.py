"""Reading the vertices of a PLY file: ASCII, binary little endian and binary big endian."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import numpy as np

from pymluops.demo.arrays import Array
from pymluops.demo.errors import InputError
from pymluops.demo.files import opened
from pymluops.demo.ply_header import BYTE_ORDERS, Element, Header, PlyError, parse_header, vertex_element
from pymluops.demo.records import Records, Table, first_columns, read_records, thinning

MAX_TEXT_BYTES = 2 << 30
"""The largest text file that is read: all lines before and between the points have to be looked at."""

MAX_LINE_BYTES = 1 << 20
MAX_LISTS = 3_000_000
"""The most lists that are passed over before the vertices, one by one."""

BLOCK_BYTES = 1 << 20


def read_ply(path: Path) -> Table:
    """Return the vertices, x, y, z first and the other properties in the file's order.

    Other elements, faces for instance, are passed over.
    """
    with opened(path) as (file, size):
        try:
            header = parse_header(file)
            vertex = vertex_element(header)
            chosen = first_columns([name for name, _ in vertex.scalars])
            read = _read_text if header.encoding == "ascii" else _read_binary
            values = read(path, file, size, header, vertex, chosen)
        except PlyError as problem:
            raise InputError(path, str(problem)) from problem
    names = tuple(vertex.scalars[i][0] for i in chosen)
    left_out = len(vertex.scalars) - len(chosen)
    return Table(values, names, vertex.count, thinning(vertex.count)[0], left_out)


def _before(header: Header, vertex: Element) -> list[Element]:
    return header.elements[: header.elements.index(vertex)]


# ---- Text ------------------------------------------------------------------------------------------------------------


def _read_text(path: Path, file: BinaryIO, size: int, header: Header, vertex: Element, chosen: list[int]) -> Array:
    """Every row of an element is a line of its own; the lines of the points that are wanted are read as numbers."""
    if size > MAX_TEXT_BYTES:
        limit = MAX_TEXT_BYTES >> 30
        raise PlyError(
            f"is a text of {size / 2**30:,.1f} GiB; the limit is {limit} GiB, and binary PLY files have none"
        )
    begin = sum(element.count for element in _before(header, vertex) if element.order)
    step, rows = thinning(vertex.count)
    if begin + vertex.count > size:  # before memory is asked for as many
        raise _truncated(_lines_behind(file, header.body, begin), vertex)
    table = np.empty((rows, len(chosen)))
    position, done = 0, 0
    file.seek(header.body)
    while done < rows:
        lines = _next_lines(file)
        if not lines:
            raise _truncated(max(position - begin, 0), vertex)
        end = min(len(lines), begin + vertex.count - position)
        found = lines[min(begin + done * step - position, len(lines)) : max(end, 0) : step]
        table[done : done + len(found)] = _numbers(found, len(vertex.scalars))[:, chosen]
        done += len(found)
        position += len(lines)
    last = begin + vertex.count
    if position < last:  # the last points are not wanted, but they have to be there
        there = position + _lines_behind(file, file.tell(), 0, last - position)
        if there < last:
            raise _truncated(there - begin, vertex)
    return table


def _lines_behind(file: BinaryIO, offset: int, begin: int, enough: int | None = None) -> int:
    """Return the number of lines after `offset`, without the first `begin`; at most `enough`."""
    file.seek(offset)
    count = -begin
    while (enough is None or count < enough) and (lines := _next_lines(file)):
        count += len(lines)
    return max(count, 0) if enough is None else min(max(count, 0), enough)


def _next_lines(file: BinaryIO) -> list[bytes]:
    """Return some more lines, without the empty ones; none at the end of the file."""
    while block := file.read(BLOCK_BYTES):
        block += file.readline(MAX_LINE_BYTES)
        lines = [line for line in block.split(b"\n") if line.strip()]
        if len(lines[-1] if lines else b"") >= MAX_LINE_BYTES:
            raise PlyError(f"has a line of more than {MAX_LINE_BYTES:,} bytes")
        if lines:
            return lines
    return []


def _numbers(lines: list[bytes], width: int) -> Array:
    words = b" ".join(lines).split()
    if len(words) != len(lines) * width:
        raise PlyError(f"has vertex lines with other than {width} values")
    try:
        return np.array(list(map(float, words)), dtype=np.float64).reshape(len(lines), width)
    except ValueError as error:
        raise PlyError("has a vertex value that is not a number") from error


def _truncated(there: int, vertex: Element) -> PlyError:
    return PlyError(f"is truncated: {there:,} of {vertex.count:,} vertices are there")


# ---- Binary ----------------------------------------------------------------------------------------------------------


def _read_binary(path: Path, file: BinaryIO, size: int, header: Header, vertex: Element, chosen: list[int]) -> Array:
    order = BYTE_ORDERS[header.encoding]
    offset = header.body
    for element in _before(header, vertex):
        offset = _skip(file, size, offset, element, order)
    kinds = [np.dtype(order + scalar) for _, scalar in vertex.scalars]
    places = [0, *(int(end) for end in np.cumsum([kind.itemsize for kind in kinds]))]
    there = max(size - offset, 0) // places[-1]
    if there < vertex.count:
        raise _truncated(there, vertex)
    columns = tuple((places[i], kinds[i]) for i in chosen)
    return read_records(path, file, Records(offset, places[-1], vertex.count, columns))


def _skip(file: BinaryIO, size: int, offset: int, element: Element, order: str) -> int:
    """Return the end offset of an element that precedes the vertices."""
    end = offset + element.count * element.least_bytes
    if end > size:
        raise PlyError(f"is truncated inside its {element.shown} element")
    if not element.lists:
        return end
    if element.count * len(element.lists) > MAX_LISTS:
        raise PlyError(f"has more than {MAX_LISTS:,} lists in its {element.shown} element, before the vertices")
    steps = element.steps(order)
    for _ in range(element.count):
        for gap, count_type, item_size in steps:
            offset += gap
            if count_type is None:
                continue
            file.seek(offset)
            data = file.read(count_type.size)
            if len(data) < count_type.size:
                raise PlyError(f"is truncated inside its {element.shown} element")
            (length,) = count_type.unpack(data)
            if not 0 <= length <= size:
                raise PlyError(f"has a list of impossible length in its {element.shown} element")
            offset += count_type.size + int(length) * item_size
    return offset
