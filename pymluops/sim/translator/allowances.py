"""Comments that allow what a rule of the checkers would find: `// mlusim: allow(race/between-cores, init)`."""

from __future__ import annotations

import re

from .text import Text
from .tokens import SCANNER

_COMMENT = re.compile(r"\bmlusim:\s*allow\b\s*(?P<list>\([^()]*\))?")
_RULE = re.compile(r"[a-z]+(?:/[a-z][a-z-]*)?")


def note_allowances(text: Text) -> None:
    """Have the comments at the end of the source, in a form that the machine reads.

    A comment behind code is about its line, one on a line of its own about the next line that is not such a comment.

    Raises
    ------
    TranslationError
        If a comment does not name rules.
    """
    lines: list[str] = []
    for match in SCANNER.finditer(text.text):
        if match.lastgroup != "comment" or not (found := _COMMENT.search(match[0])):
            continue
        place = text.line_of(match.start())
        if place.system:
            continue
        rules = [rule.strip() for rule in (found["list"] or "()")[1:-1].split(",")]
        if wrong := [rule for rule in rules if not _RULE.fullmatch(rule)]:
            message = f"mlusim: allow: expected rules in brackets, for example (race/between-cores), got `{wrong[0]}`"
            raise text.error_at(match.start(), message)
        number = text.number_at(_about(text.text, match.start(), match.end()))
        lines.append(f'MLUSIM_ALLOWANCE("{_escaped(place.file)}", {number}, "{",".join(rules)}")')
    if lines:
        text.insert(len(text.text), "\n".join(["", "#ifdef MLUSIM_ALLOWANCE", *lines, "#endif", ""]))


def _about(text: str, start: int, end: int) -> int:
    """Return an offset in the line that a comment is about."""
    if text[text.rfind("\n", 0, start) + 1 : start].strip():
        return start
    while (behind := text.find("\n", end)) >= 0:
        match = re.compile(r"[^\S\n]*//[^\n]*").match(text, behind + 1)
        if not match:
            return behind + 1
        end = match.end()
    return start


def _escaped(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"')
