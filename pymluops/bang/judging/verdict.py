"""What became of a kernel."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, cast

from pymluops._causes import folded, lines_of_following, name_of
from pymluops._shown import counted

__all__ = ["Cost", "JudgedFinding", "Kind", "Verdict", "WrittenOutput"]


class Kind(StrEnum):
    """What a verdict says, worst first."""

    TASK_ERROR = "task error"
    COMPILE_ERROR = "compile error"
    REFUSED = "refused"
    CRASH = "crash"
    TIME_LIMIT = "time limit"
    MEMORY_LIMIT = "memory limit"
    OUTPUT_LIMIT = "output limit"
    FAULT = "fault"
    WRONG = "wrong"
    FINDINGS = "right with findings"
    RIGHT = "right"

    @property
    def is_right(self) -> bool:
        """Whether the kernel computes what it is to compute, and no launch would fail."""
        return self in (Kind.RIGHT, Kind.FINDINGS)


@dataclasses.dataclass(frozen=True)
class JudgedFinding:
    """A finding, once for all schedules that have it.

    Attributes
    ----------
    rule, severity, file, line, message : str, str, str, int, str
        As of `pymluops.bang.Found`.
    fails : bool
        Whether a launch fails for it.
    schedules : tuple of str
        Those under which it was found.
    cause : str
        As of `pymluops.bang.Found`.
    """

    rule: str
    severity: str
    fails: bool
    file: str
    line: int
    message: str
    schedules: tuple[str, ...]
    cause: str = ""


@dataclasses.dataclass(frozen=True)
class WrittenOutput:
    """What a kernel wrote to an output.

    Attributes
    ----------
    name : str
        Of the argument.
    right : bool
        Whether it is as the reference says under all schedules.
    unwritten : int
        Elements that the kernel never wrote.
    wrong : int
        Elements that are too far from the reference, under the first schedule where there are any.
    index : tuple of int
        Of the first of them.
    got, expected : str
        Its value, and that of the reference.
    largest : float
        The largest absolute error under that schedule.
    reasons : str
        What does not hold.
    schedule : str
        That schedule.
    schedules : int
        Under how many the output is wrong.
    """

    name: str
    right: bool
    unwritten: int = 0
    wrong: int = 0
    index: tuple[int, ...] = ()
    got: str = ""
    expected: str = ""
    largest: float = 0.0
    reasons: str = ""
    schedule: str = ""
    schedules: int = 0


@dataclasses.dataclass(frozen=True)
class Cost:
    """What a launch would take on the card, by the model of docs/profile.md.

    Attributes
    ----------
    estimate_ns : float
        Estimated time.
    modelled_share : float
        The share of the instructions that the estimate is made of with figures for them.
    bytes_moved, bytes_least : int
        Between device memory and the chip; the sizes of all arrays, each once.
    """

    estimate_ns: float
    modelled_share: float
    bytes_moved: int
    bytes_least: int


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What became of a kernel, on the worst of the cards of its task.

    Attributes
    ----------
    name, task : str
        Of the kernel, and of its task.
    kind : Kind
        The verdict.
    message : str
        One line about it; empty if the kernel is right.
    rule, file, line : str, str, int
        The rule of a fault, and the place of a fault or of an error of the compiler; empty and 0 if
        there is none.
    card : str
        Where this was.
    launch, guessed : str, bool
        The kernel with its dim and kind, and whether these were guessed.
    findings : tuple of JudgedFinding
        What the checkers found.
    outputs : tuple of WrittenOutput
        What the kernel wrote.
    overwritten : tuple of str
        Inputs that the kernel changed.
    cost : Cost or None
        Estimates, if the kernel ran to its end.
    text : str
        What the compiler said, or the last that the kernel printed, shortened.
    seconds, compile_seconds : float
        That the verdict took, and the compiler within that.
    kept : bool
        Whether the compiled kernel came from the cache.
    cards : dict of str to Kind
        The verdicts of all cards that were tried.
    key : str
        The same for the same kernel, task and version of this package.
    """

    name: str
    task: str
    kind: Kind
    message: str = ""
    rule: str = ""
    file: str = ""
    line: int = 0
    card: str = ""
    launch: str = ""
    guessed: bool = False
    findings: tuple[JudgedFinding, ...] = ()
    outputs: tuple[WrittenOutput, ...] = ()
    overwritten: tuple[str, ...] = ()
    cost: Cost | None = None
    text: str = ""
    seconds: float = 0.0
    compile_seconds: float = 0.0
    kept: bool = False
    cards: Mapping[str, Kind] = dataclasses.field(default_factory=dict[str, Kind])
    key: str = ""

    @property
    def is_right(self) -> bool:
        """Whether the kernel computes what it is to compute, and no launch would fail."""
        return self.kind.is_right

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as plain values; numbers that JSON lacks are the texts "inf", "-inf" and "nan"."""
        plain: dict[str, Any] = _in_json(dataclasses.asdict(self))
        return plain

    @staticmethod
    def from_json(plain: Mapping[str, Any]) -> Verdict:
        """Return the verdict that `to_json` gave.

        Raises
        ------
        KeyError, TypeError, ValueError
            If it is none.
        """
        findings = [JudgedFinding(**_with(each, schedules=tuple(each["schedules"]))) for each in plain["findings"]]
        outputs = [
            WrittenOutput(**_with(each, index=tuple(each["index"]), largest=float(each["largest"])))
            for each in plain["outputs"]
        ]
        cost = plain["cost"]
        further = _with(
            _with_floats(plain, "seconds", "compile_seconds"),
            kind=Kind(plain["kind"]),
            findings=tuple(findings),
            outputs=tuple(outputs),
            overwritten=tuple(plain["overwritten"]),
            cost=None if cost is None else Cost(**_with_floats(cost, "estimate_ns", "modelled_share")),
            cards={card: Kind(kind) for card, kind in plain["cards"].items()},
        )
        return Verdict(**further)

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.line else ""
        lines = [f"{self.name}: {self.kind}{f': {place}{self.message}' if self.message else ''}"]
        if self.launch:
            lines.append(f"  {self.launch} on {self.card}{', guessed' if self.guessed else ''}")
        lines += [_line_of(output) for output in self.outputs if not output.right]
        lines += [f"  {name} is an input, and the kernel changed it" for name in self.overwritten]
        for found, following in folded(self.findings, [found.cause for found in self.findings]):
            lines.append(f"  {found.file}:{found.line}: {found.severity}: {found.rule}: {found.message}")
            lines += lines_of_following([name_of(each.rule, each.file, each.line) for each in following])
        if self.cost is not None:
            cost = self.cost
            estimate = f"{cost.estimate_ns / 1000:.2f} us ({cost.modelled_share:.0%} of the instructions modelled)"
            lines.append(f"  estimate {estimate}, {cost.bytes_moved} bytes moved, {cost.bytes_least} at least")
        return "\n".join(lines)


def _in_json(value: Any) -> Any:
    """Return plain values with texts for the numbers that JSON lacks."""
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return {key: _in_json(each) for key, each in cast("dict[str, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        several = cast("Sequence[Any]", value)
        return type(several)(_in_json(each) for each in several)  # type: ignore[call-arg]
    return value


def _with_floats(plain: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {**plain, **{name: float(plain[name]) for name in names}}


def _with(plain: Mapping[str, Any], **others: Any) -> dict[str, Any]:
    return {**plain, **others}


def _line_of(output: WrittenOutput) -> str:
    were = "was" if output.unwritten == 1 else "were"
    if not output.wrong:
        return f"  {output.name}: {counted(output.unwritten, 'element')} {were} never written"
    at = ", ".join(map(str, output.index))
    unwritten = f", {output.unwritten} {were} never written" if output.unwritten else ""
    return (
        f"  {output.name}: {output.reasons}{unwritten}; {output.name}[{at}] is {output.got}, not {output.expected}, "
        f"under {output.schedule}"
    )
