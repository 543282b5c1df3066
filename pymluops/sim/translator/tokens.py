"""Cuts a source into tokens; finds the partners of brackets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

IFS = frozenset({"if", "ifdef", "ifndef"})
ELSES = frozenset({"else", "elif", "elifdef", "elifndef"})

CLOSING = {"(": ")", "[": "]", "{": "}"}
OPENING = {close: opening for opening, close in CLOSING.items()}


class Kind(Enum):
    """What a token is."""

    WORD = "word"
    NUMBER = "number"
    STRING = "string"
    MARK = "mark"


@dataclass(frozen=True, slots=True)
class Token:
    """A token, and which part of the text it is."""

    kind: Kind
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Directive:
    """A preprocessor line: its tokens without the `#`, and how many tokens of the file stand before it."""

    tokens: tuple[Token, ...]
    before: int

    @property
    def name(self) -> str:
        """The word after the `#`; a number where a preprocessor notes the line."""
        return self.tokens[0].text if self.tokens else ""


# A backslash before the end of a line joins it with the next, and counts as a blank.
SCANNER = re.compile(
    r"""
    (?P<newline> \n )
  | (?P<blank>   (?: [^\S\n] | \\\r?\n )+ )
  | (?P<comment> // (?: \\\r?\n | [^\n] )* | /\* .*? (?: \*/ | \Z ) )
  | (?P<string>  (?: u8 | [uUL] )? R"(?P<delimiter> [^()\\\s]{0,16} )\( .*? \)(?P=delimiter)"
               | (?: u8 | [uUL] )? " (?: \\. | \\\r\n | [^"\\\n] )* "
               | (?: u8 | [uUL] )? ' (?: \\. | \\\r\n | [^'\\\n] )+ ' )
  | (?P<number>  \.?\d (?: [eEpP][+-] | '\w | [\w.] )* )
  | (?P<word>    [^\W\d] [\w$]* | \$ [\w$]* )
  | (?P<mark>    :: | -> | \#\# | <= | >= | == | != | && | \|\| | \+\+ | -- | \.\.\. | . )
    """,
    re.VERBOSE | re.DOTALL,
)


def tokenize(text: str) -> tuple[list[Token], list[Directive]]:
    """Cut a file into the tokens outside of preprocessor lines, and these lines."""
    tokens: list[Token] = []
    directives: list[Directive] = []
    line: list[Token] | None = None  # tokens of the preprocessor line
    fresh = True  # nothing but blanks since the line began
    for match in SCANNER.finditer(text):
        group = match.lastgroup
        if group == "newline":
            if line is not None:
                directives.append(Directive(tuple(line), len(tokens)))
                line = None
            fresh = True
        elif group in ("blank", "comment"):
            continue
        elif fresh and line is None and match[0] == "#":
            line = []
        else:
            kind = Kind("string" if group == "delimiter" else group)
            (tokens if line is None else line).append(Token(kind, match[0], match.start(), match.end()))
            fresh = False
    if line is not None:
        directives.append(Directive(tuple(line), len(tokens)))
    return without_dead(tokens, directives)


def without_dead(tokens: list[Token], directives: list[Directive]) -> tuple[list[Token], list[Directive]]:
    """Drop what stands between `#if 0` and its `#else` or `#endif`: it need not even be C++."""
    living: list[Token] = []
    kept: list[Directive] = []
    begin = 0
    depth = 0  # of the dead `#if` that this is in
    for directive in directives:
        if depth == 0:
            living += tokens[begin : directive.before]
            kept.append(Directive(directive.tokens, len(living)))
            depth = int([token.text for token in directive.tokens] == ["if", "0"])
        elif directive.name in IFS:
            depth += 1
        elif directive.name == "endif":
            depth -= 1
            if depth == 0:
                kept.append(Directive(directive.tokens, len(living)))
        elif directive.name in ELSES and depth == 1:
            depth = 0  # what follows is then the first branch
        begin = directive.before
    return (living if depth else living + tokens[begin:]), kept


class UnbalancedError(Exception):
    """A bracket that nothing closes, or opens."""


def closing(tokens: Sequence[Token], opening: int) -> int:
    """Where the bracket at `opening` is closed."""
    return _partner(tokens, opening, len(tokens), 1, CLOSING, OPENING)


def opened(tokens: Sequence[Token], closed: int) -> int:
    """Where the bracket that ends at `closed` begins."""
    return _partner(tokens, closed, -1, -1, OPENING, CLOSING)


def _partner(
    tokens: Sequence[Token], begin: int, end: int, step: int, deeper: dict[str, str], back: dict[str, str]
) -> int:
    waiting: list[str] = []
    for i in range(begin, end, step):
        text = tokens[i].text
        if text in deeper:
            waiting.append(deeper[text])
        elif text in back:
            if waiting.pop() != text:
                break
            if not waiting:
                return i
    raise UnbalancedError


def closing_angle(tokens: Sequence[Token], opening: int) -> int:
    """Where the template arguments that begin at `opening` end."""
    depth = 0
    i = opening
    while i < len(tokens):
        text = tokens[i].text
        if text == "<":
            depth += 1
        elif text == ">":
            depth -= 1
            if depth == 0:
                return i
        elif text in CLOSING:
            i = closing(tokens, i)
        elif text in OPENING or text == ";":
            break
        i += 1
    raise UnbalancedError


def opened_angle(tokens: Sequence[Token], closed: int) -> int:
    """Where the template arguments that end at `closed` begin."""
    depth = 0
    i = closed
    while i >= 0:
        text = tokens[i].text
        if text == ">":
            depth += 1
        elif text == "<":
            depth -= 1
            if depth == 0:
                return i
        elif text in OPENING:
            i = opened(tokens, i)
        elif text in CLOSING or text == ";":
            break
        i -= 1
    raise UnbalancedError


def is_run(tokens: Sequence[Token], begin: int, text: str, length: int) -> bool:
    """Whether the same mark stands `length` times from `begin` on, without anything between."""
    run = tokens[begin : begin + length]
    return (
        len(run) == length
        and all(token.text == text for token in run)
        and run[-1].end - run[0].start == length * len(text)
    )


def spelled(tokens: Iterable[Token]) -> str:
    """The tokens as text, without comments and line ends."""
    text = ""
    end = -1
    for token in tokens:
        text += token.text if end in (-1, token.start) else f" {token.text}"
        end = token.end
    return text
