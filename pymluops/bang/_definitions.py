"""Finds kernels and host functions in a source in BANG C, and puts a description for Python behind each.

The header mluops_module.h defines the description. It stands on the line where the definition ends,
so that lines keep their numbers; the preprocessor drops it with a definition that is not compiled.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from pymluops.sim.translator.macros import macros_of, separators_of
from pymluops.sim.translator.scopes import Level, Scope, Walk
from pymluops.sim.translator.text import Text, quoted, tokens_of
from pymluops.sim.translator.tokens import (
    CLOSING,
    ELSES,
    IFS,
    Directive,
    Kind,
    Token,
    Tokens,
    UnbalancedError,
    closing,
    closing_angle,
    spelled,
)
from pymluops.sim.translator.words import ATTRIBUTES, EXPRESSION_KEYWORDS, KERNELS

#: Definitions with these words are no functions that the host calls.
_NO_HOST_FUNCTION = frozenset(
    {
        *("__mlu_func__", "__mlu_device__", "__mlu_vector__", "__mlu_builtin__", "__mlu_simt__"),
        *("static", "inline", "__inline", "__inline__", "constexpr", "consteval", "typedef", "friend", "using"),
    }
)
#: What a function returns that is no kernel, before its name.
_RESULTS = frozenset({"*", "&", "auto", "bool", "char", "short", "int", "long", "unsigned", "float", "double", "half"})
_NO_NAMES = ATTRIBUTES | EXPRESSION_KEYWORDS | {"noexcept", "throw", "requires", "decltype", "main"}


@dataclass(frozen=True, slots=True)
class Definition:
    """A function that the source defines."""

    name: Token
    at: int  # its number
    end: int  # the number of the last token of the name, which a macro may make: `NAME(add)`
    is_kernel: bool
    template: str  # the text before a template; else empty
    parameters: str  # with their parentheses, without default values


def with_entries(text: str, name: str, *, for_python: bool = True) -> str:
    """Return a source in which each kernel and each host function is followed by its description.

    Parameters
    ----------
    text : str
        BANG C.
    name : str
        The file name of its first lines, unless a `#line` sets another.
    for_python : bool
        If not, only kernels that are no templates are described, so that they can be launched by
        their addresses.
    """
    source = Text(text, name)
    for file in _files(text, name, source, for_python):
        file.run()
    return source.result()


def templates_in(text: str, name: str) -> dict[str, str]:
    """Return the parameters of the kernels that are templates, with their parentheses, by names with namespaces."""
    found: dict[str, str] = {}
    for file in _files(text, name, Text(text, name), for_python=True):
        file.run()
        found |= file.templates
    return found


def _files(text: str, name: str, source: Text, for_python: bool) -> Iterator[_File]:
    tokens, directives = tokens_of(text, name)
    for directive in directives:
        source.note_line(directive.tokens)
    yield _File(source, tokens, directives, Scope.FILE, for_python)
    for macro in macros_of(directives):
        yield _File(source, macro.body, (), Scope.MACRO, for_python)


class _File:
    """The tokens of a file, or of the body of a macro."""

    def __init__(
        self,
        source: Text,
        tokens: Tokens,
        directives: Sequence[Directive],
        scope: Scope,
        for_python: bool,
    ) -> None:
        self._source = source
        self._for_python = for_python
        self._tokens = tokens
        self._directives = directives
        self._scope = scope
        self.templates: dict[str, str] = {}
        self._branches = [d.before for d in directives if d.name in IFS or d.name in ELSES or d.name == "endif"]

    def run(self) -> None:
        waiting: tuple[Definition, Level] | None = None  # whose body is not over
        for i, level in Walk(self._tokens, self._directives, self._scope, separators_of(self._directives)):
            if waiting is not None and level.scope is self._scope:
                self._write(i - 1, *waiting)
                waiting = None
            if waiting is None and self._tokens[i].text == "{" and level.scope is self._scope and level.opening != "(":
                with suppress(UnbalancedError):
                    definition = self._definition(level.start, i)
                    waiting = (definition, level) if definition is not None else None
        if waiting is not None:
            self._write(len(self._tokens) - 1, *waiting)

    def _definition(self, start: int, brace: int) -> Definition | None:
        """Return the function whose body begins at `brace`; None if that is something else."""
        begin = start
        if bisect_right(self._branches, brace) > bisect_right(self._branches, start):
            start = self._branches[bisect_right(self._branches, brace) - 1]
            if not self._is_optional(begin, start):
                return None  # written in two ways, of which the preprocessor takes one
        template = ""
        if self._tokens[start].text == "template" and self._tokens[start + 1].text == "<":
            end = closing_angle(self._tokens, start + 1, brace)
            template = spelled(self._tokens[start : end + 1])
            start = end + 1
        found = self._name_and_parameters(start, brace)
        if found is None:
            return None
        at, name_end, end = found
        words = {token.text for token in self._tokens[begin:at]}
        is_kernel = bool(words & KERNELS)
        if not is_kernel and (template or words & _NO_HOST_FUNCTION or self._scope is Scope.MACRO):
            return None
        if is_kernel and self._tokens[at - 1].text in _RESULTS:
            result = "a pointer" if self._tokens[at - 1].text == "*" else self._tokens[at - 1].text
            raise self._source.error(self._tokens[at - 1], f"a kernel returns void, not {result}")
        parameters = self._parameters(name_end + 1, end)
        if "..." in parameters and not template:
            return None
        return Definition(self._tokens[at], at, name_end, is_kernel, template, parameters)

    def _is_optional(self, begin: int, end: int) -> bool:
        """Whether a definition behind `end` is the same without the tokens: `extern "C"`, `EXPORT`, `DECLARE(int)`."""
        i = begin
        while i < end:
            token = self._tokens[i]
            if token.text in KERNELS or token.text == "template":
                return False
            if token.text in ("(", "["):
                i = closing(self._tokens, i)
            elif token.kind not in (Kind.WORD, Kind.STRING):
                return False
            i += 1
        return i == end

    def _name_and_parameters(self, start: int, brace: int) -> tuple[int, int, int] | None:
        """Where the name of a function begins and ends, and where its parameters end."""
        found: tuple[int, int, int] | None = None
        i = start
        while i < brace:
            text = self._tokens[i].text
            if text in ("=", ":", "operator", "namespace"):
                return None  # a variable, a class with bases, a constructor with its members
            # The text behind the parameters may look like a call too.
            if text == "(" and self._is_name(start, i - 1) and (found is None or self._tokens[i - 2].text != ")"):
                end = closing(self._tokens, i)
                is_macro = end + 1 < brace and self._tokens[end + 1].text == "("
                found = (i - 1, end, closing(self._tokens, end + 1)) if is_macro else (i - 1, i - 1, end)
                i = found[2] + 1
                continue
            i = closing(self._tokens, i) + 1 if text in CLOSING else i + 1
        return found

    def _is_name(self, start: int, i: int) -> bool:
        """Whether the word can be the name of a function: a type comes before it, and no class."""
        return (
            i > start
            and self._tokens[i].kind is Kind.WORD
            and self._tokens[i].text not in _NO_NAMES
            and (self._tokens[i - 1].kind is Kind.WORD or self._tokens[i - 1].text in ("*", "&", ">", "##"))
        )

    def _parameters(self, opening: int, end: int) -> str:
        kept: list[Token] = []
        i = opening
        while i < end:
            if self._tokens[i].text == "=":
                i = self._behind_default(i, end)
                continue
            if self._tokens[i].text in CLOSING and i > opening:
                behind = closing(self._tokens, i) + 1
                kept += self._tokens[i:behind]
                i = behind
                continue
            kept.append(self._tokens[i])
            i += 1
        return re.sub(r" ([,)])", r"\1", spelled([*kept, self._tokens[end]]))

    def _behind_default(self, i: int, end: int) -> int:
        while i < end and self._tokens[i].text != ",":
            if self._tokens[i].text in CLOSING:
                i = closing(self._tokens, i)
            elif self._tokens[i].text == "<" and self._tokens[i - 1].kind is Kind.WORD:
                with suppress(UnbalancedError):
                    i = closing_angle(self._tokens, i, end)
            i += 1
        return i

    def _write(self, last: int, definition: Definition, level: Level) -> None:
        """Put the description behind the token that ends the body."""
        if self._tokens[last].text != "}":
            return
        name = definition.name
        names = [part for part in level.path.split(".") if part not in ("", "_")]
        path = "".join(f"{part}::" for part in names)
        space = quoted(path)
        line = "__LINE__" if self._scope is Scope.MACRO else str(self._source.number_at(name.start))
        spelling = self._spelling(definition.at, definition.end)
        if not self._for_python:
            if not definition.is_kernel:
                return
            kind = "TEMPLATE" if definition.template else "KERNEL"
            call = f"MLUSIM_{kind}({space}, {spelling}, {definition.parameters});"
        elif definition.template:
            head = quoted(definition.template)
            self.templates[f"{path}{spelling}"] = definition.parameters
            call = f"MLUOPS_MODULE_TEMPLATE({line}, {space}, {spelling}, {head}, {definition.parameters});"
        else:
            kind = "KERNEL" if definition.is_kernel else "FUNCTION"
            kind = f"MADE_{kind}" if definition.end > definition.at else kind
            call = f"MLUOPS_MODULE_{kind}({line}, {space}, {spelling}, {definition.parameters});"
        self._source.insert(self._tokens[last].end, f" {call}")

    def _spelling(self, at: int, end: int) -> str:
        """Return the name, with the parts that a macro pastes to it, and its parentheses if it is one."""
        begin = at
        while begin > 1 and self._tokens[begin - 1].text == "##":
            begin -= 2
        return spelled(self._tokens[begin : end + 1])
