"""The prototypes of the intrinsics: forms that differ in types only are one, with a letter for each type."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

__all__ = ["Form", "forms_of", "parameters_in"]

_LETTERS = "TSFU"
_PARAMETER = re.compile(r"(?P<const>const )?(?P<type>.+?)\s*(?P<mark>[*&]?)\s*(?P<name>\w+)(?P<rest>\s*=.*)?$")
_NAME = re.compile(r"(\w+)(?: = [^,)]+)?(?=[,)])")


class Declared(Protocol):
    """A declaration of an intrinsic."""

    @property
    def kind(self) -> str:
        """What it returns."""
        ...

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def parameters(self) -> str:
        """The text between its parentheses."""
        ...


@dataclass(frozen=True)
class Form:
    """Declarations that differ in types only.

    Attributes
    ----------
    returns, parameters : str
        With the letters T, S, ... in the place of types that differ.
    letters : str
        Those letters, ``T, S``; empty if there are none.
    types : tuple
        Pairs: what the letters stand for, and the architectures that have it.
    """

    returns: str
    parameters: str
    letters: str
    types: tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True)
class _Slot:
    """A type in a declaration, and what stands around it."""

    before: str
    type: str
    behind: str

    @property
    def around(self) -> tuple[str, str]:
        return self.before, self.behind


def forms_of(name: str, declared: Mapping[int, Iterable[Declared]]) -> tuple[Form, ...]:
    """Return the forms of an intrinsic.

    Parameters
    ----------
    name : str
        The intrinsic.
    declared : mapping
        The declarations of each architecture.
    """
    archs: dict[tuple[_Slot, ...], list[int]] = {}
    for arch, declarations in declared.items():
        for one in declarations:
            if one.name == name:
                archs.setdefault(_slots(one), []).append(arch)
    shapes: dict[tuple[tuple[str, str], ...], list[tuple[_Slot, ...]]] = {}
    for slots in archs:
        shapes.setdefault(tuple(slot.around for slot in slots), []).append(slots)
    return tuple(_form(alike, archs) for alike in shapes.values())


def _form(alike: Sequence[tuple[_Slot, ...]], archs: Mapping[tuple[_Slot, ...], Sequence[int]]) -> Form:
    columns = [tuple(slots[place].type for slots in alike) for place in range(len(alike[0]))]
    letters: dict[tuple[str, ...], str] = {}
    for column in columns:
        if len(set(column)) > 1 and column not in letters and len(letters) < len(_LETTERS):
            letters[column] = _LETTERS[len(letters)]
    words = [
        f"{slot.before}{letters.get(column, column[0])}{slot.behind}"
        for slot, column in zip(alike[0], columns, strict=True)
    ]
    by_archs: dict[tuple[int, ...], list[str]] = {}
    for number, slots in enumerate(alike):
        stands = [column[number] for column in letters]
        text = stands[0] if len(stands) == 1 else f"({', '.join(stands)})" if stands else ""
        by_archs.setdefault(tuple(archs[slots]), []).append(text)
    types = tuple((", ".join(texts), where) for where, texts in by_archs.items())
    return Form(words[0], ", ".join(words[1:]), ", ".join(letters.values()), types)


def _slots(declared: Declared) -> tuple[_Slot, ...]:
    slots = [_Slot("", declared.kind, "")]
    parts = [part.strip() for part in declared.parameters.split(",") if part.strip()]
    for part in parts:
        match = _PARAMETER.match(part)
        if match is None:  # the dots of printf
            slots.append(_Slot("", part, ""))
            continue
        before, kind = match["const"] or "", match["type"]
        if kind.startswith("vv_"):
            before, kind = f"{before}vv_", kind[3:]
        space = f" {match['mark']}" if match["mark"] else " "
        slots.append(_Slot(before, kind.replace("std::", ""), f"{space}{match['name']}{match['rest'] or ''}"))
    return tuple(slots)


def parameters_in(forms: Iterable[Form]) -> list[str]:
    """Return the names of the parameters of some forms, each once."""
    found = (_NAME.findall(f"{form.parameters})") for form in forms if form.parameters != "...")
    return list(dict.fromkeys(itertools.chain.from_iterable(found)))
