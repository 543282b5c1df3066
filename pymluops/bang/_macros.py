"""Macros of the command line whose names the simulator's headers use: they are defined behind these headers.

The headers of the vendor's compiler are as open to ``-DT=float`` as any others, but a source cannot
know which names ours give to parameters and templates. Macros that decide what headers declare
stay where they are.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

__all__ = ["behind_headers", "macros_in"]

_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_DEFINED = re.compile(r"^[ \t]*#[ \t]*(?:define|undef)[ \t]+(\w+)", re.MULTILINE)
_ASKED = re.compile(r"^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif)\b(.*)", re.MULTILINE)
_COMMENT = re.compile(r"/\*.*?\*/|//.*")
_OPTION = re.compile(r"-(?:D|U|include)")
#: What system headers look at; their own names begin so, or are known.
_OF_SYSTEM = re.compile(r"_|NDEBUG$")


@cache
def _names_in(include: Path) -> frozenset[str]:
    """Return the words of headers, but for those that they define as macros, or ask for."""
    words: set[str] = set()
    deciding: set[str] = set()
    for path in include.rglob("*.h"):
        text = path.read_text(encoding="utf-8")
        words.update(_WORD.findall(text))
        deciding.update(_DEFINED.findall(text))
        for line in _ASKED.findall(text):
            deciding.update(_WORD.findall(_COMMENT.sub(" ", line)))
    return frozenset(word for word in words - deciding if not _OF_SYSTEM.match(word))


def _pairs(words: Sequence[str]) -> list[tuple[str, ...]]:
    """Return options, those for macros and headers with their values."""
    found: list[tuple[str, ...]] = []
    rest = iter(words)
    for word in rest:
        option = _OPTION.match(word)
        if option is None:
            found.append((word,))
        elif option[0] == word:
            found.append((word, next(rest, "")))
        else:
            found.append((option[0], word[option.end() :]))
    return found


def macros_in(words: Sequence[str]) -> dict[str, str]:
    """Return the macros without parameters that options define, with their values."""
    found: dict[str, str] = {}
    for option, *value in _pairs(words):
        if option == "-D":
            name, equals, text = value[0].partition("=")
            found[name] = text if equals else "1"
        elif option == "-U":
            found.pop(value[0], None)
    return {name: text for name, text in found.items() if _WORD.fullmatch(name)}


def behind_headers(words: Sequence[str], include: Path, headers: Sequence[str] = ()) -> tuple[list[str], str]:
    """Divide options into those that stay, and text before the source that stands for the others.

    Parameters
    ----------
    words : sequence of str
        Options of the compiler.
    include : Path
        The folder of the simulator's headers.
    headers : sequence of str
        Those of these headers that the source includes.

    Returns
    -------
    words : list of str
        The options that stay.
    text : str
        Empty if all of them stay.
    """
    pairs = _pairs(words)
    names = _names_in(include)
    if not any(pair[0] == "-D" and _name(pair[1]) in names for pair in pairs):
        return list(words), ""
    kept: list[str] = []
    text = "".join(f"#include <{header}>\n" for header in headers) + '#line 1 "<command-line>"\n'
    behind = ""  # headers of the user, which see all macros
    for pair in pairs:
        option = pair[0]
        if option in ("-D", "-U") and _name(pair[1]) in names:
            text += _directive(option, pair[1])
        elif option == "-include" and (os.path.isabs(pair[1]) or not (include / pair[1]).is_file()):
            name = os.path.abspath(pair[1]) if os.path.isfile(pair[1]) else pair[1]
            behind += f'#include "{name}"\n'
        else:
            kept += pair
    return kept, text + behind


def _name(macro: str) -> str:
    found = _WORD.match(macro)
    return "" if found is None else found[0]


def _directive(option: str, macro: str) -> str:
    head, equals, value = macro.partition("=")
    value = value.partition("\n")[0] if equals else "1"
    return f"#define {head} {value}\n" if option == "-D" else f"#undef {head}\n"
