"""Reading pictures: ``.npy`` by ourselves, everything else through Pillow."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from pymluops._shown import shortened
from pymluops.demo.arrays import Array
from pymluops.demo.errors import InputError, MissingPackageError, first_line
from pymluops.demo.files import check_file, opened
from pymluops.demo.npy import read_header
from pymluops.demo.picture_size import MAX_SIDE, check_size, reduced


@dataclass(frozen=True)
class Image:
    """RGB pixels [height, width, 3] in [0, 1].

    A range view has `angles` in degrees: the azimuth of the left and right edge, the elevation of
    the lower and upper one.
    """

    source: str
    pixels: Array
    from_scan: bool = False
    angles: tuple[float, float, float, float] | None = None
    notes: tuple[str, ...] = field(default=())


def read_image(path: Path) -> Image:
    """Read a picture and bring its longer side down to `MAX_SIDE`."""
    check_file(path)
    pixels = _read_npy(path) if path.suffix.lower() == ".npy" else _read_with_pillow(path)
    return Image(str(path), pixels)


# ---- Pillow --------------------------------------------------------------------------------------


def _read_with_pillow(path: Path) -> Array:
    try:
        from PIL import Image as PillowImage
        from PIL import UnidentifiedImageError
    except ImportError as error:
        kind = path.suffix.upper().lstrip(".") or "a"
        raise MissingPackageError(f"{path}: reading {shortened(kind, 20)} pictures", "Pillow") from error
    try:
        with _quiet_pillow():
            return _decoded(path)
    except InputError:
        raise
    except UnidentifiedImageError as error:
        raise InputError(path, "is not a picture in a format that Pillow knows") from error
    except (PillowImage.DecompressionBombError, PillowImage.DecompressionBombWarning) as error:
        raise InputError(path, "has too many pixels") from error
    except Exception as error:  # Pillow's decoders raise almost any kind on broken files
        raise InputError(path, f"cannot be read as a picture: {first_line(error)}") from error


def _decoded(path: Path) -> Array:
    from PIL import Image as PillowImage
    from PIL import ImageOps

    with PillowImage.open(path) as picture:
        if picture.mode[0] in "IF":  # 16 or 32 bits a sample, which Pillow would cut off at 255
            array = np.asarray(picture)
            deep = picture.format == "PPM" and picture.mode == "I"  # 16 bits of a PGM file, in 32
            return _from_array(path, array.astype(np.uint16) if deep else array)
        picture.draft("RGB", (MAX_SIDE, MAX_SIDE))
        upright = ImageOps.exif_transpose(picture).convert("RGB")
        upright.thumbnail((2 * MAX_SIDE, 2 * MAX_SIDE))
        pixels = np.asarray(upright)
    return reduced(path, pixels, lambda part: part.astype(np.float32) / np.float32(255))


@contextmanager
def _quiet_pillow() -> Generator[None, None, None]:
    """Suppress warnings and logs of Pillow; its warning of a decompression bomb is an error."""
    from PIL import Image as PillowImage

    logger = logging.getLogger("PIL")
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings(), _quiet_c_libraries():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", PillowImage.DecompressionBombWarning)
            yield
    finally:
        logger.setLevel(before)


@contextmanager
def _quiet_c_libraries() -> Generator[None, None, None]:
    """Redirect the process's stderr, to which libtiff writes its warnings."""
    try:
        kept = os.dup(2)
    except OSError:  # there is none
        yield
        return
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


# ---- Arrays --------------------------------------------------------------------------------------


def _read_npy(path: Path) -> Array:
    with opened(path) as (file, size):
        header = read_header(path, file, size)
        _check_values(path, header.dtype, header.shape)
        order: Literal["C", "F"] = "F" if header.fortran else "C"
        return _from_array(path, np.memmap(path, header.dtype, "r", header.offset, header.shape, order))


def _check_values(path: Path, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    """Refuse arrays that are no picture, before memory of that shape is allocated."""
    if dtype.kind not in "fiub":
        raise InputError(path, f"holds {shortened(str(dtype), 60)} values; expected real numbers")
    if len(shape) not in (2, 3) or shape[2:] not in ((), (1,), (3,), (4,)) or min(shape) < 1:
        text = shortened(str(list(shape)), 60)
        raise InputError(path, f"has shape {text}; expected [height, width] or [height, width, 1, 3 or 4]")
    check_size(path, *shape[:2])


def _from_array(path: Path, array: Array) -> Array:
    _check_values(path, array.dtype, array.shape)
    if array.ndim == 2:
        array = array[:, :, None]
    if array.dtype.kind == "u":
        largest = np.float64(np.iinfo(array.dtype).max)
        return reduced(path, array, lambda part: (part / largest).astype(np.float32))
    low, high = _range(path, array)
    return reduced(path, array, lambda part: _stretched(part, low, high))


def _range(path: Path, array: Array) -> tuple[float, float]:
    """Return the least and the largest value, read some rows at a time."""
    bad, low, high = 0, np.inf, -np.inf
    rows = max(1, (4 << 20) // max(1, array[0].nbytes))
    for start in range(0, array.shape[0], rows):
        values = _as_float64(array[start : start + rows])
        bad += values.size - int(np.count_nonzero(np.isfinite(values)))
        low, high = min(low, float(values.min())), max(high, float(values.max()))
    if bad:
        raise InputError(path, f"{bad:,} of {array.size:,} values are NaN or infinite")
    return low, high


def _stretched(part: Array, low: float, high: float) -> Array:
    """Return the values as they are where all lie in [0, 1], otherwise stretched to fit."""
    values = _as_float64(part)
    if low < 0 or high > 1:
        if not np.isfinite(high - low):
            values, low, high = values / 4, low / 4, high / 4
        values = (values - low) / (high - low if high > low else 1.0)
    return values.astype(np.float32)


def _as_float64(array: Array) -> Array:
    # A long double too large for float64 becomes infinite, a signalling NaN stays NaN; both are
    # refused.
    with np.errstate(over="ignore", invalid="ignore"):
        return array.astype(np.float64)
