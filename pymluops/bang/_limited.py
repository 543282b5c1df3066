"""Runs a compiler within limits of time and memory; it ends with this process, however that ends."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO

from pymluops import _environment

__all__ = ["LimitError", "leave_limits_to_the_parent", "memory_mib", "run", "seconds"]

#: Where the environment says nothing.
_SECONDS, _MIB = 600, 8192
#: A shell that limits itself, starts what ends its group when the pipe at standard input closes,
#: and becomes the compiler. This process alone can write to the pipe, so that it closes with it.
_SCRIPT = """
exec 3<&0 </dev/null
(read -r line <&3; kill -KILL 0) >/dev/null 2>&1 &
exec 3<&-
if [ "$1" -gt 0 ]; then ulimit -d "$1"; fi
shift
exec "$@"
"""

_state = {"limits": True}


class LimitError(Exception):
    """The compiler took more time than it may."""


def leave_limits_to_the_parent() -> None:
    """Run compilers without limits from now on: this process has limits of its own, and others end its group."""
    _state["limits"] = False


def seconds() -> int:
    """Return the time that a compiler may take; 0 if there is no limit."""
    given = _environment.integer("PYMLUOPS_COMPILE_SECONDS")
    return _SECONDS if given is None else given


def memory_mib() -> int:
    """Return the memory that each process of a compiler may take; 0 if there is no limit."""
    given = _environment.integer("PYMLUOPS_COMPILE_MIB")
    return _MIB if given is None else given


def run(words: Sequence[str], out: IO[bytes], err: IO[bytes], environment: Mapping[str, str]) -> int:
    """Run a program and return its exit code, which is negative if a signal ended it.

    Parameters
    ----------
    words : sequence of str
        The program and its arguments.
    out, err : file
        For what it prints.
    environment : mapping of str to str
        Its variables.

    Raises
    ------
    LimitError
        If it took too long.
    OSError, ValueError
        If it cannot be started.
    """
    if not _state["limits"]:
        return subprocess.run(
            words, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment, check=False
        ).returncode
    most = seconds()
    command = ["/bin/sh", "-c", _SCRIPT, "sh", str(memory_mib() * 1024), *words]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=out, stderr=err, env=environment, process_group=0
    ) as process:
        try:
            code = process.wait(most or None)
        except subprocess.TimeoutExpired:
            _end(process)
            raise LimitError(f"took more than {most} s (PYMLUOPS_COMPILE_SECONDS)") from None
        except BaseException:  # an interrupt
            _end(process)
            raise
        # What waits for the end of this process goes with the compiler.
        _end(process)
        return code


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
