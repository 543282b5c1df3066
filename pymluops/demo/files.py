"""Opening an input file, with every refusal of the operating system turned into one line."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from pymluops.demo.errors import InputError


@contextmanager
def opened(path: Path) -> Generator[tuple[BinaryIO, int], None, None]:
    """Open a regular, non-empty file for reading; gives the file and its size in bytes."""
    size = check_file(path)
    try:
        with path.open("rb") as file:
            yield file, size
    except OSError as error:
        raise InputError(path, error.strerror or str(error)) from error


def check_file(path: Path) -> int:
    """Return the size of the file in bytes; refuse anything but a readable, non-empty, regular file."""
    try:
        size = path.stat().st_size
    except (OSError, ValueError) as error:  # ValueError: a NUL character in the name
        raise InputError(path, getattr(error, "strerror", None) or str(error)) from error
    if path.is_dir():
        raise InputError(path, "is a directory, not a file")
    if not path.is_file():
        raise InputError(path, "is not a regular file")
    if size == 0:
        raise InputError(path, "is empty")
    return size
