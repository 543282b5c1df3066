"""The reference of the intrinsics: prototypes, meanings, parameters and examples."""

from __future__ import annotations

import difflib
import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

__all__ = ["Form", "Intrinsic", "find", "names", "similar"]

# Written by tools/intrinsics.py.
_FILE = Path(__file__).with_name("intrinsics.json")
_MOST_SIMILAR = 8


class Form(NamedTuple):
    """A way to call an intrinsic.

    Attributes
    ----------
    returns, parameters : str
        With a letter in the place of each type that may be another one.
    letters : str
        These letters.
    types : tuple
        Pairs of what they stand for, and the architectures that have it.
    """

    returns: str
    parameters: str
    letters: str
    types: tuple[tuple[str, str], ...]


class Intrinsic(NamedTuple):
    """What the reference says about one intrinsic.

    Attributes
    ----------
    name : str
        Its name.
    section : str
        The kind of intrinsics that it belongs to.
    meaning : str
        What it does, in a line.
    text : str
        What one must know to use it; may be empty.
    known : str
        From where that is known: ``documented``, ``inferred`` or ``guessed``.
    architectures : str
        Those that have it.
    rules : str
        Of the align checker; may be empty.
    forms : tuple of Form
        The ways to call it.
    parameters : dict of str to str
        What they mean.
    example : str
        The body of a kernel; may be empty.
    """

    name: str
    section: str
    meaning: str
    text: str
    known: str
    architectures: str
    rules: str
    forms: tuple[Form, ...]
    parameters: dict[str, str]
    example: str

    def prototypes(self, indent: str = "  ") -> list[str]:
        """Return the lines of all prototypes, each followed by the types that its letters stand for.

        Parameters
        ----------
        indent : str
            Before these types.
        """
        lines: list[str] = []
        for form in self.forms:
            lines.append(f"{form.returns} {self.name}({form.parameters})")
            for text, archs in form.types:
                stands = f"{form.letters} is {text}" if text else ""
                where = "" if archs == "all" else f"architectures: {archs}"
                if stands or where:
                    lines.append(indent + "; ".join(part for part in (stands, where) if part))
        return lines


@cache
def _entries() -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """Return the entries by name, and what parameters mean."""
    data = cast("dict[str, Any]", json.loads(_FILE.read_text(encoding="utf-8")))
    found: dict[str, dict[str, Any]] = {name: entry for entry in data["intrinsics"] for name in entry["names"]}
    return found, data["parameters"]


def names() -> dict[str, str]:
    """Return the names of all intrinsics, each with its section."""
    return {name: str(entry["section"]) for name, entry in _entries()[0].items()}


def find(name: str) -> Intrinsic | None:
    """Return what the reference says about an intrinsic, or None if there is none of that name."""
    entries, common = _entries()
    entry = entries.get(name)
    if entry is None:
        return None
    forms = tuple(
        Form(returns, parameters, letters, tuple((text, archs) for text, archs in types))
        for returns, parameters, letters, types in entry["forms"]
    )
    own = cast("dict[str, str]", entry["parameters"])
    meanings = {each: own.get(each, common.get(each, "")) for each in _parameters(forms)}
    return Intrinsic(
        name=name,
        section=str(entry["section"]),
        meaning=str(entry["meaning"]),
        text=str(entry["text"]),
        known=str(entry["known"]),
        architectures=str(entry["architectures"]),
        rules=str(entry["rules"]),
        forms=forms,
        parameters={each: text for each, text in meanings.items() if text},
        example=str(entry["example"]),
    )


def _parameters(forms: tuple[Form, ...]) -> list[str]:
    parts = (part.partition("=")[0].split() for form in forms for part in form.parameters.split(","))
    return list(dict.fromkeys(words[-1].lstrip("*&") for words in parts if len(words) > 1))


def similar(name: str) -> list[str]:
    """Return names that are like one that does not exist: spelled alike, or with it as a part."""
    known = names()
    close = sorted((each for each in known if name and each.startswith(name)), key=len)[: _MOST_SIMILAR // 2]
    close += difflib.get_close_matches(name, known, n=_MOST_SIMILAR, cutoff=0.75)
    for prefix in ("__bang_", "__"):
        close += [f"{prefix}{name}"] if f"{prefix}{name}" in known else []
    part = name.strip("_")
    within = sorted((each for each in known if part and part in each), key=len)
    return list(dict.fromkeys([*close, *within]))[:_MOST_SIMILAR]
