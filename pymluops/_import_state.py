"""State that installing and uninstalling modules share: locks that threads and forks respect, and `sys.meta_path`.

Other threads import while a program installs or uninstalls. Python's import of a module looks for
it in `sys.modules` several times, so a module that leaves in between ends such an import in a
KeyError; `imports_ended` waits for these imports first.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import threading
from collections.abc import Callable, Generator, Iterable
from importlib.abc import MetaPathFinder
from typing import Any

__all__ = ["changing", "imports_ended", "leave_meta_path", "making", "replacing", "wait_for_import"]

#: Held while something is installed or uninstalled. An import never waits for it.
changing = threading.RLock()
#: Held while functions of other packages are replaced. Nothing is imported meanwhile.
replacing = threading.RLock()
_making = threading.RLock()


def making() -> threading.RLock:
    """Return what is held while the contents of a module are made, which imports this package's modules and PyTorch."""
    return _making


def _hold() -> None:
    changing.acquire()
    replacing.acquire()


def _let_go() -> None:
    replacing.release()
    changing.release()


def _begin_child() -> None:
    global _making
    _making = threading.RLock()  # the thread that held it is not in the child
    _let_go()


# The child of a fork finds nothing half done, and no lock of a thread that it does not have.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold, after_in_parent=_let_go, after_in_child=_begin_child)


def _bootstrap() -> Any:
    """Return the module with the locks of Python's imports."""
    return vars(importlib)["_bootstrap"]


@contextlib.contextmanager
def imports_ended(names: Iterable[str]) -> Generator[None]:
    """Wait until no other thread imports one of these modules, and let none begin for the time of the block.

    Parameters
    ----------
    names : iterable of str
        Full names. Of a package and its modules the modules come first, since an import holds the
        lock of a module while it asks for that of its package.
    """
    bootstrap = _bootstrap()
    frames: Callable[[], dict[int, Any]] = vars(sys)["_current_frames"]
    if len(frames()) == 1:  # no other thread, as in the child of a fork, whose locks may be half taken
        names = ()
    with contextlib.ExitStack() as held:
        for name in names:
            lock = bootstrap._get_module_lock(name)
            if lock.owner is not None and lock.owner not in frames():
                continue  # a thread that was importing when this process was forked
            # An import that waits for this thread cannot be waited for, as in Python's own imports.
            with contextlib.suppress(bootstrap._DeadlockError):
                lock.acquire()
                held.callback(lock.release)
        yield


def wait_for_import(name: str) -> None:
    """Wait until no other thread imports a module, unless it waits for this one."""
    bootstrap = _bootstrap()
    bootstrap._lock_unlock_module(name)


def leave_meta_path(finder: MetaPathFinder) -> None:
    """Take a finder out of `sys.meta_path`.

    The list is replaced: a thread that goes through the old one would miss the finder behind a
    removed one.
    """
    sys.meta_path = [other for other in sys.meta_path if other is not finder]
