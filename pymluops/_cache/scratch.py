"""The temporary folder of this process, and temporary folders in general, which do not outlive their process.

A folder is locked (``flock``) as long as its process, or one forked from it, lives. The process
removes it at exit; if it is killed, the next process that makes such a folder finds it without a
lock and removes it.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import tempfile
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pymluops._cache.private import problem_on_the_way
from pymluops.errors import NotInitializedError

__all__ = ["Locked", "locked_folder", "remove_tree", "scratch_folder", "sweep", "temporary_folder"]

_PREFIX = "pymluops-"
#: Where temporary files may lie besides the place that TMPDIR names.
_USUAL = (Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"))


@dataclass(frozen=True)
class Locked:
    """A folder with the open file that holds its lock."""

    path: Path
    descriptor: int

    def remove(self) -> None:
        """Unlock the folder and remove it, unless a process that was forked meanwhile still uses it."""
        with suppress(OSError):
            os.close(self.descriptor)
        _remove_if_unlocked(self.path)


def locked_folder(parent: Path, prefix: str) -> Locked:
    """Make a folder that only this user can read or write, and lock it.

    Raises
    ------
    OSError
        If it cannot be made.
    """
    while True:
        path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        path.chmod(0o700)  # whatever the umask says
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        if _is_locked(descriptor) and _is_at(path, descriptor):
            return Locked(path, descriptor)
        os.close(descriptor)  # swept before it was locked


def _is_locked(descriptor: int) -> bool:
    """Lock a folder; False if another process is about to remove it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks: `sweep` cannot lock it either, and leaves it
        pass
    return True


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except OSError:
        return False


def sweep(parent: Path, prefix: str) -> int:
    """Remove the folders whose processes have ended without removing them; return how many."""
    removed = 0
    try:
        with os.scandir(parent) as entries:
            names = [entry.name for entry in entries if entry.name.startswith(prefix)]
    except OSError:
        return 0
    for name in names:
        removed += _remove_if_unlocked(parent / name)
    return removed


def _remove_if_unlocked(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        if os.fstat(descriptor).st_uid != os.geteuid():
            return False
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        remove_tree(path)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def remove_tree(path: Path) -> None:
    """Remove a folder with what is in it, as far as that can be done."""
    shutil.rmtree(path, ignore_errors=True)


# ---- Of this process -----------------------------------------------------------------------------


class _State:
    """The folder of a process and a user; a process that was forked, or has another user, makes its own."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.owner: tuple[int, int] | None = None
        self.folder: Locked | None = None

    def forget_lock(self) -> None:
        """Have a lock that nobody holds: a thread that held it does not exist after a fork."""
        self.lock = threading.Lock()


_state = _State()
os.register_at_fork(after_in_child=_state.forget_lock)


def scratch_folder(*, other: Path | None = None) -> Path:
    """Return the temporary folder of this process, which is made when it is asked for first.

    Parameters
    ----------
    other : Path, optional
        A folder to make it in if the system's folder for temporary files cannot be used.

    Raises
    ------
    NotInitializedError
        If it cannot be made.
    """
    with _state.lock:
        owner = (os.getpid(), os.geteuid())
        folder = _state.folder
        if folder is None or _state.owner != owner or not folder.path.is_dir():
            folder = _state.folder = _made(other)
            _state.owner = owner
            atexit.register(_remove, folder, os.getpid())
        return folder.path


def _made(other: Path | None) -> Locked:
    reasons: list[str] = []
    for parent in _places(other):
        try:
            # Libraries are loaded from there.
            problem = "programs cannot be run from it" if _forbids_programs(parent) else problem_on_the_way(parent)
            if not problem:
                sweep(parent, _PREFIX)
                return locked_folder(parent, _PREFIX)
        except OSError as error:
            problem = error.strerror or str(error)
        reasons.append(f"{parent}: {problem}")
    raise NotInitializedError(f"there is no folder for temporary files: set TMPDIR to one ({'; '.join(reasons)})")


def _places(other: Path | None) -> list[Path]:
    # Without `tempfile.gettempdir`, which writes a file to each place to see whether that can be
    # done.
    named = [tempfile.tempdir, *map(os.environ.get, ("TMPDIR", "TEMP", "TMP"))]
    places = [*(Path(name).absolute() for name in named if name), _USUAL[0], *([other] if other else []), *_USUAL[1:]]
    return list(dict.fromkeys(places))


def _forbids_programs(folder: Path) -> bool:
    return bool(os.statvfs(folder).f_flag & os.ST_NOEXEC)


def _remove(folder: Locked, process: int) -> None:
    if os.getpid() == process:
        folder.remove()


@contextmanager
def temporary_folder() -> Generator[Path, None, None]:
    """Give a folder, in that of this process, that is removed when the block ends."""
    path = Path(tempfile.mkdtemp(dir=scratch_folder()))
    try:
        yield path
    finally:
        remove_tree(path)
