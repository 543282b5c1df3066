"""Gives a macro that declares variables a second name for its uses in functions.

A variable on chip takes another form at file scope than in a function, so a macro that is used in
both places needs two bodies. The copy stands on the line behind the macro, and a `#line` restores
the numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from .macros import Macro, MacroUses, macros_of
from .names import PREFIX
from .scopes import Scope, Walk
from .text import Text, quoted, tokens_of
from .tokens import Directive, Kind, Token, Tokens, UnbalancedError, closing
from .words import MEMORIES


def with_split_macros(text: str, name: str) -> str:
    """Return a source in which no macro declares variables on chip both at file scope and in functions.

    Lines keep their numbers.

    Parameters
    ----------
    text
        BANG C.
    name
        The file name of its first lines.
    """
    if "define" not in text:
        return text
    tokens, directives = tokens_of(text, name)
    macros = macros_of(directives)
    declaring = _declaring(macros)
    if not declaring:
        return text
    uses = MacroUses(tokens, directives, macros)
    places = {each: uses.scopes(each) for each in declaring}
    both = {each for each, scopes in places.items() if Scope.FUNCTION in scopes and Scope.FILE in scopes}
    if not both:
        return text
    source = Text(text, name)
    for directive in directives:
        source.note_line(directive.tokens)
    for i, level in Walk(tokens, directives, Scope.FILE):
        if tokens[i].text in both and level.scope is Scope.FUNCTION:
            source.replace(tokens[i], PREFIX + tokens[i].text)
    for macro in macros:
        outside = macro.name not in both and uses.scopes(macro.name) == {Scope.FUNCTION}
        for token in _renamed(macro, both, outside=outside):
            source.replace(token, PREFIX + token.text)
    for directive in directives:
        if directive.name in ("define", "undef") and len(directive.tokens) > 1 and directive.tokens[1].text in both:
            _copy(source, directive, both, macros)
    return source.result()


def names_declared_by(tokens: Tokens, macros: Sequence[Macro]) -> set[str]:
    """Return the words among the arguments of macros that declare variables on chip."""
    declaring = _declaring(macros)
    found: set[str] = set()
    for i, token in enumerate(tokens[:-1]):
        if token.text in declaring and tokens[i + 1].text == "(":
            with suppress(UnbalancedError):
                found |= {each.text for each in tokens[i + 2 : closing(tokens, i + 1)] if each.kind is Kind.WORD}
    return found


def _declaring(macros: Sequence[Macro]) -> set[str]:
    """Return the names of macros that declare variables on chip outside of braces of their own."""
    found: set[str] = set()
    users: dict[str, set[str]] = {}
    for macro in macros:
        for i, level in Walk(macro.body, (), Scope.MACRO):
            if level.scope is not Scope.MACRO:
                continue
            users.setdefault(macro.body[i].text, set()).add(macro.name)
            if macro.body[i].text in MEMORIES and level.opening not in ("(", "["):
                found.add(macro.name)
    waiting = list(found)
    while waiting:
        fresh = users.get(waiting.pop(), set()) - found
        found |= fresh
        waiting += fresh
    return found


def _renamed(macro: Macro, both: set[str], *, outside: bool) -> Iterator[Token]:
    """The uses of macros in a body that mean their copies: those in functions, and if told so, those outside too."""
    for i, level in Walk(macro.body, (), Scope.MACRO):
        inside = level.scope is Scope.FUNCTION or (level.scope is Scope.MACRO and outside)
        if macro.body[i].text in both and inside:
            yield macro.body[i]


def _copy(source: Text, directive: Directive, both: set[str], macros: Sequence[Macro]) -> None:
    """Put a definition for functions behind a macro, or its end behind an `#undef`."""
    name, last = directive.tokens[1], directive.tokens[-1]
    end = source.text.find("\n", last.end)
    if end < 0:
        return
    starts = {macro.body[0].start: macro for macro in macros if macro.body}
    macro = next((starts[token.start] for token in directive.tokens if token.start in starts), None)
    renamed = [] if macro is None else [token.start for token in _renamed(macro, both, outside=True)]
    parts: list[str] = []
    at = name.end
    for start in renamed:
        parts += (source.text[at:start], PREFIX)
        at = start
    body = re.sub(r"\\\r?\n", " ", "".join([*parts, source.text[at : last.end]]))
    line = source.line_of(end)
    number = source.number_at(end) + 1
    source.insert(end, f"\n#{directive.name} {PREFIX}{name.text}{body}\n#line {number} {quoted(line.file)}")
