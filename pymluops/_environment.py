"""The environment variables of the package: what each may hold, and the error for what it may not.

``docs/environment.md`` lists them. The C libraries read some of them too; all are looked at before
a library is loaded, so that the error comes early.
"""

from __future__ import annotations

import os
import platform
from typing import NamedTuple

from pymluops._shown import one_line, shortened
from pymluops.errors import NotInitializedError

__all__ = ["NAMES", "check", "integer", "text", "text_shown"]


class _Range(NamedTuple):
    least: int
    most: int


_MOST_MIB = 2**40

#: Integers, by name.
_INTEGERS = {
    "PYMLUOPS_CACHE_MIB": _Range(0, _MOST_MIB),
    "PYMLUOPS_COMPILE_MIB": _Range(0, _MOST_MIB),
    "PYMLUOPS_COMPILE_SECONDS": _Range(0, 10**6),
    "PYMLUOPS_POOL_MIB": _Range(0, _MOST_MIB),
    "PYMLUOPS_NUM_THREADS": _Range(1, 1024),
    "PYMLUOPS_SIM_DEVICES": _Range(1, 16),
    "PYMLUOPS_STREAM_MIB": _Range(0, _MOST_MIB),
}

_LEVEL = "PYMLUOPS_INSTRUCTION_LEVEL"

#: What `pymluops.library`, `pymluops.sim` and `pymluops.bang` make sense of.
_TEXTS = (
    "PYMLUOPS_BACKEND",
    "PYMLUOPS_CACHE_DIR",
    "PYMLUOPS_CXX",
    "PYMLUOPS_MLU_LIBRARY",
    "PYMLUOPS_SIM_CHECK",
    "PYMLUOPS_SIM_DEVICE",
    "PYMLUOPS_SIM_RULES",
    "PYMLUOPS_SIM_SCHEDULE",
)

#: Every variable that the package reads.
NAMES = tuple(sorted((*_INTEGERS, _LEVEL, *_TEXTS)))


def check() -> None:
    """Raise `NotInitializedError` for the first variable that holds what it may not."""
    for name in _INTEGERS:
        integer(name)
    _check_level()


def integer(name: str) -> int | None:
    """Return the number that the variable holds, or None if it is empty or not set.

    Parameters
    ----------
    name : str
        Its name.

    Raises
    ------
    NotInitializedError
        If it holds anything else.
    """
    value = text(name)
    if value is None:
        return None
    least, most = _INTEGERS[name]
    digits = value.lstrip("0") or "0"
    if not (value.isascii() and value.isdecimal() and len(digits) <= len(str(most)) and least <= int(digits) <= most):
        raise _refusal(name, f"an integer from {least} to {most}", value)
    return int(digits)


def text(name: str) -> str | None:
    """Return what the variable holds, or None if it is empty or not set."""
    return os.environ.get(name) or None


def text_shown(value: str) -> str:
    """Return a variable's value as messages show it: one line, and not a long one."""
    return shortened(one_line(value))


def _check_level() -> None:
    value = text(_LEVEL)
    levels = ("x86-64", "x86-64-v3", "x86-64-v4") if platform.machine() in ("x86_64", "AMD64") else ("portable",)
    if value is not None and value not in levels:
        raise _refusal(_LEVEL, " or ".join(levels), value)


def _refusal(name: str, expected: str, value: str) -> NotInitializedError:
    return NotInitializedError(f"{name}: expected {expected}, got {shortened(value)!r}")
