"""Differences that the criteria of a case do not see.

The vendor's evaluator compares integers in float32, looks at nothing but NaN and infinities where
there are some, and has metrics that may say nothing. Its verdict stays; a run warns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pymluops.enums import DataType
from pymluops.gencase._criteria import Criterion, Measure, Place, compare, differing, narrowed, place_among

__all__ = ["unseen_differences"]


def unseen_differences(
    found: np.ndarray, wanted: np.ndarray, criteria: Sequence[Criterion], dtype: DataType, measures: Sequence[Measure]
) -> Place | None:
    """Return where two results differ most without being seen; None if the criteria see what there is.

    Parameters
    ----------
    found, wanted : numpy.ndarray
        The result and the baseline, of one shape.
    criteria : sequence of Criterion
        Those that passed.
    dtype : DataType
        Of the output.
    measures : sequence of Measure
        The values of the criteria.
    """
    if not differing(found, wanted).any():
        return None
    if found.dtype.kind == "c" or wanted.dtype.kind == "c":
        parts = [("real", np.real(found), np.real(wanted)), ("imaginary", np.imag(found), np.imag(wanted))]
    else:
        parts = [("", found, wanted)]
    hidden = np.zeros(found.shape, np.bool_)
    for part, one, other in parts:
        hidden |= _hidden(one, other, criteria, dtype, [measure for measure in measures if measure.part == part])
    return place_among(hidden, found, wanted) if hidden.any() else None


def _hidden(
    found: np.ndarray, wanted: np.ndarray, criteria: Sequence[Criterion], dtype: DataType, measures: Sequence[Measure]
) -> np.ndarray:
    """Return which elements differ and are not seen, for real numbers."""
    unequal = differing(found, wanted)
    with np.errstate(all="ignore"):
        narrow = [narrowed(one).reshape(found.shape) for one in (found, wanted)]
    hidden = unequal & ~differing(*narrow)
    finite = np.isfinite(narrow[0]) & np.isfinite(narrow[1])
    # Of numbers beside a NaN, only those count that would have failed.
    if all(_is_silent(measure) for measure in measures) and (
        finite.all() or _fails(found[finite], wanted[finite], criteria, dtype, measures[0].part)
    ):
        hidden |= unequal
    return np.asarray(hidden)


def _is_silent(measure: Measure) -> bool:
    """Whether a criterion that passed says nothing about differences."""
    can_fail = math.isfinite(measure.threshold) and (measure.threshold >= 0 or measure.name not in _SIGNED)
    return not can_fail or measure.value <= 0


#: Metrics that a negative threshold turns off.
_SIGNED = ("DIFF4", "DIFF_KL")


def _fails(found: np.ndarray, wanted: np.ndarray, criteria: Sequence[Criterion], dtype: DataType, part: str) -> bool:
    limits = [
        Criterion(one.name, one.imaginary if part == "imaginary" and one.imaginary is not None else one.threshold)
        for one in criteria
    ]
    return not all(measure.passed for measure in compare(found, wanted, limits, dtype))
