"""Reads what callers give to a judge: errors name the function, the argument, what was expected and what came."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from pymluops._shown import path_text, shown
from pymluops.bang._build import Build, Input
from pymluops.bang._compilers import find_compiler
from pymluops.bang._headers import MOST_CHARACTERS, TOO_LONG, read_text
from pymluops.bang._sources import read_folders, read_options, require_encodable
from pymluops.bang.judging.sources import read_error
from pymluops.errors import BadParamError, BadParamTypeError
from pymluops.sim.toolchain import CompileError, Simulator, cards

__all__ = [
    "Options",
    "places_of",
    "read_source",
    "read_task_options",
    "refusal_of_options",
    "require_kind",
    "several",
    "texts",
]

#: Options that name a file or a folder for the preprocessor, in the next word or behind them.
_NAMES_FILE = re.compile(r"(-isystem|-iquote|-idirafter|-include|-imacros)((?!-).*)", re.DOTALL)


def require_kind(where: str, argument: str, given: object, kinds: type | tuple[type, ...], expected: str) -> None:
    """Refuse a value of another type.

    Raises
    ------
    BadParamTypeError
        If it is of none of `kinds`.
    """
    if not isinstance(given, kinds):
        raise BadParamTypeError(f"{where}: {argument}: expected {expected}, got {shown(given)}")


def several(where: str, argument: str, given: object, expected: str) -> list[Any]:
    """Return what a list or a tuple holds; a text is neither.

    Raises
    ------
    BadParamTypeError
        If it is anything else.
    """
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
        raise BadParamTypeError(f"{where}: {argument}: expected a list of {expected}, got {shown(given)}")
    return list(cast("Sequence[object]", given))


def texts(where: str, argument: str, given: object) -> list[str]:
    """Return a list of texts."""
    found = several(where, argument, given, "texts")
    for each in found:
        require_kind(where, argument, each, str, "texts")
    return found


def places_of(where: str, argument: str, given: object) -> list[str]:
    """Return the whole names of files and folders that are there.

    Raises
    ------
    BadParamError
        If one is not there.
    """
    found: list[str] = []
    for each in several(where, argument, given, "paths"):
        require_kind(where, argument, each, (str, os.PathLike), "paths")
        if not os.path.exists(each):
            raise BadParamError(f"{where}: {argument}: {path_text(each)}: there is no such file or folder")
        found.append(os.path.abspath(os.fsdecode(each)))
    return found


# ---- Sources -------------------------------------------------------------------------------------


def read_source(given: object) -> Input | str:
    """Return a source, or why it cannot be compiled. A `str` is always the text, a path an `os.PathLike`.

    A text lies nowhere: nothing beside it can be included.

    Raises
    ------
    BadParamTypeError
        If it is neither.
    """
    if isinstance(given, str):
        return _text(given)
    if not isinstance(given, os.PathLike):
        expected = "a text in BANG C (str) or the path of a file (pathlib.Path)"
        raise BadParamTypeError(f"judge: source: expected {expected}, got {shown(given)}")
    path = Path(os.fsdecode(cast("os.PathLike[str]", given)))
    try:
        return Input(str(path), path.parent.absolute(), read_text(path))
    except (OSError, ValueError) as error:  # a NUL in the name, or a character that no file system can encode
        reason = error.strerror if isinstance(error, OSError) else "is no name of a file"
        return str(reason)


def _text(text: str) -> Input | str:
    try:
        require_encodable("the source", text.replace("\0", " "))
    except BadParamError as error:
        return error.detail
    return f"the source {TOO_LONG}" if len(text) > MOST_CHARACTERS else Input("<source>", None, text)


# ---- Options -------------------------------------------------------------------------------------


class Options:
    """What the compiler gets for a task.

    Attributes
    ----------
    words : list of str
        Options, with whole names of files.
    folders : list of str
        Where headers are looked for.
    named : list of str
        Further files and folders that the words name.
    """

    def __init__(self, options: Sequence[str], include_dirs: Sequence[str]) -> None:
        folders, words = read_options(list(options))
        self.folders = [str(folder) for folder in (*folders, *read_folders(list(include_dirs)))]
        self.words: list[str] = []
        self.named: list[str] = []
        rest = iter(words)
        for word in rest:
            match = _NAMES_FILE.fullmatch(word)
            if match is None:
                self.words.append(word)
                continue
            self.named.append(os.path.abspath(match[2] or next(rest)))
            self.words += [match[1], self.named[-1]]


def read_task_options(options: Sequence[str], include_dirs: Sequence[str]) -> Options:
    """Return what the compiler gets for a task.

    Raises
    ------
    BadParamError
        If an option does something else than compile, or a folder is not there.
    """
    try:
        return Options(options, include_dirs)
    except BadParamError as error:
        raise BadParamError(error.detail.replace("compile: ", "task: ", 1)) from None


def refusal_of_options(options: Options, card: str) -> str:
    """Return what the compiler says about options with a source that holds nothing; nothing if it takes them."""
    if not options.words:
        return ""
    arch = next(int(known["arch"]) for known in cards() if known["name"] == card)
    folders = [Path(folder) for folder in options.folders]
    build = Build(find_compiler(), arch, Simulator.installed(), folders, options.words)
    try:
        build.linked([Input("<options>", None, "\n")])
    except CompileError as error:
        return read_error(str(error)).message
    return ""
