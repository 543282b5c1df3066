"""The measured cases, read from the problem lists beside this module."""

from __future__ import annotations

import fnmatch
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

_PROBLEMS = resources.files("benchmarks") / "problems"

#: The families that have a problem list.
FAMILIES = tuple(sorted(path.name.removesuffix(".json") for path in _PROBLEMS.iterdir()))

#: Cases with a limit on their time, the shapes that the operators' design documents name, and more
#: that tell something.
GROUPS = ("limits", "documents", "more")

_SHORT = {"float32": "f32", "float16": "f16", "int32": "i32"}


@dataclass(frozen=True)
class Case:
    """One operator on one problem.

    `limits` holds the most that its time may be, as a multiple of the time of a ``memcpy`` of the
    same bytes and of the best ``peer``.
    """

    id: str
    family: str
    operator: str
    name: str
    group: str
    dtype: str
    parameters: Mapping[str, Any]
    limits: Mapping[str, float] = field(default_factory=dict[str, float])


def load_cases(families: Sequence[str] = FAMILIES) -> list[Case]:
    """Return the cases of all problem lists in order."""
    return [case for family in families for case in _family_cases(family)]


def select(cases: Sequence[Case], patterns: Sequence[str], groups: Sequence[str]) -> list[Case]:
    """Return the cases of these groups whose id matches any pattern: a shell pattern, or a part of the id."""
    return [
        case
        for case in cases
        if case.group in groups and (not patterns or any(_matches(case.id, pattern) for pattern in patterns))
    ]


def operators(family: str) -> list[str]:
    """Return the operators of a family in the order of its problem list."""
    return list(dict.fromkeys(case.operator for case in load_cases([family])))


def dtypes(family: str) -> list[str]:
    """Return the types that a family is measured with, in the order of its problem list."""
    return list(dict.fromkeys(case.dtype for case in load_cases([family])))


def small_cases(family: str) -> list[Case]:
    """Return a case for each operator, type and entry of ``"small"`` in the problem list, for tests."""
    return [
        Case(f"{operator}/{number}/{dtype}", family, operator, str(number), "small", dtype, facts)
        for operator in operators(family)
        for dtype in dtypes(family)
        for number, facts in enumerate(read_problems(family)["small"])
    ]


def _matches(name: str, pattern: str) -> bool:
    return fnmatch.fnmatchcase(name, pattern) or fnmatch.fnmatchcase(name, f"*{pattern}*")


def _family_cases(family: str) -> Iterator[Case]:
    for entry in read_problems(family)["cases"]:
        yield from _expand(family, entry)


def read_problems(family: str) -> dict[str, Any]:
    """Return the problem list of a family as it is in its file."""
    path = _PROBLEMS / f"{family}.json"
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


def _expand(family: str, entry: Mapping[str, Any]) -> Iterator[Case]:
    """Yield one case for each combination of the values that the entry varies."""
    vary: Mapping[str, Sequence[Any]] = entry["vary"]
    for values in itertools.product(*vary.values()):
        chosen = dict(zip(vary, values, strict=True))
        operator, dtype = chosen.pop("operator"), chosen.pop("dtype", "int32")
        parts = [operator, entry["name"], *(str(value) for value in chosen.values())]
        if "dtype" in vary:
            parts.append(_SHORT[dtype])
        facts = {**entry["parameters"], **chosen}
        limits: dict[str, float] = {}
        for rule in entry.get("limits", ()):
            if all({"operator": operator, "dtype": dtype, **facts}[key] == want for key, want in rule["when"].items()):
                limits.update(rule["at_most"])
        yield Case("/".join(parts), family, operator, entry["name"], entry["group"], dtype, facts, limits)
