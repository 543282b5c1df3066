"""Which lines of kernels ran, for coverage.py: see `pymluops.bang.coverage`.

Sources are then compiled with GCC's ``--coverage``, into a folder of this process: the counters of
an object belong to the files that were written when it was compiled. ``gcov`` reads them.
"""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from pymluops._cache.location import cache_folder
from pymluops._cache.scratch import scratch_folder
from pymluops._cache.store import Store
from pymluops.bang._compilers import Compiler, digest
from pymluops.bang._headers import read_text
from pymluops.errors import NotInitializedError

__all__ = ["COMPILE", "LINK", "Lines", "executable_lines", "folder", "hand_over", "start"]

#: Options of the compiler and of the linker.
COMPILE = ("-O0", "--coverage", "-DMLUOPS_MODULE_COVERAGE=1")
LINK = ("--coverage",)


@dataclass
class Lines:
    """The lines of a file that hold code, and those of them that ran."""

    executable: set[int] = field(default_factory=set)
    executed: set[int] = field(default_factory=set)


@dataclass
class _Session:
    """From the call of `start` to the end of the process."""

    take: Callable[[dict[str, Lines]], None]
    folder: Path | None = None
    gcov: str = ""


_sessions: list[_Session] = []


def start(take: Callable[[dict[str, Lines]], None]) -> None:
    """Compile with counters from now on.

    Parameters
    ----------
    take : callable
        Receives the lines by the path of their file from `hand_over`.
    """
    _sessions[:] = [_Session(take)]


def folder(compiler: Compiler) -> Path | None:
    """Return the folder for files compiled with counters; None if nothing is to be counted.

    Raises
    ------
    NotInitializedError
        If the compiler is not GCC, or its gcov is missing.
    """
    if not _sessions:
        return None
    session = _sessions[0]
    if session.folder is None:
        session.gcov = _gcov_of(compiler)
        session.folder = Path(mkdtemp(prefix="coverage-", dir=scratch_folder()))
        atexit.register(hand_over)  # of a program without pytest: runs before coverage.py saves
    return session.folder


def _gcov_of(compiler: Compiler) -> str:
    program = Path(compiler.command[0])
    name = re.sub(r"^(.*-)?(?:g\+\+|gcc|c\+\+)(-\d+)?$", r"\1gcov\2", program.name)
    found = None
    if compiler.kind == "GNU" and name != program.name:
        found = shutil.which(str(program.with_name(name))) or shutil.which(name)
    if found is None:
        raise NotInitializedError(
            f"lines of kernels are counted with GCC and its gcov, and {program} has none: set PYMLUOPS_CXX to g++, "
            "or take pymluops.bang.coverage out of the plugins of coverage.py"
        )
    return found


def hand_over() -> None:
    """Give `take` the lines so far; nothing happens if nothing was compiled with counters."""
    session = _sessions[0] if _sessions else None
    if session is None or session.folder is None:
        return
    counted = session.folder
    for library in counted.rglob("*.so"):
        _write_counters(library)
    data = sorted(str(path) for path in counted.rglob("*.gcda"))
    lines = _read(session.gcov, data, counted) if data else {}
    for file, of_file in lines.items():
        _remember(Path(file), of_file.executable)
    session.take(lines)


def _write_counters(library: Path) -> None:
    try:
        loaded = ctypes.CDLL(str(library), mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    except OSError:
        return  # compiled, and never loaded
    loaded.mluops_module_write_coverage()


def _read(gcov: str, data: list[str], counted: Path) -> dict[str, Lines]:
    done = subprocess.run(
        [gcov, "--json-format", "--stdout", *data], cwd=counted, check=True, capture_output=True, text=True
    )
    found: dict[str, Lines] = {}
    for document in done.stdout.splitlines():
        for file in json.loads(document)["files"]:
            path = os.path.abspath(file["file"])
            if _is_ours(path):
                _add(found.setdefault(path, Lines()), file["lines"])
    return found


def _is_ours(path: str) -> bool:
    """Tell files of the user from texts, system headers and the headers of this package."""
    package = str(Path(__file__).resolve().parent.parent)
    return os.path.isfile(path) and not path.startswith(("/usr/", package + os.sep))


def _add(lines: Lines, counted: list[dict[str, Any]]) -> None:
    for line in counted:
        lines.executable.add(line["line_number"])
        if line["count"] > 0:
            lines.executed.add(line["line_number"])


# ---- Which lines hold code, for a report in another process --------------------------------------


def _remember(file: Path, executable: set[int]) -> None:
    with Store(cache_folder()).writer() as writer:
        writer.put(_noted(read_text(file)), b"", {"lines": sorted(executable)})


def _noted(text: str) -> str:
    return f"lines-{digest(text)}.json"


def executable_lines(text: str) -> set[int]:
    """Return the numbers of the lines of a source that hold code.

    The compiler said so when it was compiled with counters. Where it never was, they are the lines
    with a semicolon or a brace that opens.
    """
    entry = Store(cache_folder()).read(_noted(text))
    if entry is not None:
        return set(entry.notes["lines"])
    lines = enumerate(text.splitlines(), 1)
    return {number for number, line in lines if re.search(r"[;{]", line.partition("//")[0])}
