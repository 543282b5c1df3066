"""Reads the arguments of `pymluops.bang.compile`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from pymluops._arguments import is_integer
from pymluops._shown import path_text, shortened, shown
from pymluops.bang._build import Input
from pymluops.bang._headers import MOST_CHARACTERS, TOO_LONG, read_text
from pymluops.errors import BadParamError, BadParamTypeError
from pymluops.sim.toolchain import cards

__all__ = ["read_arch", "read_folders", "read_inputs", "read_macros", "read_options", "require_encodable"]

_MACRO = re.compile(r"[A-Za-z_]\w*(\([\w, .]*\))?")
#: Characters without a form in UTF-8, except those for bytes of files that are not UTF-8; and the
#: end of a C string.
_NOT_ENCODABLE = re.compile(r"[\ud800-\udc7f\udd00-\udfff\0]")
#: Options whose value is the next word.
_WITH_VALUE = frozenset(
    {"-I", "-D", "-U", "-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-isysroot", "--sysroot", "--param"}
    | {"-Xclang", "-mllvm", "-Xpreprocessor", "-Xassembler", "-target", "-arch", "-iprefix", "-iwithprefix"}
    | {"-L", "-l", "-T", "-z", "-u", "-e", "-B", "-A", "-Xlinker"}
)
#: Options with which a compiler does something else than compile a source to where it is told to.
_DOES_SOMETHING_ELSE = re.compile(
    r"-[EScoxMh].*|-###|--(?:help|target-help|version|preprocess|compile|assemble|output|language|print|save-temps"
    r"|dependencies|user-dependencies|write).*|-fsyntax-only|-save-temps.*|-dump.*|-print.*|-wrapper|-aux-info"
    r"|-emit-llvm|-pass-exit-codes",
    re.DOTALL,
)


def require_encodable(argument: str, text: str, *, lines: bool = True) -> None:
    """Refuse a text that cannot be handed to a compiler.

    Parameters
    ----------
    argument : str
        How messages begin.
    text : str
        The text.
    lines : bool
        Whether it may have several lines.

    Raises
    ------
    BadParamError
        If it has a character that cannot be encoded, or one that ends it.
    """
    found = _NOT_ENCODABLE.search(text) or (None if lines else re.search(r"[\r\n]", text))
    if found is not None:
        line = f" in line {text.count(chr(10), 0, found.start()) + 1}" if lines else ""
        raise BadParamError(f"{argument}: expected a text in Unicode, got the character U+{ord(found[0]):04X}{line}")


def read_arch(arch: object) -> int:
    """Return the number of an architecture."""
    known = {card["arch"]: card["name"] for card in cards()}
    found: object = arch
    if isinstance(arch, str):
        match = re.fullmatch(r"(?:m?tp_|compute_)?([0-9]{3})", arch)
        named = {name.lower(): number for number, name in known.items()}
        found = int(match[1]) if match else named.get(arch.lower())
    for number in known:
        if is_integer(found) and found == number:
            return int(number)
    names = ", ".join(f"'mtp_{number}' ({name})" for number, name in known.items())
    kind = BadParamError if isinstance(arch, (str, int)) else BadParamTypeError
    raise kind(f"compile: arch: expected one of {names}, got {shown(arch)}")


def _several(argument: str, value: object) -> list[object]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        raise BadParamTypeError(f"compile: {argument}: expected a list, got {shown(value)}")
    return list(cast("Sequence[object]", value))


# ---- Sources -------------------------------------------------------------------------------------


def read_inputs(given: object) -> list[Input]:
    """Return the sources: a text, or files."""
    # A name may have braces and ends of lines too.
    if isinstance(given, str) and ("{" in given or "\n" in given) and not os.path.isfile(given):
        return [_text(given)]
    single = isinstance(given, (str, os.PathLike))
    paths: list[object] = [given] if single else _several("source_or_paths", given)
    if not paths:
        raise BadParamError("compile: source_or_paths: expected a source or paths, got an empty list")
    return [_file(path) for path in paths]


def _text(text: str) -> Input:
    require_encodable("compile: source_or_paths", text.replace("\0", " "))
    if len(text) > MOST_CHARACTERS:
        raise BadParamError(f"compile: source_or_paths: the text {TOO_LONG}")
    try:
        folder = Path.cwd()
    except OSError as error:
        raise BadParamError(f"compile: the working directory: {error.strerror}") from None
    return Input("<source>", folder, text)


def _path(argument: str, given: object) -> Path:
    if not isinstance(given, (str, os.PathLike)):
        raise BadParamTypeError(f"compile: {argument}: expected a path, got {shown(given)}")
    return Path(os.fsdecode(cast("str | os.PathLike[str]", given)))


def _file(given: object) -> Input:
    path = _path("source_or_paths", given)
    try:
        return Input(str(path), path.parent.absolute(), read_text(path))
    except (OSError, ValueError) as error:  # a NUL in the name, or a character that no file system can encode
        reason = error.strerror if isinstance(error, OSError) else "is no name of a file"
        name = path_text(path)
        raise BadParamError(f"compile: source_or_paths: {name}: {reason}") from None


# ---- Options -------------------------------------------------------------------------------------


def read_folders(given: object) -> list[Path]:
    """Return the folders where headers are looked for."""
    return [_folder(folder) for folder in _several("include_dirs", given)]


def _folder(given: object) -> Path:
    path = _path("include_dirs", given)
    if not os.path.isdir(path):
        raise BadParamError(f"compile: include_dirs: expected folders, got {path_text(path)}")
    return path.absolute()


def read_macros(defines: object) -> list[str]:
    """Return macros as options of the compiler."""
    if not isinstance(defines, Mapping):
        raise BadParamTypeError(f"compile: defines: expected a mapping, got {shown(defines)}")
    words: list[str] = []
    for name, value in cast("Mapping[object, object]", defines).items():
        if not isinstance(name, str) or not _MACRO.fullmatch(name):
            raise BadParamError(f"compile: defines: expected names of macros, got {shown(name)}")
        words.append(f"-D{name}={_macro_text(name, value)}")
    return words


def _macro_text(name: str, value: object) -> str:
    if value is None:
        return ""
    try:
        text = str(int(value)) if isinstance(value, bool) else str(value)
    except ValueError:  # an integer with thousands of digits
        raise BadParamError(f"compile: defines: {shortened(name)}: expected a text, got {shown(value)}") from None
    require_encodable(f"compile: defines: {shortened(name)}", text, lines=False)
    return text


def read_options(given: object) -> tuple[list[Path], list[str]]:
    """Return the folders of headers among further options of the compiler, and the rest of these options."""
    folders: list[Path] = []
    words: list[str] = []
    rest = iter(_several("options", given))
    for word in rest:
        if not isinstance(word, str):
            raise BadParamTypeError(f"compile: options: expected texts, got {shown(word)}")
        value = next(rest, None) if word in _WITH_VALUE else ""
        if not isinstance(value, str) or (word in _WITH_VALUE and not value):
            got = shown(value) if value else "nothing"
            raise BadParamError(f"compile: options: {word}: expected a value, got {got}")
        for text in (word, value):
            require_encodable("compile: options", text, lines=False)
        if word not in _WITH_VALUE and (not re.match("-.", word) or _DOES_SOMETHING_ELSE.fullmatch(word)):
            raise BadParamError(f"compile: options: expected options for compiling a source, got {shown(word)}")
        if word.startswith("-I"):
            folders.append(Path(word[2:] or value).absolute())
        else:
            words += [word, value] if value else [word]
    return folders, words
