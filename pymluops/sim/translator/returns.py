"""Finds functions that return objects, which the compiler has to inline.

GCC does not announce the store of `memory[i] = f()` where `f` returns a structure and is called.
Inlined, it does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from .tokens import CLOSING, Kind, Token, Tokens, UnbalancedError, closing, closing_angle
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

    attribute: Token  # that makes it a device function
    name: str
    calls: frozenset[str]  # the words of its body


def object_function(tokens: Sequence[Token], begin: int, attribute: int, paren: int) -> ObjectFunction | None:
    """Read the function with its head at `begin` and its parameters at `paren`."""
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
    recursive = _in_circles(calls)
    for function in functions:
        if function.name not in recursive:
            yield function


def _in_circles(edges: Mapping[str, set[str]]) -> set[str]:
    """The nodes of a graph from which a way leads back to them: Tarjan's strongly connected components."""
    found: set[str] = set()
    numbers: dict[str, int] = {}  # in the order of the visits
    lowest: dict[str, int] = {}  # that can be reached and is still open
    opened: dict[str, None] = {}
    for root in edges:
        way = [] if root in numbers else [(root, iter(sorted(edges[root])))]
        while way:
            node, rest = way[-1]
            if node not in numbers:
                numbers[node] = lowest[node] = len(numbers)
                opened[node] = None
            following = next(rest, None)
            if following is None:
                way.pop()
                if way:
                    lowest[way[-1][0]] = min(lowest[way[-1][0]], lowest[node])
                if lowest[node] == numbers[node]:
                    found |= _component(opened, node, edges)
            elif following not in numbers:
                way.append((following, iter(sorted(edges[following]))))
            elif following in opened:
                lowest[node] = min(lowest[node], numbers[following])
    return found


def _component(opened: dict[str, None], node: str, edges: Mapping[str, set[str]]) -> set[str]:
    """Close the component of a node; return its members if they reach themselves."""
    members = {opened.popitem()[0]}
    while node not in members:
        members.add(opened.popitem()[0])
    return members if len(members) > 1 or node in edges[node] else set()


def _first_of_name(head: Sequence[Token], name: int) -> int:
    """Where a name begins that may be qualified."""
    while name > 1 and head[name - 1].text == "::" and head[name - 2].kind is Kind.WORD:
        name -= 2
    return name


def _without_brackets(tokens: Sequence[Token]) -> Iterator[Token]:
    """The tokens without attributes and without parameters and arguments of templates."""
    tokens = Tokens(tokens)
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
