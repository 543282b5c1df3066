"""Tells folders that only this user can write to from others: what a process loads must come from such a folder."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

__all__ = ["is_own_file", "make_folder", "problem_on_the_way", "problem_with"]

_MOST_LINKS = 40
#: Folders that were found to be private, with what they were then.
_private: dict[Path, tuple[int, ...]] = {}
_ACCESS_LIST = "system.posix_acl_access"


def problem_with(folder: Path) -> str:
    """Return why others could change what lies in a folder; empty if they cannot.

    The folder must belong to this user, and nobody else may write to it; `problem_on_the_way` says
    the rest.

    Parameters
    ----------
    folder : Path
        Its absolute path.

    Raises
    ------
    OSError
        If it cannot be looked at.
    """
    status = os.stat(folder)
    state = (status.st_dev, status.st_ino, status.st_mode, status.st_uid, status.st_gid, os.geteuid())
    if _private.get(folder) == state:  # nobody else could have changed the way to it meanwhile
        return ""
    problem = problem_on_the_way(folder)
    if problem:
        return problem
    real = folder.resolve()
    if status.st_uid != os.geteuid():
        return f"{real} belongs to another user (uid {status.st_uid})"
    if _others_write(real, status):
        return f"other users may write to {real}"
    _private[folder] = state
    return ""


def problem_on_the_way(folder: Path) -> str:
    """Return why others could put another folder in the place of one; empty if they cannot.

    The folder and every one on the way to it, through symbolic links too, must belong to this user
    or to root. Nobody else may write there, unless it is a folder like ``/tmp``, where only owners
    may remove what is theirs.

    Parameters
    ----------
    folder : Path
        Its absolute path.

    Raises
    ------
    OSError
        If it cannot be looked at.
    """
    for place in _traversed(folder):
        status = os.lstat(place)
        if not _is_trusted(status.st_uid):
            return f"{place} belongs to another user (uid {status.st_uid})"
        if stat.S_ISLNK(status.st_mode):
            continue
        if not stat.S_ISDIR(status.st_mode):
            raise _error(errno.ENOTDIR, place)
        if _others_write(place, status) and not status.st_mode & stat.S_ISVTX:
            return f"other users may write to {place}"
    return ""


def is_own_file(status: os.stat_result) -> bool:
    """Tell whether a file is a regular one of this user, to which nobody else may write."""
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o022


def make_folder(folder: Path) -> None:
    """Make a folder, and those on the way to it, for this user alone; one that is there stays as it is.

    Raises
    ------
    OSError
        If it cannot be made.
    """
    if folder.is_dir():
        return
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    for place in reversed(missing):
        try:
            place.mkdir(mode=0o700)
            place.chmod(0o700)  # whatever the umask says
        except FileExistsError:
            pass
    if not folder.is_dir():
        raise _error(errno.ENOTDIR, folder)


def _error(number: int, place: Path) -> OSError:
    return OSError(number, os.strerror(number), str(place))


def _traversed(folder: Path) -> Iterator[Path]:
    """The folders and symbolic links on the way to a folder, which comes last."""
    at = Path(folder.anchor)
    waiting = list(reversed(folder.parts[1:]))
    links = 0
    yield at
    while waiting:
        part = waiting.pop()
        place = at.parent if part == ".." else at / part
        yield place
        if part == ".." or not stat.S_ISLNK(os.lstat(place).st_mode):
            at = place
            continue
        links += 1
        if links > _MOST_LINKS:
            raise _error(errno.ELOOP, folder)
        target = Path(os.readlink(place))
        if target.is_absolute():
            at = Path(target.anchor)
        waiting += reversed(target.parts[1:] if target.is_absolute() else target.parts)


def _others_write(place: Path, status: os.stat_result) -> bool:
    if status.st_mode & stat.S_IWOTH:
        return True
    if not status.st_mode & stat.S_IWGRP:
        return False
    return not _is_own_group(status.st_gid, os.geteuid()) or _has_access_list(place)


def _has_access_list(place: Path) -> bool:
    """Tell whether the bits of the group stand for further users and groups too."""
    with suppress(OSError, AttributeError):
        return bool(os.getxattr(place, _ACCESS_LIST, follow_symlinks=False))
    return False


@cache
def _is_own_group(group: int, user_number: int) -> bool:
    """Tell whether a group has a user only, as those have that are made with a user and have its name."""
    import grp
    import pwd

    try:
        user, entry = pwd.getpwuid(user_number), grp.getgrgid(group)
    except KeyError:
        return False
    return user.pw_gid == group and entry.gr_name == user.pw_name and set(entry.gr_mem) <= {user.pw_name}


def _is_trusted(user: int) -> bool:
    """Tell whether the folders of a user may be on the way: of this one, root, and root as a sandbox shows it."""
    return user in (0, os.geteuid()) or user in _outside()


@cache
def _outside() -> frozenset[int]:
    """Return the number by which a user namespace shows users that it does not have; none where it has that one."""
    try:
        overflow = int(Path("/proc/sys/kernel/overflowuid").read_text(encoding="ascii"))
        ranges = [list(map(int, line.split())) for line in Path("/proc/self/uid_map").read_text("ascii").splitlines()]
        known = any(first <= overflow < first + count for first, _, count in ranges)
    except (OSError, ValueError):
        return frozenset()
    return frozenset() if known else frozenset({overflow})
