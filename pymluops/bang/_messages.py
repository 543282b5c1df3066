"""Rewrites a compiler's messages about a translated source in terms of the original source."""

from __future__ import annotations

import re

from pymluops.bang._translated_messages import in_words_of_bang, lengths_of, types_in
from pymluops.sim._intrinsics import find
from pymluops.sim.translator import PREFIX

__all__ = ["readable"]

_HEAD = re.compile(r"^(?P<place>[^\s:][^:]*(?::\d+)*): (?P<kind>fatal error|error|warning|note): (?P<text>.*)$")
#: The descriptions that `with_entries` puts behind definitions; compilers quote the line.
_ENTRY = re.compile(r" (?:MLUOPS_MODULE|MLUSIM)_(?:MADE_)?(?:KERNEL|FUNCTION|TEMPLATE)\(.*\);")
#: The name of an array's type, which GCC says instead of the type.
_ARRAY_TYPE = re.compile(r"\bmlusim_type_(\w+)")
_MOST_CANDIDATES = 6
#: What compilers say about an array on chip whose size is no constant, in a macro of the simulator.
_NOT_CONSTANT = re.compile(r"variably[ -]modified|variable length array")
_EXPANDED = re.compile(r"^(?P<file>.+?):(?P<line>\d+):\d+: note: (?:in expansion of|expanded from) macro .MLUSIM_")
#: The function of a call that does not fit, in what GCC and Clang say about it.
_CALLED = re.compile(
    r"(?:no matching function for call to|call of overloaded|arguments? to function(?: call)?|argument \d+ of|call to)"
    r" [‘'](?:[\w:]+[ *&]+)*(?P<name>__\w+)"
)
#: What the headers say about an intrinsic that the architecture lacks.
_LACKING = re.compile(r" is unavailable: (?P<text>(?:this form of )?`__\w+` needs architecture .*)$")
_INCLUDED = re.compile(r"^(?:In file included from|\s+from) ")
_CONTEXT = re.compile(r"^(?:In file included from|\s+from) |^\S.*: (?:In|At) [^:]+:$|^\S.*: In instantiation ")


def readable(said: str, include: str, source: str = "", translated: str = "") -> str:
    """Return a compiler's text with the names of the source, and with a few forms of an intrinsic instead of all.

    Parameters
    ----------
    said : str
        The text of the compiler.
    include : str
        The folder of the simulator's headers.
    source : str
        The source with its headers, before the translation.
    translated : str
        The source as the compiler got it.
    """
    kept: list[str] = []
    candidates = 0
    skips = False  # the lines that belong to a form of an intrinsic
    if not said:
        return said
    said = in_words_of_bang(_ENTRY.sub("", said.replace(PREFIX, "")), include, lengths_of(source))
    types = types_in(translated)
    said = _ARRAY_TYPE.sub(lambda match: types.get(match[1], f"decltype({match[1]})"), said)
    said = _with_prototypes(_with_lacking_told(_with_sizes_told(said)), include)
    for line in said.splitlines():
        head = _HEAD.match(line)
        is_own = head is not None and head["kind"] == "note" and head["place"].startswith(include)
        if head is not None and is_own and "candidate" in head["text"] and "expects" not in head["text"]:
            candidates += 1
            skips = True
            if candidates <= _MOST_CANDIDATES:
                kept.append(line)
        elif skips and (head is None or is_own) and not line.startswith("In file included"):
            continue
        else:
            if candidates and head is not None:
                kept += _number_of_others(candidates)
                candidates = 0
            skips = candidates > 0
            if not skips:
                kept.append(line)
    kept += _number_of_others(candidates)
    return "\n".join(kept) + ("\n" if said.endswith("\n") else "")


def _number_of_others(candidates: int) -> list[str]:
    others = candidates - _MOST_CANDIDATES
    return [f"note: and {others} other {'form' if others == 1 else 'forms'} of it"] if others > 0 else []


# ---- Calls of intrinsics that do not fit ---------------------------------------------------------


