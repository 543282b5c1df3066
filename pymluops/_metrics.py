"""The accuracy metrics of the vendor's acceptance tests, on flat arrays.

Halves and floats are computed in float64, and long arrays in parts: a metric needs a few MiB beside
its arguments.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np

__all__ = ["LEAST_ERRORS", "diff1", "diff2", "diff3", "diff3_2", "diff4", "parts"]

#: Keeps quotients finite.
_EPSILON = 1e-9
#: `diff4` says nothing about fewer errors than this.
LEAST_ERRORS = 100


#: Elements of a part.
_PART = 1 << 18


def parts(m: Any, b: Any) -> Generator[tuple[Any, Any]]:
    """Yield parts of two flat arrays, halves and floats in float64."""
    for first in range(0, len(m), _PART):
        pair = m[first : first + _PART], b[first : first + _PART]
        yield tuple(one.astype(np.float64) if one.dtype in (np.float16, np.float32) else one for one in pair)


def diff1(m: Any, b: Any) -> float:
    """Return the sum of the absolute errors of `m` by the sum of the absolute baseline `b`."""
    error = size = np.float64(0)
    for one, other in parts(m, b):
        error, size = error + np.abs(one - other).sum(), size + np.abs(other).sum()
    return float(error / (size + _EPSILON))


def diff2(m: Any, b: Any) -> float:
    """Return the root of the sum of the squared errors by the sum of the squared baseline."""
    error = size = np.float64(0)
    for one, other in parts(m, b):
        error, size = error + ((one - other) ** 2).sum(), size + (other**2).sum()
    return float(np.sqrt(error / (size + _EPSILON)))


def diff3(m: Any, b: Any, small: float) -> float:
    """Return the largest error of an element, relative to the baseline where that is not below `small`."""
    largest = np.float64(0)
    for one, other in parts(m, b):
        error, size = np.abs(one - other), np.abs(other)
        relative = np.array(error / np.where(size < small, 1.0, size + _EPSILON))
        largest = np.maximum(largest, relative.max(initial=0.0))
    return float(largest)


def diff3_2(m: Any, b: Any) -> float:
    """Return the largest absolute error of an element."""
    largest = np.float64(0)
    for one, other in parts(m, b):
        largest = np.maximum(largest, np.max(np.abs(one - other), initial=0.0))
    return float(largest)


def diff4(m: Any, b: Any) -> float:
    """Return the share of results below the baseline among the distinct pairs that differ; -1 if these are few."""
    differing = [np.stack([one, other], axis=-1)[one != other] for one, other in parts(m, b)]
    pairs = np.unique(np.concatenate(differing), axis=0) if differing else np.empty((0, 2))
    return float((pairs[:, 0] < pairs[:, 1]).mean()) if len(pairs) >= LEAST_ERRORS else -1.0
