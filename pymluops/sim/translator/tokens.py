"""Cuts a source into tokens; finds the partners of brackets.

Everything here takes time in proportion to the length of any source, and so must its users.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

IFS = frozenset({"if", "ifdef", "ifndef"})
ELSES = frozenset({"else", "elif", "elifdef", "elifndef"})

#: Brackets in each other, and conditions of the preprocessor in each other. Compilers have such
#: limits too.
MOST_OPEN = 256

CLOSING = {"(": ")", "[": "]", "{": "}"}
OPENING = {close: opening for opening, close in CLOSING.items()}


class Kind(Enum):
    """The kind of a token."""

    WORD = "word"
    NUMBER = "number"
    STRING = "string"
    MARK = "mark"


class Token(NamedTuple):
    """A token, and which part of the text it is."""

    kind: Kind
    text: str
    start: int
    end: int


#: By the groups of `SCANNER`.
_KINDS: dict[str | None, Kind] = {**{kind.value: kind for kind in Kind}, "delimiter": Kind.STRING}


@dataclass(frozen=True, slots=True)
class Directive:
    """A preprocessor line: its tokens without the `#`, and the number of tokens of the file before it."""

    tokens: tuple[Token, ...]
    before: int

    @property
    def name(self) -> str:
        """The word after the `#`; a number where a preprocessor notes the line."""
        return self.tokens[0].text if self.tokens else ""


class Tokens(list[Token]):
    """Tokens that know the partners of their brackets; a part of them is a plain list."""

    def __init__(self, tokens: Iterable[Token] = ()) -> None:
        super().__init__(tokens)
        self._partners: list[int] | None = None
        self._angles: list[int] | None = None

    @property
    def partners(self) -> list[int]:
        """For each token the number of the bracket that belongs to it.

        -1 for a bracket without one, and for other tokens.
        """
        if self._partners is None:
            self._partners = _partners(self)
        return self._partners

    @property
    def angles(self) -> list[int]:
        """The same for `<` and `>` as brackets: those of one pair stand in the same brackets and statement."""
        if self._angles is None:
            self._angles = _angles(self)
        return self._angles


def _partners(tokens: Sequence[Token]) -> list[int]:
    partners = [-1] * len(tokens)
    waiting: list[int] = []
    for i, token in enumerate(tokens):
        text = token.text
        if text in CLOSING:
            waiting.append(i)
        elif text in OPENING:
            if waiting and tokens[waiting[-1]].text == OPENING[text]:
                partners[i] = waiting.pop()
                partners[partners[i]] = i
            else:  # everything that is open is closed by the wrong bracket
                waiting.clear()
    return partners


def _angles(tokens: Tokens) -> list[int]:
    angles = [-1] * len(tokens)
    partners = tokens.partners
    levels: list[list[int]] = [[]]
    for i, token in enumerate(tokens):
        text = token.text
        if text == "<":
            levels[-1].append(i)
        elif text == ">":
            if levels[-1]:
                angles[i] = levels[-1].pop()
                angles[angles[i]] = i
        elif text == ";" or (partners[i] < 0 and (text in CLOSING or text in OPENING)):
            levels[-1].clear()
        elif text in CLOSING:
            levels.append([])
        elif text in OPENING:
            levels.pop()
    return angles


class NestingError(Exception):
    """Brackets or conditions that stand in each other deeper than `MOST_OPEN`; the offset of the first too many."""

    def __init__(self, offset: int, kind: str) -> None:
        super().__init__(f"{kind} stand in each other more than {MOST_OPEN} deep")
        self.offset = offset


class _Nesting:
    """Counts open brackets and conditions, as `Walk` sees them.

    Behind an `#if` they are those at the end of its first branch that is not dead.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._choices: list[_Branches] = []
        self._dead = 0  # the number of conditions inside of which nothing counts

    def step(self, token: Token) -> None:
        """Count a token outside of preprocessor lines."""
        if token.text in CLOSING:
            self._depth += 1
            if self._depth > MOST_OPEN and not self._dead:
                raise NestingError(token.start, "brackets")
        elif token.text in OPENING and self._depth > 0:
            self._depth -= 1

    def choose(self, line: Sequence[Token]) -> None:
        """Count a preprocessor line."""
        name = line[0].text if line else ""
        if name in IFS:
            if len(self._choices) == MOST_OPEN:
                raise NestingError(line[0].start, "conditions")
            self._choices.append(_Branches(self._depth))
            if self._dead == 0 and is_dead(line):
                self._dead = len(self._choices)
        elif name in ELSES and self._choices:
            choice = self._choices[-1]
            if self._dead == len(self._choices):
                self._dead = 0
            elif choice.after is None:
                choice.after = self._depth
            self._depth = choice.before
        elif name == "endif" and self._choices:
            choice = self._choices.pop()
            if self._dead > len(self._choices):
                self._dead, self._depth = 0, choice.before
            elif choice.after is not None:
                self._depth = choice.after


@dataclass(slots=True)
class _Branches:
    """How much is open before a condition, and behind its first branch."""

    before: int
    after: int | None = None


