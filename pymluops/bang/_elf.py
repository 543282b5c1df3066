"""Reads object files and libraries in ELF of 64 bits: symbols, and what refers to them."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

__all__ = ["CHOSEN", "DYNSYM", "FUNCTION", "SYMTAB", "Elf", "Reference", "Symbol", "is_elf"]

SYMTAB, DYNSYM, _RELA = 2, 11, 4
_ALLOCATED, _EXECUTABLE = 2, 4
#: Kinds of symbols; that of assembly says nothing, and the last is a function that the loader
#: chooses.
_UNTYPED, OBJECT, FUNCTION, _SECTION, CHOSEN = 0, 1, 2, 3, 10
_X86_64 = 62
#: Relocations of x86-64 that count from the end of the operand: PC32, PLT32, GOTPCREL and its
#: relaxed forms.
_FROM_END = frozenset({2, 4, 9, 41, 42})
#: Relocations of calls: R_X86_64_PLT32, R_AARCH64_JUMP26 and R_AARCH64_CALL26.
_CALLS = frozenset({4, 282, 283})


class _Section(NamedTuple):
    kind: int
    flags: int
    offset: int
    size: int
    link: int
    info: int


class Symbol(NamedTuple):
    """A symbol; section 0 is that of symbols which the file lacks."""

    name: str
    kind: int
    section: int
    value: int
    size: int


class Reference(NamedTuple):
    """A reference to a symbol which the file lacks.

    Attributes
    ----------
    section, offset : int
        Its place in code; for one in a table, that of the code which refers to the table.
    name : str
        Of the symbol.
    in_code : bool
        Whether it stands in code.
    """

    section: int
    offset: int
    name: str
    in_code: bool


#: A section, and the offset of what begins there.
_Part = tuple[int, int]


class _Relocation(NamedTuple):
    offset: int
    kind: int
    symbol: int
    addend: int


def is_elf(data: bytes) -> bool:
    """Whether these are the contents of a file that `Elf` reads."""
    return data[:6] == b"\x7fELF\x02\x01"


class Elf:
    """A file in ELF of 64 bits, little-endian.

    Parameters
    ----------
    data : bytes
        Its contents.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        (self._machine,) = struct.unpack_from("<H", data, 18)
        (self._table,) = struct.unpack_from("<Q", data, 40)
        self._size, count, self._names = struct.unpack_from("<HHH", data, 58)
        self.sections = [self._section(self._table + number * self._size) for number in range(count)]

    def _section(self, at: int) -> _Section:
        _, kind, flags, _, offset, size, link, info = struct.unpack_from("<IIQQQQII", self.data, at)
        return _Section(kind, flags, offset, size, link, info)

    def section_name(self, number: int) -> str:
        """Return the name of a section."""
        (name,) = struct.unpack_from("<I", self.data, self._table + number * self._size)
        return self._text(self.sections[self._names].offset + name)

    def _text(self, begin: int) -> str:
        return self.data[begin : self.data.index(b"\0", begin)].decode("utf-8", "replace")

    def symbols(self, kind: int = SYMTAB) -> list[Symbol]:
        """Return the symbols of a table: that of objects, or with `DYNSYM` that of libraries."""
        found: list[Symbol] = []
        for section in self.sections:
            if section.kind != kind:
                continue
            names = self.sections[section.link].offset
            table = self.data[section.offset : section.offset + section.size]
            for name, info, _, place, value, size in struct.iter_unpack("<IBBHQQ", table):
                found.append(Symbol(self._text(names + name), info & 15, place, value, size))
        return found

    @cached_property
    def _symbols(self) -> list[Symbol]:
        return self.symbols()

    @cached_property
    def _relocations(self) -> dict[int, list[_Relocation]]:
        """The relocations of each section that is loaded, in the order of their places."""
        found: dict[int, list[_Relocation]] = {}
        for section in self.sections:
            if section.kind != _RELA or not self.sections[section.info].flags & _ALLOCATED:
                continue
            table = self.data[section.offset : section.offset + section.size]
            each = (
                _Relocation(at, i & 0xFFFFFFFF, i >> 32, addend) for at, i, addend in struct.iter_unpack("<QQq", table)
            )
            found[section.info] = sorted(each)
        return found

    def calls_alone(self) -> set[str]:
        """Return the symbols that the file lacks and refers to by calls alone."""
        calls, others = set[str](), set[str]()
        for relocations in self._relocations.values():
            for relocation in relocations:
                symbol = self._symbols[relocation.symbol]
                if symbol.section == 0:
                    (calls if relocation.kind in _CALLS else others).add(symbol.name)
        return calls - others

    # -- What refers to what --

    @cached_property
    def functions(self) -> list[Symbol]:
        """The functions that the file defines, and other code with a name."""
        return [
            each
            for each in self._symbols
            if (each.kind in (FUNCTION, CHOSEN) and each.section)
            or (
                each.kind == _UNTYPED
                and each.name
                and 0 < each.section < len(self.sections)
                and self._is_code(each.section)
            )
        ]

    @cached_property
    def _parts(self) -> dict[int, list[int]]:
        """The places in each section where something begins: a symbol, or what a relocation refers to."""
        begins: dict[int, set[int]] = {}
        for symbol in [*self._symbols, *self.functions]:
            if symbol.section and symbol.kind in (_UNTYPED, OBJECT, FUNCTION, CHOSEN) and symbol.name:
                begins.setdefault(symbol.section, {0}).add(symbol.value)
        for number, relocations in self._relocations.items():
            for relocation in relocations:
                section, offset = self._target(relocation)
                # Within a function, or an object, there is no part of its own: see `_part`.
                if section and not self._is_code(section) and self._holder(section, offset) is None:
                    begins.setdefault(section, {0}).add(offset)
            begins.setdefault(number, {0})
        return {section: sorted(places) for section, places in begins.items()}

    @cached_property
    def _objects(self) -> dict[int, list[tuple[int, int]]]:
        """The beginnings and ends of the objects with a name in each section."""
        found: dict[int, list[tuple[int, int]]] = {}
        for symbol in self._symbols:
            if symbol.section and symbol.kind == OBJECT and symbol.size:
                found.setdefault(symbol.section, []).append((symbol.value, symbol.value + symbol.size))
        return {section: sorted(places) for section, places in found.items()}

    def _holder(self, section: int, offset: int) -> int | None:
        """Return where the object with a name begins that lies at an offset."""
        objects = self._objects.get(section, [])
        at = bisect_right(objects, offset, key=lambda each: each[0]) - 1
        return objects[at][0] if at >= 0 and offset < objects[at][1] else None

    def _is_code(self, section: int) -> bool:
        return bool(self.sections[section].flags & _EXECUTABLE)

    def _target(self, relocation: _Relocation) -> tuple[int, int]:
        symbol = self._symbols[relocation.symbol]
        if not 0 < symbol.section < len(self.sections):  # absent, absolute or common
            return 0, 0
        if symbol.kind != _SECTION and symbol.name:
            return symbol.section, symbol.value
        from_end = self._machine == _X86_64 and relocation.kind in _FROM_END
        return symbol.section, max(0, symbol.value + relocation.addend + (4 if from_end else 0))

    def _part(self, section: int, offset: int) -> _Part:
        holder = None if self._is_code(section) else self._holder(section, offset)
        if holder is not None:
            return section, holder
        places = self._parts.get(section, [0])
        return section, places[max(0, bisect_right(places, offset) - 1)]

    @cached_property
    def _edges(self) -> dict[_Part, list[tuple[int, _Part | str]]]:
        """What each part refers to, and where: another part, or a symbol that the file lacks."""
        found: dict[_Part, list[tuple[int, _Part | str]]] = {}
        for number, relocations in self._relocations.items():
            for relocation in relocations:
                symbol, target = self._symbols[relocation.symbol], self._target(relocation)
                if symbol.section == 0 or target[0]:
                    here = self._part(number, relocation.offset)
                    to = symbol.name if symbol.section == 0 else self._part(*target)
                    found.setdefault(here, []).append((relocation.offset, to))
        return found

    def reached(self, roots: Iterable[Symbol]) -> tuple[set[str], list[Reference]]:
        """Return what functions refer to, also over tables of pointers.

        Parameters
        ----------
        roots : iterable of Symbol
            Functions of the file.

        Returns
        -------
        functions : set of str
            The functions of the file among it, by one of their names: aliases lie in one place.
        references : list of Reference
            The references to symbols that the file lacks.
        """
        # With the place of the code that led there.
        todo = [(self._part(root.section, root.value), (0, 0)) for root in roots]
        known = {part for part, _ in todo}
        references: list[Reference] = []
        while todo:
            part, origin = todo.pop()
            in_code = self._is_code(part[0])
            for offset, to in self._edges.get(part, []):
                place = (part[0], offset) if in_code else origin
                if isinstance(to, str):
                    references.append(Reference(*place, to, in_code))
                elif to not in known:
                    known.add(to)
                    todo.append((to, place))
        names = {each.name for each in self.functions if self._part(each.section, each.value) in known}
        return names, references

    def with_other_code(self) -> set[str]:
        """Return the functions of sections that hold code besides them, which has no name."""
        ends: dict[int, tuple[int, int]] = {}
        for each in self.functions:
            begin, end = ends.get(each.section, (each.value, 0))
            ends[each.section] = (min(begin, each.value), max(end, each.value + each.size))
        other = {number for number, (begin, end) in ends.items() if begin or end < self.sections[number].size}
        return {each.name for each in self.functions if each.section in other}

    def aliases(self) -> Iterator[list[str]]:
        """Return the names of the functions that lie in one place."""
        by_place: dict[tuple[int, int], list[str]] = {}
        for each in self.functions:
            by_place.setdefault((each.section, each.value), []).append(each.name)
        yield from by_place.values()
