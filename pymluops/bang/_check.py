"""`check`: one launch under several schedules, with all checkers, and a comparison of the results."""

from __future__ import annotations

import dataclasses
import math
import numbers
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from pymluops._advice import advice
from pymluops._arguments import is_integer
from pymluops._causes import Traits, folded, lines_of_following, name_of, order_by_cause
from pymluops._finding import Finding
from pymluops._shown import counted, shown
from pymluops.bang._module import Launch
from pymluops.bang._registry import Signature
from pymluops.bang._runs import Repeated, Run
from pymluops.errors import BadParamError, BadParamTypeError
from pymluops.sim._checks import Checks, recording
from pymluops.sim._rules import Rules
from pymluops.sim._schedules import Schedule

__all__ = ["CheckReport", "Difference", "Found", "check", "usual_schedules"]

_MOST_RUNS = 1000
#: The largest error that is taken for rounding, by the size of an element.
_ROUNDING = {2: 3e-2, 4: 1e-4, 8: 1e-10}


class Found(NamedTuple):
    """A finding of `check`, once for all runs that have it.

    Attributes
    ----------
    rule : str
        Checker and rule, such as ``race/between-cores``.
    severity : str
        ``error``, ``warning`` or ``remark``.
    fails : bool
        Whether a launch fails for it unless findings are recorded only; `CheckReport.ok` asks for
        none of these.
    file, line : str, int
        Place in the source; empty and 0 if unknown.
    message : str
        One sentence.
    next_step : str
        Advice for a next step.
    schedules : tuple of Schedule
        Those under which it was found.
    finding : Finding
        All about the first of them.
    cause : str
        The finding that this one follows from, as its rule and place; empty if it stands for
        itself.
    """

    rule: str
    severity: str
    fails: bool
    file: str
    line: int
    message: str
    next_step: str
    schedules: tuple[Schedule, ...]
    finding: Finding
    cause: str = ""


@dataclasses.dataclass(frozen=True)
class Difference:
    """An output that is not the same under two schedules.

    Attributes
    ----------
    output : str
        The parameter.
    index : tuple of int
        Of the first element that differs.
    expected, got : object
        Its value under the first schedule, and under `schedule`.
    count : int
        Number of elements that differ.
    schedule : Schedule
        Under which it differs from the first.
    error : float
        The largest difference of two elements, divided by the larger one of 1 and the size of the
        expected element; infinite for what are no floating-point numbers.
    """

    output: str
    index: tuple[int, ...]
    expected: Any
    got: Any
    count: int
    schedule: Schedule
    error: float = math.inf

    @property
    def next_step(self) -> str:
        """What to do about it."""
        if self.error > _ROUNDING.get(np.asarray(self.expected).dtype.itemsize, 0.0):
            return "look for a missing sync, barrier or initialisation; repeat the run with its schedule and seed"
        return (
            "the differences are as small as rounding: if cores or copies add up in another order, let one core add "
            f"the parts in a fixed order, or allow such differences: --tolerance {_above(self.error)}, or tolerance= "
            "of bang.check; else look for a missing sync"
        )


@dataclasses.dataclass(frozen=True)
class CheckReport:
    """The results of `check`.

    Attributes
    ----------
    launch : str
        The kernel with its dim and kind.
    signature : Signature
        Of the kernel; it has its file and line.
    findings : tuple of Found
        Causes first, each before what follows from it.
    differences : tuple of Difference
        For each schedule and output that is not as under the first schedule.
    runs : tuple of Run
        All runs, with the outputs of each.
    """

    launch: str
    signature: Signature
    findings: tuple[Found, ...]
    differences: tuple[Difference, ...]
    runs: tuple[Run, ...]

    @property
    def ok(self) -> bool:
        """Whether no run failed, nothing that a launch fails for was found, and all outputs are the same."""
        return not self.differences and not any(found.fails for found in self.findings) and not self.failed

    @property
    def failed(self) -> tuple[Run, ...]:
        """The runs that did not come to their end."""
        return tuple(run for run in self.runs if run.error)

    @property
    def schedules(self) -> tuple[Schedule, ...]:
        """The schedules of the runs."""
        return tuple(run.schedule for run in self.runs)

    @property
    def outputs(self) -> dict[str, NDArray[Any]]:
        """The contents of the arrays that the kernel writes to, at the end of the first run."""
        return self.runs[0].outputs

    def __str__(self) -> str:
        lines = [f"{self.launch}: {_summary(self)}"]
        for found, consequences in folded(self.findings, [found.cause for found in self.findings]):
            lines += _lines_of(found, len(self.runs)) + lines_of_following([_name(each) for each in consequences])
        for number, difference in enumerate(self.differences):
            lines += _lines_of_difference(difference)
            # What helps against several is told once, behind the last.
            following = self.differences[number + 1 : number + 2]
            if not following or following[0].next_step != difference.next_step:
                lines.append(f"    next: {difference.next_step}")
        if len(self.runs) == 1 and self.runs[0].schedule == Schedule():
            return "\n".join(lines)
        runs = counted(len(self.runs), "run")
        lines.append(f"  {runs}; PYMLUOPS_SIM_SCHEDULE or pymluops.sim.scheduling repeat one:")
        lines += [f"    {run.schedule}{' failed' if run.error else ''}" for run in self.runs]
        return "\n".join(lines)


