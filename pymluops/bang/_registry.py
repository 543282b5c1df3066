"""Reads the descriptions of kernels and functions from a compiled library; see mluops_module.h."""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pymluops.errors import ExecutionFailedError, NotInitializedError
from pymluops.sim.translator import PREFIX
from pymluops.sim.translator.tokens import (
    CLOSING,
    Kind,
    Token,
    Tokens,
    UnbalancedError,
    closing,
    closing_angle,
    spelled,
    tokenize,
)

__all__ = ["CType", "Entry", "Parameter", "Signature", "read_entries"]

#: The enumeration Kind.
OTHER, VOID, BOOL, SIGNED, UNSIGNED, FLOAT, BFLOAT16 = range(7)
#: The enumeration Definition.
KERNEL, FUNCTION, TEMPLATE = range(3)


class CType(NamedTuple):
    """The type of a value, or of a pointer's target."""

    kind: int
    pointers: int
    is_const: bool
    is_char: bool
    copyable: bool
    size: int


class Parameter(NamedTuple):
    """A parameter, as the source writes it."""

    name: str
    type: str

    def __str__(self) -> str:
        return f"{self.type}{'' if self.type.endswith('*') else ' '}{self.name}".rstrip()


class Signature(NamedTuple):
    """A kernel or function, as the source writes it.

    Attributes
    ----------
    name : str
        With its namespaces.
    parameters : tuple of Parameter
        Their names and types.
    template : str
        ``template <typename T>`` and the like; empty if it is no template.
    file, line : str, int
        Where it is defined.
    """

    name: str
    parameters: tuple[Parameter, ...]
    template: str
    file: str
    line: int

    def __str__(self) -> str:
        text = f"{self.name}({', '.join(map(str, self.parameters))})"
        return f"{self.template} {text}" if self.template else text


@dataclass(frozen=True)
class Entry:
    """A definition in a library."""

    definition: int
    signature: Signature
    types: tuple[CType, ...]  # of the parameters
    result: CType | None  # None for templates
    address: int  # of the function that launches or calls it; 0 if values for it cannot be made
    written: str  # the parameters


class _CType(ctypes.Structure):
    _fields_ = (
        ("kind", ctypes.c_int),
        ("pointers", ctypes.c_int),
        ("is_const", ctypes.c_int),
        ("is_char", ctypes.c_int),
        ("copyable", ctypes.c_int),
        ("size", ctypes.c_uint),
    )


class _CEntry(ctypes.Structure):
    pass


_CEntry._fields_ = (
    ("definition", ctypes.c_int),
    ("count", ctypes.c_int),
    ("name", ctypes.c_char_p),
    ("head", ctypes.c_char_p),
    ("parameters", ctypes.c_char_p),
    ("file", ctypes.c_char_p),
    ("line", ctypes.c_int),
    ("types", ctypes.POINTER(_CType)),
    ("launch", ctypes.c_void_p),
    ("call", ctypes.c_void_p),
    ("next", ctypes.POINTER(_CEntry)),
)


def read_entries(path: Path) -> list[Entry]:
    """Load a library, and return its definitions in the order of its sources.

    Raises
    ------
    NotInitializedError
        If it cannot be loaded.
    ExecutionFailedError
        If a C++ exception leaves the constructor of a global object.
    """
    try:
        library = ctypes.CDLL(str(path))
        start, first = library.mluops_module_start, library.mluops_module_first
    except (OSError, AttributeError) as error:
        # Broken, or compiled for a simulator that is no longer there.
        raise NotInitializedError(f"the compiled library cannot be used: {error}") from None
    text = ctypes.c_char_p()
    if start(ctypes.byref(text)):
        raise ExecutionFailedError(f"an exception left the constructor of a global object: {_text(text.value)}")
    first.restype = ctypes.POINTER(_CEntry)
    found: list[Entry] = []
    at = first()
    while at:
        found.append(_entry(at.contents))
        at = at.contents.next
    return found


def _text(value: bytes | None) -> str:
    return (value or b"").decode("utf-8", "replace")


def _entry(c: _CEntry) -> Entry:
    written = _text(c.parameters).replace(PREFIX, "")
    signature = Signature(_text(c.name), parameters_of(written), _text(c.head), _text(c.file), c.line)
    if c.definition == TEMPLATE:
        return Entry(c.definition, signature, (), None, 0, written)
    types = tuple(_c_type(c.types[i]) for i in range(c.count + 1))
    if len(signature.parameters) != c.count:  # of a member function, or with parameters out of a macro
        named = [Parameter(f"argument {i + 1}", _type_text(c_type)) for i, c_type in enumerate(types[:-1])]
        signature = signature._replace(parameters=tuple(named))
    address = c.launch if c.definition == KERNEL else c.call
    return Entry(c.definition, signature, types[:-1], types[-1], address or 0, written)


def _c_type(c: _CType) -> CType:
    return CType(c.kind, c.pointers, bool(c.is_const), bool(c.is_char), bool(c.copyable), c.size)


def _type_text(c_type: CType) -> str:
    """Return a type as a source might write it."""
    bits = c_type.size * 8
    text = {
        VOID: "void", BOOL: "bool", SIGNED: f"int{bits}_t", UNSIGNED: f"uint{bits}_t", BFLOAT16: "bfloat16_t",
        FLOAT: {16: "half", 32: "float"}.get(bits, "double"),
    }.get(c_type.kind, f"structure of {c_type.size} bytes")  # fmt: skip
    return f"{'const ' if c_type.is_const else ''}{text}{' ' if c_type.pointers else ''}{'*' * c_type.pointers}"


def parameters_of(written: str) -> tuple[Parameter, ...]:
    """Take the parameters of a function apart."""
    tokens, _ = tokenize(written)
    parts = _split(tokens[1:-1])
    return tuple(_parameter(part, i) for i, part in enumerate(parts) if spelled(part) != "void")


def _split(tokens: list[Token]) -> list[list[Token]]:
    """Divide at the commas that are in no brackets."""
    parts: list[list[Token]] = [[]]
    tokens = Tokens(tokens)
    i = 0
    while i < len(tokens):
        end = i
        try:
            if tokens[i].text in CLOSING:
                end = closing(tokens, i)
            elif tokens[i].text == "<" and parts[-1]:
                end = closing_angle(tokens, i)
        except UnbalancedError:
            end = i
        if tokens[i].text == ",":
            parts.append([])
        else:
            parts[-1] += tokens[i : end + 1]
        i = end + 1
    return [part for part in parts if part]


_TYPE_WORDS = re.compile(
    r"^(?:const|volatile|unsigned|signed|void|bool|char|short|int|long|float|double|half|struct|enum|__restrict__"
    r"|__restrict|\w+_t)$"
)


def _parameter(tokens: list[Token], number: int) -> Parameter:
    # The name is the last word outside of brackets, if a type comes before it.
    at = len(tokens) - 1
    while at > 0 and tokens[at].text == "]":
        at = next(i for i in range(at, -1, -1) if tokens[i].text == "[") - 1
    is_name = at > 0 and tokens[at].kind is Kind.WORD and not _TYPE_WORDS.match(tokens[at].text)
    if not is_name or tokens[at - 1].text in ("::", "<"):
        return Parameter(f"argument {number + 1}", spelled(tokens))
    return Parameter(tokens[at].text, spelled([*tokens[:at], *tokens[at + 1 :]]))
