"""Files that are there as a whole or not at all, whatever ends the program that writes them."""

from __future__ import annotations

import os
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["whole_file"]


@contextmanager
def whole_file(path: Path) -> Generator[Path, None, None]:
    """Give the name of a file to write; when the block ends well, it gets the name `path`, otherwise it goes away.

    A device or a pipe is written to directly.
    """
    target = Path(os.path.realpath(path))  # a link keeps pointing to the file
    if target.exists() and not (target.is_file() or target.is_dir()):
        yield target
        return
    temporary = target.with_name(f".pymluops-{os.getpid()}-{threading.get_native_id()}{target.suffix[:20]}")
    try:
        yield temporary
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
