"""Causes and consequences among findings of several runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

from pymluops._shown import counted

__all__ = ["Traits", "folded", "lines_of_following", "name_of", "order_by_cause"]

_T = TypeVar("_T")
_SEVERITIES = ("error", "warning", "remark")


class Traits(NamedTuple):
    """The facts that decide the place of a finding in the order.

    Attributes
    ----------
    name : str
        Its rule and place, by `name_of`.
    cause : str
        The name of the finding that it follows from; empty if it stands for itself.
    severity : str
        ``error``, ``warning`` or ``remark``.
    step : int
        As of `pymluops.sim.Finding`.
    """

    name: str
    cause: str
    severity: str
    step: int


def name_of(rule: str, file: str, line: int) -> str:
    """Return the name that the simulator gives a finding as a cause."""
    return f"{rule} at {file}:{line}" if line else rule


def order_by_cause(items: Sequence[_T], traits: Sequence[Traits]) -> list[tuple[_T, str]]:
    """Put causes first, each before what follows from it.

    Parameters
    ----------
    items : sequence
        In the order in which they were found.
    traits : sequence of Traits
        Those of each item.

    Returns
    -------
    list of tuple
        Each item with the name of its first cause, which is among the items; empty for a cause.
    """
    numbers: dict[str, int] = {}
    for number, each in enumerate(traits):
        numbers.setdefault(each.name, number)
    roots = [_root(number, numbers, traits) for number in range(len(items))]

    def key(number: int) -> tuple[int, int, int, bool]:
        root = roots[number]
        of = traits[root]
        severity = _SEVERITIES.index(of.severity) if of.severity in _SEVERITIES else 0
        return severity, of.step, root, root != number

    order = sorted(range(len(items)), key=key)
    return [(items[number], traits[roots[number]].name if roots[number] != number else "") for number in order]


def _root(number: int, numbers: dict[str, int], traits: Sequence[Traits]) -> int:
    """Return the finding at the end of a chain of causes; of a ring, the one that was found first."""
    seen = [number]
    while (cause := numbers.get(traits[seen[-1]].cause)) is not None:
        if cause in seen:
            return min(seen[seen.index(cause) :])
        seen.append(cause)
    return seen[-1]


def folded(items: Sequence[_T], causes: Sequence[str]) -> Iterator[tuple[_T, list[_T]]]:
    """Return each cause with the items behind it that follow from it.

    Parameters
    ----------
    items : sequence
        In the order of `order_by_cause`.
    causes : sequence of str
        The cause of each.
    """
    number = 0
    while number < len(items):
        end = number + 1
        while end < len(items) and causes[end]:
            end += 1
        yield items[number], list(items[number + 1 : end])
        number = end


def lines_of_following(names: Sequence[str]) -> list[str]:
    """Return the lines about findings that follow from another: how many, then the rule and place of each."""
    if not names:
        return []
    count = counted(len(names), "finding")
    return [f"    and {count} that follow{'s' if len(names) == 1 else ''}:", *(f"      {name}" for name in names)]
