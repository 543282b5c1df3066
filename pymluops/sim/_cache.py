"""The folder for what this package compiles and makes at run time."""

from __future__ import annotations

import os
from pathlib import Path

from pymluops import _environment
from pymluops.errors import NotInitializedError

__all__ = ["Place", "cache_folder"]


def cache_folder() -> Path:
    """Return the folder for what was compiled; it is made if it is not there.

    Raises
    ------
    NotInitializedError
        If it cannot be made.
    """
    named = _environment.text("PYMLUOPS_CACHE_DIR")
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = Path(named) if named is not None else Path(home) / "pymluops"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        shown = _environment.text_shown(str(folder))
        raise NotInitializedError(
            f"{shown}: {error.strerror}: set PYMLUOPS_CACHE_DIR to a folder that can be written"
        ) from None
    return folder.absolute()


class Place:
    """Where a file is written until it is whole: another process may make the same one."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._place = target.with_name(f".{os.getpid()}-{id(self):x}-{target.name}")

    def __enter__(self) -> Path:
        return self._place

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is None:
            self._place.replace(self._target)
        else:
            self._place.unlink(missing_ok=True)
