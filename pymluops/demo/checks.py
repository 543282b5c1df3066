"""Comparing an operator's result with its reference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pymluops.demo.arrays import Array
from pymluops.demo.reference import Borders, Sum


@dataclass(frozen=True)
class Check:
    """The outcome of one comparison.

    `error` and `allowed` belong to the element that comes closest to its limit. Both are 0 for an exact result.
    """

    ok: bool
    exact: bool
    error: float = 0.0
    allowed: float = 0.0
    problem: str = ""

    def text(self) -> str:
        """Return the check as the table shows it."""
        if self.problem:
            return f"FAILED: {self.problem}"
        if self.exact:
            return "exact"
        return f"error {self.error:.1e} {'<=' if self.ok else 'FAILED: >'} {self.allowed:.1e}"


def failed(problem: str) -> Check:
    """Return the check of a result that cannot be compared by its values."""
    return Check(ok=False, exact=False, problem=problem)


def check_exact(actual: Array, expected: Array) -> Check:
    """Every element has to be the same, bit by bit."""
    if _form(actual) != _form(expected):
        return failed(f"got {_form(actual)}, expected {_form(expected)}")
    differ = np.count_nonzero(_bits(actual) != _bits(expected))
    return failed(f"{differ:,} of {actual.size:,} elements differ") if differ else Check(ok=True, exact=True)


def check_all_exact(actual: tuple[Array, ...], expected: tuple[Array, ...], names: tuple[str, ...]) -> Check:
    """Every array of a result has to be the same; the first that is not is named."""
    for name, one, other in zip(names, actual, expected, strict=True):
        check = check_exact(one, other)
        if not check.ok:
            return failed(f"{name}: {check.problem}")
    return Check(ok=True, exact=True)


def check_atomic_sum(actual: Array, expected: Sum) -> Check:
    """Tolerates the rounding of a sum accumulated in its own type, as by a device's atomics."""
    return check_sum(actual, expected, actual.dtype)


def check_sum(actual: Array, expected: Sum, adds_in: npt.DTypeLike = np.float32) -> Check:
    """Tolerates the rounding of a sum accumulated in float32, plus the rounding to its type."""
    if actual.shape != expected.value.shape:
        return failed(f"got {_form(actual)}, expected {list(expected.value.shape)}")
    if np.array_equal(actual, expected.value.astype(actual.dtype)):
        return Check(ok=True, exact=True)
    adds = np.finfo(adds_in)  # where products are below its normal numbers, each costs up to half the smallest one
    limit = (expected.terms + 2) / 2 * float(adds.eps) * expected.magnitude
    limit += expected.terms * float(adds.smallest_subnormal)
    if actual.dtype == np.float16:
        half = np.finfo(np.float16)
        limit += np.maximum(half.eps / 2 * np.abs(expected.value), float(half.smallest_subnormal) / 2)
    return _within(np.abs(actual.astype(np.float64) - expected.value), limit)


def check_borders(actual: tuple[Array, Array], expected: Borders) -> Check:
    """Values may be one unit in the last place off; the positions of the maxima have to be the same."""
    output, argmax = actual
    if _form(output) != _form(expected.output):
        return failed(f"output: got {_form(output)}, expected {_form(expected.output)}")
    positions = check_exact(argmax, expected.argmax)
    if not positions.ok:
        return failed(f"argmax_idx: {positions.problem}")
    if np.array_equal(output, expected.output):
        return Check(ok=True, exact=True)
    value = expected.output
    error = np.abs(output.astype(np.float64) - value.astype(np.float64))
    return _within(error, np.spacing(np.abs(value)).astype(np.float64))


def _within(error: Array, limit: Array) -> Check:
    if not np.isfinite(error).all():
        return failed(f"{np.count_nonzero(~np.isfinite(error)):,} elements are NaN or infinite")
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(error > 0, error / limit, 0.0)
    worst = int(np.argmax(share))
    return Check(bool((error <= limit).all()), False, float(error.flat[worst]), float(limit.flat[worst]))


def _form(array: Array) -> str:
    return f"{list(array.shape)} {array.dtype}"


def _bits(array: Array) -> Array:
    """Return the array as integers, so that NaN equals itself and -0 differs from 0."""
    return np.ascontiguousarray(array).view(f"i{array.dtype.itemsize}")