def _summary(report: CheckReport) -> str:
    outputs = len({difference.output for difference in report.differences})
    parts = [
        f"{count} {one if count == 1 else several}"
        for count, one, several in (
            (len(report.findings), "finding", "findings"),
            (outputs, "output differs", "outputs differ"),
            (len(report.failed), "run failed", "runs failed"),
        )
        if count
    ]
    same = ", the same results under all schedules" if len(report.runs) > 1 else ""
    return ", ".join(parts) or f"nothing found{same}"


def _name(found: Found) -> str:
    return name_of(found.rule, found.file, found.line)


def _lines_of(found: Found, runs: int) -> list[str]:
    place = f"{found.file}:{found.line}: " if found.file else ""
    lines = [f"  {place}{found.severity}: {found.rule}: {found.message}"]
    finding = found.finding
    if finding.other_file:
        lines.append(f"    the other access: {finding.other_file}:{finding.other_line}")
    if len(found.schedules) < runs:
        lines.append(f"    under {len(found.schedules)} of {counted(runs, 'schedule')}, such as {found.schedules[0]}")
    if found.next_step:
        lines.append(f"    next: {found.next_step}")
    return lines


def _lines_of_difference(difference: Difference) -> list[str]:
    at = ", ".join(map(str, difference.index))
    elements = counted(difference.count, "element")
    return [
        f"  {difference.output} differs in {elements} under {difference.schedule}:",
        f"    {difference.output}[{at}] is {difference.got}, not {difference.expected}",
    ]


def _above(error: float) -> str:
    """Return a round number that is larger."""
    digits = math.floor(math.log10(error)) if error > 0 else -10
    return f"{math.ceil(error * 1.01 / 10.0**digits)}e{digits}"


def usual_schedules(seed: int = 0, random_runs: int = 4) -> list[Schedule]:
    """Return the schedules of a `check`: copies late and early, each filling of memory, and random ones.

    Parameters
    ----------
    seed : int
        Of the first random one; the others have the next seeds.
    random_runs : int
        Number of random schedules.
    """
    fixed = [
        Schedule(),
        Schedule(copies="early"),
        Schedule(memory="nan"),
        Schedule(memory="zero"),
        Schedule(memory="noise", seed=seed),
    ]
    seeds = [(seed + number) % 2**64 for number in range(random_runs)]
    return fixed + [Schedule("random", "random", "pattern", number) for number in seeds]


def check(
    launch: Launch,
    *arguments: Any,
    schedules: Sequence[Schedule] | None = None,
    seed: int = 0,
    random_runs: int = 4,
    checks: Checks = "all",
    rules: Rules = None,
    tolerance: float = 0.0,
) -> CheckReport:
    """Run a launch under several schedules with all checkers, and compare the results bit by bit.

    A correct kernel gives the same results under each schedule. One that lacks a sync, say, differs
    under some, even where the checkers are switched off. All runs begin with the same contents.
    Arrays in host memory stay as they are, a `DeviceArray` holds its earlier contents at the end;
    results are in the report. Memory behind pointers within arrays is not restored between runs.
    ``pymluops.sim.findings()`` may lack older findings afterwards.

    Parameters
    ----------
    launch : Launch
        ``module.kernel(name)[dim, kind]``.
    *arguments
        As for a call of the launch.
    schedules : sequence of Schedule, optional
        The schedules of the runs; the others are compared with the first. If not given, copies late
        and early, undefined memory filled with NaN, zero and noise, and `random_runs` random ones
        from `seed` on.
    seed, random_runs : int
        Of the random schedules.
    checks : str, iterable of str or None
        The checkers, as for `pymluops.sim.set_checks`.
    rules : mapping, str or None
        Further actions of rules, as for `pymluops.sim.set_rules`. Findings that would let a launch
        fail are recorded, so that the launch goes on; rules that are off stay off.
    tolerance : float
        Floating-point elements a and b count as the same if ``abs(a - b) <= tolerance * max(1,
        abs(a))``, with a of the first schedule: for sums whose order depends on the schedule. NaN
        is the same as NaN only, infinity as itself.

    Returns
    -------
    CheckReport
        ``report.ok`` is true if nothing is wrong, ``str(report)`` lists the faults.

    Raises
    ------
    BadParamError
        If an argument does not fit, or the device cannot run such a launch.

    Examples
    --------
    >>> report = bang.check(module.kernel("add")[4, "union1"], x, y, out, 1000)  # doctest: +SKIP
    >>> assert report.ok, report  # doctest: +SKIP
    """
    chosen = _schedules(launch, schedules, seed, random_runs)
    allowed = _tolerance(tolerance)
    with Repeated(launch, arguments) as repeated, recording(repeated.backend, checks, rules) as failing:
        runs = [repeated.run(schedule) for schedule in chosen]
    signature = launch.kernel.signature
    name = f"{signature.name}[{launch.dim}, {launch.kind!r}]"
    return CheckReport(name, signature, _merged(runs, failing), _differences(runs, allowed), tuple(runs))


