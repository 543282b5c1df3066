"""tin_shift: out[n, t, c, p] = in[n, t - s, c, p] with s = shifts[n, c // (C // G)], zero where t - s leaves [0, T)."""

from __future__ import annotations

import numpy as np


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
