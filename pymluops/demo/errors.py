"""Errors of invalid input and of a missing installation."""

from __future__ import annotations

import os

from pymluops._shown import shortened
from pymluops.cli import CommandError


class InputError(CommandError):
    """A file that cannot be used. The message names the file and the problem."""

    def __init__(self, path: str | os.PathLike[str], problem: str) -> None:
        super().__init__(f"{os.fspath(path)}: {problem}")


class MissingPackageError(CommandError):
    """An optional package is missing. The message names the command that installs it."""

    def __init__(self, purpose: str, package: str) -> None:
        super().__init__(f'{purpose} needs {package}, which is not installed: pip install "pymluops[demo]"')


def first_line(error: BaseException) -> str:
    """Return the first line of an exception's text, for messages that quote a library."""
    lines = str(error).strip().splitlines()
    return shortened(lines[0], 200) if lines else type(error).__name__
