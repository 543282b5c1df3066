"""Reading pictures: PPM/PGM and ``.npy`` by ourselves, everything else through Pillow."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pymluops.demo.arrays import Array
from pymluops.demo.errors import InputError, MissingPackageError, first_line
from pymluops.demo.files import check_file, load_npy, read_bytes
from pymluops.demo.resample import resize

MAX_SIDE = 768
MIN_SIDE = 32
NETPBM_HEADER = re.compile(rb"P([2356])" + 3 * rb"(?:\s|#[^\n]*\n)+(\d{1,9})")
COMMENT = re.compile(rb"#[^\n]*")


@dataclass(frozen=True)
class Image:
    """RGB pixels [height, width, 3] in [0, 1]."""

    source: str
    pixels: Array
    from_scan: bool = False
    notes: tuple[str, ...] = field(default=())


def read_image(path: Path) -> Image:
    """Read a picture and bring its longer side down to `MAX_SIDE`."""
    check_file(path)
    suffix = path.suffix.lower()
    if suffix == ".npy":
        pixels = _read_npy(path)
    elif suffix in (".ppm", ".pgm", ".pnm"):
        pixels = _read_netpbm(path)
    else:
        pixels = _read_with_pillow(path)
    height, width = pixels.shape[:2]
    if min(height, width) < MIN_SIDE:
        raise InputError(path, f"{width} x {height} pixels is too small; at least {MIN_SIDE} x {MIN_SIDE} are needed")
    return Image(str(path), _limit_size(pixels))


def _limit_size(pixels: Array) -> Array:
    height, width = pixels.shape[:2]
    factor = MAX_SIDE / max(height, width)
    if factor >= 1:
        return np.ascontiguousarray(pixels)
    # Whole blocks are dropped first, so that a very large picture costs no large product of matrices.
    step = max(1, int(0.5 / factor))
    size = (max(MIN_SIDE, round(height * factor)), max(MIN_SIDE, round(width * factor)))
    return resize(pixels[::step, ::step], size)


def _read_with_pillow(path: Path) -> Array:
    try:
        from PIL import Image as PillowImage
        from PIL import ImageOps, UnidentifiedImageError
    except ImportError as error:
        kind = path.suffix.upper().lstrip(".") or "a"
        raise MissingPackageError(f"{path}: reading {kind} pictures", "Pillow") from error
    try:
        with warnings.catch_warnings(), PillowImage.open(path) as picture:
            warnings.simplefilter("error", PillowImage.DecompressionBombWarning)
            if picture.mode[0] in "IF":  # 16 or 32 bits a sample, which Pillow would cut off at 255
                return _from_array(path, np.asarray(picture))
            picture.draft("RGB", (MAX_SIDE, MAX_SIDE))
            upright = ImageOps.exif_transpose(picture).convert("RGB")
            upright.thumbnail((2 * MAX_SIDE, 2 * MAX_SIDE))
            return np.asarray(upright, dtype=np.float32) / np.float32(255)
    except UnidentifiedImageError as error:
        raise InputError(path, "is not a picture in a format that Pillow knows") from error
    except (PillowImage.DecompressionBombError, PillowImage.DecompressionBombWarning) as error:
        raise InputError(path, "has too many pixels") from error
    except (OSError, ValueError, SyntaxError, EOFError, MemoryError) as error:  # what Pillow raises on broken files
        raise InputError(path, f"cannot be read as a picture: {first_line(error)}") from error


def _read_npy(path: Path) -> Array:
    return _from_array(path, load_npy(path))


def _from_array(path: Path, array: Array) -> Array:
    if array.dtype.kind not in "fiub":
        raise InputError(path, f"holds {array.dtype} values; expected real numbers")
    if array.ndim == 2:
        array = array[:, :, None]
    if array.ndim != 3 or array.shape[2] not in (1, 3, 4) or 0 in array.shape:
        raise InputError(path, f"has shape {list(array.shape)}; expected [height, width] or [height, width, 1, 3 or 4]")
    if not np.isfinite(array).all():
        bad = array.size - int(np.count_nonzero(np.isfinite(array)))
        raise InputError(path, f"{bad:,} of {array.size:,} values are NaN or infinite")
    return _to_rgb(_to_unit_range(array))


def _to_unit_range(array: Array) -> Array:
    """Unsigned integers are divided by their largest value. Other numbers are used as they are, or stretched to fit."""
    if array.dtype.kind == "u":
        return (array / np.float64(np.iinfo(array.dtype).max)).astype(np.float32)
    values = array.astype(np.float64)
    low, high = float(values.min()), float(values.max())
    if low < 0 or high > 1:
        values = (values - low) / (high - low if high > low else 1.0)
    return values.astype(np.float32)


def _to_rgb(pixels: Array) -> Array:
    return np.repeat(pixels, 3, axis=2) if pixels.shape[2] == 1 else pixels[:, :, :3]


def _read_netpbm(path: Path) -> Array:
    data = read_bytes(path)
    header = NETPBM_HEADER.match(data)
    if header is None:
        raise InputError(path, "is not a PPM or PGM picture (P2, P3, P5 or P6)")
    width, height, maximum = (int(number) for number in header.groups()[1:])
    if not (width and height and 0 < maximum < 65536):
        raise InputError(path, f"has a broken header: {width} x {height} pixels, maximum {maximum}")
    kind = int(header[1])
    channels = 3 if kind in (3, 6) else 1
    count = width * height * channels
    body = data[header.end() :]
    try:
        samples = _text_samples(body, count) if kind < 5 else _binary_samples(body, count, maximum)
    except ValueError as error:
        raise InputError(path, "has a sample that is not a number") from error
    if samples.size < count:
        raise InputError(path, f"is truncated: {samples.size:,} of {count:,} samples are there")
    if samples.min() < 0 or samples.max() > maximum:
        raise InputError(path, f"holds samples outside 0 to {maximum}")
    return _to_rgb((samples / maximum).astype(np.float32).reshape(height, width, channels))


def _text_samples(body: bytes, count: int) -> Array:
    return np.array(COMMENT.sub(b"", body).split()[:count], dtype=np.float64)


def _binary_samples(body: bytes, count: int, maximum: int) -> Array:
    dtype = np.dtype(">u2" if maximum > 255 else "u1")
    there = max(len(body) - 1, 0) // dtype.itemsize  # one white-space character ends the header
    return np.frombuffer(body, dtype, count=min(count, there), offset=1 if there else 0)
