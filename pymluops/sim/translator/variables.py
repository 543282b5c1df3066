"""Writes declarations of variables in the memories of a core."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .declarations import Declaration, Declarator
from .scopes import Scope
from .text import Text
from .tokens import Token, spelled
from .words import CONSTANT, CONSTANT_MEMORY, DEVICE, DEVICE_MEMORY, MEMORIES


class Variables:
    """Writes a declaration of variables in a memory."""

    def __init__(
        self,
        text: Text,
        tokens: Sequence[Token],
        declaration: Declaration,
        memory: str,
        scope: Scope,
        path: str | None,  # of the namespace; null in a macro, which may be used in any
        aliases: Mapping[str, str],  # macros that stand for a word, which may be the name of a variable
    ) -> None:
        self._text = text
        self._tokens = tokens
        self._declaration = declaration
        self._memory = memory
        self._scope = scope
        self._path = path
        self._aliases = aliases

    def write(self) -> None:
        """Make the edits."""
        for declarator in self._declaration.declarators:
            self._write(declarator)

    def _write(self, declarator: Declarator) -> None:
        name = spelled(declarator.name)
        name = self._aliases.get(name, name)  # a part of other names, where no macro is replaced
        kind = spelled([*self._declaration.type, *declarator.pointer])
        behind = ""
        if declarator.pointer and not declarator.dimensions and self._is_automatic():
            head = f"{kind} {name}"
        elif declarator.initialised:
            # The numbers may be computed when the library is loaded.
            word = "static" if self._memory in (CONSTANT, DEVICE_MEMORY) else "static constexpr"
            head = f"{word} {kind} mlusim_initial_{name}"
            initial = f"decltype(mlusim_initial_{name})"
            if not any(token.text == "const" for token in declarator.pointer or self._declaration.type):
                initial = f"::mlusim::mlusim_remove_const<{initial}>"
            behind = f"; {self._macro(name, '_INIT')}{initial})"
        elif self._declaration.says("extern"):
            head = f'MLUSIM_EXTERN_ARRAY("{self._path or ""}", {name}, {kind}'
        else:
            head = f"{self._macro(name)}{kind}"
        if self._declaration.alignments and not head.startswith("MLUSIM_EXTERN"):
            alignments = " ".join(f"alignas({spelled(tokens)})" for tokens in self._declaration.alignments)
            behind += f"; MLUSIM_ALIGNED({name}, {alignments})"

        first = self._tokens[declarator.begin]
        self._text.edit(first.start, declarator.name[-1].end, f"; {head}" if first.text == "," else head)
        if head.startswith("MLUSIM"):
            end = (declarator.dimensions or declarator.name)[-1].end
            self._text.insert(end, ")")
        for attribute in declarator.attributes:
            self._text.edit(attribute[0].start, attribute[-1].end, "")
        end = self._tokens[declarator.end - 1].end
        self._text.insert(end, behind)

    def _is_automatic(self) -> bool:
        return self._scope is Scope.FUNCTION and not self._declaration.says("static", "extern")

    def _macro(self, name: str, suffix: str = "") -> str:
        """Return the macro for a definition, with its first arguments."""
        if self._scope is Scope.FUNCTION:
            return f"MLUSIM_LOCAL_ARRAY{suffix}({self._memory}, {name}, "
        if self._path is None:
            return f"MLUSIM_NUMBERED_ARRAY{suffix}({self._memory}, {name}, "
        return f'MLUSIM_ARRAY{suffix}({self._memory}, "{self._path}", {name}, '


def changes_on_device(declaration: Declaration, word: Token, elsewhere: frozenset[str]) -> bool:
    """Whether a declaration at file scope, of which `word` is `__mlu_device__`, makes variables that kernels change.

    The names of `elsewhere` are left out: another source may have such a variable, as a plain one.
    """
    words = [token for token in declaration.specifiers if token.text in (DEVICE, CONSTANT_MEMORY, *MEMORIES)]
    if len(words) != 1 or words[0] is not word or declaration.says("typedef", "extern", "thread_local"):
        return False
    fixed = {token.text for token in declaration.type} & {"const", "constexpr", "template"}
    if fixed - {"const"}:
        return False
    for declarator in declaration.declarators:
        pointer = {token.text for token in declarator.pointer}
        if (fixed and not pointer) or pointer & {"&", "&&", "const"}:
            return False
        if any(token.text in elsewhere for token in declarator.name):
            return False
    return True


def extern_names(tokens: Sequence[Token], memory: str) -> frozenset[str]:
    """Return the words of all declarations `extern` in a memory, names among them."""
    words: set[str] = set()
    if not any(token.text == "extern" for token in tokens):
        return frozenset()
    begin = 0
    for i, token in enumerate(tokens):
        if token.text in (";", "{", "}"):
            statement = {word.text for word in tokens[begin:i]}
            if {"extern", memory} <= statement:
                words |= statement
            begin = i + 1
    return frozenset(words)
