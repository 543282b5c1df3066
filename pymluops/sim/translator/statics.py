"""Finds variables without a memory that lie in the memory of the device: those that only its functions use."""

from __future__ import annotations

from collections.abc import Sequence

from .declarations import Declaration
from .macros import separators_of
from .scopes import Scope, Walk
from .tokens import Directive, Kind, Tokens, spelled
from .words import INLINE_ATTRIBUTES, KERNELS

#: Words that make up types of numbers, which have no constructors.
_NUMBERS = frozenset(
    {"unsigned", "signed", "char", "short", "int", "long", "float", "double", "half", "bfloat16_t", "bool", "size_t"}
    | {f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)}
)
_ON_DEVICE = INLINE_ATTRIBUTES | KERNELS


def holds_numbers(declaration: Declaration) -> bool:
    """Whether it is `static`, and nothing else, and declares numbers that can change, or arrays of them."""
    specifiers = [token.text for token in declaration.specifiers]
    kinds = [token.text for token in declaration.type]
    plain = all(not declarator.pointer for declarator in declaration.declarators)
    return specifiers == ["static"] and bool(kinds) and set(kinds) <= _NUMBERS and plain


class DeviceUses:
    """Where a file uses its words."""

    def __init__(self, tokens: Tokens, directives: Sequence[Directive]) -> None:
        self._uses: dict[str, list[tuple[int, bool]]] = {}  # by word: the token, and whether a device runs it
        self._in_directives = {token.text for directive in directives for token in directive.tokens}
        begin = -1  # of the statement at file scope
        on_device = False
        for i, level in Walk(tokens, directives, Scope.FILE, separators_of(directives)):
            if level.scope is Scope.FILE and level.start != begin:
                begin = level.start
                on_device = self._is_device_function(tokens, begin)
            if tokens[i].kind is Kind.WORD:
                inside = on_device and level.scope is Scope.FUNCTION
                self._uses.setdefault(tokens[i].text, []).append((i, inside))

    @staticmethod
    def _is_device_function(tokens: Tokens, begin: int) -> bool:
        for i in range(begin, len(tokens)):
            if tokens[i].text in ("{", ";", "="):
                return False
            if tokens[i].text in _ON_DEVICE:
                return True
        return False

    def only(self, declaration: Declaration) -> bool:
        """Whether functions of the device use each variable, and nothing else outside of the declaration."""
        end = declaration.declarators[-1].end
        for declarator in declaration.declarators:
            name = spelled(declarator.name)
            uses = [inside for i, inside in self._uses.get(name, []) if not declaration.begin <= i < end]
            if not uses or not all(uses) or name in self._in_directives:
                return False
        return True
