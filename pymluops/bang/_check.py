"""`check`: one launch under several schedules, with all checkers, and a comparison of the results."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from pymluops._advice import advice
from pymluops._arguments import is_integer
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
    """

    output: str
    index: tuple[int, ...]
    expected: Any
    got: Any
    count: int
    schedule: Schedule


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
        In the order in which they were found.
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
        for found in self.findings:
            lines += _lines_of(found, len(self.runs))
        for difference in self.differences:
            lines += _lines_of_difference(difference)
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
    with Repeated(launch, arguments) as repeated, recording(repeated.backend, checks, rules) as failing:
        runs = [repeated.run(schedule) for schedule in chosen]
    signature = launch.kernel.signature
    name = f"{signature.name}[{launch.dim}, {launch.kind!r}]"
    return CheckReport(name, signature, _merged(runs, failing), _differences(runs), tuple(runs))


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
    return tuple(
        Found(rule, first.severity, rule in failing, file, line, first.message, advice(rule), tuple(schedules), first)
        for (rule, file, line, _), (first, schedules) in found.items()
    )


# ---- Differences ---------------------------------------------------------------------------------


def _differences(runs: Sequence[Run]) -> tuple[Difference, ...]:
    whole = [run for run in runs if not run.error]
    return tuple(
        difference
        for run in whole[1:]
        for name, expected in whole[0].outputs.items()
        if (difference := _difference(name, expected, run.outputs[name], run.schedule)) is not None
    )


def _difference(name: str, expected: NDArray[Any], got: NDArray[Any], schedule: Schedule) -> Difference | None:
    different = differing(expected, got)
    count = int(np.count_nonzero(different))
    if count == 0:
        return None
    first = np.unravel_index(int(np.argmax(different)), different.shape)
    index = tuple(int(at) for at in first)
    return Difference(name, index, expected[index], got[index], count, schedule)


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