def _with_prototypes(said: str, include: str) -> str:
    """Put the prototypes of an intrinsic behind an error about its call, instead of notes about headers."""
    kept: list[str] = []
    called = ""  # the intrinsic that the last error is about
    skips = False  # the lines that belong to a note about a header
    told: set[str] = set()
    for line in said.splitlines():
        head = _HEAD.match(line)
        if (head is not None and head["kind"] != "note") or ": In " in line:
            kept += _prototypes(called, told)
            called, skips = "", False
        if head is not None and (match := _CALLED.search(head["text"])) is not None and not called:
            called = match["name"] if find(match["name"]) is not None else ""
        is_own = head is not None and head["kind"] == "note" and head["place"].startswith(include)
        if called and is_own:
            skips = True
            while kept and _INCLUDED.match(kept[-1]):
                kept.pop()
        elif not skips or head is not None or _INCLUDED.match(line):
            skips = skips and head is None
            kept.append(line)
    kept += _prototypes(called, told)
    return "\n".join(kept) + ("\n" if said.endswith("\n") else "")


def _prototypes(name: str, told: set[str]) -> list[str]:
    found = find(name) if name and name not in told else None
    if found is None:
        return []
    told.add(name)
    lines = [f"note: {line}" for line in found.prototypes()]
    return [*lines, f"note: `pymluops kernel help {name}` tells what they mean"]


# ---- Intrinsics that the architecture lacks ------------------------------------------------------


def _with_lacking_told(said: str) -> str:
    """Tell what an architecture lacks in one error for each place, without notes about headers."""
    if " is unavailable: " not in said:
        return said
    kept: list[str] = []
    included: list[str] = []  # lines that tell where a header is included, before what they belong to
    skips = False  # the lines that belong to such an error
    for line in said.splitlines():
        head = _HEAD.match(line)
        if _INCLUDED.match(line):
            included.append(line)
            continue
        if (head is not None and head["kind"] != "note") or ": In " in line:
            skips = False
        lacking = None if head is None else _LACKING.search(head["text"])
        if head is not None and lacking is not None:
            skips = True
            told = f"{head['place']}: error: {lacking['text']}"
            kept += [] if told in kept else [told]
        elif not skips:
            kept += [*included, line]
        included = []
    return "\n".join(kept) + ("\n" if said.endswith("\n") else "")


# ---- Arrays on chip whose size is no constant ----------------------------------------------------


def _with_sizes_told(said: str) -> str:
    """Replace all errors about an array whose size is no constant by one on its line."""
    if _NOT_CONSTANT.search(said) is None:
        return said
    groups = _groups(said)
    places = [_place(group) for group in groups]
    wrong = {place for place, group in zip(places, groups, strict=True) if place and _NOT_CONSTANT.search(group[0])}
    kept: list[str] = []
    context: list[str] = []
    told: set[str] = set()
    for place, group in zip(places, groups, strict=True):
        if not place:
            context += group
            continue
        if place not in wrong:
            kept += [*context, *group]
        elif place not in told:
            told.add(place)
            kept.append(f"{place}: error: the size of an array in NRAM, WRAM or SRAM must be a constant")
        context = []
    return "\n".join(kept) + ("\n" if said.endswith("\n") else "")


def _groups(said: str) -> list[list[str]]:
    """Divide at the errors and warnings; lines of context belong to none, and stand alone."""
    groups: list[list[str]] = []
    for line in said.splitlines():
        head = _HEAD.match(line)
        begins = _CONTEXT.match(line) or (head is not None and head["kind"] != "note")
        if not groups or begins or _CONTEXT.match(groups[-1][0]):
            groups.append([line])
        else:
            groups[-1].append(line)
    return groups


def _place(group: list[str]) -> str:
    """Return file and line of the source that a group is about; empty for context."""
    for line in reversed(group):
        expanded = _EXPANDED.match(line)
        if expanded is not None:
            return f"{expanded['file']}:{expanded['line']}"
    head = _HEAD.match(group[0])
    if head is None or head["kind"] == "note":
        return ""
    return ":".join(head["place"].split(":")[:2])
