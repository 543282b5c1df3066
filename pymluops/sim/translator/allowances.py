"""Comments that allow findings of a rule in a line: `// mlusim: allow(race/between-cores, init)`."""

from __future__ import annotations

import re

from .text import Text, quoted
from .tokens import SCANNER

_COMMENT = re.compile(r"\bmlusim:\s*allow\b\s*(?P<list>\([^()]*\))?")
_BLANKS = re.compile(r"[^\S\n]*")
_COMMENT_LINE = re.compile(r"[^\S\n]*//[^\n]*\n")
_RULE = re.compile(r"[a-z]+(?:/[a-z][a-z-]*)?")


def note_allowances(text: Text) -> None:
    """Have the comments at the end of the source, in a form that the machine reads.

    A comment behind code is about its line, one on a line of its own about the next line that is
    not such a comment.

    Raises
    ------
    TranslationError
        If a comment does not name rules.
    """
    lines: list[str] = []
    about = _About(text.text)
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
        number = text.number_at(about.offset(match.start(), match.end()))
        lines.append(f'MLUSIM_ALLOWANCE({quoted(place.file)}, {number}, "{",".join(rules)}")')
    if lines:
        text.insert(len(text.text), "\n".join(["", "#ifdef MLUSIM_ALLOWANCE", *lines, "#endif", ""]))


class _About:
    """Which line a comment is about."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._first = 0  # the text in the line of the last comment
        self._end = -1  # of that line
        self._behind: dict[int, int] = {}  # by the beginning of a line of comments, where the line behind them begins

    def offset(self, start: int, end: int) -> int:
        """Return an offset in the line that the comment from `start` to `end` is about; starts come in their order."""
        if start > self._end:
            line = self._text.rfind("\n", 0, start) + 1
            blanks = _BLANKS.match(self._text, line)
            self._first = line if blanks is None else blanks.end()
            self._end = self._text.find("\n", start)
            self._end = len(self._text) if self._end < 0 else self._end
        if self._first < start:
            return start
        behind = self._text.find("\n", end) + 1
        return self._behind_comments(behind) if behind else start

    def _behind_comments(self, line: int) -> int:
        passed: list[int] = []
        while line not in self._behind and (match := _COMMENT_LINE.match(self._text, line)):
            passed.append(line)
            line = match.end()
        line = self._behind.get(line, line)
        self._behind |= dict.fromkeys(passed, line)
        return line
