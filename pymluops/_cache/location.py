"""Which folder is the cache: that of ``PYMLUOPS_CACHE_DIR``, or one below the user's folder for caches."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pymluops import _environment
from pymluops._cache.notices import warn_once
from pymluops._cache.private import make_folder, problem_on_the_way, problem_with
from pymluops._cache.scratch import scratch_folder
from pymluops._shown import one_line, shortened
from pymluops.errors import NotInitializedError

__all__ = ["Location", "cache_folder", "lasting_folder", "locate"]

_VARIABLE = "PYMLUOPS_CACHE_DIR"
_MOST = 300  # characters of a problem, which names a folder
_NEXT_STEP = f"set {_VARIABLE} to a folder that only you can write to"


@dataclass(frozen=True)
class Location:
    """The folder that the environment asks for, and why it cannot be used; empty if it can."""

    folder: Path | None
    problem: str

    @property
    def sentence(self) -> str:
        """What a warning, or an error, says about the problem."""
        where = "there is no folder for the cache" if self.folder is None else "the cache is not used"
        return f"{where}: {shortened(one_line(self.problem), _MOST)}"


def locate() -> Location:
    """Find the folder and make it if it is not there.

    Raises
    ------
    NotInitializedError
        If ``PYMLUOPS_CACHE_DIR`` names what cannot be a folder.
    """
    named = _environment.text(_VARIABLE)
    if named is not None:
        return _named(named)
    try:
        caches = _usual()
    except OSError as error:
        return Location(None, f"{error.filename}: {error.strerror}")
    if caches is None:
        return Location(None, "this user has no home")
    folder = caches / "pymluops"
    try:
        problem = problem_on_the_way(caches if caches.exists() else _above(caches))
        if not problem:
            make_folder(folder)
            problem = problem_with(folder)
    except OSError as error:
        return Location(folder, f"{error.filename or folder}: {error.strerror}")
    if not problem:
        with suppress(OSError):  # earlier versions left its mode to the umask
            folder.chmod(0o700)
    return Location(folder, problem)


def _named(named: str) -> Location:
    words = Path(named).parts
    if words[:1] == ("~",):
        home = _home()
        if home is None:
            shown = _environment.text_shown(named)
            raise NotInitializedError(f"{_VARIABLE}: expected a folder, got {shown}, and this user has no home")
        named = str(home.joinpath(*words[1:]))
    try:
        folder = Path(os.path.abspath(named))
        make_folder(folder)
        return Location(folder, problem_with(folder))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise NotInitializedError(
            f"{_environment.text_shown(named)}: {reason}: set {_VARIABLE} to a folder that can be written"
        ) from None


def _usual() -> Path | None:
    """Return the user's folder for caches; None if the user has no home."""
    caches = os.environ.get("XDG_CACHE_HOME", "")
    # One that is not absolute counts as not set, says the XDG Base Directory Specification.
    if not os.path.isabs(caches):
        home = _home()
        if home is None:
            return None
        os.stat(home)  # nobody is to have a home because something was compiled
        return home / ".cache"
    return Path(caches)


def _above(folder: Path) -> Path:
    """Return the first folder above one that is there."""
    return next(place for place in folder.parents if place.exists())


def _home() -> Path | None:
    home = os.environ.get("HOME", "")
    if os.path.isabs(home):
        return Path(home)
    import pwd

    try:
        home = pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        return None
    return Path(home) if os.path.isabs(home) else None


def cache_folder() -> Path:
    """Return the folder for what is compiled: the cache, or a temporary one of this process if that is not private.

    A warning says why, once.

    Raises
    ------
    NotInitializedError
        If ``PYMLUOPS_CACHE_DIR`` names what cannot be a folder, or there is no place for a
        temporary one.
    """
    found = locate()
    if found.folder is not None and not found.problem:
        return found.folder
    temporary = scratch_folder() / "cache"
    temporary.mkdir(mode=0o700, exist_ok=True)
    warn_once(f"{found.sentence}; what is compiled is kept until this process ends ({_NEXT_STEP})")
    return temporary


def lasting_folder() -> Path:
    """Return the cache, for what has to be there when this process has ended.

    Raises
    ------
    NotInitializedError
        If it cannot be used.
    """
    found = locate()
    if found.folder is None or found.problem:
        raise NotInitializedError(f"{found.sentence}: {_NEXT_STEP}")
    return found.folder
