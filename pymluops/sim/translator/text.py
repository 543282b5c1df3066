"""The source text: its lines, errors in them, and the edits of the translation."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from .tokens import SCANNER, Directive, Kind, NestingError, Token, Tokens, tokenize

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def quoted(name: str) -> str:
    """Return a name as a string of C, always in one line."""
    name = name.replace("\r", printable("\r"))  # GCC writes that into `__FILE__` without an escape, and cannot read it
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + _CONTROL.sub(lambda character: f"\\{ord(character[0]):03o}", escaped) + '"'


def printable(name: str) -> str:
    """Return a name for messages, always in one line."""
    return _CONTROL.sub(lambda character: f"\\x{ord(character[0]):02x}", name)


def unquoted(string: str) -> str:
    """Return the name that a string of C holds, as `quoted` or a preprocessor writes it."""
    inside = string[1:-1] if string.endswith('"') else string[1:]
    return re.sub(r"\\([0-7]{1,3}|.)", lambda escape: _meant(escape[1]), inside, flags=re.DOTALL)


def _meant(escaped: str) -> str:
    if escaped[0] in "01234567":
        return chr(int(escaped, 8))
    return {"n": "\n", "t": "\t", "r": "\r"}.get(escaped, escaped)


def with_plain_blanks(text: str) -> str:
    """Return a source in which a space stands for each no-break space outside of strings and comments.

    Clang takes it for a blank, GCC for a part of a name.
    """
    if "\xa0" not in text:
        return text
    return SCANNER.sub(lambda found: found[0].replace("\xa0", " ") if found.lastgroup == "blank" else found[0], text)


def tokens_of(text: str, name: str) -> tuple[Tokens, list[Directive]]:
    """Cut a source into tokens and preprocessor lines.

    Parameters
    ----------
    text
        The source.
    name
        Its name in messages.

    Raises
    ------
    TranslationError
        If brackets or conditions stand in each other too deep.
    """
    try:
        return tokenize(text)
    except NestingError as error:
        raise TranslationError(name, text.count("\n", 0, error.offset) + 1, str(error)) from None


class TranslationError(Exception):
    """A construct that cannot be translated to C++, and its place."""

    def __init__(self, file: str, line: int, message: str) -> None:
        super().__init__(f"{printable(file)}:{line}: {message}")
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
    """The file name of the lines from this offset on."""

    offset: int
    file: str
    number: int  # of the line at `offset`
    system: bool  # a header of the system, which stays as it is


@dataclass(slots=True)
class Text:
    """The source: its lines and its edits."""

    text: str
    name: str
    edits: list[Edit] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)

    _ends: list[int] | None = None  # of the lines of the text

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
            file = unquoted(tokens[1].text)
        behind = self.text.find("\n", tokens[-1].end)
        if behind >= 0:
            system = any(token.text == "3" for token in tokens[2:])
            self.lines.append(Line(behind + 1, file, int(tokens[0].text), system))

    def line_of(self, offset: int) -> Line:
        """Return the file name of the lines there."""
        return self.lines[bisect_right(self.lines, offset, key=lambda line: line.offset) - 1]

    def number_at(self, offset: int) -> int:
        """Return the number of the line there."""
        line = self.line_of(offset)
        if self._ends is None:
            self._ends = [end.start() for end in re.finditer("\n", self.text)]
        return line.number + bisect_left(self._ends, offset) - bisect_left(self._ends, line.offset)

    def is_system(self, token: Token) -> bool:
        """Whether the token stands in a header of the system."""
        return self.line_of(token.start).system

    def error(self, token: Token, message: str) -> TranslationError:
        """Return an exception about a token."""
        return self.error_at(token.start, message)

    def error_at(self, offset: int, message: str) -> TranslationError:
        """Return an exception about a place in the text."""
        return TranslationError(self.line_of(offset).file, self.number_at(offset), message)

    def edit(self, start: int, end: int, text: str) -> None:
        """Replace the text from `start` to `end` by `text`; line ends are kept, behind it."""
        ends = re.findall(r"\\\r?\n|\n", self.text[start:end])
        self.edits.append(Edit(start, end, text + "".join(ends)))

    def insert(self, offset: int, text: str) -> None:
        """Insert `text` there."""
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
        # Insertions come before replacements at the same place, in the order of the edits. Edits
        # within a part that is replaced as a whole are dropped.
        for edit in sorted(self.edits, key=lambda edit: (edit.start, edit.end > edit.start, -edit.end)):
            if edit.start >= end:
                parts += (self.text[end : edit.start], edit.text)
                end = edit.end
        return "".join(parts) + self.text[end:]
