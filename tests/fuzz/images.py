"""Picture files of every format, damaged: the reader gives pixels or one refusal, in bounded time and memory.

A case is the file's suffix, a line feed and the file.
"""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from fuzz.case_runner import FindingError
from fuzz.file_damage import damage, npy_header
from pymluops.demo.errors import InputError
from pymluops.demo.images import Image, read_image

PILLOW = {
    ".png": "PNG", ".jpg": "JPEG", ".gif": "GIF", ".bmp": "BMP", ".tif": "TIFF", ".webp": "WEBP", ".ico": "ICO",
    ".ppm": "PPM",
}  # fmt: skip
MODES = ("RGB", "L", "RGBA", "P", "I;16", "1", "CMYK", "F")
DTYPES = ("u1", "<u2", "<f4", ">f8", "<i2", "?", "<f2")


def _pixels(seed: int, channels: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (36, 40, channels), dtype=np.uint8)


@cache
def _pillow(suffix: str, mode: str) -> bytes:
    """A small picture that Pillow writes; in another mode where the format does not know this one."""
    from PIL import Image as PillowImage

    picture = PillowImage.fromarray(_pixels(1))
    for wanted in (mode, "RGB", "L"):
        stream = io.BytesIO()
        try:
            converted = picture.convert("I").convert("I;16") if wanted == "I;16" else picture.convert(wanted)
            converted.save(stream, PILLOW[suffix])
        except (OSError, ValueError, KeyError):
            continue
        return stream.getvalue()
    raise ValueError(f"Pillow writes no {suffix}")


def _npy(rng: random.Random) -> bytes:
    if rng.random() < 0.4:
        return npy_header(rng) + rng.randbytes(4000)
    array = _pixels(3, rng.choice((1, 3, 4))).astype(rng.choice(DTYPES))
    if array.dtype.kind == "f" and rng.random() < 0.5:
        array[0, 0, 0] = rng.choice((np.inf, np.nan, np.finfo(array.dtype).max, np.finfo(array.dtype).min))
        array[0, 1, 0] = rng.choice((1, np.finfo(array.dtype).min))
    stream = io.BytesIO()
    np.save(stream, array[:, :, 0] if rng.random() < 0.3 else array)
    return stream.getvalue()


class Images:
    """The target; `read` is what it looks at."""

    def __init__(self, read: Callable[[Path], Image] = read_image) -> None:
        self.read = read

    def prepare(self) -> None:
        pass

    def make(self, rng: random.Random) -> bytes:
        suffix = rng.choice((*PILLOW, ".npy", ".npy"))
        data = _npy(rng) if suffix == ".npy" else _pillow(suffix, rng.choice(MODES))
        if rng.random() < 0.7:
            data = damage(data, rng)
        if rng.random() < 0.05:
            suffix = rng.choice((*PILLOW, ".npy", ".xyz", ""))
        return suffix.encode() + b"\n" + data

    def check(self, case: bytes, folder: Path) -> None:
        suffix, _, data = case.partition(b"\n")
        path = folder / f"picture{suffix.decode()}"
        path.write_bytes(data)
        try:
            image = self.read(path)
        except InputError as error:
            if "\n" in str(error):
                raise FindingError(f"a refusal of more than one line: {error}") from None
        else:
            self._check_image(image)

    def _check_image(self, image: Image) -> None:
        pixels = image.pixels
        if pixels.ndim != 3 or pixels.shape[2] != 3 or not np.isfinite(pixels).all():
            raise FindingError(f"pixels of shape {pixels.shape} with values that are not finite")
        if pixels.min() < -1e-3 or pixels.max() > 1 + 1e-3:
            raise FindingError(f"pixels from {pixels.min()} to {pixels.max()}")


TARGET = Images()
