"""The accuracy metrics of the vendor's acceptance tests, as functions and as one assertion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from pymluops import _metrics

__all__ = ["assert_close", "diff1", "diff2", "diff3", "diff3_2", "diff4", "exact_type"]

#: Baselines below this are compared by the absolute error in DIFF3, by the size of a float in
#: bytes.
_SMALL = {2: 1e-4, 4: 1e-6}


def diff1(result: npt.ArrayLike, baseline: npt.ArrayLike) -> float:
    """Return the sum of the absolute errors by the sum of the absolute baseline.

    Parameters
    ----------
    result, baseline : array_like
        Of the same shape; integers, floats or complex numbers. For complex numbers, the larger
        result of the real and the imaginary parts counts.

    Returns
    -------
    float
        0 if all elements are equal.

    Raises
    ------
    ValueError
        If the shapes differ.
    """
    return _largest(result, baseline, lambda m, b, _: _metrics.diff1(m, b))


def diff2(result: npt.ArrayLike, baseline: npt.ArrayLike) -> float:
    """Return the root of the sum of the squared errors by the sum of the squared baseline; see `diff1`."""
    return _largest(result, baseline, lambda m, b, _: _metrics.diff2(m, b))


def diff3(result: npt.ArrayLike, baseline: npt.ArrayLike) -> float:
    """Return the largest error of an element, relative to the baseline; see `diff1`.

    Where the baseline is small, below 1e-4 in a half and 1e-6 in a float, the absolute error
    counts.
    """
    return _largest(result, baseline, _metrics.diff3)


def diff3_2(result: npt.ArrayLike, baseline: npt.ArrayLike) -> float:
    """Return the largest absolute error of an element; see `diff1`."""
    return _largest(result, baseline, lambda m, b, _: _metrics.diff3_2(m, b))


def diff4(result: npt.ArrayLike, baseline: npt.ArrayLike) -> float:
    """Return the share of results below the baseline among those that differ from it; see `diff1`.

    Of equal pairs of a result and a baseline one counts. -1 if fewer than 100 pairs differ: then
    the share means nothing. Of complex numbers, the share that is farther from one half.
    """
    shares = [share for m, b, _ in _parts(result, baseline) if (share := _metrics.diff4(m, b)) >= 0]
    return max(shares, key=lambda share: abs(share - 0.5), default=-1.0)


def assert_close(
    result: npt.ArrayLike,
    baseline: npt.ArrayLike,
    *,
    diff1: float | None = None,
    diff2: float | None = None,
    diff3: float | None = None,
    diff3_2: float | None = None,
    diff4: bool = False,
) -> None:
    """Assert that a result is as near to a baseline as the thresholds say.

    NaN and infinities have to stand in the same places in both; the metrics are about the other
    elements.

    Parameters
    ----------
    result, baseline : array_like
        As for `diff1`. The precision of `result` decides the smallest baseline that counts for
        `diff3`.
    diff1, diff2, diff3, diff3_2 : float, optional
        The largest allowed value of the metric of this name. Usual thresholds are 1e-5 for
        convolutions in float and 3e-3 for sums and activations, both for `diff1` and `diff2`, and 0
        for `diff3_2` where nothing is rounded.
    diff4 : bool
        Refuse errors that all have the same sign.

    Raises
    ------
    AssertionError
        If a metric is above its threshold; the text has all of them, and the place of the largest
        error.
    ValueError
        If the shapes differ, or no threshold is given.

    Examples
    --------
    >>> import numpy
    >>> from pymluops.bang.testing import assert_close
    >>> assert_close(numpy.float32([1, 2.001]), [1, 2], diff1=3e-3, diff2=3e-3)
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    limits = {"diff1": diff1, "diff2": diff2, "diff3": diff3, "diff3_2": diff3_2}
    if not diff4 and all(limit is None for limit in limits.values()):
        raise ValueError("assert_close: expected a threshold, such as diff1=3e-3, got none")
    m, b = np.asarray(result), np.asarray(baseline)
    _require_same_shape(m, b)
    finite = np.isfinite(m) & np.isfinite(b)
    others = ~finite & ~((m == b) | (np.isnan(m) & np.isnan(b)))
    if others.any():
        at = _place(np.flatnonzero(others)[0], m.shape)
        raise AssertionError(
            f"NaN or infinity in {int(others.sum())} places of one array only, first at {at}: "
            f"{m[at]!s} against {b[at]!s}"
        )
    faults = _faults(m[finite], b[finite], limits, diff4)
    if faults:
        raise AssertionError("; ".join([*faults, _worst(m, b, finite)]))


def _faults(m: npt.NDArray[Any], b: npt.NDArray[Any], limits: dict[str, float | None], signs: bool) -> list[str]:
    """Return one text for each threshold that does not hold."""
    metrics = {"diff1": diff1, "diff2": diff2, "diff3": diff3, "diff3_2": diff3_2}
    faults: list[str] = []
    for name, limit in limits.items():
        error = 0.0 if limit is None else metrics[name](m, b)
        if limit is not None and not error <= limit:
            faults.append(f"{name} is {error:.4g}, expected at most {limit:.4g}")
    if signs and diff4(m, b) in (0.0, 1.0):
        side = "below" if diff4(m, b) == 1.0 else "above"
        faults.append(f"diff4 is {diff4(m, b):.0f}: all errors are {side} the baseline")
    return faults


def _worst(m: npt.NDArray[Any], b: npt.NDArray[Any], finite: npt.NDArray[Any]) -> str:
    error = np.where(finite, np.abs(np.where(finite, m, 0).astype(complex) - np.where(finite, b, 0)), -1.0)
    at = _place(int(error.argmax()), m.shape)
    return f"the largest error is at {at}: {m[at]!s} against {b[at]!s}"


def _place(index: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(index, shape))


def _require_same_shape(m: npt.NDArray[Any], b: npt.NDArray[Any]) -> None:
    __tracebackhide__ = True
    if m.shape != b.shape:
        raise ValueError(f"expected arrays of the same shape, got {list(m.shape)} and {list(b.shape)}")


def exact_type(*dtypes: np.dtype[Any]) -> type[np.floating[Any]]:
    """Return a floating-point type that has all values of `dtypes`: integers of 64 bits need more than a double."""
    return np.longdouble if any(dtype.kind in "iu" and dtype.itemsize == 8 for dtype in dtypes) else np.float64


def _parts(result: npt.ArrayLike, baseline: npt.ArrayLike) -> list[tuple[npt.NDArray[Any], npt.NDArray[Any], float]]:
    """Return result and baseline in double, flat, and the bound of small baselines; twice for complex numbers."""
    m, b = np.asarray(result), np.asarray(baseline)
    _require_same_shape(m, b)
    small = _SMALL.get(np.real(m).dtype.itemsize, 0.0) if m.dtype.kind in "fc" else 0.0
    parts = [np.real, np.imag] if "c" in m.dtype.kind + b.dtype.kind else [np.real]

    wide = exact_type(m.dtype, b.dtype)

    def flat(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.asarray(values, wide).ravel()

    return [(flat(part(m)), flat(part(b)), small) for part in parts]


def _largest(
    result: npt.ArrayLike,
    baseline: npt.ArrayLike,
    metric: Callable[[npt.NDArray[Any], npt.NDArray[Any], float], Any],
) -> float:
    values = [float(metric(m, b, small)) for m, b, small in _parts(result, baseline)]
    return float("nan") if any(np.isnan(values)) else max(values)
