"""Puts headers with BANG C into the source that includes them, so that one translation sees everything.

The C++ compiler finds all other headers by itself. Conditions (`#if`) stay for the compiler: a
header is put in wherever a line includes it, but not a second time where it would be empty.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pymluops._regular import open_regular
from pymluops._shown import one_line
from pymluops.bang._compilers import digest
from pymluops.sim.toolchain import CompileError
from pymluops.sim.translator import TranslationError
from pymluops.sim.translator.text import quoted, tokens_of
from pymluops.sim.translator.tokens import ELSES, IFS, Directive, Kind, Token

#: Constructs that only the translator can read, or that it must see to read the rest.
CONSTRUCTS = re.compile(
    r"<<<|\b(?:__nram__|__wram__|__mlu_shared__|__ldram__|__mlu_const__|__mlu_entry__|__mlu_global__|__mlu_func__"
    r"|__mlu_device__|__mlu_vector__)\b"
)
_USING_STD = re.compile(r"\busing\s+namespace\s+std\s*;")
#: In a name, for which there is no form in an `#include` line.
_CANNOT_BE_INCLUDED = re.compile(r'["\x00-\x1f\x7f]')
_MOST_INCLUDES = 20_000
_MOST_DEPTH = 200  # of headers in each other, as compilers have it
#: Characters of a source with the headers that are put into it.
MOST_CHARACTERS = 4 << 20
TOO_LONG = f"is longer than {MOST_CHARACTERS >> 20} MiB, the limit of a source with its headers"


@dataclass(slots=True)
class Source:
    """A source with the headers that it needs."""

    text: str
    name: str
    #: Every header that was read, with a checksum of it, and where others would have been found
    #: before them.
    states: dict[Path, str] = field(default_factory=dict)
    _absent: dict[Path, None] = field(default_factory=dict)
    #: Whether a header says `using namespace std`.
    uses_std: bool = False
    #: The headers of the simulator that are included by name.
    own: list[str] = field(default_factory=list)

    @property
    def files(self) -> list[Path]:
        """The headers that were read, in their order."""
        return list(self.states)

    @property
    def absent(self) -> list[Path]:
        """Where headers would have been found before those that were."""
        return list(self._absent)

    def note_absent(self, path: Path) -> None:
        """Note that a header is not there."""
        self._absent[path] = None


@dataclass(slots=True)
class _Header:
    path: Path
    real: Path  # without links
    text: str
    state: str  # a checksum of the text that was read
    directives: list[Directive]
    includes: list[_Include]
    once: bool  # by a guard or by a pragma
    guarded: bool
    has_constructs: bool
    uses_std: bool


@dataclass(frozen=True, slots=True)
class _Include:
    """An `#include` line."""

    start: int  # of the line
    end: int  # of the line, at its newline
    name: str
    quoted: bool
    depth: int  # conditions that it stands in


def read_text(path: Path) -> str:
    """Return the text of a file; bytes that are not UTF-8, and ends of lines, stay unchanged.

    Raises
    ------
    OSError
        If it cannot be read, is no regular file (a device or a pipe may never end), or is too long.
    """
    with open_regular(path) as file:
        content = file.read(MOST_CHARACTERS + 1)  # its stated size may be wrong
    if len(content) > MOST_CHARACTERS:
        raise OSError(errno.EFBIG, TOO_LONG, str(path))
    return content.decode("utf-8", "surrogateescape")


class Expander:
    """Reads headers, each once.

    Parameters
    ----------
    include_dirs : sequence of Path
        Where headers are looked for, besides the folder of the file that includes them.
    own : sequence of Path
        Folders of headers that stay as they are: those of the simulator.
    """

    def __init__(self, include_dirs: Sequence[Path], own: Sequence[Path]) -> None:
        self._include_dirs = list(include_dirs)
        self._own = [folder.resolve() for folder in own]
        self._headers: dict[Path, _Header] = {}
        self._by_place: dict[tuple[int, int, str], Path] = {}  # device and node of the folder, name
        self._found: dict[tuple[Path | None, str], tuple[Path | None, list[Path]]] = {}

    def expand(self, text: str, name: str, folder: Path | None) -> Source:
        """Return a source with the headers that hold BANG C put in.

        Parameters
        ----------
        text : str
            The source.
        name : str
            Its name in messages and debug information.
        folder : Path or None
            Where it lies; headers beside it are found. None if it lies nowhere.

        Raises
        ------
        CompileError
            If a header cannot be read, headers include each other without end, or all of it is too
            long.
        """
        if len(text) > MOST_CHARACTERS:
            raise CompileError(f"{one_line(name)}: {TOO_LONG}")
        expansion = _Expansion(self, Source("", name), len(text))
        top = _read(Path(name), text.removeprefix("\ufeff"))
        parts = expansion.parts(top, folder, name, 0)
        expansion.source.text = f"#line 1 {quoted(name)}\n" + "".join(parts)
        return expansion.source

    def find(self, include: _Include, folder: Path | None, source: Source) -> Path | None:
        """Return the file that a line includes; None if it is one for the compiler to find."""
        key = (folder if include.quoted else None, include.name)
        if key not in self._found:
            self._found[key] = self._find(*key)
        path, absent = self._found[key]
        for each in absent:
            source.note_absent(each)
        if path is None and include.name not in source.own and any((own / include.name).is_file() for own in self._own):
            source.own.append(include.name)
        return path

    def _find(self, folder: Path | None, name: str) -> tuple[Path | None, list[Path]]:
        absent: list[Path] = []
        for place in ([] if folder is None else [folder]) + self._include_dirs:
            path = place / name
            if not os.path.isfile(path):
                absent.append(path)
                continue
            real = path.resolve()
            return (None if any(real.is_relative_to(own) for own in self._own) else self._first_of(path)), absent
        return None, absent

    def _first_of(self, path: Path) -> Path:
        """Return the path under which a header was found first: `u/a.h` for `u/../u/a.h`.

        A link to the folder of a header is another way to it; one to the header itself is another
        header, because the folder that it includes from is another one.
        """
        folder = os.stat(path.parent)
        return self._by_place.setdefault((folder.st_dev, folder.st_ino, path.name), path)

    def header(self, path: Path, source: Source) -> _Header:
        """Return the contents of a header."""
        if path not in self._headers:
            try:
                self._headers[path] = _read(path, read_text(path))
            except OSError as error:
                raise CompileError(f"{one_line(str(path))}: {error.strerror}") from None
        source.states[path] = self._headers[path].state
        source.uses_std = source.uses_std or self._headers[path].uses_std
        return self._headers[path]

    def is_needed(self, path: Path, source: Source) -> bool:
        """Whether a header, or one that it includes, has something to translate."""
        found = False
        seen = {path}
        waiting = [path]
        while waiting:  # for all of them: their contents count for the cache
            at = waiting.pop()
            header = self.header(at, source)
            found = found or header.has_constructs
            below = {self.find(include, at.parent, source) for include in header.includes}
            fresh = [path for path in below if path is not None and path not in seen]
            waiting += fresh
            seen.update(fresh)
        return found


class _Expansion:
    """Of one source."""

    def __init__(self, expander: Expander, source: Source, length: int) -> None:
        self._expander = expander
        self.source = source
        self._done: set[Path] = set()  # headers, without links, that are empty from now on
        self._open: dict[Path, None] = {}
        self._length = length  # with the headers that were put in
        self._needed: dict[Path, bool] = {}
        self._count = 0

    def parts(self, header: _Header, folder: Path | None, name: str, depth: int) -> list[str]:
        parts: list[str] = []
        end = 0
        counted, line = 0, 1
        for include in header.includes:
            path = self._expander.find(include, folder, self.source)
            if path is None:
                continue
            parts.append(header.text[end : include.start])
            end = include.end
            line += header.text.count("\n", counted, include.end)
            counted = include.end
            if not self._is_needed(path):
                parts.append(f'#include "{path.absolute()}"')  # such names have no escapes
            elif path not in self._open and self._expander.header(path, self.source).real not in self._done:
                parts += self._included(path, depth + include.depth)
                parts.append(f"#line {line + 1} {quoted(name)}")
            # A line that is joined out of several keeps its number of lines.
            if "\n" in header.text[include.start : include.end]:
                parts.append(f"\n#line {line + 1} {quoted(name)}")
        return [*parts, header.text[end:]]

    def _is_needed(self, path: Path) -> bool:
        if path not in self._needed:
            needed = self._expander.is_needed(path, self.source)
            self._needed[path] = needed or _CANNOT_BE_INCLUDED.search(str(path.absolute())) is not None
        return self._needed[path]

    def _included(self, path: Path, depth: int) -> list[str]:
        self._count += 1
        if self._count > _MOST_INCLUDES:
            raise CompileError(f"{one_line(str(path))}: headers include each other more than {_MOST_INCLUDES} times")
        if len(self._open) == _MOST_DEPTH:
            raise CompileError(f"{one_line(str(path))}: headers include each other more than {_MOST_DEPTH} deep")
        header = self._expander.header(path, self.source)
        self._length += len(header.text)
        if self._length > MOST_CHARACTERS:
            raise CompileError(f"{one_line(self.source.name)}: {TOO_LONG}")
        if header.once and depth == 0:
            self._done.add(header.real)
        guard = f"MLUOPS_ONCE_{digest(str(header.real))[:16]}"
        before = f"#ifndef {guard}\n#define {guard}\n" if header.once and not header.guarded else ""
        behind = "\n#endif\n" if before else "\n"
        self._open[path] = None
        name = str(path)
        parts = self.parts(header, path.parent, name, depth - header.guarded)
        del self._open[path]
        return [before, f"#line 1 {quoted(name)}\n", *parts, behind]


def _read(path: Path, text: str) -> _Header:
    state = digest(text)
    try:
        tokens, directives = tokens_of(text, str(path))
    except TranslationError as error:
        raise CompileError(str(error)) from None
    guarded = _has_guard(tokens, directives)
    pragma = next((d for d in directives if [token.text for token in d.tokens] == ["pragma", "once"]), None)
    if pragma is not None:  # of no use, and a warning, in the middle of another file
        start = text.rfind("#", 0, pragma.tokens[0].start)
        text = text[:start] + " " * (pragma.tokens[1].end - start) + text[pragma.tokens[1].end :]
    includes = _includes(text, directives)
    once = guarded or pragma is not None
    has_constructs, uses_std = (pattern.search(text) is not None for pattern in (CONSTRUCTS, _USING_STD))
    real = Path(os.path.realpath(path))
    return _Header(path, real, text, state, directives, includes, once, guarded, has_constructs, uses_std)


def _includes(text: str, directives: Sequence[Directive]) -> list[_Include]:
    found: list[_Include] = []
    depth = 0
    for directive in directives:
        if directive.name in IFS:
            depth += 1
        elif directive.name == "endif":
            depth -= 1
        elif directive.name == "include" and len(directive.tokens) > 1 and directive.name not in ELSES:
            include = _include(text, directive, depth)
            if include is not None:
                found.append(include)
    return found


def _include(text: str, directive: Directive, depth: int) -> _Include | None:
    first, last = directive.tokens[1], directive.tokens[-1]
    start = text.rfind("\n", 0, directive.tokens[0].start) + 1
    end = text.find("\n", last.end)
    end = len(text) if end < 0 else end
    if "/*" in text[last.end : end] and "*/" not in text[last.end : end]:
        return None  # a comment that goes on in the next line
    if first.kind is Kind.STRING and re.fullmatch(r'".+"', first.text):
        return _Include(start, end, first.text[1:-1], True, depth)
    if first.text == "<" and last.text == ">":
        return _Include(start, end, text[first.end : last.start].strip(), False, depth)
    return None  # a macro says which


def _has_guard(tokens: Sequence[Token], directives: Sequence[Directive]) -> bool:
    """Whether all of a file stands in an `#ifndef` of a name that is defined right behind it."""
    if len(directives) < 3 or directives[0].before != 0 or directives[0].name != "ifndef":
        return False
    names = [directive.tokens[1].text for directive in directives[:2] if len(directive.tokens) > 1]
    if directives[1].name != "define" or directives[1].before != 0 or len(set(names)) != 1 or len(names) != 2:
        return False
    depth = 0
    for i, directive in enumerate(directives):
        if directive.name in IFS:
            depth += 1
        elif directive.name == "endif":
            depth -= 1
            if depth == 0:
                return i == len(directives) - 1 and directive.before == len(tokens)
        elif directive.name in ELSES and depth == 1:
            return False
    return False
