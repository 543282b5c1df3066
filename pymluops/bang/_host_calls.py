"""Finds calls of the host's functions in kernels: a card has no C library, no files and no processes.

What a kernel calls stands in its object file: functions that the object lacks are reached from the
functions that the simulator starts kernels with, over the relocations of the code. A function of
the C library is refused unless BANG C has it, and so is a function of CNRT. What belongs to the
language stays: mathematics, `printf`, what compilers call themselves, and the C++ library, whose
exceptions are findings of the launch.
"""

from __future__ import annotations

import os
import re
import struct
import subprocess
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from shutil import which
from typing import NamedTuple

__all__ = ["are_allowed", "calls_of_functions", "host_calls", "reached_by_kernels"]

#: The macro that lets kernels call functions of the host: they are findings of the launch then.
_ALLOWED = re.compile(r"(?:-D)?MLUOPS_HOST_FUNCTIONS(?:=.*)?", re.DOTALL)

#: The functions that a launch, or the description of a kernel, calls the kernel with.
_LAUNCHED = re.compile(rb"_ZZN6mlusim(?:13mlusim_launch|15mlusim_calls_of)I.*(?:4_FUN|8__invoke)E.*", re.DOTALL)
#: The names that mlusim/process.h gives functions that would end, copy or leave the process.
_RENAMED = re.compile(r"mlusim_(_?exit|_Exit|quick_exit|abort|fork|longjmp|pthread_exit)")
_OF_RUNTIME = re.compile(r"cnrt[A-Z]\w*|cn[A-Z]\w*|cnnl[A-Z]\w*")
#: Functions of the C library that BANG C has, or that compilers call of their own accord.
_OF_LANGUAGE = frozenset(
    {"printf", "vprintf", "puts", "putchar", "memcpy", "memmove", "memset", "memcmp", "strcmp", "strlen"}
)
_SYMTAB, _RELA, _DYNSYM = 2, 4, 11
_ALLOCATED, _EXECUTABLE = 2, 4
#: Relocations of calls: R_X86_64_PLT32, R_AARCH64_JUMP26 and R_AARCH64_CALL26.
_CALLS = frozenset({4, 282, 283})
_FUNCTION, _SECTION, _CHOSEN = 2, 3, 10  # the last is a function that the loader chooses
_MOST_SHOWN = 20


class _Section(NamedTuple):
    kind: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    entry: int


class _Symbol(NamedTuple):
    name: bytes
    kind: int
    section: int
    value: int
    size: int


