"""Opening an input file, with every refusal of the operating system turned into one line."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from pymluops.demo.arrays import Array
from pymluops.demo.errors import InputError, first_line


def read_bytes(path: Path) -> bytes:
    """Return the content of a regular, non-empty file."""
    check_file(path)
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(path, error.strerror or str(error)) from error


def check_file(path: Path) -> int:
    """Return the size of the file in bytes; refuse what is not a readable, non-empty, regular file."""
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


def load_npy(path: Path) -> Array:
    """Return the array in a ``.npy`` file; pickled objects are never loaded."""
    data = read_bytes(path)
    if not data.startswith(np.lib.format.MAGIC_PREFIX):
        raise InputError(path, "is not a .npy file")
    try:
        array: Array = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    except Exception as error:  # the header is Python source: its parser raises a dozen kinds on a broken one
        raise InputError(path, f"is not a readable .npy array: {first_line(error)}") from error
    return array
