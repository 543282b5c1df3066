"""Keeps track of open brackets, and by them of the scope of each token."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from .tokens import (
    CLOSING,
    ELSES,
    IFS,
    OPENING,
    Directive,
    Kind,
    Token,
    Tokens,
    UnbalancedError,
    closing,
    closing_angle,
)
from .words import ATTRIBUTES, CLASS_KEYS


class Scope(Enum):
    """The scope that declarations belong to."""

    FILE = "at file scope"
    CLASS = "in a class"
    FUNCTION = "in a function"
    MACRO = "in a macro"  # outside of its own braces


@dataclass(frozen=True, slots=True)
class Level:
    """A bracket that is open, or the file."""

    opening: str
    scope: Scope
    start: int  # first token of the statement
    path: str = ""  # names of the namespaces, each with a dot behind; an underscore for one without a name
    kinds: frozenset[str] = frozenset()  # of the brackets that are open, this one among them


def open_brace(level: Level, head: Sequence[Token], inside: int) -> Level:
    """Return the level inside a brace that stands behind `head`, which is all of the statement so far."""
    outside = list(outside_brackets(head))
    texts = [token.text for token in outside]
    kinds = level.kinds | {"{"}
    if level.scope in (Scope.FILE, Scope.MACRO) and level.opening != "(":
        if "namespace" in texts:
            names = [token.text for token in outside[texts.index("namespace") + 1 :] if token.kind is Kind.WORD]
            path = "".join(f"{name}." for name in names or ["_"] if name != "inline")
            return Level("{", Scope.FILE, inside, level.path + path, kinds)
        # Macros may stand before it without a semicolon.
        if len(texts) > 1 and texts[-2] == "extern" and outside[-1].kind is Kind.STRING:
            return Level("{", level.scope, inside, level.path, kinds)
    is_class = level.opening in ("", "{") and _is_class(texts)
    scope = Scope.CLASS if is_class else Scope.FUNCTION
    return Level("{", scope, inside, level.path, kinds)


def outside_brackets(tokens: Sequence[Token]) -> Iterator[Token]:
    """The tokens outside of brackets and of template parameters; of each pair of brackets the opening one stays."""
    tokens = Tokens(tokens)
    i = 0
    while i < len(tokens):
        yield tokens[i]
        try:
            if tokens[i].text in CLOSING:
                i = closing(tokens, i)
            elif tokens[i].text == "template" and i + 1 < len(tokens) and tokens[i + 1].text == "<":
                i = closing_angle(tokens, i + 1)
        except UnbalancedError:
            return
        i += 1


def _is_class(texts: Sequence[str]) -> bool:
    """Whether a brace behind these tokens holds the members of a class or an enumeration."""
    key = next((i for i, text in enumerate(texts) if text in CLASS_KEYS), len(texts))
    base = texts.index(":", key) if ":" in texts[key:] else len(texts)
    # `struct S f() {` is a function, and `struct S s = {` a variable.
    function = any(texts[i] == "(" and texts[i - 1] not in ATTRIBUTES for i in range(key, base))
    return key < len(texts) and not function and "=" not in texts


class Walk:
    """Goes through tokens and knows which brackets are open; behind an `#if`, as at the end of its first branch.

    `separators` are words that are no part of the declaration behind them; see `separators_of`.
    """

    def __init__(
        self,
        tokens: Sequence[Token],
        directives: Sequence[Directive],
        scope: Scope,
        separators: Collection[str] = (),
    ) -> None:
        self._tokens = tokens
        self._directives = directives
        self._separators = separators
        self._levels = [Level("", scope, 0)]
        self._choices: list[_Choice] = []

    def __iter__(self) -> Iterator[tuple[int, Level]]:
        """Each token, by its number, and the level that it stands in."""
        directives = iter([*self._directives, None])
        directive = next(directives)
        for i in range(len(self._tokens)):
            while directive is not None and directive.before <= i:
                self._choose(directive)
                directive = next(directives)
            yield i, self._levels[-1]
            self._step(i)

    def _choose(self, directive: Directive) -> None:
        at = directive.before
        if directive.name in IFS:
            self._choices.append(_Choice(list(self._levels)))
        elif directive.name in ELSES and self._choices:
            choice = self._choices[-1]
            if choice.after is None:
                choice.after, choice.end = self._levels, at
            self._levels = list(choice.before)
            self._begin_statement(at)
        elif directive.name == "endif" and self._choices:
            choice = self._choices.pop()
            if choice.after is not None:
                self._levels = choice.after
                if self._levels[-1].start == choice.end:
                    self._begin_statement(at)

    def _begin_statement(self, i: int) -> None:
        level = self._levels[-1]
        self._levels[-1] = Level(level.opening, level.scope, i, level.path, level.kinds)

    def _step(self, i: int) -> None:
        text = self._tokens[i].text
        level = self._levels[-1]
        if text == "{":
            self._levels.append(open_brace(level, self._tokens[level.start : i], i + 1))
        elif text in CLOSING:
            self._levels.append(Level(text, level.scope, i + 1, level.path, level.kinds | {text}))
        elif text in OPENING:
            self._close(OPENING[text], i)
        elif text == ";" or (text == ":" and self._is_label(level.start, i)) or self._is_separator(level, i):
            self._begin_statement(i + 1)

    def _is_separator(self, level: Level, i: int) -> bool:
        return i == level.start and level.scope is Scope.FILE and self._tokens[i].text in self._separators

    def _close(self, opening: str, i: int) -> None:
        if opening not in self._levels[-1].kinds:
            return
        # Branches of the preprocessor may leave brackets that nothing closes.
        while self._levels.pop().opening != opening:
            pass
        if opening == "{":
            self._begin_statement(i + 1)

    def _is_label(self, start: int, i: int) -> bool:
        before = self._tokens[i - 1] if i > start else None
        return before is not None and (
            before.text in ("public", "private", "protected", "default")
            or self._tokens[start].text == "case"
            or (i == start + 1 and before.kind is Kind.WORD)
        )


@dataclass(slots=True)
class _Choice:
    """An `#if` whose `#endif` is still to come."""

    before: list[Level]
    after: list[Level] | None = None  # behind the first branch
    end: int = 0  # token behind the first branch
