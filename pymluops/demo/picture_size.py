"""How large a picture may be, and how a large one is brought down."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from pymluops.demo.arrays import Array
from pymluops.demo.errors import InputError
from pymluops.demo.resample import resize

MAX_SIDE = 768
MIN_SIDE = 32
MAX_PIXELS = 89_478_485
"""The limit from which on Pillow, too, takes a picture for an attack."""


def check_size(path: Path, height: int, width: int) -> None:
    """Refuse a picture that is too small for the operators, or too large to be read."""
    if min(height, width) < MIN_SIDE:
        raise InputError(path, f"{width} x {height} pixels is too small; at least {MIN_SIDE} x {MIN_SIDE} are needed")
    if height * width > MAX_PIXELS:
        raise InputError(path, f"has too many pixels, {width} x {height}; the limit is {MAX_PIXELS:,}")


def reduced(path: Path, array: Array, to_unit: Callable[[Array], Array]) -> Array:
    """Return RGB pixels of at most `MAX_SIDE`; `to_unit` turns the array's values into numbers from 0 to 1.

    Whole blocks are dropped first, so that only a small part of a very large picture is converted
    and averaged.
    """
    height, width = array.shape[:2]
    check_size(path, height, width)
    factor = MAX_SIDE / max(height, width)
    if factor >= 1:
        return np.ascontiguousarray(_to_rgb(to_unit(array)))
    step = max(1, int(0.5 / factor))
    size = (max(MIN_SIDE, round(height * factor)), max(MIN_SIDE, round(width * factor)))
    return resize(_to_rgb(to_unit(array[::step, ::step])), size)


def _to_rgb(pixels: Array) -> Array:
    return np.repeat(pixels, 3, axis=2) if pixels.shape[2] == 1 else pixels[:, :, :3]
