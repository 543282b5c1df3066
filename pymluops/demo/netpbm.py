"""Reading PPM and PGM pictures, binary and text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from pymluops.demo.arrays import Array
from pymluops.demo.errors import InputError
from pymluops.demo.files import opened
from pymluops.demo.picture_size import check_size, reduced

HEADER = re.compile(rb"P([2356])" + 3 * rb"(?:\s|#[^\n]*\n)+(\d{1,9})")
COMMENT = re.compile(rb"#[^\n]*")
WHITE_SPACE = re.compile(rb"\s")
MAX_HEADER_BYTES = 1 << 16
MAX_TEXT_BYTES = 64 << 20
PIECE_BYTES = 1 << 20


@dataclass(frozen=True)
class _Header:
    text: bool
    shape: tuple[int, int, int]
    maximum: int
    end: int

    @property
    def samples(self) -> int:
        height, width, channels = self.shape
        return height * width * channels


def read_netpbm(path: Path) -> Array:
    """Return the picture as RGB pixels in [0, 1], brought down to the size that a demo works on."""
    with opened(path) as (file, size):
        header = _read_header(path, file)
        array = _text_samples(path, file, size, header) if header.text else _binary_samples(path, size, header)
        low, high = _range(array)
        if not (low >= 0 and high <= header.maximum):  # NaN is not in range either
            raise InputError(path, f"holds samples outside 0 to {header.maximum}")
        return reduced(path, array, lambda part: (part / header.maximum).astype(np.float32))


def _read_header(path: Path, file: BinaryIO) -> _Header:
    header = HEADER.match(file.read(MAX_HEADER_BYTES))
    if header is None:
        raise InputError(path, "is not a PPM or PGM picture (P2, P3, P5 or P6)")
    width, height, maximum = (int(number) for number in header.groups()[1:])
    if not (width and height and 0 < maximum < 65536):
        raise InputError(path, f"has a broken header: {width} x {height} pixels, maximum {maximum}")
    kind = int(header[1])
    return _Header(kind < 5, (height, width, 3 if kind in (3, 6) else 1), maximum, header.end())


def _binary_samples(path: Path, size: int, header: _Header) -> Array:
    dtype = np.dtype(">u2" if header.maximum > 255 else "u1")
    there = max(size - header.end - 1, 0) // dtype.itemsize  # one white-space character ends the header
    if there < header.samples:
        raise _truncated(path, there, header)
    check_size(path, *header.shape[:2])
    return np.memmap(path, dtype, "r", header.end + 1, header.shape)


def _text_samples(path: Path, file: BinaryIO, size: int, header: _Header) -> Array:
    if size > MAX_TEXT_BYTES:
        raise InputError(path, f"is a text of {size / 2**20:,.0f} MiB; the limit is {MAX_TEXT_BYTES >> 20} MiB")
    file.seek(header.end)
    body = COMMENT.sub(b"", file.read())
    samples = np.empty(min(header.samples, len(body) // 2 + 1))
    done, start = 0, 0
    while start < len(body) and done < header.samples:
        border = WHITE_SPACE.search(body, start + PIECE_BYTES)
        end = border.start() if border else len(body)
        words = body[start:end].split()[: header.samples - done]
        try:
            samples[done : done + len(words)] = list(map(float, words))
        except ValueError as error:
            raise InputError(path, "has a sample that is not a number") from error
        done += len(words)
        start = end
    if done < header.samples:
        raise _truncated(path, done, header)
    return samples.reshape(header.shape)


def _truncated(path: Path, there: int, header: _Header) -> InputError:
    return InputError(path, f"is truncated: {there:,} of {header.samples:,} samples are there")


def _range(array: Array) -> tuple[float, float]:
    """Return the least and the largest sample, or NaN if one is; looked up row by row, as the file may be large."""
    rows = max(1, PIECE_BYTES // max(1, array[0].nbytes))
    pieces = [array[start : start + rows] for start in range(0, len(array), rows)]
    return float(np.min([piece.min() for piece in pieces])), float(np.max([piece.max() for piece in pieces]))
