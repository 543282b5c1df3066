"""Limits of the file system by Landlock, on Linux since 5.13, without any library.

A rule set stays until the process ends, and whatever it starts has it too; a later one can only
take more away.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

__all__ = ["SINCE_SCOPES", "restrict", "version"]

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_ASK_VERSION, _PATH_BENEATH, _PR_SET_NO_NEW_PRIVS = 1, 1, 38
_EXECUTE, _WRITE, _READ, _LIST = 1, 2, 4, 8
#: Of files, as opposed to folders: execute, write, read, cut, control a device.
_OF_FILES = _EXECUTE | _WRITE | _READ | 1 << 14 | 1 << 15
#: All rights that a version knows; a rule set takes away those that it handles.
_ALL_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
_NEWEST_RIGHTS = 5
_TCP, _SINCE_TCP = 3, 4
#: Abstract sockets and signals to processes outside.
_SCOPES, SINCE_SCOPES = 3, 6


def version() -> int:
    """Return the version of the system's Landlock, 0 if it has none."""
    if not sys.platform.startswith("linux"):
        return 0
    return max(int(ctypes.CDLL(None, use_errno=True).syscall(_CREATE, None, 0, _ASK_VERSION)), 0)


def restrict(readable: Iterable[Path], writable: Iterable[Path]) -> bool:
    """Leave this process some files and folders, and no network by TCP; return whether the system has Landlock.

    Parameters
    ----------
    readable : iterable of Path
        What may be read and run, with all below it. What is not there is passed over.
    writable : iterable of Path
        What may be written, made and removed too.

    Raises
    ------
    OSError
        If the system has Landlock, and does not take the rules.
    """
    number = version()
    if number == 0:
        return False
    library = ctypes.CDLL(None, use_errno=True)
    rights = _ALL_RIGHTS[min(number, _NEWEST_RIGHTS)]
    attributes = struct.pack(
        "=QQQ", rights, _TCP if number >= _SINCE_TCP else 0, _SCOPES if number >= SINCE_SCOPES else 0
    )
    size = 8 if number < _SINCE_TCP else 16 if number < SINCE_SCOPES else 24
    rules = int(library.syscall(_CREATE, ctypes.c_char_p(attributes), size, 0))
    if rules < 0:
        raise OSError(ctypes.get_errno(), "Landlock makes no set of rules")
    try:
        for path in readable:
            _allow(library, rules, path, _EXECUTE | _READ | _LIST)
        for path in writable:
            _allow(library, rules, path, rights)
        if library.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or library.syscall(_RESTRICT, rules, 0) != 0:
            raise OSError(ctypes.get_errno(), "Landlock refuses the rules")
        return True
    finally:
        os.close(rules)


def _allow(library: ctypes.CDLL, rules: int, path: Path, rights: int) -> None:
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not path.is_dir():
            rights &= _OF_FILES
        rule = struct.pack("=Qi", rights, opened)
        library.syscall(_ADD, rules, _PATH_BENEATH, ctypes.c_char_p(rule), 0)
    finally:
        os.close(opened)
