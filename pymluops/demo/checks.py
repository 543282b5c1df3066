"""Comparing an operator's result with its reference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pymluops._shown import counted
from pymluops.demo.arrays import Array
from pymluops.demo.reference import Borders, Sum
from pymluops.demo.reference_objects import Overlaps


@dataclass(frozen=True)
class Check:
    """The outcome of one comparison.

    `error` and `allowed` belong to the element that comes closest to its limit. Both are 0 for an
    exact result.
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
    if differ == 0:
        return Check(ok=True, exact=True)
    return failed(f"{differ:,} of {counted(actual.size, 'element', form=',')} {'differs' if differ == 1 else 'differ'}")


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


def check_overlaps(actual: Array, expected: Overlaps) -> Check:
    """Overlaps may differ by what rounding does to them."""
    if actual.shape != expected.value.shape:
        return failed(f"got {_form(actual)}, expected {list(expected.value.shape)}")
    return _within(np.abs(actual.astype(np.float64) - expected.value), expected.allowed)


def check_kept(actual: Array, expected: Array, overlaps: Overlaps, scores: Array, threshold: float) -> Check:
    """Kept boxes have to be those of the reference, or others only where rounding decides.

    No kept box may overlap a better kept one by more than the threshold, and every other box has
    to overlap a better kept one by more.
    """
    if _form(actual) == _form(expected) and np.array_equal(actual, expected):
        return Check(ok=True, exact=True)
    if actual.ndim != 1 or actual.dtype != expected.dtype:
        return failed(f"got {_form(actual)}, expected {_form(expected)}")
    rank = np.empty(len(scores), np.int64)
    rank[np.argsort(-scores, kind="stable")] = np.arange(len(scores))
    if not ((actual >= 0) & (actual < len(scores))).all() or (np.diff(rank[actual]) <= 0).any():
        return failed("the kept boxes are not in the order of their scores")
    kept = np.zeros(len(scores), bool)
    kept[actual] = True
    better = rank[actual][:, None] < rank  # [kept, all]
    value, allowed = overlaps.value[actual], overlaps.allowed[actual]
    surely = (better & (value - allowed > threshold)).any(axis=0)
    perhaps = (better & (value + allowed > threshold)).any(axis=0)
    wrong = np.count_nonzero((kept & surely) | (~kept & ~perhaps))
    if wrong:
        boxes = counted(len(scores), "box", "boxes", form=",")
        return failed(f"{wrong:,} of {boxes} {'is' if wrong == 1 else 'are'} wrongly kept or suppressed")
    other = np.setxor1d(actual, expected)
    distance = np.abs(overlaps.value[:, other] - threshold).min() if len(other) else 0.0
    return Check(True, False, float(distance), float(overlaps.allowed[:, other].max()) if len(other) else 0.0)


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
