"""Finds functions that return objects, which the compiler has to inline.

GCC does not announce the store of `memory[i] = f()` where `f` returns a structure and is called. Inlined, it does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .tokens import CLOSING, Kind, Token, UnbalancedError, closing, closing_angle
from .words import ATTRIBUTES, INLINE, INLINE_ATTRIBUTES, KERNELS

#: Defined by mlusim_source.h.
INLINED = "MLUSIM_INLINED"
_NO_TYPES = frozenset(
    {"static", "extern", "constexpr", "virtual", "explicit", "friend", "const", "volatile", "typename", "struct"}
    | {"class", "union", "__mlu_host__", "__mlu_builtin__", INLINED, *INLINE, *INLINE_ATTRIBUTES, *KERNELS}
)
_SCALARS = frozenset(
    {"void", "bool", "char", "short", "int", "long", "unsigned", "signed", "float", "double", "half", "wchar_t"}
    | {"std", "size_t", "ssize_t", "ptrdiff_t", "intptr_t", "uintptr_t", "enum"}
    | {f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)}
)


@dataclass(frozen=True, slots=True)
class ObjectFunction:
    """The definition of a function that returns an object, or may do so."""

    attribute: Token  # what says that it runs on the device
    name: str
    calls: frozenset[str]  # the words of its body


def object_function(tokens: Sequence[Token], begin: int, attribute: int, paren: int) -> ObjectFunction | None:
    """Read the function whose head begins at `begin` and whose parameters begin at `paren`."""
    head = list(_without_brackets(tokens[begin:paren]))
    operator = next((i for i, token in enumerate(head) if token.text == "operator"), None)
    name = operator if operator is not None else len(head) - 1
    first = _first_of_name(head, name)
    result = [token.text for token in head[: max(first, 0)] if token.text not in _NO_TYPES]
    types = [text for text in result if text.isidentifier()]
    if not types or {"*", "&", "&&"} & set(result) or _SCALARS.issuperset(types):
        return None
    body = _body(tokens, paren)
    if body is None or any(token.text == "..." for token in tokens[paren : body[0]]):
        return None
    words = [token.text for token in tokens[body[0] : body[1]]]
    if operator is not None and any(words[i : i + 3] == ["this", ")", "("] for i in range(len(words))):
        return None  # operator() that calls itself
    called = "operator" if operator is not None else head[name].text
    return ObjectFunction(tokens[attribute], called, frozenset(words) - {"operator"})


def not_recursive(functions: Sequence[ObjectFunction]) -> Iterator[ObjectFunction]:
    """Leave out functions that call themselves, directly or through others of the list: GCC cannot inline them."""
    calls: dict[str, set[str]] = {}
    for function in functions:
        calls.setdefault(function.name, set()).update(function.calls)
    for name, words in calls.items():
        calls[name] = words & calls.keys()
    for function in functions:
        reached: set[str] = set()
        left = set(calls[function.name])
        while left:
            called = left.pop()
            reached.add(called)
            left |= calls[called] - reached
        if function.name not in reached:
            yield function


def _first_of_name(head: Sequence[Token], name: int) -> int:
    """Where a name begins that may be qualified."""
    while name > 1 and head[name - 1].text == "::" and head[name - 2].kind is Kind.WORD:
        name -= 2
    return name


def _without_brackets(tokens: Sequence[Token]) -> Iterator[Token]:
    """The tokens without attributes and without what is a parameter or argument of a template."""
    i = 0
    while i < len(tokens):
        text = tokens[i].text
        if text == "<" and i > 0 and tokens[i - 1].kind is Kind.WORD and tokens[i - 1].text != "operator":
            try:
                i = closing_angle(tokens, i) + 1
            except UnbalancedError:
                return
        elif text in ATTRIBUTES or text == "template":
            i += 1
        elif text in CLOSING:
            i = closing(tokens, i) + 1
        else:
            yield tokens[i]
            i += 1


def _body(tokens: Sequence[Token], paren: int) -> tuple[int, int] | None:
    """The braces behind the parameters; None for a declaration."""
    i = closing(tokens, paren) + 1
    while i < len(tokens) and tokens[i].text not in (";", "{", "}", "="):
        i = closing(tokens, i) + 1 if tokens[i].text in CLOSING else i + 1
    if i >= len(tokens) or tokens[i].text != "{":
        return None
    return i, closing(tokens, i)
