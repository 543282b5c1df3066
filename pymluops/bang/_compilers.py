"""Finds a C++ compiler: what the environment says, GCC, Clang, or the one in the PyPI package ziglang."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pymluops import _environment
from pymluops.errors import NotInitializedError
from pymluops.sim.toolchain import CompileError, run_tool

__all__ = ["Compiler", "find_compiler"]

NEXT_STEP = "install g++ (12 or newer) or clang++ (15 or newer), or run `pip install 'pymluops[compiler]'`"
_OLDEST = {"GNU": 12, "Clang": 15}


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
    return Compiler((found, *words[1:]), f"{_identity(found)} {words[1:]}")


def _identity(program: str) -> str:
    """Return a text that changes with the program; without running it, which takes time at every start."""
    real = Path(program).resolve()
    state = real.stat()
    return f"{real} {state.st_size} {state.st_mtime_ns}"


def _zig() -> Compiler | None:
    spec = importlib.util.find_spec("ziglang")
    if spec is None or not spec.submodule_search_locations:
        return None
    program = Path(spec.submodule_search_locations[0]) / "zig"
    identity = _identity(str(program)) if program.is_file() else str(program)
    return Compiler((sys.executable, "-m", "ziglang", "c++"), identity)


def digest(*parts: str) -> str:
    """Return a short text that stands for texts."""
    key = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape"))
    return key.hexdigest()[:32]
