"""The accuracy metrics of the vendor's acceptance tests, on flat arrays in float64."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["LEAST_ERRORS", "diff1", "diff2", "diff3", "diff3_2", "diff4"]

#: Keeps quotients finite.
_EPSILON = 1e-9
#: `diff4` says nothing about fewer errors than this.
LEAST_ERRORS = 100


def diff1(m: Any, b: Any) -> float:
    """Return the sum of the absolute errors of `m` by the sum of the absolute baseline `b`."""
    return float(np.abs(m - b).sum() / (np.abs(b).sum() + _EPSILON))


def diff2(m: Any, b: Any) -> float:
    """Return the root of the sum of the squared errors by the sum of the squared baseline."""
    return float(np.sqrt(((m - b) ** 2).sum() / ((b**2).sum() + _EPSILON)))


def diff3(m: Any, b: Any, small: float) -> float:
    """Return the largest error of an element, relative to the baseline where that is not below `small`."""
    error, size = np.abs(m - b), np.abs(b)
    relative = np.array(error / np.where(size < small, 1.0, size + _EPSILON))
    return float(relative.max(initial=0.0))


def diff3_2(m: Any, b: Any) -> float:
    """Return the largest absolute error of an element."""
    return float(np.max(np.abs(m - b), initial=0.0))


def diff4(m: Any, b: Any) -> float:
    """Return the share of results below the baseline among the distinct pairs that differ; -1 if these are few."""
    pairs = np.unique(np.stack([m, b], axis=-1)[m != b], axis=0)
    return float((pairs[:, 0] < pairs[:, 1]).mean()) if len(pairs) >= LEAST_ERRORS else -1.0
