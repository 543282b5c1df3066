"""Opens regular files only: a device or a pipe may never end, or wait for another program."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

__all__ = ["open_regular", "require_regular"]


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file for reading its bytes.

    Raises
    ------
    OSError
        If it cannot be opened, or is no regular file.
    """
    # Before it is opened, which may do something to a device.
    require_regular(path, os.stat(path))
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        require_regular(path, os.fstat(descriptor))
        return open(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def require_regular(path: str | os.PathLike[str], status: os.stat_result) -> None:
    """Refuse folders, devices and pipes.

    Raises
    ------
    OSError
        If the file with this status is one.
    """
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(Path(path)))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "is no regular file", str(Path(path)))