def is_dead(line: Sequence[Token]) -> bool:
    """Whether a preprocessor line is `#if 0`."""
    return [token.text for token in line[:3]] == ["if", "0"]


# A backslash before the end of a line joins it with the next, and counts as a blank. An unclosed
# string or comment goes on to the end of its line, or of the file: looking for its end at each of
# several places would take the square of the time.
SCANNER = re.compile(
    r"""
    (?P<newline> \n )
  | (?P<blank>   (?: [^\S\n] | \\\r?\n )+ )
  | (?P<comment> // (?: \\\r?\n | [^\n] )* | /\* .*? (?: \*/ | \Z ) )
  | (?P<string>  (?: u8 | [uUL] )? R"(?P<delimiter> [^()\\\s]{0,16} )\( .*? (?: \)(?P=delimiter)" | \Z )
               | (?: u8 | [uUL] )? " (?: \\\r\n | \\. | [^"\\\n] )*+ "?
               | (?: u8 | [uUL] )? ' (?: \\\r\n | \\. | [^'\\\n] )*+ '? )
  | (?P<number>  \.?\d (?: [eEpP][+-] | '\w | [\w.] )* )
  | (?P<word>    [^\W\d] [\w$]* | \$ [\w$]* )
  | (?P<mark>    :: | -> | \#\# | <= | >= | == | != | && | \|\| | \+\+ | -- | \.\.\. | . )
    """,
    re.VERBOSE | re.DOTALL,
)


def tokenize(text: str) -> tuple[Tokens, list[Directive]]:
    """Cut a file into the tokens outside of preprocessor lines, and these lines.

    Raises
    ------
    NestingError
        If brackets or conditions stand in each other too deep.
    """
    tokens: list[Token] = []
    directives: list[Directive] = []
    line: list[Token] | None = None  # tokens of the preprocessor line
    fresh = True  # nothing but blanks since the line began
    nesting = in_line = _Nesting()
    for match in SCANNER.finditer(text):
        group = match.lastgroup
        if group == "newline":
            if line is not None:
                directives.append(Directive(tuple(line), len(tokens)))
                nesting.choose(line)
                line = None
            fresh = True
        elif group in ("blank", "comment"):
            continue
        elif fresh and line is None and match[0] == "#":
            line, in_line = [], _Nesting()
        else:
            kind = _KINDS[group]
            token = Token(kind, match[0], match.start(), match.end())
            (tokens if line is None else line).append(token)
            if kind is Kind.MARK:
                (nesting if line is None else in_line).step(token)
            fresh = False
    if line is not None:
        directives.append(Directive(tuple(line), len(tokens)))
        nesting.choose(line)
    return without_dead(tokens, directives)


def without_dead(tokens: list[Token], directives: list[Directive]) -> tuple[Tokens, list[Directive]]:
    """Drop the text between `#if 0` and its `#else` or `#endif`: it need not even be C++."""
    living: list[Token] = []
    kept: list[Directive] = []
    begin = 0
    depth = 0  # of the dead `#if` that this is in
    for directive in directives:
        if depth == 0:
            living += tokens[begin : directive.before]
            kept.append(Directive(directive.tokens, len(living)))
            depth = int(is_dead(directive.tokens))
        elif directive.name in IFS:
            depth += 1
        elif directive.name == "endif":
            depth -= 1
            if depth == 0:
                kept.append(Directive(directive.tokens, len(living)))
        elif directive.name in ELSES and depth == 1:
            depth = 0  # the following text is the first branch
        begin = directive.before
    return Tokens(living if depth else living + tokens[begin:]), kept


class UnbalancedError(Exception):
    """A bracket that nothing closes, or opens."""


def closing(tokens: Sequence[Token], opening: int) -> int:
    """Where the bracket at `opening` is closed."""
    if isinstance(tokens, Tokens):
        return _found(tokens.partners[opening], opening + 1, len(tokens))
    return _partner(tokens, opening, len(tokens), 1, CLOSING, OPENING)


def opened(tokens: Sequence[Token], closed: int) -> int:
    """Where the bracket that ends at `closed` begins."""
    if isinstance(tokens, Tokens):
        return _found(tokens.partners[closed], 0, closed)
    return _partner(tokens, closed, -1, -1, OPENING, CLOSING)


def _found(partner: int, begin: int, end: int) -> int:
    if not begin <= partner < end:
        raise UnbalancedError
    return partner


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


def closing_angle(tokens: Sequence[Token], opening: int, end: int | None = None) -> int:
    """Where the template arguments that begin at `opening` end, before `end`."""
    known = tokens if isinstance(tokens, Tokens) else Tokens(tokens)
    return _found(known.angles[opening], opening + 1, len(tokens) if end is None else end)


def opened_angle(tokens: Sequence[Token], closed: int) -> int:
    """Where the template arguments that end at `closed` begin."""
    known = tokens if isinstance(tokens, Tokens) else Tokens(tokens)
    return _found(known.angles[closed], 0, closed)


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
    parts: list[str] = []
    end = -1
    for token in tokens:
        parts.append(token.text if end in (-1, token.start) else f" {token.text}")
        end = token.end
    return "".join(parts)
