"""What the reference says about each intrinsic: read from tables, checked, written for programs and readers."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from written.prototypes import Declared, Form, forms_of, parameters_in

__all__ = ["Details", "Entry", "as_data", "as_pages", "entries_of", "read_details"]


@dataclass(frozen=True)
class Details:
    """Texts of single intrinsics.

    Attributes
    ----------
    parameters : dict
        What parameters mean, by name.
    texts : dict
        What a user of an intrinsic must know.
    own : dict
        What parameters of one intrinsic mean.
    examples : dict
        Bodies of kernels.
    """

    parameters: dict[str, str]
    texts: dict[str, str]
    own: dict[str, dict[str, str]]
    examples: dict[str, str]


@dataclass
class Entry:
    """Intrinsics about which the reference says the same."""

    section: str
    meaning: str
    known: str
    where: str
    rules: str
    text: str
    example: str
    forms: tuple[Form, ...]
    parameters: dict[str, str]
    names: list[str] = field(default_factory=list[str])


def read_details(details: Path, examples: Path, expanded: Callable[[str], list[str]]) -> Details:
    """Read the texts of single intrinsics.

    Parameters
    ----------
    details, examples : Path
        The files.
    expanded : callable
        Returns the names that a pattern stands for.
    """
    data = tomllib.loads(details.read_text(encoding="utf-8"))
    found = Details(data["parameters"], {}, {}, {})
    for row in data["detail"]:
        for name in _names(row, expanded):
            _once(found.texts, name, _text_of(row, name))
            found.own[name] = row.get("parameters", {})
    for row in tomllib.loads(examples.read_text(encoding="utf-8"))["example"]:
        for name in _names(row, expanded):
            _once(found.examples, name, str(row["code"]).strip())
    return found


def _names(row: Mapping[str, Any], expanded: Callable[[str], list[str]]) -> list[str]:
    return [name for pattern in str(row["names"]).split() for name in expanded(pattern)]


def _text_of(row: Mapping[str, Any], name: str) -> str:
    """Return the text of a row, with the operation of one of its names in place of {op}."""
    text = str(row["text"]).strip()
    if "operations" not in row:
        return text
    found = [words for part, words in row["operations"].items() if f"_{part}_" in f"{name}_"]
    if len(found) != 1 or "{op}" not in text:
        raise ValueError(f"{name}: expected {{op}} in its text, and one operation for it, got {text!r} and {found}")
    return text.replace("{op}", found[0])


def _once(texts: dict[str, str], name: str, text: str) -> None:
    if name in texts:
        raise ValueError(f"{name} has two texts: {text!r} and {texts[name]!r}")
    texts[name] = text


def entries_of(
    rows: Iterable[tuple[str, str, str, Sequence[str]]],
    declared: Mapping[int, Sequence[Declared]],
    details: Details,
    rules: Mapping[str, str],
    arch_text: Callable[[Sequence[int]], str],
) -> list[Entry]:
    """Return all about the intrinsics, in the order of the table.

    Parameters
    ----------
    rows : iterable
        Section, meaning, how it is known, names.
    declared : mapping
        The declarations of each architecture.
    details : Details
        Texts of single intrinsics.
    rules : mapping
        The rules of operands, by name.
    arch_text : callable
        Returns architectures in words.

    Raises
    ------
    ValueError
        If there are texts of what is not there.
    """
    by_name: dict[str, dict[int, list[Declared]]] = {}
    for arch, declarations in declared.items():
        for one in declarations:
            by_name.setdefault(one.name, {}).setdefault(arch, []).append(one)
    entries: dict[str, Entry] = {}
    for section, meaning, known, names in rows:
        for name in names:
            forms = forms_of(name, by_name.get(name, {}))
            where = arch_text(sorted({arch for form in forms for _, archs in form.types for arch in archs}))
            own = details.own.get(name, {})
            parameters = {
                each: own.get(each, details.parameters.get(each, ""))
                for each in parameters_in(forms)
                if own.get(each, details.parameters.get(each))
            }
            text, example = details.texts.get(name, ""), details.examples.get(name, "")
            entry = Entry(section, meaning, known, where, rules.get(name, ""), text, example, forms, parameters)
            entries.setdefault(repr(entry), entry).names.append(name)
    _require_all_used(list(entries.values()), details)
    return list(entries.values())


def _require_all_used(entries: Sequence[Entry], details: Details) -> None:
    names = {name for entry in entries for name in entry.names}
    if absent := sorted((details.texts.keys() | details.examples.keys()) - names):
        raise ValueError(f"there are texts, but no declarations of {', '.join(absent)}")
    used = {parameter for entry in entries for parameter in entry.parameters}
    for name, own in details.own.items():
        has = {parameter for entry in entries if name in entry.names for parameter in entry.parameters}
        # One of several names may lack a parameter, but not all of them.
        alike = [other for other, others in details.own.items() if others is own]
        for other in alike:
            has |= {parameter for entry in entries if other in entry.names for parameter in entry.parameters}
        if unknown := sorted(own.keys() - has):
            raise ValueError(f"{name} has no parameters {', '.join(unknown)}")
    if unknown := sorted(details.parameters.keys() - used):
        raise ValueError(f"no intrinsic has parameters {', '.join(unknown)}")


# ---- For programs --------------------------------------------------------------------------------


def as_data(entries: Iterable[Entry], details: Details, arch_text: Callable[[Sequence[int]], str]) -> str:
    """Return the data of the package: JSON, an entry a line."""
    common = json.dumps(details.parameters, ensure_ascii=False, separators=(",", ":"))
    lines = [
        json.dumps(
            {
                "names": entry.names,
                "section": entry.section,
                "meaning": entry.meaning,
                "known": entry.known,
                "architectures": entry.where,
                "rules": entry.rules,
                "text": entry.text,
                "example": entry.example,
                "parameters": _own(entry, details),
                "forms": [
                    [form.returns, form.parameters, form.letters, [[text, arch_text(at)] for text, at in form.types]]
                    for form in entry.forms
                ],
            },
            ensure_ascii=False,
            separators=(",", ":"),
        )
        for entry in entries
    ]
    return f'{{"parameters":{common},"intrinsics":[\n' + ",\n".join(lines) + "\n]}\n"


def _own(entry: Entry, details: Details) -> dict[str, str]:
    return {name: text for name, text in entry.parameters.items() if details.parameters.get(name) != text}


# ---- For readers ---------------------------------------------------------------------------------


def as_pages(
    entries: Sequence[Entry],
    details: Details,
    patterns: Callable[[Sequence[str]], list[str]],
    arch_text: Callable[[Sequence[int]], str],
) -> str:
    """Return the prototypes, parameters and examples as Markdown."""
    lines = ["## Parameters", "", "| parameter | meaning, unless an intrinsic says otherwise |", "| --- | --- |"]
    lines += [f"| `{name}` | {_in_markdown(text)} |" for name, text in details.parameters.items()]
    section = ""
    previous: Entry | None = None
    for entry in entries:
        if entry.section != section:
            section = entry.section
            lines += ["", f"## {section}"]
        names = patterns(entry.names)
        if previous is not None and len(names) == 1 and _goes_on(previous, entry, details):
            place = len(lines) - 1 - lines[::-1].index("```")
            lines[place:place] = _prototypes(entry, names[0], arch_text)
        else:
            lines += _lines_of(entry, details, names, arch_text)
        previous = entry if len(names) == 1 and not entry.example else None
    return "\n".join([*lines, ""])


def _goes_on(previous: Entry, entry: Entry, details: Details) -> bool:
    """Whether the same text stands below the prototypes of both."""
    texts = [(one.section, one.meaning, one.text, _own(one, details)) for one in (previous, entry)]
    return texts[0] == texts[1] and not entry.example


def _lines_of(
    entry: Entry, details: Details, patterns: Sequence[str], arch_text: Callable[[Sequence[int]], str]
) -> list[str]:
    title = patterns[0] if len(patterns) == 1 else "NAME"
    lines = ["", *([" ".join(f"`{pattern}`" for pattern in patterns), ""] if title == "NAME" else []), "```c"]
    lines += [*_prototypes(entry, title, arch_text), "```", "", _in_markdown(entry.text or _sentence(entry.meaning))]
    own = _own(entry, details)
    lines += ["", *(f"- `{name}`: {_in_markdown(text)}" for name, text in own.items())] if own else []
    lines += ["", "```c", entry.example, "```"] if entry.example else []
    return lines


def _prototypes(entry: Entry, title: str, arch_text: Callable[[Sequence[int]], str]) -> list[str]:
    lines: list[str] = []
    for form in entry.forms:
        lines.append(f"{form.returns} {title}({form.parameters});")
        for text, archs in form.types:
            stands = f"{form.letters}: {text}" if text else ""
            where = "" if arch_text(archs) == "all" else arch_text(archs)
            if stands or where:
                lines.append(f"  // {'; '.join(part for part in (stands, where) if part)}")
    return lines


def _in_markdown(text: str) -> str:
    """Return a text in which names of intrinsics, and stars, mean no emphasis."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"(?<!\w)(__\w+\*?)|(\*)", _marked, part) for part in parts)


def _marked(found: re.Match[str]) -> str:
    return f"`{found[1]}`" if found[1] else r"\*"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
