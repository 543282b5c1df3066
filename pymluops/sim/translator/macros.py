"""The macros of a source, and the scopes that they are used in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .scopes import Scope, Walk
from .tokens import Directive, Token, Tokens, UnbalancedError, closing


@dataclass(frozen=True, slots=True)
class Macro:
    """A macro that the file defines."""

    name: str
    body: Tokens


def value_of(literal: str) -> str:
    """The value of a string in the source; of its escapes, only blanks are understood."""
    prefix, quoted = literal.split('"', 1) if '"' in literal else ("", literal)
    if prefix.endswith("R"):
        return quoted.partition("(")[2].rpartition(")")[0]
    return re.sub(r"\\(.)", lambda escape: {"n": "\n", "t": "\t"}.get(escape[1], escape[1]), quoted[:-1])


def is_definition(directive: Directive) -> bool:
    """Whether it defines a macro."""
    return directive.name == "define" and len(directive.tokens) > 1


def macros_of(directives: Iterable[Directive]) -> list[Macro]:
    """Every macro that has a body."""
    macros: list[Macro] = []
    for directive in directives:
        if directive.name != "define" or len(directive.tokens) < 3:
            continue
        name, first = directive.tokens[1:3]
        body = directive.tokens[2:]
        if first.text == "(" and first.start == name.end:
            try:
                body = body[closing(body, 0) + 1 :]
            except UnbalancedError:
                continue
        macros.append(Macro(name.text, Tokens(body)))
    return macros


def aliases_of(directives: Iterable[Directive]) -> dict[str, str]:
    """Return the macros that stand for one other word, always the same one, and that word."""
    bodies: dict[str, set[str]] = {}
    for directive in directives:
        if directive.name in ("define", "undef") and len(directive.tokens) > 1:
            bodies.setdefault(directive.tokens[1].text, set()).add(" ".join(t.text for t in directive.tokens[2:]))
    words = {name: next(iter(found)) for name, found in bodies.items() if len(found) == 1}
    aliases: dict[str, str] = {}
    for name in words:
        word, seen = name, {name}
        while word in words and words[word] not in seen:
            word = words[word]
            seen.add(word)
        if word != name and re.fullmatch(r"[^\W\d]\w*", word):
            aliases[name] = word
    return aliases


def separators_of(directives: Iterable[Directive]) -> frozenset[str]:
    """Macros without parameters that stand alone before a declaration: they open or close a block, or are empty."""
    separators = {"__BEGIN_DECLS", "__END_DECLS"}  # of <sys/cdefs.h>, which translators of headers do not see
    others: set[str] = set()
    for directive in directives:
        if not is_definition(directive):
            continue
        name, *body = directive.tokens[1:]
        alone = not body or (body[0].start > name.end and any(token.text in ("{", "}", ";") for token in body))
        (separators if alone else others).add(name.text)
    return frozenset(separators - others)


class MacroUses:
    """Where the macros of a file are used."""

    def __init__(self, tokens: Sequence[Token], directives: Sequence[Directive], macros: Sequence[Macro]) -> None:
        self._scopes: dict[str, set[Scope]] = {macro.name: set() for macro in macros}
        self._users: dict[str, set[str]] = {macro.name: set() for macro in macros}
        for i, level in Walk(tokens, directives, Scope.FILE):
            if tokens[i].text in self._scopes:
                self._scopes[tokens[i].text].add(level.scope)
        for macro in macros:
            for i, level in Walk(macro.body, (), Scope.MACRO):
                name = macro.body[i].text
                if name in self._scopes and level.scope is Scope.MACRO:
                    self._users[name].add(macro.name)
                elif name in self._scopes:
                    self._scopes[name].add(level.scope)

        self._spread()

    def _spread(self) -> None:
        """Have a macro used where others are that use it."""
        used: dict[str, set[str]] = {name: set() for name in self._users}
        for name, users in self._users.items():
            for user in users:
                used[user].add(name)
        waiting = list(used)
        while waiting:
            user = waiting.pop()
            for name in used[user]:
                if not self._scopes[user] <= self._scopes[name]:
                    self._scopes[name] |= self._scopes[user]
                    waiting.append(name)

    def scopes(self, name: str) -> set[Scope]:
        """Where a macro is used, itself or by way of others."""
        return self._scopes[name]
