"""How far a result may be from the reference, and where it is farther."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pymluops._shown import shown
from pymluops.bang import _accuracy as metrics
from pymluops.errors import BadParamError, BadParamTypeError

__all__ = ["Deviation", "Tolerance", "deviation"]

#: Relative to an element, and to the largest one of the reference, by the size of a float in bytes.
_USUAL = {2: 1e-2, 4: 1e-4, 8: 1e-9}


@dataclasses.dataclass(frozen=True)
class Tolerance:
    """How far a result may be from the reference; everything that is given has to hold.

    NaN and infinities have to stand in the same places. If nothing is given, integers are exact,
    and an element of floats may be off by a part of itself plus that part of the largest element of
    the reference: 1e-2 for two bytes, 1e-4 for four, 1e-9 for eight.

    Parameters
    ----------
    diff1, diff2, diff3, diff3_2 : float, optional
        The largest value of the vendor's metric of this name, see `pymluops.bang.testing`.
    diff4 : bool
        Whether errors that all have the same sign are refused.
    rtol, atol : float, optional
        An element may be off by `atol` plus `rtol` times the size of the reference; if one is
        given, the other is 0.
    scaled : float, optional
        An element may be off by this part of the largest element of the reference.
    """

    diff1: float | None = None
    diff2: float | None = None
    diff3: float | None = None
    diff3_2: float | None = None
    diff4: bool = False
    rtol: float | None = None
    atol: float | None = None
    scaled: float | None = None

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value: Any = getattr(self, field.name)
            if field.name == "diff4":
                if not isinstance(value, bool):
                    raise BadParamTypeError(f"Tolerance: diff4: expected True or False, got {shown(value)}")
            elif value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
                raise BadParamTypeError(f"Tolerance: {field.name}: expected a number from 0, got {shown(value)}")
            elif value is not None and not value >= 0:
                raise BadParamError(f"Tolerance: {field.name}: expected a number from 0, got {shown(value)}")

    @property
    def is_usual(self) -> bool:
        """Whether nothing is given."""
        return self == Tolerance()


@dataclasses.dataclass(frozen=True)
class Deviation:
    """Where a result is farther from the reference than it may be.

    Attributes
    ----------
    count : int
        Number of elements that are.
    index : tuple of int
        Of the first of them.
    got, expected : str
        Its value, and that of the reference.
    largest : float
        The largest absolute error of all elements; infinite where NaN or infinities are amiss.
    reasons : str
        What does not hold.
    """

    count: int
    index: tuple[int, ...]
    got: str
    expected: str
    largest: float
    reasons: str


def deviation(got: NDArray[Any], expected: NDArray[Any], tolerance: Tolerance) -> Deviation | None:
    """Compare a result with the reference, of the same shape.

    Returns
    -------
    Deviation or None
        None if all holds that `tolerance` asks for.
    """
    if got.size == 0:
        return None
    same = _same(got, expected)
    if same.all():
        return None
    wide = np.complex128 if got.dtype.kind == "c" else metrics.exact_type(got.dtype, expected.dtype)
    with np.errstate(all="ignore"):
        measured, wanted = got.astype(wide), expected.astype(wide)
        finite = np.isfinite(measured) & np.isfinite(wanted)
        errors = np.where(same, 0.0, np.where(finite, np.abs(measured - wanted), np.inf))
    reasons = _reasons(got, measured, wanted, finite | same, tolerance)
    beyond = errors > _allowed(got, wanted, finite, tolerance)
    if beyond.any():
        reasons.insert(0, _elements_text(int(beyond.sum()), got.size))
    elif not reasons:
        return None
    else:  # a metric of all elements: the largest error is the place to look at
        beyond = errors == errors.max()
    index = tuple(int(i) for i in np.unravel_index(int(np.argmax(beyond)), beyond.shape))
    count = int(beyond.sum())
    return Deviation(count, index, str(got[index]), str(expected[index]), float(errors.max()), "; ".join(reasons))


def _same(got: NDArray[Any], expected: NDArray[Any]) -> NDArray[np.bool_]:
    with np.errstate(all="ignore"):
        same = got == expected
        if got.dtype.kind in "fc" or got.dtype.name == "bfloat16":
            same |= np.isnan(got) & np.isnan(expected)
    return np.asarray(same, np.bool_)


def _allowed(got: NDArray[Any], wanted: NDArray[Any], finite: NDArray[np.bool_], tolerance: Tolerance) -> Any:
    """Return the largest error of each element; infinite if only metrics of all elements are asked for."""
    size = np.abs(np.where(finite, wanted, 0))
    largest = float(size.max(initial=0.0))
    allowed: list[Any] = []
    if tolerance.is_usual:
        is_float = got.dtype.kind in "fc" or got.dtype.name == "bfloat16"
        part = _USUAL[got.dtype.itemsize // (2 if got.dtype.kind == "c" else 1)] if is_float else 0.0
        allowed.append(part * (size + largest))
    if tolerance.rtol is not None or tolerance.atol is not None:
        allowed.append((tolerance.atol or 0.0) + (tolerance.rtol or 0.0) * size)
    if tolerance.scaled is not None:
        allowed.append(np.full(size.shape, tolerance.scaled * largest))
    least: Any = np.inf
    for each in allowed:
        least = np.minimum(least, each)
    return np.where(finite, least, 0.0)  # what is equal there has no error


def _reasons(
    got: NDArray[Any], measured: NDArray[Any], wanted: NDArray[Any], usable: NDArray[np.bool_], tolerance: Tolerance
) -> list[str]:
    """Return a text for each metric of the vendor that is above its limit."""
    finite = usable & np.isfinite(measured) & np.isfinite(wanted)
    m, b = got[finite], wanted[finite]
    if m.dtype.name == "bfloat16":
        m = m.astype(np.float32)
    found: list[str] = []
    for name in ("diff1", "diff2", "diff3", "diff3_2"):
        limit = getattr(tolerance, name)
        if limit is None:
            continue
        value = float(getattr(metrics, name)(m, b))
        if not value <= limit:
            found.append(f"{name} is {value:.4g}, at most {limit:.4g} is allowed")
    if tolerance.diff4 and metrics.diff4(m, b) in (0.0, 1.0):
        found.append("diff4: all errors have the same sign")
    return found


def _elements_text(count: int, size: int) -> str:
    return f"{count} of {size} elements {'is' if count == 1 else 'are'} too far off"
