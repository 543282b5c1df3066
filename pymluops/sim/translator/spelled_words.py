"""Spells out macros that stand for words of BANG C, as `NRAM` behind `#define NRAM __nram__`.

The preprocessor would replace them behind the translator, which has to see the words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .text import Text, tokens_of
from .tokens import Directive, Kind, Token
from .words import CONSTANT_MEMORY, INLINE_ATTRIBUTES, KERNELS, LOCAL_MEMORY, MEMORIES

_WORDS = frozenset({*MEMORIES, *KERNELS, *INLINE_ATTRIBUTES, LOCAL_MEMORY, CONSTANT_MEMORY})


def with_spelled_words(text: str, name: str, macros: Mapping[str, str] | None = None) -> str:
    """Return a source in which words of BANG C stand where macros stood for them; lines keep their numbers.

    A macro counts that has no parameters and consists of words alone. If it has several
    definitions, the first one with a word of BANG C is meant: the others are for the host.

    Parameters
    ----------
    text
        BANG C.
    name
        The file name of its first lines.
    macros
        Macros from outside of the source, with their values.
    """
    given = {name: value for name, value in (macros or {}).items() if any(word in value for word in _WORDS)}
    if not given and "#" not in text:
        return text
    tokens, directives = tokens_of(text, name)
    known = {name: value for name, value in given.items() if _is_of_bang(tokens_of(value, name)[0])}
    meanings = _meanings(directives, known)
    if not meanings:
        return text
    source = Text(text, name)
    _replace(source, tokens, meanings)
    for directive in directives:
        _replace_in_line(source, directive, meanings)
    return source.result()


def _is_of_bang(body: Sequence[Token]) -> bool:
    return all(token.kind is Kind.WORD for token in body) and any(token.text in _WORDS for token in body)


def _meanings(directives: Iterable[Directive], given: Mapping[str, str]) -> dict[str, str]:
    """Return what macros stand for, by their names; what they consist of is spelled out itself."""
    bodies: dict[str, list[str]] = {name: value.split() for name, value in given.items()}
    for name, body in map(_macro, directives):
        words = [word for token in body for word in bodies.get(token.text, [token.text])]
        if name and name not in bodies and all(token.kind is Kind.WORD for token in body) and _WORDS & set(words):
            bodies[name] = words
    return {name: " ".join(words) for name, words in bodies.items()}


def _macro(directive: Directive) -> tuple[str, Sequence[Token]]:
    """Return the name and the body of a macro without parameters; empty for any other line."""
    if directive.name != "define" or len(directive.tokens) < 3:
        return "", ()
    name, first = directive.tokens[1:3]
    is_function = first.text == "(" and first.start == name.end
    return ("", ()) if is_function else (name.text, directive.tokens[2:])


def _replace(source: Text, tokens: Sequence[Token], meanings: Mapping[str, str]) -> None:
    for i, token in enumerate(tokens):
        if token.text not in meanings or source.is_system(token):
            continue
        pasted = (i > 0 and tokens[i - 1].text in ("#", "##")) or (i + 1 < len(tokens) and tokens[i + 1].text == "##")
        if not pasted:
            source.replace(token, meanings[token.text])


def _replace_in_line(source: Text, directive: Directive, meanings: Mapping[str, str]) -> None:
    """Spell out the body of a macro; of one that is spelled out itself, only the name stays."""
    name, body = _macro(directive)
    if name in meanings and all(token.kind is Kind.WORD for token in body):
        if _WORDS & {word for token in body for word in meanings.get(token.text, token.text).split()}:
            source.edit(body[0].start, body[-1].end, "")
        return
    if directive.name != "define":
        return
    _replace(source, directive.tokens[2:], meanings)
