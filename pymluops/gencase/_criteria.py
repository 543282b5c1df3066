"""How far a result may be from a baseline: the metrics of the vendor's evaluator, and its verdict.

Results and baselines become float32 before they are compared, as there, but for DOUBLE; complex
numbers are compared by parts. Sums are in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pymluops import _metrics
from pymluops.enums import DataType

__all__ = ["NAMES", "Criterion", "Measure", "Place", "compare", "differing", "narrowed", "place_among", "worst_place"]

#: Least number of elements for a divergence.
_LEAST_FOR_DIVERGENCE = 1000
#: Baselines below it are compared by the absolute difference.
_SMALL = {
    DataType.HALF: 1e-4,
    DataType.COMPLEX_HALF: 1e-4,
    DataType.FLOAT: 1e-6,
    DataType.COMPLEX_FLOAT: 1e-6,
}
#: The value of a metric that cannot pass.
_NEVER = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class Criterion:
    """A metric and the largest value that passes.

    Attributes
    ----------
    name : str
        ``DIFF1``, ``DIFF2``, ``DIFF3``, ``DIFF3_2``, ``DIFF4`` or ``DIFF_KL``.
    threshold : float
        For real numbers, and for real parts.
    imaginary : float or None
        For imaginary parts; None: as for real parts.
    """

    name: str
    threshold: float
    imaginary: float | None = None


@dataclass(frozen=True)
class Measure:
    """The value of one metric for one output.

    Attributes
    ----------
    name : str
        Of the metric.
    part : str
        ``real``, ``imaginary``, or empty for real numbers.
    value, threshold : float
        What was found and what is allowed.
    passed : bool
        Whether it is allowed.
    """

    name: str
    part: str
    value: float
    threshold: float
    passed: bool


@dataclass(frozen=True)
class Place:
    """The element where two results differ most.

    Attributes
    ----------
    index : tuple of int
        Where it is.
    found, wanted : complex
        The two numbers.
    differing, elements : int
        How many elements differ, of how many.
    """

    index: tuple[int, ...]
    found: complex
    wanted: complex
    differing: int
    elements: int


def _diff_kl(found: Any, wanted: Any, _small: float) -> float:
    if found.size < _LEAST_FOR_DIVERGENCE:
        return -1.0
    p, q = (np.maximum(np.abs(one.astype(np.float64)), 1e-10) for one in (found, wanted))
    p, q = p / p.sum(), q / q.sum()
    return float(0.5 * (p * np.log(p / q)).sum() + 0.5 * (q * np.log(q / p)).sum())


_METRICS: dict[str, Callable[[Any, Any, float], float]] = {
    "DIFF1": lambda found, wanted, _small: _metrics.diff1(found, wanted),
    "DIFF2": lambda found, wanted, _small: _metrics.diff2(found, wanted),
    "DIFF3": _metrics.diff3,
    "DIFF3_2": lambda found, wanted, _small: _metrics.diff3_2(found, wanted),
    "DIFF4": lambda found, wanted, _small: _metrics.diff4(found, wanted),
    "DIFF_KL": _diff_kl,
}
#: The metrics.
NAMES = tuple(_METRICS)


def _passes(name: str, value: float, threshold: float) -> bool:
    """Return whether a value is allowed; equal to the threshold is."""
    if not np.isfinite(value) or value == _NEVER:
        return False
    if name == "DIFF4":  # all differences on one side; -1 says that there are too few
        return not (value in (0.0, 1.0) and threshold >= 0)
    if name == "DIFF_KL":
        return value < 0 or threshold < 0 or value <= threshold
    return not (value < 0 or value > threshold)  # a threshold that is no number allows everything


def compare(
    found: np.ndarray, wanted: np.ndarray, criteria: Sequence[Criterion], dtype: DataType, *, loose: bool = False
) -> list[Measure]:
    """Return the metrics of one output.

    Parameters
    ----------
    found, wanted : numpy.ndarray
        The result and the baseline, of one shape.
    criteria : sequence of Criterion
        What is measured, and what passes.
    dtype : DataType
        Of the output: it says from where on DIFF3 is relative.
    loose : bool
        Let NaN stand for an infinity, and any number for a NaN or an infinity of the result.

    Returns
    -------
    list of Measure
        One for each criterion, or two for complex numbers; none if there are no elements.
    """
    if not found.size:
        return []
    parts: list[tuple[str, Any, Any]]
    if found.dtype.kind == "c" or wanted.dtype.kind == "c":
        parts = [("real", np.real(found), np.real(wanted)), ("imaginary", np.imag(found), np.imag(wanted))]
    else:
        parts = [("", found, wanted)]
    exact = all(
        criterion.threshold == 0 and not criterion.imaginary for criterion in criteria if criterion.name != "DIFF4"
    )
    measures: list[Measure] = []
    for part, one, other in parts:
        values = _measured(narrowed(one), narrowed(other), criteria, _SMALL.get(dtype, 0.0), exact, loose)
        for criterion, value in zip(criteria, values, strict=True):
            limit = criterion.threshold
            if part == "imaginary" and criterion.imaginary is not None:
                limit = criterion.imaginary
            measures.append(Measure(criterion.name, part, value, limit, _passes(criterion.name, value, limit)))
    return measures


def narrowed(values: Any) -> np.ndarray:
    """Return the numbers that are compared, in one dim: those of float32, but for halves, which it has all."""
    kept = values.dtype in (np.float16, np.float64)
    return np.asarray((values if kept else values.astype(np.float32)).reshape(-1))


def _measured(
    found: np.ndarray, wanted: np.ndarray, criteria: Sequence[Criterion], small: float, exact: bool, loose: bool
) -> list[float]:
    """Return the value of each criterion for real numbers; see "NaN / Inf" in docs/cases.md."""
    if not all(np.isfinite(one).all() and np.isfinite(other).all() for one, other in _metrics.parts(found, wanted)):
        special = ~(np.isfinite(found) & np.isfinite(wanted))
        both_nan = np.isnan(found) & np.isnan(wanted)
        alike = both_nan | (found == wanted)
        if exact:
            if not alike[special].all():
                return [_NEVER] * len(criteria)
            found, wanted = (np.where(special, 0.0, one) for one in (found, wanted))
        else:
            if loose:
                alike |= (np.isnan(found) | np.isnan(wanted)) & ~np.isfinite(found) & ~np.isfinite(wanted)
                alike |= np.isfinite(wanted) & ~np.isfinite(found)
            if not alike[special].all():
                return [_NEVER] * len(criteria)
            return [-1.0 if criterion.name == "DIFF4" else 0.0 for criterion in criteria]
    with np.errstate(all="ignore"):
        return [_METRICS[criterion.name](found, wanted, small) for criterion in criteria]


def worst_place(found: np.ndarray, wanted: np.ndarray) -> Place | None:
    """Return where two results differ most, None if they are alike."""
    unequal = differing(found, wanted)
    return place_among(unequal, found, wanted) if unequal.any() else None


def differing(found: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return which elements differ; NaN is like NaN."""
    with np.errstate(all="ignore"):
        both_nan = (found != found) & (wanted != wanted)
        return np.asarray((found != wanted) & ~both_nan)


def place_among(chosen: np.ndarray, found: np.ndarray, wanted: np.ndarray) -> Place:
    """Return where two results differ most among the elements that are chosen, and how many these are."""
    wide = np.complex128 if "c" in (found.dtype.kind, wanted.dtype.kind) else np.float64
    with np.errstate(all="ignore"):
        difference = np.abs(found.astype(wide) - wanted.astype(wide))
    difference = np.where(chosen, np.where(np.isnan(difference), np.inf, difference), -1.0)
    index = tuple(map(int, np.unravel_index(int(difference.argmax()), found.shape)))
    return Place(index, _plain(found[index]), _plain(wanted[index]), int(chosen.sum()), found.size)


def _plain(number: Any) -> complex:
    return int(number) if number.dtype.kind in "iub" else complex(number)
