"""Stacked rows of batches: those of all batches one after another, and how many each batch has."""

from __future__ import annotations

import numpy as np


def slices(counts: np.ndarray, rows: int) -> list[slice]:
    """The rows of each batch. A negative number counts as 0; rows beyond those of all belong to the last batch."""
    ends = np.minimum(np.cumsum(np.maximum(counts.astype(np.int64), 0)), rows).tolist()
    return [slice(begin, end) for begin, end in zip([0, *ends[:-1]], [*ends[:-1], rows], strict=True)]
