"""Reading the vertices of a PLY file through plyfile, in memory that does not grow with the file.

plyfile reads all elements of a file. It gets a header that ends behind the vertices; binary
vertices are only located by it, and `records` reads every n-th.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from pymluops._shown import shortened
from pymluops.demo.arrays import Array
from pymluops.demo.errors import InputError, MissingPackageError, first_line
from pymluops.demo.files import opened
from pymluops.demo.records import Records, Table, first_columns, read_records, thinning

MAX_HEADER_BYTES = 1 << 20
MAX_LINE_BYTES = 1 << 20
MAX_READ_BYTES = 256 << 20
"""The most that is read whole: a text, or the lists before the vertices."""

MAX_LISTS = 1_000_000
"""The most lists that are passed over before the vertices, one by one."""


class _PlyError(Exception):
    """Something wrong with the file; `read_ply` adds the file's name."""


class _Shortened(io.BufferedIOBase):
    """The open file with another header, as plyfile reads it. What is read of it is bounded."""

    def __init__(self, file: BinaryIO, header: bytes, body: int) -> None:
        self._header = io.BytesIO(header)
        self._file = file
        self._read_bytes = 0
        self._line_bytes = 0
        self.problem = ""
        file.seek(body)

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        """Return bytes of the header, and behind its end bytes of the file."""
        data = self._header.read(size)
        if data or size == 0:
            return data
        wanted = MAX_READ_BYTES if size is None or size < 0 else size
        if self._read_bytes + wanted > MAX_READ_BYTES:
            self.problem = f"has more than {MAX_READ_BYTES >> 20} MiB of lists before the vertices"
            raise _PlyError(self.problem)
        self._read_bytes += wanted
        return self._file.read(wanted)

    def read1(self, size: int = -1, /) -> bytes:
        """Return a piece of a text, whose lines have a limit."""
        data = self.read(size)
        end = data.rfind(b"\n")
        self._line_bytes = len(data) - end - 1 if end >= 0 else self._line_bytes + len(data)
        if self._line_bytes > MAX_LINE_BYTES:
            self.problem = f"has a line of more than {MAX_LINE_BYTES:,} bytes"
            raise _PlyError(self.problem)
        return data

    # numpy.memmap uses these; plyfile asks it for binary vertices.

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def fileno(self) -> int:
        return self._file.fileno()


def read_ply(path: Path) -> Table:
    """Return the vertices, x, y, z first and the other properties in the file's order.

    Elements before the vertices are passed over, those after them are not looked at.
    """
    try:
        import plyfile
    except ImportError as error:
        raise MissingPackageError(f"{path}: reading PLY scans", "plyfile") from error
    with opened(path) as (file, size):
        stream = None
        try:
            stream = _Shortened(file, *_shortened_header(file, size))
            vertices = plyfile.PlyData.read(stream, mmap="r")["vertex"].data
        except _PlyError as error:
            raise InputError(path, str(error)) from error
        except MemoryError as error:  # it maps files with a reservation of memory for all of their pages
            raise InputError(path, "is larger than the memory; plyfile reads it from release 1.1.5 on") from error
        except Exception as error:  # plyfile.PlyParseError, ValueError and others
            problem = stream.problem if stream else ""
            raise InputError(path, problem or f"cannot be read as a PLY file: {first_line(error)}") from error
        return _table(path, file, vertices)


def _table(path: Path, file: BinaryIO, vertices: Array) -> Table:
    fields: dict[str, Any] = {str(name): field for name, field in (vertices.dtype.fields or {}).items()}
    names = vertices.dtype.names or ()
    missing = [axis for axis in ("x", "y", "z") if axis not in names]
    if missing:
        raise InputError(path, f"has vertices without {missing[0]}")
    chosen = tuple(names[i] for i in first_columns(names))
    count = len(vertices)
    if isinstance(vertices, np.memmap):
        places = tuple((fields[name][1], fields[name][0]) for name in chosen)
        values = read_records(path, file, Records(vertices.offset, vertices.dtype.itemsize, count, places))
    else:
        wanted = vertices[:: thinning(count)[0]]
        values = np.stack([wanted[name].astype(np.float64) for name in chosen], axis=1)
    return Table(values, chosen, count, thinning(count)[0], left_out=len(names) - len(chosen))


def _shortened_header(file: BinaryIO, size: int) -> tuple[bytes, int]:
    """Return the header as far as the vertices, with empty comments, and the offset of the file's first row."""
    head = file.read(MAX_HEADER_BYTES)
    line_end = next((end for end in (b"\r\n", b"\n", b"\r") if head.startswith(b"ply" + end)), None)
    if line_end is None:
        raise _PlyError("is not a PLY file: it does not begin with the line 'ply'")
    length = head.find(line_end + b"end_header" + line_end)
    if length < 0:
        where = f"in the first {MAX_HEADER_BYTES:,} bytes" if len(head) == MAX_HEADER_BYTES else "before its end"
        raise _PlyError(f"has a PLY header without an end_header line {where}")
    lines: list[bytes] = []
    element: list[bytes] = []
    for line in head[:length].split(line_end):
        words = line.split()
        if words[:1] in ([b"comment"], [b"obj_info"]):
            line = b"comment"  # in any letters; plyfile takes ASCII only
        if words[:1] == [b"element"]:
            if element[1:2] == [b"vertex"]:
                break
            element = words
            _check_count(element, size)
        _check_list(element, words)
        if words[:2] == [b"format", b"ascii"] and size > MAX_READ_BYTES:
            limit = f"{MAX_READ_BYTES >> 20} MiB, and binary PLY files have none"
            raise _PlyError(f"is a text of {size / 2**20:,.0f} MiB; the limit is {limit}")
        lines.append(line)
    if element[1:2] != [b"vertex"]:
        raise _PlyError("has no vertex element")
    body = length + len(line_end + b"end_header" + line_end)
    return b"\n".join([*lines, b"end_header", b""]), body


def _check_count(element: list[bytes], size: int) -> None:
    """Refuse an element of more rows than the file has bytes, for which plyfile would ask for memory."""
    name, count = (*element[1:3], b"", b"")[:2]
    if not count.isdigit():
        raise _PlyError(f"has a PLY header line that cannot be understood: {_shown(b' '.join(element))!r}")
    if len(count.lstrip(b"0")) > 18 or int(count) > size:
        raise _PlyError(f"is truncated: too short for {_shown(count)} rows of its {_shown(name)} element")


def _check_list(element: list[bytes], words: list[bytes]) -> None:
    if not element or words[:2] != [b"property", b"list"]:
        return
    name, count = element[1], int(element[2])
    if name == b"vertex":
        raise _PlyError(f"has a list property {_shown(words[-1])!r} in its vertices, which is not supported")
    if count > MAX_LISTS:
        raise _PlyError(f"has more than {MAX_LISTS:,} lists in its {_shown(name)} element, before the vertices")


def _shown(word: bytes) -> str:
    return shortened(word.decode("utf-8", errors="backslashreplace"), 40)
