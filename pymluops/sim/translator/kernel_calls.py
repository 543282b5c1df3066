"""Finds kernels that are called like functions, and launches of functions that are no kernels.

A name that is declared in two ways (a kernel and a function of the host, a variable, a macro) is
left to the compiler: which of them is meant, overload resolution decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .library_names import C_NAMES, STD_NAMES
from .macros import Macro
from .scopes import Level, Scope, Walk
from .text import Text
from .tokens import Directive, Kind, Token, Tokens, UnbalancedError, closing, closing_angle, is_run
from .words import ATTRIBUTES, EXPRESSION_KEYWORDS, INLINE, INLINE_ATTRIBUTES, KERNELS

#: Words that an expression can follow, so that a word behind them is not declared.
_OPERATORS = EXPRESSION_KEYWORDS | {"and", "or", "not", "new", "delete", "sizeof", "goto", "co_await", "co_yield"}
#: Words before the name of a function that is certainly none of a kernel.
_PLAIN = frozenset(
    {"void", "bool", "char", "short", "int", "long", "float", "double", "half", "unsigned", "signed", "const", "static"}
    | {"extern", "constexpr", "__mlu_host__", *INLINE, *INLINE_ATTRIBUTES}
)


class Declared:
    """What the functions of a source are, by their names."""

    def __init__(self, tokens: Tokens, directives: Sequence[Directive], macros: Sequence[Macro]) -> None:
        self._kernels: set[str] = set()
        self._functions: set[str] = set()
        self._others = {d.tokens[1].text for d in directives if d.name == "define" and len(d.tokens) > 1}
        parts = [(tokens, directives, Scope.FILE), *((macro.body, (), Scope.MACRO) for macro in macros)]
        for part, lines, scope in parts:
            self._read(part, lines, scope)
        self._others |= C_NAMES | STD_NAMES

    def _read(self, tokens: Tokens, directives: Sequence[Directive], scope: Scope) -> None:
        names: set[int] = set()  # of kernels
        for i, level in Walk(tokens, directives, scope):
            token = tokens[i]
            if token.text in KERNELS:
                name = _name_behind(tokens, i)
                if name is not None:
                    names.add(name)
                    self._kernels.add(tokens[name].text)
            elif token.kind is Kind.WORD and i not in names and _is_declared(tokens, i, level):
                is_function = level.scope is Scope.FILE and _is_plain_function(tokens, level.start, i)
                (self._functions if is_function else self._others).add(token.text)

    def is_kernel(self, name: str) -> bool:
        """Whether the name stands for kernels alone."""
        return name in self._kernels and name not in self._functions and name not in self._others

    def is_function(self, name: str) -> bool:
        """Whether the name stands for functions alone that are no kernels."""
        return name in self._functions and name not in self._kernels and name not in self._others

    def refuse_calls(self, source: Text, tokens: Tokens, directives: Sequence[Directive], scope: Scope) -> None:
        """Refuse kernels that are called without a launch.

        Raises
        ------
        TranslationError
            About the first of them.
        """
        for i in self._calls(source, tokens, directives, scope):
            name = tokens[i].text
            raise source.error(
                tokens[i], f"`{name}` is a kernel, and no function to call: write `{name}<<<dim, type, queue>>>(...)`"
            )

    def _calls(self, source: Text, tokens: Tokens, directives: Sequence[Directive], scope: Scope) -> Iterator[int]:
        for i, level in Walk(tokens, directives, scope):
            if tokens[i].kind is not Kind.WORD or not self.is_kernel(tokens[i].text):
                continue
            before = tokens[i - 1] if i > 0 else None
            is_word = before is not None and before.kind is Kind.WORD and before.text not in _OPERATORS
            is_part = before is not None and before.text in (".", "->", "#", "##", "~")
            inside = level.scope is Scope.FUNCTION or (level.scope is Scope.MACRO and before is not None)
            if inside and not is_word and not is_part and _is_called(tokens, i) and not source.is_system(tokens[i]):
                yield i


def _is_called(tokens: Tokens, i: int) -> bool:
    """Whether parentheses follow a name, perhaps behind template arguments."""
    at = i + 1
    if at < len(tokens) and tokens[at].text == "<" and not is_run(tokens, at, "<", 3):
        try:
            at = closing_angle(tokens, at) + 1
        except UnbalancedError:
            return False
    return at < len(tokens) and tokens[at].text == "("


_NO_NAME = {";", "{", "}", "=", *KERNELS}


def _name_behind(tokens: Tokens, i: int) -> int | None:
    """Where the name of the function stands whose words begin before `i`; None if a macro makes it.

    Also None before another of these words, whose name it is: looking for it from each of many
    would take the square of their number.
    """
    at = i + 1
    while at < len(tokens) and tokens[at].text not in _NO_NAME:
        if tokens[at].text == "(" and tokens[at - 1].text not in ATTRIBUTES:
            name = at - 1
            if tokens[name].text == ">":
                return None  # an instance; the template is declared elsewhere
            try:
                behind = closing(tokens, at) + 1
            except UnbalancedError:
                return None
            is_made = behind < len(tokens) and tokens[behind].text == "("
            return name if tokens[name].kind is Kind.WORD and not is_made else None
        if tokens[at].text == "(":
            try:
                at = closing(tokens, at)
            except UnbalancedError:
                return None
        at += 1
    return None


def _is_declared(tokens: Tokens, i: int, level: Level) -> bool:
    """Whether a type seems to stand before a word."""
    before = tokens[i - 1] if i > level.start else None
    if before is None:
        return False
    called = i + 1 < len(tokens) and tokens[i + 1].text == "("
    if before.text in ("*", "&", "&&", ">"):
        return not called or level.scope in (Scope.FILE, Scope.CLASS)
    return before.kind is Kind.WORD and before.text not in _OPERATORS


def _is_plain_function(tokens: Sequence[Token], start: int, name: int) -> bool:
    """Whether all words from the start of a declaration to its name are known, and parameters follow."""
    if name + 1 >= len(tokens) or tokens[name + 1].text != "(" or start == name:
        return False
    return all(
        token.text in _PLAIN or token.text in ("*", "&") or token.kind is Kind.STRING for token in tokens[start:name]
    )
