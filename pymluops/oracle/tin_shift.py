"""tin_shift: out[n, t, c, p] = in[n, t - s, c, p] with s = shifts[n, c // (C // G)], zero where t - s leaves [0, T)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pymluops.oracle.refusals import Refusals
from pymluops.oracle.ways import Way


def shift(source: np.ndarray, shifts: np.ndarray) -> np.ndarray:
    """Forward and backward alike: the gradient is moved by the same shifts with the same sign."""
    batch, segments, channels, _ = source.shape
    groups = shifts.shape[1]
    result = np.zeros_like(source)
    for n in range(batch):
        for c in range(channels):
            s = int(shifts[n, c // (channels // groups)])
            for t in range(segments):
                if 0 <= t - s < segments:
                    result[n, t, c] = source[n, t - s, c]
    return result


def in_double(_name: str, source: np.ndarray, shifts: np.ndarray) -> np.ndarray:
    """The results of both operators for float64 arrays and the scalars of the description."""
    return shift(source, shifts)


#: A call on a few values has one phase, and so does not look at the clock.
ONE_PHASE = True


def ways(size: int) -> Iterator[Way]:
    """Long rows, and many channels."""
    for name in ("tin_shift_forward", "tin_shift_backward"):
        yield Way(name, "long rows", {"B": 2, "T": 4, "C": 4, "HW": size * 30, "G": 2})
        yield Way(name, "many channels", {"B": 2, "T": 3, "C": 256, "HW": size // 2 + 1, "G": 2})


def endless() -> Iterator[Way]:
    """Two billion values."""
    sizes = {"B": 1, "T": 1, "C": 1, "HW": 2_000_000_000, "G": 1}
    for label, shift in (("copies", 0), ("zeros", 1)):
        yield Way("tin_shift_forward", label, sizes, arrays={"shifts": np.array([[shift]], np.int32)}, huge=True)


_REFUSALS = Refusals(
    order="handle objects ranks C>0 G>0 shapes packed types positive indexable data overlap", empty={"T": ""}
)
REFUSALS = {"mluOpTinShiftForward": _REFUSALS, "mluOpTinShiftBackward": _REFUSALS}
