"""Reads the headers of the C ABI.

The headers are plain C: typedefs and prototypes, whose parameters have types with a name. So a few
lines of text handling read them, and the version script, which every build needs, costs no package.
What they find is checked twice afterwards: cffi parses the same text with a C parser, and the C
compiler compares the pointer table with the headers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

BANNER = "Generated from {headers} by native/abi/generate.py; do not edit."

#: What stands before a prototype or its name and says nothing about the function.
_DECORATIONS = re.compile(r"\b(MLUOP_WIN_API|MLUSIM_API)\b")
_CONSTANT = re.compile(r"^#define\s+(\w+)\s+(\d+)\s*$", re.MULTILINE)
#: How the names of functions begin.
_PREFIXES = "mluOp|mluopsExt|cnrt|mlusim"


@dataclass(frozen=True)
class Parameter:
    """One parameter of a prototype; an array is the pointer that it decays to."""

    type: str
    name: str


@dataclass(frozen=True)
class Function:
    """One prototype."""

    name: str
    returns: str
    parameters: tuple[Parameter, ...]


@dataclass(frozen=True)
class Enum:
    """One `typedef enum`, its members in the order of the header."""

    name: str
    members: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Header:
    """What the headers declare."""

    paths: tuple[Path, ...]
    text: str  # typedefs and prototypes, without comments and preprocessor lines
    constants: dict[str, int]
    enums: tuple[Enum, ...]
    opaque: tuple[str, ...]  # names of pointer types: to incomplete structures, to functions
    structs: tuple[str, ...]  # names of complete structures
    aliases: tuple[tuple[str, str], ...]  # other types, and their second names
    functions: tuple[Function, ...]

    @property
    def banner(self) -> str:
        """First line of a generated file."""
        return BANNER.format(headers=", ".join(_within_project(path) for path in self.paths))


def read_headers(paths: list[Path]) -> Header:
    """Read the headers; what does not look like a typedef or a prototype is an error."""
    constants: dict[str, int] = {}
    declarations: dict[str, Path] = {}
    for path in _with_parts(paths):
        source = re.sub(r"/\*.*?\*/", " ", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        source = re.sub(r"//[^\n]*", " ", source).replace("\\\n", " ")
        constants |= {name: int(value) for name, value in _CONSTANT.findall(source)}
        for declaration in _declarations(path, source):
            declarations.setdefault(declaration, path)
    enums, opaque, structs, aliases, functions = [], [], [], [], []
    for declaration, path in declarations.items():
        if match := re.fullmatch(r"typedef enum \{(.*)\} (\w+)", declaration):
            enums.append(Enum(match[2], tuple(_member(path, text) for text in match[1].split(","))))
        elif match := re.fullmatch(r"typedef struct (?:\w+ )?\{.*\} (\w+)", declaration):
            structs.append(match[1])
        elif match := re.fullmatch(r"typedef (?:struct \w+ ?\* ?(\w+)|\w+ ?\( ?\* ?(\w+)\) ?\([^()]*\))", declaration):
            opaque.append(match[1] or match[2])
        elif match := re.fullmatch(r"typedef (\w+) (\w+)", declaration):
            aliases.append((match[1], match[2]))
        else:
            functions.append(_function(path, declaration))
    text = "".join(f"{declaration};\n" for declaration in declarations)
    types = tuple(enums), tuple(opaque), tuple(structs), tuple(aliases)
    return Header(tuple(paths), text, constants, *types, tuple(functions))


def _with_parts(paths: list[Path]) -> list[Path]:
    """Return each header after its parts, the files that it includes from the folder with its name."""
    found = []
    for path in paths:
        parts = re.findall(
            rf'^#include "({re.escape(path.stem)}/[^"]+)"', path.read_text(encoding="utf-8"), re.MULTILINE
        )
        found += [*(path.parent / part for part in parts), path]
    return found


def _within_project(path: Path) -> str:
    project = Path(__file__).resolve().parents[2]
    return str(path.resolve().relative_to(project)) if path.resolve().is_relative_to(project) else path.name


def _declarations(path: Path, source: str) -> list[str]:
    """Return the declarations of a source without comments, each as one line without its semicolon."""
    # `extern "C"` is C++ only.
    source = re.sub(r"^#ifdef __cplusplus$.*?^#endif$", "", source, flags=re.DOTALL | re.MULTILINE)
    source = _DECORATIONS.sub("", re.sub(r"^#.*$", "", source, flags=re.MULTILINE))
    found, start, depth = [], 0, 0
    for match in re.finditer(r"[{};]", source):
        depth += {"{": 1, "}": -1, ";": 0}[match[0]]
        if match[0] == ";" and depth == 0:
            found.append(" ".join(source[start : match.start()].split()))
            start = match.end()
    if source[start:].strip():
        raise SystemExit(f"{path}: the last declaration does not end with a semicolon")
    return found


def _member(path: Path, text: str) -> tuple[str, int]:
    match = re.fullmatch(r" ?(\w+) = (-?\d+) ?", text)
    if match is None:
        raise SystemExit(f"{path}: expected `NAME = number` in an enum, got `{text}`")
    return match[1], int(match[2])


def _function(path: Path, declaration: str) -> Function:
    match = re.fullmatch(rf"([\w ]+[ *]+)((?:{_PREFIXES})\w+) ?\(([^()]*)\)", declaration)
    if match is None:
        raise SystemExit(f"{path}: expected a typedef or a prototype, got `{declaration}`")
    listed = match[3].strip()
    texts = [] if listed in ("", "void") else listed.split(",")
    return Function(match[2], match[1].strip(), tuple(_parameter(path, text.strip()) for text in texts))


def _parameter(path: Path, text: str) -> Parameter:
    match = re.fullmatch(r"([\w ]+[ *]+)(\w+) ?(\[\])?", text)
    if match is None:
        raise SystemExit(f"{path}: expected `type name`, got `{text}`")
    kind = match[1].strip() + (" *" if match[3] else "")
    # `const` of a value passed by copy says nothing to the caller.
    return Parameter(re.sub(r"^const ", "", kind) if "*" not in kind else kind, match[2])
