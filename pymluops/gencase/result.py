"""What running a case found."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any

from pymluops.gencase._criteria import Measure, Place

__all__ = ["Judgement", "Outcome", "OutputResult", "Result"]


class Outcome(enum.Enum):
    """How a case ended."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    CRASHED = "crashed"
    TIMED_OUT = "timed out"


@dataclass(frozen=True)
class Judgement:
    """How far each of two libraries is from the oracle, where they differ.

    Attributes
    ----------
    output : str
        Id of the output.
    agrees : str
        The library whose result is nearer; ``both`` or ``none`` where both or neither pass.
    distances : dict of str to float
        DIFF2 of each library to the oracle.
    places : dict of str to Place or None
        Where each differs most from it.
    """

    output: str
    agrees: str
    distances: dict[str, float]
    places: dict[str, Place | None]


@dataclass(frozen=True)
class OutputResult:
    """One output of a case.

    Attributes
    ----------
    id : str
        As in the file.
    measures : tuple of Measure
        The values of the criteria.
    place : Place or None
        Where the result differs most, if it does.
    passed : bool
        Whether all criteria passed.
    unseen : Place or None
        Where the result differs most of what the criteria do not see; None if they see all.
    """

    id: str
    measures: tuple[Measure, ...]
    place: Place | None
    passed: bool
    unseen: Place | None = None


@dataclass(frozen=True)
class Result:
    """What running a case found.

    Attributes
    ----------
    path : str
        The file, empty for a case that was not read.
    operator : str
        Its name.
    library, against : str
        What computed the results, and what they were compared with.
    outcome : Outcome
        How it ended.
    outputs : tuple of OutputResult
        What was compared.
    message : str
        Why it did not pass, or a warning; empty if there is nothing to say.
    seconds : float
        Time of the call of the function.
    io_efficiency, compute_efficiency : float or None
        Of launches on the simulated card, by its model; None where there is none.
    judgements : tuple of Judgement
        Where two libraries differ: which of them agrees with the oracle.
    """

    path: str
    operator: str
    library: str
    against: str
    outcome: Outcome
    outputs: tuple[OutputResult, ...] = ()
    message: str = ""
    seconds: float = 0.0
    io_efficiency: float | None = None
    compute_efficiency: float | None = None
    judgements: tuple[Judgement, ...] = field(default=())

    @property
    def passed(self) -> bool:
        """Whether everything held."""
        return self.outcome is Outcome.PASSED

    def to_json(self) -> dict[str, Any]:
        """Return it as values that JSON has; numbers that JSON lacks become texts."""
        return {
            "path": self.path,
            "operator": self.operator,
            "library": self.library,
            "against": self.against,
            "outcome": self.outcome.value,
            "message": self.message,
            "seconds": self.seconds,
            "io_efficiency": None if self.io_efficiency is None else _number(self.io_efficiency),
            "compute_efficiency": None if self.compute_efficiency is None else _number(self.compute_efficiency),
            "outputs": [_output(output) for output in self.outputs],
            "judgements": [
                {
                    "output": one.output,
                    "agrees": one.agrees,
                    "distances": {name: _number(value) for name, value in one.distances.items()},
                    "places": {name: _place(place) for name, place in one.places.items()},
                }
                for one in self.judgements
            ],
        }


def _output(output: OutputResult) -> dict[str, Any]:
    return {
        "id": output.id,
        "passed": output.passed,
        "criteria": [
            {
                "name": one.name,
                "part": one.part,
                "value": _number(one.value),
                "threshold": _number(one.threshold),
                "passed": bool(one.passed),
            }
            for one in output.measures
        ],
        "place": _place(output.place),
        "unseen": _place(output.unseen),
    }


def _place(place: Place | None) -> dict[str, Any] | None:
    if place is None:
        return None
    return {
        "index": list(place.index),
        "found": _number(place.found),
        "wanted": _number(place.wanted),
        "differing": place.differing,
        "elements": place.elements,
    }


def _number(value: complex) -> float | str:
    """Return a number, or a text for what JSON has no number for."""
    if isinstance(value, int):
        return value
    if isinstance(value, complex):
        value = value.real if value.imag == 0 else value
    if isinstance(value, complex) or value != value or value in (float("inf"), float("-inf")):
        return str(value)
    return float(value)
