"""The source text: its lines, errors in them, and the edits of the translation."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from .tokens import Kind, Token


class TranslationError(Exception):
    """What cannot be turned into C++, and where it stands."""

    def __init__(self, file: str, line: int, message: str) -> None:
        super().__init__(f"{file}:{line}: {message}")
        self.file = file
        self.line = line
        self.message = message


@dataclass(frozen=True, slots=True)
class Edit:
    """A part of the text that becomes another."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """From this offset on, what the lines are called."""

    offset: int
    file: str
    number: int  # of the line at `offset`
    system: bool  # a header of the system, which stays as it is


@dataclass(slots=True)
class Text:
    """The source: its lines, and what becomes of it."""

    text: str
    name: str
    edits: list[Edit] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lines.append(Line(0, self.name, 1, False))

    def note_line(self, tokens: Sequence[Token]) -> None:
        """Take in `#line 7 "file"`, or `# 7 "file" 3` as preprocessors write it."""
        if tokens and tokens[0].text == "line":
            tokens = tokens[1:]
        if not tokens or not tokens[0].text.isdigit():
            return
        file = self.lines[-1].file
        if len(tokens) > 1 and tokens[1].kind is Kind.STRING:
            file = re.sub(r"\\(.)", r"\1", tokens[1].text[1:-1])
        behind = self.text.find("\n", tokens[-1].end)
        if behind >= 0:
            system = any(token.text == "3" for token in tokens[2:])
            self.lines.append(Line(behind + 1, file, int(tokens[0].text), system))

    def line_of(self, offset: int) -> Line:
        """Return what the lines are called there."""
        return self.lines[bisect_right(self.lines, offset, key=lambda line: line.offset) - 1]

    def number_at(self, offset: int) -> int:
        """Return the number of the line there."""
        line = self.line_of(offset)
        return line.number + self.text.count("\n", line.offset, offset)

    def is_system(self, token: Token) -> bool:
        """Whether the token stands in a header of the system."""
        return self.line_of(token.start).system

    def error(self, token: Token, message: str) -> TranslationError:
        """Return an exception for what is wrong at a token."""
        return self.error_at(token.start, message)

    def error_at(self, offset: int, message: str) -> TranslationError:
        """Return an exception for what is wrong at a place of the text."""
        return TranslationError(self.line_of(offset).file, self.number_at(offset), message)

    def edit(self, start: int, end: int, text: str) -> None:
        """Have `text` instead of what stands from `start` to `end`; line ends are kept, behind it."""
        ends = re.findall(r"\\\r?\n|\n", self.text[start:end])
        self.edits.append(Edit(start, end, text + "".join(ends)))

    def insert(self, offset: int, text: str) -> None:
        """Have `text` there as well."""
        self.edits.append(Edit(offset, offset, text))

    def replace(self, token: Token, text: str) -> None:
        """Have `text` instead of a token."""
        self.edit(token.start, token.end, text)

    def delete(self, token: Token) -> None:
        """Drop a token."""
        self.replace(token, "")

    def result(self) -> str:
        """Return the text with all edits made."""
        parts: list[str] = []
        end = 0
        # What is inserted comes before what is replaced there, and in the order of the edits; what lies in a part that
        # is replaced as a whole has gone with it.
        for edit in sorted(self.edits, key=lambda edit: (edit.start, edit.end > edit.start, -edit.end)):
            if edit.start >= end:
                parts += (self.text[end : edit.start], edit.text)
                end = edit.end
        return "".join(parts) + self.text[end:]
