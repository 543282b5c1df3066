"""The header of a ``.npy`` file, read without touching the values."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from pymluops._shown import shortened
from pymluops.demo.errors import InputError, first_line


@dataclass(frozen=True)
class NpyHeader:
    """What the file holds, and the place of its first byte."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fortran: bool
    offset: int


def read_header(path: Path, file: BinaryIO, size: int) -> NpyHeader:
    """Return the header of the file of `size` bytes, which is known to hold all values; pickles are refused."""
    if file.read(len(np.lib.format.MAGIC_PREFIX)) != np.lib.format.MAGIC_PREFIX:
        raise InputError(path, "is not a .npy file")
    file.seek(0)
    try:
        shape, fortran, dtype = _parse(file)
    except Exception as error:  # the header is Python source: its parser raises a dozen kinds on a broken one
        raise InputError(path, f"is not a readable .npy array: {first_line(error)}") from error
    problem = _problem(shape, dtype, size - file.tell())
    if problem:
        raise InputError(path, f"is not a readable .npy array: {problem}")
    return NpyHeader(shape, dtype, fortran, file.tell())


def _parse(file: BinaryIO) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    if version not in ((1, 0), (2, 0), (3, 0)):
        raise ValueError(f"it has the unknown version {version[0]}.{version[1]}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # headers written by Python 2 cause a useless warning
        if version == (1, 0):
            return np.lib.format.read_array_header_1_0(file)
        shape, fortran, dtype = np.lib.format.read_array_header_2_0(file)
    if version == (3, 0) and dtype.names:  # the same, but for names in UTF-8
        dtype.names = tuple(name.encode("latin1").decode("utf-8", "replace") for name in dtype.names)
    return shape, fortran, dtype


def _problem(shape: tuple[int, ...], dtype: np.dtype[Any], there: int) -> str:
    if dtype.hasobject:
        return "it holds Python objects, which are never loaded"
    if any(type(length) is not int or not 0 <= length < 2**63 for length in shape) or len(shape) > 32:
        return "it has an impossible shape"
    needed = math.prod(shape) * dtype.itemsize
    if needed > there:
        text = shortened(str(list(shape)), 60)
        return f"{there:,} bytes of values are there, too few for shape {text} of {shortened(str(dtype), 60)}"
    return ""
