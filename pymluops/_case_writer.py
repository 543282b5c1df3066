"""Who looks at calls while test cases are written: nobody, unless the switches of a library may be on."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from importlib import import_module
from typing import Any

from pymluops._core import Handle, Operator, set_case_writer

__all__ = ["unwatch", "watch", "watch_as_asked"]

_lock = threading.Lock()
_watchers = 0


def watch() -> None:
    """Look at all calls until `unwatch` was called as often."""
    global _watchers
    with _lock:
        _watchers += 1
        set_case_writer(_before)


def watch_as_asked() -> None:
    """Look at all calls if the environment turns the switches on."""
    if os.environ.get("MLUOP_GEN_CASE", "0").strip() not in ("", "0"):
        watch()


def unwatch() -> None:
    """End what one call of `watch` began."""
    global _watchers
    with _lock:
        _watchers -= 1
        if not _watchers:
            set_case_writer(None)


def _before(
    operator: Operator, handle: Handle, tensors: tuple[Any, ...], scalars: tuple[Any, ...]
) -> Callable[[], object] | None:
    # By its name: programs that write no cases do not wait for its import.
    before: Callable[..., Callable[[], object] | None] = import_module("pymluops.gencase._watching").before
    return before(operator, handle, tensors, scalars)
