"""Libraries that this process has loaded, each from a file of its own that nobody else writes to."""

from __future__ import annotations

import ctypes
import os
import threading
from pathlib import Path
from tempfile import mkdtemp
from typing import overload

from pymluops.errors import NotInitializedError

__all__ = ["keep_written", "loaded", "written"]


class _State:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.paths: dict[str, Path] = {}

    def forget_lock(self) -> None:
        """Have a lock that nobody holds: a thread that held it does not exist after a fork."""
        self.lock = threading.Lock()


_state = _State()
os.register_at_fork(after_in_child=_state.forget_lock)


@overload
def loaded(name: str) -> Path | None: ...
@overload
def loaded(name: str, data: bytes, folder: Path) -> Path: ...


def loaded(name: str, data: bytes | None = None, folder: Path | None = None) -> Path | None:
    """Return the file that a library was loaded from: once in a process, whoever asks for it and however often.

    Parameters
    ----------
    name : str
        Of its entry in the cache; other contents have other names.
    data : bytes, optional
        Its contents. Without them, the library is not loaded if it is not yet.
    folder : Path, optional
        A folder of this process for the file.

    Raises
    ------
    NotInitializedError
        If it cannot be loaded.
    """
    with _state.lock:
        known = _state.paths.get(name)
        if known is not None or data is None or folder is None:
            return known
        try:
            return _load(name, written(name, data, folder))
        except OSError as error:
            raise NotInitializedError(f"the compiled library cannot be loaded: {error}") from None


def written(name: str, data: bytes, folder: Path) -> Path:
    """Write a library to a new folder in `folder`, to be loaded by `keep_written` later."""
    path = Path(mkdtemp(dir=folder), name)
    path.write_bytes(data)
    return path


def keep_written(name: str, path: Path) -> Path:
    """Load a library that `written` wrote, unless it is loaded already.

    Raises
    ------
    NotInitializedError
        If it cannot be loaded.
    """
    with _state.lock:
        try:
            return _state.paths.get(name) or _load(name, path)
        except OSError as error:
            raise NotInitializedError(f"the compiled library cannot be loaded: {error}") from None


def _load(name: str, path: Path) -> Path:
    ctypes.CDLL(str(path))  # which stays loaded
    _state.paths[name] = path
    return path
