"""Finds a C++ compiler (from the environment, GCC, Clang, or the PyPI package ziglang) and runs it."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO

from pymluops import _environment
from pymluops.bang import _limited
from pymluops.errors import NotInitializedError
from pymluops.sim.toolchain import CompileError, run_tool

__all__ = ["Compiler", "digest", "find_compiler", "warnings_of"]

NEXT_STEP = "install g++ (12 or newer) or clang++ (16 or newer), or run `pip install 'pymluops[compiler]'`"
_OLDEST = {"GNU": 12, "Clang": 16}
_NO_MEMORY = re.compile(r"out of memory|virtual memory exhausted|[Cc]annot allocate memory|bad_alloc")
_MOST_SAID = 1 << 20  # bytes of a compiler's messages that are kept


@dataclass(frozen=True)
class Compiler:
    """A C++ compiler.

    Parameters
    ----------
    command : tuple of str
        The program, with options that it always gets.
    identity : str
        Another text for another compiler, or another version of it.
    """

    command: tuple[str, ...]
    identity: str

    @property
    def kind(self) -> str:
        """``"GNU"`` or ``"Clang"``.

        Raises
        ------
        CompileError
            If the compiler cannot be run, or is too old.
        """
        return _kind(self.command)

    @property
    def is_zig(self) -> bool:
        """Whether it is the one of the package ziglang."""
        return "ziglang" in self.command


@cache
def _kind(command: tuple[str, ...]) -> str:
    macros = run_tool([*command, "-dM", "-E", "-x", "c++", os.devnull])
    kind, name = ("Clang", "__clang_major__") if "#define __clang__ " in macros else ("GNU", "__GNUC__")
    version = int(re.findall(rf"^#define {name} (\d+)", macros, re.MULTILINE)[0])
    if version < _OLDEST[kind]:
        raise CompileError(f"{shlex.join(command)} is {kind} {version}, which is too old: {NEXT_STEP}")
    return kind


def find_compiler() -> Compiler:
    """Return the compiler to use.

    Raises
    ------
    NotInitializedError
        If there is none, or ``PYMLUOPS_CXX`` names one that is not there.
    """
    wanted = _environment.text("PYMLUOPS_CXX")
    if wanted is not None:
        return _named(wanted)
    for name in ("g++", "clang++"):
        found = shutil.which(name)
        if found is not None:
            return Compiler((found,), _identity(found))
    zig = _zig()
    if zig is None:
        raise NotInitializedError(f"there is no C++ compiler: {NEXT_STEP}, or set PYMLUOPS_CXX")
    return zig


def _named(wanted: str) -> Compiler:
    try:
        words = shlex.split(wanted)
    except ValueError:
        words = []
    found = shutil.which(words[0]) if words else None
    if found is None:
        raise NotInitializedError(
            f"PYMLUOPS_CXX: expected the command of a C++ compiler, got {_environment.text_shown(wanted)}, "
            "and there is no such program"
        )
    # Behind a launcher, such as ccache, stands the compiler.
    programs = [place for word in words if not word.startswith("-") and (place := shutil.which(word))]
    return Compiler((found, *words[1:]), f"{_identity(*programs)} {words[1:]}")


def _identity(*programs: str) -> str:
    """Return a text that changes with programs; without running them, which takes time at every start.

    A program may be a launcher that runs another one of its name, and a compiler runs an assembler
    and a linker: all of these names on the path count.
    """
    names = dict.fromkeys([*(os.path.basename(program) for program in programs), "as", "ld"])
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    places = [*programs, *(f"{folder}/{name}" for name in names for folder in dict.fromkeys(folders))]
    states = dict.fromkeys(_state_of(place) for place in places)
    return " ".join([*programs, *filter(None, states)])


def _state_of(program: str) -> str:
    try:
        state = os.stat(program)
    except (OSError, ValueError):
        return ""
    return f"{state.st_ino} {state.st_size} {state.st_mtime_ns}"


def _zig() -> Compiler | None:
    spec = importlib.util.find_spec("ziglang")
    if spec is None or not spec.submodule_search_locations:
        return None
    program = Path(spec.submodule_search_locations[0]) / "zig"
    identity = _identity(str(program)) if program.is_file() else str(program)
    return Compiler((sys.executable, "-P", "-m", "ziglang", "c++"), identity)


def digest(*parts: str) -> str:
    """Return a short text that stands for texts; for others, or the same ones divided otherwise, another one."""
    key = hashlib.sha256()
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        key.update(b"%d:" % len(encoded))
        key.update(encoded)
    return key.hexdigest()[:32]


# ---- Running a compiler --------------------------------------------------------------------------


def warnings_of(command: Sequence[str | Path], temporary: Path) -> str:
    """Run a compiler or linker and return its text on stderr.

    Parameters
    ----------
    command : sequence of str or Path
        The command.
    temporary : Path
        A folder for its temporary files, which it leaves there when it is killed.

    Raises
    ------
    CompileError
        If it fails; with its text.
    """
    words = [str(word) for word in command]
    # A terminal's width: otherwise compilers repeat a line as a whole, however long it is, with
    # each message about it.
    environment = {"COLUMNS": "200", **os.environ, "TMPDIR": str(temporary)}
    with tempfile.TemporaryFile(dir=temporary) as out, tempfile.TemporaryFile(dir=temporary) as err:
        try:
            code = _limited.run(words, out, err, environment)
        except _limited.LimitError as error:
            raise CompileError(f"{_beginning(out)}{_beginning(err)}{words[0]}: {error}") from None
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise CompileError(f"{words[0]}: {reason}") from None
        said = _beginning(err)
        if code != 0:
            ended = "" if code > 0 else f"{words[0]}: was ended by signal {-code}"
            if _NO_MEMORY.search(said):
                ended += f"{words[0]}: may use {_limited.memory_mib()} MiB (PYMLUOPS_COMPILE_MIB)"
            raise CompileError((_beginning(out) + said + ended).rstrip("\n"))
    return said


def _beginning(file: IO[bytes]) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    text = file.read(_MOST_SAID).decode("utf-8", "replace")
    return text if size <= _MOST_SAID else f"{text}\n... and {size - _MOST_SAID} more bytes\n"
