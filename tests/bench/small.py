"""Small problems of every operator for the tests of the benchmark."""

from __future__ import annotations

from benchmarks import cases
from benchmarks.cases import FAMILIES, Case


def small_cases(family: str | None = None) -> list[Case]:
    """One case for each operator, type and set of parameters."""
    return [case for name in FAMILIES if family in (None, name) for case in cases.small_cases(name)]
