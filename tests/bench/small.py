"""Small problems of every operator for the tests of the benchmark."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks import cases
from benchmarks.cases import FAMILIES, Case, load_cases
from benchmarks.families import build
from benchmarks.problem import Problem


def small_cases(family: str | None = None) -> list[Case]:
    """One case for each operator, type and set of parameters."""
    return [case for name in FAMILIES if family in (None, name) for case in cases.small_cases(name)]


def built(family: str, operator: str, dtype: str = "float32", **facts: object) -> Problem:
    """A problem of an operator with these facts."""
    return build(Case("x", family, operator, "x", "small", dtype, facts))


def limits() -> dict[str, Mapping[str, float]]:
    """The limits of the cases that have some."""
    return {case.id: case.limits for case in load_cases() if case.limits}