def _schedules(launch: object, schedules: object, seed: object, random_runs: object) -> list[Schedule]:
    if not isinstance(launch, Launch):
        raise BadParamTypeError(f"check: launch: expected module.kernel(name)[dim, kind], got {shown(launch)}")
    for name, value, most in (("seed", seed, 2**64 - 1), ("random_runs", random_runs, _MOST_RUNS)):
        if not is_integer(value) or not 0 <= int(value) <= most:  # type: ignore[call-overload]
            kind = BadParamError if is_integer(value) else BadParamTypeError
            raise kind(f"check: {name}: expected an integer from 0 to {most}, got {shown(value)}")
    if schedules is None:
        return usual_schedules(int(seed), int(random_runs))  # type: ignore[call-overload]
    given = shown(schedules)
    chosen = list(cast("Sequence[object]", schedules)) if isinstance(schedules, Sequence) else []
    followed = [schedule for schedule in chosen if isinstance(schedule, Schedule)]
    if not chosen or len(followed) != len(chosen):
        raise BadParamTypeError(f"check: schedules: expected a list of pymluops.sim.Schedule, got {given}")
    return followed


def _tolerance(tolerance: object) -> float:
    if isinstance(tolerance, bool) or not isinstance(tolerance, numbers.Real):
        raise BadParamTypeError(f"check: tolerance: expected a number, got {shown(tolerance)}")
    allowed = float(tolerance)
    if not 0 <= allowed < math.inf:
        raise BadParamError(f"check: tolerance: expected a finite number from 0 on, got {allowed}")
    return allowed


# ---- Findings ------------------------------------------------------------------------------------


def _merged(runs: Sequence[Run], failing: frozenset[str]) -> tuple[Found, ...]:
    """Return each finding once, with the schedules that have it."""
    found: dict[tuple[str, str, int, str], tuple[Finding, list[Schedule]]] = {}
    for run in runs:
        for finding in run.findings:
            rule = f"{finding.checker}/{finding.rule}"
            key = (rule, finding.file, finding.line, "" if finding.line else finding.message)
            schedules = found.setdefault(key, (finding, []))[1]
            if run.schedule not in schedules:
                schedules.append(run.schedule)
    merged = [
        Found(rule, first.severity, rule in failing, file, line, first.message, advice(rule), tuple(schedules), first)
        for (rule, file, line, _), (first, schedules) in found.items()
    ]
    traits = [Traits(_name(each), each.finding.cause, each.severity, each.finding.step) for each in merged]
    return tuple(each._replace(cause=cause) for each, cause in order_by_cause(merged, traits))


# ---- Differences ---------------------------------------------------------------------------------


def _differences(runs: Sequence[Run], tolerance: float) -> tuple[Difference, ...]:
    whole = [run for run in runs if not run.error]
    return tuple(
        difference
        for run in whole[1:]
        for name, expected in whole[0].outputs.items()
        if (difference := _difference(name, expected, run.outputs[name], run.schedule, tolerance)) is not None
    )


def _difference(
    name: str, expected: NDArray[Any], got: NDArray[Any], schedule: Schedule, tolerance: float
) -> Difference | None:
    different = differing(expected, got)
    if not different.any():
        return None
    errors = _errors(expected, got, different)
    different &= ~(errors <= tolerance) if tolerance > 0 else True
    count = int(np.count_nonzero(different))
    if count == 0:
        return None
    first = np.unravel_index(int(np.argmax(different)), different.shape)
    index = tuple(int(at) for at in first)
    return Difference(name, index, expected[index], got[index], count, schedule, float(errors[different].max()))


def _errors(expected: NDArray[Any], got: NDArray[Any], different: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the error of each element: relative to those above 1; infinite where it cannot be told."""
    errors = np.where(different, np.inf, 0.0)
    if expected.dtype.kind not in "fc" and expected.dtype.name != "bfloat16":
        return errors
    kind = np.complex128 if expected.dtype.kind == "c" else np.float64
    first, second = expected.astype(kind), got.astype(kind)
    finite = np.isfinite(first) & np.isfinite(second)
    errors[finite] = np.abs(first[finite] - second[finite]) / np.maximum(1.0, np.abs(first[finite]))
    return errors


def differing(first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell for each element whether its bits differ; any two NaN are the same.

    Parameters
    ----------
    first, second : ndarray
        Of the same shape and element type.

    Returns
    -------
    ndarray of bool
        Of that shape.
    """
    shape, size = first.shape, first.dtype.itemsize
    bits = [np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(-1, size) for array in (first, second)]
    different: NDArray[np.bool_] = (bits[0] != bits[1]).any(axis=1).reshape(shape)
    if first.dtype.kind in "fc" or first.dtype.name == "bfloat16":
        different &= ~(np.isnan(first) & np.isnan(second))
    return different
