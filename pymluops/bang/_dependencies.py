"""The headers that a compiler says it has read, and whether they have changed since."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

__all__ = ["dependencies_in", "for_make", "states_of"]

_WORD = re.compile(r"(?:\\[ #]|\$\$|[^\s\\]|\\(?![ \n]))+")


def dependencies_in(file: Path) -> list[str]:
    """Return the files behind the colon of a rule for make, as ``-MD`` writes it, by their absolute paths."""
    text = file.read_text(encoding="utf-8", errors="surrogateescape")
    words = _WORD.findall(text.partition(": ")[2].replace("\\\n", " "))
    paths = [re.sub(r"\\([ #])", r"\1", word).replace("$$", "$") for word in words]
    return list(dict.fromkeys(os.path.abspath(path) for path in paths))


def for_make(name: str) -> str:
    """Return the name of a file as a rule for make has it."""
    return re.sub(r"([ #])", r"\\\1", name).replace("$", "$$")


def states_of(paths: Iterable[str]) -> dict[str, str]:
    """Return a text for each file that changes when the file does: when it was written, and its size."""
    return {path: _state_of(path) for path in paths}


def _state_of(path: str) -> str:
    try:
        status = os.stat(path)
    except OSError:
        return ""
    return f"{status.st_mtime_ns} {status.st_size} {status.st_ino}"
