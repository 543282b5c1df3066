"""box_iou_rotated: the common area of rotated boxes by that of both together, or of the first one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pymluops.oracle.refusals import Refusals
from pymluops.oracle.rotated_rectangles import overlap, random_rectangles
from pymluops.oracle.ways import Way

#: Values of symbols in arguments that are made.
SIZES = {"P": (5,), "Q": (5,)}


def pairs(first: np.ndarray, second: np.ndarray, of_first: bool = False) -> np.ndarray:
    """[N, M]."""
    values = [[overlap(a, b, of_first) for b in second] for a in first]
    return np.array(values, first.dtype).reshape(len(first), len(second))


def aligned(first: np.ndarray, second: np.ndarray, of_first: bool = False) -> np.ndarray:
    """[N], of the boxes in the same rows."""
    return np.array([overlap(a, b, of_first) for a, b in zip(first, second, strict=True)], first.dtype)


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let boxes overlap, and all pairs be compared."""
    for name in ("bbox1", "bbox2"):
        arguments[name][...] = random_rectangles(rng, len(arguments[name]), 2.0)
    arguments["aligned"] = False


def in_double(_name: str, first: np.ndarray, second: np.ndarray, mode: int, in_rows: bool) -> np.ndarray:
    """The results for float64 boxes."""
    return (aligned if in_rows else pairs)(first, second, mode == 1)


def ways(size: int) -> Iterator[Way]:
    """Many boxes against few, and few against many."""
    change = {"change": prepare}
    yield Way("box_iou_rotated", "many rows", {"N": 20 * size, "M": 50}, **change)
    yield Way("box_iou_rotated", "many columns", {"N": 3, "M": 300 * size}, **change)


REFUSALS = {
    "mluOpBoxIouRotated": Refusals(
        order="handle objects types scalars ranks shapes packed empty indexable data overlap"
    )
}