class _Elf:
    """A file in ELF of 64 bits, little-endian."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        (table,) = struct.unpack_from("<Q", data, 40)
        size, count, _ = struct.unpack_from("<HHH", data, 58)
        self.sections = [self._section(table + number * size) for number in range(count)]

    def _section(self, at: int) -> _Section:
        _, kind, flags, _, offset, size, link, info, _, entry = struct.unpack_from("<IIQQQQIIQQ", self.data, at)
        return _Section(kind, flags, offset, size, link, info, entry)

    def symbols(self, kind: int) -> list[_Symbol]:
        found: list[_Symbol] = []
        for section in self.sections:
            if section.kind != kind:
                continue
            names = self.sections[section.link].offset
            for at in range(section.offset, section.offset + section.size, 24):
                name, info, _, place, value, size = struct.unpack_from("<IBBHQQ", self.data, at)
                end = self.data.index(b"\0", names + name)
                found.append(_Symbol(self.data[names + name : end], info & 15, place, value, size))
        return found

    def relocations(self) -> Iterator[tuple[int, int, int, int]]:
        """The section, the offset, the number of the symbol and the addend of each, in code."""
        for section in self.sections:
            if section.kind != _RELA or not self.sections[section.info].flags & _EXECUTABLE:
                continue
            for at in range(section.offset, section.offset + section.size, 24):
                offset, info, addend = struct.unpack_from("<QQq", self.data, at)
                yield section.info, offset, info >> 32, addend

    def references(self) -> Iterator[tuple[int, int]]:
        """The kind and the number of the symbol of each relocation, but for those of debug information."""
        for section in self.sections:
            if section.kind != _RELA or not self.sections[section.info].flags & _ALLOCATED:
                continue
            for at in range(section.offset, section.offset + section.size, 24):
                (info,) = struct.unpack_from("<Q", self.data, at + 8)
                yield info & 0xFFFFFFFF, info >> 32


class _Call(NamedTuple):
    section: int
    offset: int
    name: str


def _reached(elf: _Elf) -> list[_Call]:
    """Return the places where kernels refer to functions that the object lacks."""
    symbols = elf.symbols(_SYMTAB)
    functions = [symbol for symbol in symbols if symbol.kind == _FUNCTION and symbol.section]
    by_section: dict[int, list[_Symbol]] = {}
    for function in functions:
        by_section.setdefault(function.section, []).append(function)

    def holder(section: int, offset: int) -> _Symbol | None:
        holders = by_section.get(section, [])
        return next((each for each in holders if each.value <= offset < each.value + each.size), None)

    inner: dict[_Symbol, list[_Symbol]] = {}
    outer: dict[_Symbol, list[_Call]] = {}
    for section, offset, number, addend in elf.relocations():
        caller = holder(section, offset)
        if caller is None:
            continue
        symbol = symbols[number]
        if symbol.section == 0:
            outer.setdefault(caller, []).append(_Call(section, offset, symbol.name.decode("utf-8", "replace")))
            continue
        called = symbol if symbol.kind == _FUNCTION else None
        if symbol.kind == _SECTION:
            called = holder(symbol.section, addend) or holder(symbol.section, addend + 4)
        if called is not None:
            inner.setdefault(caller, []).append(called)
    todo = [function for function in functions if _LAUNCHED.fullmatch(function.name)]
    known = set(todo)
    while todo:
        for called in inner.get(todo.pop(), []):
            if called not in known:
                known.add(called)
                todo.append(called)
    return [call for function in known for call in outer.get(function, [])]


@cache
def _functions_of(library: Path) -> frozenset[str]:
    """Return the functions that a shared library defines."""
    symbols = _Elf(library.read_bytes()).symbols(_DYNSYM)
    return frozenset(
        symbol.name.decode("ascii", "replace")
        for symbol in symbols
        if symbol.section and symbol.kind in (_FUNCTION, 10)
    )


@cache
def _c_library(compiler: tuple[str, ...]) -> frozenset[str]:
    """Return the functions of the C library, without those of mathematics."""
    found: list[frozenset[str]] = []
    for name in ("libc.so.6", "libm.so.6"):
        asked = [*compiler, f"-print-file-name={name}"]
        said = subprocess.run(asked, capture_output=True, text=True, timeout=60, check=False).stdout.strip()
        path = Path(said)
        found.append(_functions_of(path.resolve()) if path.is_absolute() and path.exists() else frozenset())
    return found[0] - found[1]


def _is_of_host(name: str, c_library: frozenset[str]) -> str:
    """Return the name in the source of a function of the host; empty for any other."""
    if renamed := _RENAMED.fullmatch(name):
        return renamed[1]
    if _OF_RUNTIME.fullmatch(name):
        return name
    return name if name in c_library and name not in _OF_LANGUAGE and not name.startswith("__") else ""


def _places(data: bytes, calls: Sequence[_Call], source: str, folder: Path) -> list[str]:
    """Return the file and line of each place, as far as there is a program that tells them."""
    tool = which("addr2line") or which("llvm-addr2line")
    if tool is None:
        return [""] * len(calls)
    file = folder / "calls.o"
    file.write_bytes(data)
    elf = _Elf(data)
    (names,) = struct.unpack_from("<H", data, 62)
    (table,) = struct.unpack_from("<Q", data, 40)
    (size,) = struct.unpack_from("<H", data, 58)
    found: list[str] = []
    here = f"{os.getcwd()}/" if not os.path.isabs(source) else ""
    for call in calls:
        (number,) = struct.unpack_from("<I", data, table + call.section * size)
        begin = elf.sections[names].offset + number
        section = data[begin : data.index(b"\0", begin)].decode("utf-8", "replace")
        command = [tool, "-e", str(file), "-j", section, hex(call.offset)]
        said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False).stdout.strip()
        place = re.fullmatch(r"(.+):(\d+)(?: \(.*\))?", said)
        # The folder of the compiler stands before relative names.
        found.append("" if place is None or place[1] == "??" else f"{place[1].removeprefix(here)}:{place[2]}")
    return found


def are_allowed(words: Sequence[str]) -> bool:
    """Whether options of the compiler let kernels call functions of the host."""
    return any(_ALLOWED.fullmatch(word) for word in words)


def host_calls(data: bytes, compiler: Sequence[str], name: str, folder: Path) -> list[str]:
    """Return messages about the functions of the host that kernels in an object file call.

    Parameters
    ----------
    data : bytes
        The object file, with a section for each function, of a translated source with descriptions
        of its definitions.
    compiler : sequence of str
        The command of the compiler.
    name : str
        Of the source.
    folder : Path
        For temporary files.

    Returns
    -------
    list of str
        One for each place.
    """
    if data[:6] != b"\x7fELF\x02\x01":
        return []
    elf = _Elf(data)
    candidates = [call for call in _reached(elf) if not call.name.startswith(("_Z", "__"))]
    if not candidates:
        return []
    c_library = _c_library(tuple(compiler))
    calls = sorted({call for call in candidates if _is_of_host(call.name, c_library)})[:_MOST_SHOWN]
    messages = {
        f"{place or name}: error: a kernel calls {_is_of_host(call.name, c_library)}, a function of the host"
        for call, place in zip(calls, _places(data, calls, name, folder), strict=True)
    }
    return sorted(messages, key=_by_line)


def reached_by_kernels(data: bytes) -> set[str]:
    """Return the symbols that the object file lacks and that its kernels refer to.

    Parameters
    ----------
    data : bytes
        The object file, with a section for each function, of a translated source with descriptions
        of its definitions.
    """
    return {call.name for call in _reached(_Elf(data))}


def calls_of_functions(data: bytes) -> set[str]:
    """Return the symbols that the object file lacks and refers to by calls alone."""
    elf = _Elf(data)
    symbols = elf.symbols(_SYMTAB)
    calls, others = set[str](), set[str]()
    for kind, number in elf.references():
        if symbols[number].section == 0:
            (calls if kind in _CALLS else others).add(symbols[number].name.decode("utf-8", "replace"))
    return calls - others


def _by_line(message: str) -> tuple[str, int, str]:
    place = re.match(r"(.*?):(\d+): ", message)
    return (place[1], int(place[2]), message) if place else ("", 0, message)
