"""Entries of the cache: files with a checksum, which are read as a whole or not at all.

An entry is what was compiled, then notes about it in JSON, then a line with the checksum of both
and of the entry's name. A file that was cut, changed, renamed or put there by somebody else is
none, and is made again. An entry is written beside its place and renamed, so that whoever reads
finds the old one or the new one. The folder, or any file in it, may be deleted at any moment.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import stat
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, cast

from pymluops import _environment
from pymluops._cache.notices import warn_once
from pymluops._cache.private import is_own_file, make_folder, problem_with
from pymluops._cache.scratch import Locked, locked_folder, remove_tree, sweep
from pymluops._shown import path_text

__all__ = ["MOST_MIB", "Entry", "Store", "Usage", "Writer"]

#: Limit of the cache where ``PYMLUOPS_CACHE_MIB`` says none.
MOST_MIB = 1024
_MIB = 1 << 20
_MOST_BYTES = 1 << 31  # of an entry
_PREFIX = "tmp-"
_ENTRY = re.compile(r"^.+-[0-9a-f]{32}\.(?:so|o|json|mark)$")
#: Folders that `pymluops.sim.neuware` makes.
_TOOLKIT = re.compile(r"^neuware-[0-9a-f]{16}$")
#: What earlier versions left: temporary files, temporary folders, and entries without a checksum.
_OLD = re.compile(r"^(?:\.\d+-[0-9a-f]+-.+|tmp[a-z0-9_]{8}|.+-[0-9a-f]{32}\.txt|zig-[0-9a-f]{32})$")
_SECONDS_OF_OLD = 3600
_TRAILER = re.compile(rb"\npymluops ([0-9a-f]{64}) ([0-9]{12})\n")
_TRAILER_BYTES = len("\npymluops ") + 64 + 1 + 12 + 1


class Entry(NamedTuple):
    """What an entry holds."""

    data: bytes
    notes: dict[str, Any]


class Usage(NamedTuple):
    """What lies in the folder of a cache.

    Attributes
    ----------
    entries, size : int
        How many entries there are, and their bytes.
    toolkits : int
        How many folders of `pymluops.sim.neuware`.
    temporary : int
        How many temporary files and folders, of processes that run or were killed.
    last_used : float or None
        The time when the entry that was not used longest was used.
    """

    entries: int
    size: int
    toolkits: int
    temporary: int
    last_used: float | None


def _sealed(name: str, data: bytes, notes: bytes) -> bytes:
    return data + notes + f"\npymluops {_checksum(name, data, notes)} {len(notes):012}\n".encode("ascii")


def _checksum(name: str, data: bytes, notes: bytes) -> str:
    key = hashlib.sha256(os.fsencode(name) + b"\0")
    key.update(data)
    key.update(notes)
    return key.hexdigest()


def _opened(name: str, content: bytes) -> Entry | None:
    """Take an entry apart; None if it is not what was written."""
    end = len(content) - _TRAILER_BYTES
    trailer = _TRAILER.fullmatch(content, max(end, 0))
    if trailer is None or int(trailer[2]) > end:
        return None
    begin = end - int(trailer[2])
    data, notes = content[:begin], content[begin:end]
    if _checksum(name, data, notes) != trailer[1].decode("ascii"):
        return None
    return Entry(data, cast("dict[str, Any]", json.loads(notes)))


class Writer:
    """Writes entries; made before what takes long, so that its folder is there."""

    def __init__(self, store: Store, folder: Locked | None) -> None:
        self._store = store
        self.folder = folder

    def put(self, name: str, data: bytes, notes: Mapping[str, object]) -> None:
        """Write an entry. If that cannot be done, a warning says so, once, and nothing is kept."""
        content = _sealed(name, data, json.dumps(notes).encode("ascii"))
        if len(content) > self._store.limit:
            return
        for last in (False, False, True):  # the folder may be deleted more than once
            try:
                self._put(name, content)
                break
            except OSError as error:
                if last or error.errno not in (errno.ENOENT, errno.ESTALE):
                    self._store.warn(error)
                    return
                self.close()
        self._store.evict()

    def close(self) -> None:
        """Remove the folder."""
        if self.folder is not None:
            self.folder.remove()
            self.folder = None

    def _put(self, name: str, content: bytes) -> None:
        if self.folder is None:
            self.folder = self._store.locked_folder()
        file, target = self.folder.path / name, self._store.folder / name
        try:
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            with open(descriptor, "wb") as stream:
                os.fchmod(descriptor, 0o600)  # whatever the umask says
                stream.write(content)
            try:
                file.replace(target)
            except (IsADirectoryError, NotADirectoryError):
                remove_tree(target)
                file.replace(target)
        except BaseException:
            with suppress(OSError):
                file.unlink()
            raise


class Store:
    """The entries in a folder.

    Parameters
    ----------
    folder : Path
        That of `pymluops._cache.location.cache_folder`; or another one that is private.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        mib = _environment.integer("PYMLUOPS_CACHE_MIB")
        self.limit = (MOST_MIB if mib is None else mib) * _MIB
        if folder not in _swept:
            _swept.add(folder)
            self.sweep()

    # -- Entries --

    def read(self, name: str) -> Entry | None:
        """Return an entry, and note that it was used; None if there is none, or it is broken."""
        try:
            descriptor = os.open(self.folder / name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return None
        try:
            status = os.fstat(descriptor)
            if not is_own_file(status) or status.st_size > _MOST_BYTES:
                return None
            with open(descriptor, "rb", closefd=False) as file:
                entry = _opened(name, file.read(status.st_size))
            if entry is not None:
                with suppress(OSError):
                    os.utime(descriptor)
            return entry
        except OSError:
            return None
        finally:
            os.close(descriptor)

    @contextmanager
    def writer(self) -> Generator[Writer, None, None]:
        """Give a `Writer`."""
        folder = None
        with suppress(OSError):  # it is tried again when there is something to write
            folder = self.locked_folder()
        writer = Writer(self, folder)
        try:
            yield writer
        finally:
            writer.close()

    def locked_folder(self) -> Locked:
        """Make a folder for files until they are whole, and the folder of the cache where that was deleted.

        Raises
        ------
        OSError
            If it cannot be made, or the folder of the cache is not private.
        """
        make_folder(self.folder)
        problem = problem_with(self.folder)
        if problem:  # somebody else was faster
            raise PermissionError(errno.EPERM, problem, str(self.folder))
        return locked_folder(self.folder, _PREFIX)

    def warn(self, error: OSError) -> None:
        """Say that what is compiled cannot be kept."""
        place = path_text(self.folder)
        warn_once(f"what is compiled is not kept: {place}: {error.strerror or error}")

    # -- The whole --

    def evict(self) -> None:
        """Remove entries that were not used longest until the rest is within the limit."""
        entries = sorted(self._entries(), key=lambda entry: entry[1].st_mtime_ns, reverse=True)
        total = 0
        for path, status in entries:
            total += status.st_size
            if total > self.limit:
                with suppress(OSError):
                    path.unlink()

    def sweep(self) -> None:
        """Remove what processes left behind that were killed."""
        sweep(self.folder, _PREFIX)
        for path, status in self._listed(_OLD):
            if time.time() - status.st_mtime > _SECONDS_OF_OLD:
                _remove(path, status)

    def usage(self) -> Usage:
        """Return what lies in the folder."""
        entries = [status for _, status in self._entries()]
        last_used = min((status.st_mtime for status in entries), default=None)
        temporary = sum(1 for _ in self._listed(re.compile(rf"{_PREFIX}|{_OLD.pattern}")))
        toolkits = sum(1 for _ in self._listed(_TOOLKIT))
        return Usage(len(entries), sum(status.st_size for status in entries), toolkits, temporary, last_used)

    def clear(self) -> tuple[Usage, int]:
        """Remove all of it but the temporary folders of processes that run.

        Returns
        -------
        Usage, int
            What there was, and how much of it cannot be removed.
        """
        usage = self.usage()
        left = 0
        for pattern in (_ENTRY, _OLD, _TOOLKIT):
            for path, status in self._listed(pattern):
                _remove(path, status)
                left += os.path.lexists(path)
        sweep(self.folder, _PREFIX)
        return usage, left

    def _entries(self) -> list[tuple[Path, os.stat_result]]:
        return [(path, status) for path, status in self._listed(_ENTRY) if stat.S_ISREG(status.st_mode)]

    def _listed(self, pattern: re.Pattern[str]) -> list[tuple[Path, os.stat_result]]:
        found: list[tuple[Path, os.stat_result]] = []
        try:
            names = [name for name in os.listdir(self.folder) if pattern.match(name)]
        except OSError:
            return found
        for name in names:
            with suppress(OSError):  # gone meanwhile
                found.append((self.folder / name, os.lstat(self.folder / name)))
        return found


def _remove(path: Path, status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        remove_tree(path)
    else:
        with suppress(OSError):
            path.unlink()


#: Folders that this process has swept.
_swept: set[Path] = set()
