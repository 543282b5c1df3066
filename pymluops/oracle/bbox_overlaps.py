"""bbox_overlaps: the area that upright boxes have in common, as a part of others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pymluops.oracle.plane_boxes import random_boxes
from pymluops.oracle.refusals import Refusals
from pymluops.oracle.ways import Way

#: Values of symbols in arguments that are made.
SIZES = {"P": (4,), "Q": (4,)}


def pairs(first: np.ndarray, second: np.ndarray, of_first: bool = False, offset: int = 0) -> np.ndarray:
    """[N, M], in the type of the boxes, half in float32; a NaN is left out of maxima and minima."""
    return _parts(first[:, None], second[None], of_first, offset)


def aligned(first: np.ndarray, second: np.ndarray, of_first: bool = False, offset: int = 0) -> np.ndarray:
    """[N]."""
    return _parts(first, second, of_first, offset)


def _parts(one: np.ndarray, other: np.ndarray, of_first: bool, offset: int) -> np.ndarray:
    if one.dtype == np.float16:
        return _parts(one.astype(np.float32), other.astype(np.float32), of_first, offset).astype(np.float16)
    real = one.dtype.type
    extra = real(offset)
    with np.errstate(all="ignore"):
        low, high = np.fmax(one[..., :2], other[..., :2]), np.fmin(one[..., 2:], other[..., 2:])
        sides = np.fmax(high - low + extra, real(0))
        common = sides[..., 0] * sides[..., 1]
        first, second = (
            (boxes[..., 2] - boxes[..., 0] + extra) * (boxes[..., 3] - boxes[..., 1] + extra) for boxes in (one, other)
        )
        whole = np.broadcast_to(first, common.shape) if of_first else first + second - common
        return np.asarray(common / np.fmax(whole, extra))


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let boxes overlap, and all pairs be compared."""
    for name in ("bbox1", "bbox2"):
        arguments[name][...] = random_boxes(rng, len(arguments[name]))
    arguments["aligned"] = False


def in_double(_name: str, first: np.ndarray, second: np.ndarray, mode: int, _aligned: bool, offset: int) -> np.ndarray:
    """The results for float64 boxes."""
    return pairs(first, second, mode == 1, offset)


def ways(size: int) -> Iterator[Way]:
    """Many boxes against few."""
    yield Way("bbox_overlaps", "pairs", {"N": 10 * size, "M": 100}, {"mode": "iou", "offset": 0}, change=prepare)


REFUSALS = {
    "mluOpBboxOverlaps": Refusals(
        order="handle objects types ranks:bbox1 ranks:bbox2 packed scalars ranks shapes empty indexable data overlap",
    )
}
