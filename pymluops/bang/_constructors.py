"""Hides the constructors of a library from the system's loader; see mluops_module.h."""

from __future__ import annotations

import struct
from pathlib import Path

__all__ = ["hide_constructors"]

_PT_DYNAMIC = 2
#: DT_INIT_ARRAY and DT_INIT_ARRAYSZ, and the tags that mluops_module.h looks for, which the loader
#: passes over.
_TAGS = {0x19: 0x6D6C6F19, 0x1B: 0x6D6C6F1B}


def hide_constructors(path: Path) -> None:
    """Give other tags to the entries of the dynamic section that name the constructors of global objects.

    Parameters
    ----------
    path : Path
        A shared library, ELF of 64 bits; it is changed.
    """
    with path.open("r+b") as file:
        header = file.read(64)
        (table,) = struct.unpack_from("<Q", header, 32)
        size, count = struct.unpack_from("<HH", header, 54)
        for number in range(count):
            file.seek(table + number * size)
            kind, _, offset, _, _, length, _, _ = struct.unpack("<IIQQQQQQ", file.read(56))
            if kind != _PT_DYNAMIC:
                continue
            file.seek(offset)
            entries = bytearray(file.read(length))
            for at in range(0, length, 16):
                (tag,) = struct.unpack_from("<q", entries, at)
                struct.pack_into("<q", entries, at, _TAGS.get(tag, tag))
            file.seek(offset)
            file.write(entries)
