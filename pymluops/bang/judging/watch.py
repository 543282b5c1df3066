"""Forks a process, watches what it uses up and says, and ends it with all that it started."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from pymluops._processes import end_with, has_ended

__all__ = ["FAILED", "Bounds", "Outcome", "adopt_orphans", "watched"]

_PR_SET_CHILD_SUBREAPER, _PR_GET_CHILD_SUBREAPER = 36, 37
#: Milliseconds between two looks at the memory of a process.
_TICK = 20
_MOST_ANSWERED, _KEPT = 4 << 20, 4096
#: The exit code of a process whose function raised.
FAILED = 70
#: Seconds within which all that a process started must have ended.
_PATIENCE = 10.0


@dataclass(frozen=True)
class Bounds:
    """What a process may use up until it is ended.

    Attributes
    ----------
    seconds : float
        In all; `with_line` may set others.
    memory : int
        Bytes of memory that it holds.
    printed : int
        Bytes that it prints.
    threads : int
        Its threads.
    after : dict of bytes to float
        Seconds from when it first answers a line that begins so.
    more : dict of bytes to float
        Seconds that it gets besides when it first answers a line that begins so.
    """

    seconds: float
    memory: int = 1 << 62
    printed: int = 1 << 62
    threads: int = 1 << 30
    after: dict[bytes, float] = field(default_factory=dict[bytes, float])
    more: dict[bytes, float] = field(default_factory=dict[bytes, float])


@dataclass
class Outcome:
    """How a process ended.

    Attributes
    ----------
    code : int
        Its exit code; negative if a signal ended it.
    lines : list of bytes
        What it answered.
    printed : bytes
        The end of what it printed.
    exceeded : str
        What it used up: ``time``, ``memory``, ``output`` or ``threads``; empty if it ended by
        itself.
    """

    code: int = 0
    lines: list[bytes] = field(default_factory=list[bytes])
    printed: bytes = b""
    exceeded: str = ""


def adopt_orphans() -> None:
    """Let processes whose parents end become children of this one, so that none escapes.

    From then on `watched` ends every child of this process.
    """
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _adopts_orphans() -> bool:
    answer = ctypes.c_int()
    return ctypes.CDLL(None).prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(answer), 0, 0, 0) == 0 and answer.value != 0


def watched(run: Callable[[int], None], bounds: Bounds, kept: Iterable[int] = ()) -> Outcome:
    """Run a function in a process that is forked, until it ends or uses too much up.

    Parameters
    ----------
    run : callable
        Gets the pipe for its answers.
    bounds : Bounds
        What it may use up.
    kept : iterable of int
        Open files that it has besides.
    """
    answers, theirs = os.pipe()
    printed, prints = os.pipe()
    sys.stdout.flush()
    parent = os.getpid()
    process = os.fork()
    if process == 0:
        _be_child(run, parent, theirs, prints, kept)
    os.close(theirs)
    os.close(prints)
    for descriptor in (answers, printed):
        os.set_blocking(descriptor, False)
    watch = _Watch(process, answers, printed, bounds)
    try:
        watch.until_end()
    finally:
        watch.outcome.code = _end_all(process)
        watch.take()
        os.close(answers)
        os.close(printed)
    return watch.outcome


def _be_child(run: Callable[[int], None], parent: int, answers: int, prints: int, kept: Iterable[int]) -> None:
    """Run the function, and end the process."""
    code = FAILED
    try:
        os.setsid()
        end_with(parent)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(prints, 1)
        os.dup2(prints, 2)
        _close_others({0, 1, 2, answers, *kept})
        run(answers)
        code = 0
    except BaseException:
        os.write(2, traceback.format_exc().encode("utf-8", "replace"))
    finally:
        with suppress(BaseException):
            sys.stdout.flush()
        os._exit(code)


def _close_others(kept: set[int]) -> None:
    bounds = [-1, *sorted(kept), os.sysconf("SC_OPEN_MAX")]
    for low, high in pairwise(bounds):
        if high > low + 1:  # an empty range from 0 on would be all files
            os.closerange(low + 1, high)


class _Watch:
    """A process, and what is known about it."""

    def __init__(self, process: int, answers: int, printed: int, bounds: Bounds) -> None:
        self.outcome = Outcome()
        self._process, self._answers, self._printed, self._bounds = process, answers, printed, bounds
        self._deadline = time.monotonic() + bounds.seconds
        self._after, self._more = dict(bounds.after), dict(bounds.more)
        self._received = b""
        self._answered = self._count = 0
        self._folder = Path(f"/proc/{process}")
        self._page = os.sysconf("SC_PAGE_SIZE")

    def until_end(self) -> None:
        """Return when the process has ended, or has used too much up."""
        poll = select.poll()
        ending = os.pidfd_open(self._process)
        for descriptor in (ending, self._answers, self._printed):
            poll.register(descriptor, select.POLLIN)
        try:
            while not has_ended(self._process):
                for descriptor, event in poll.poll(_TICK):
                    if not event & select.POLLIN:  # the process closed it
                        poll.unregister(descriptor)
                self.take()
                self.outcome.exceeded = self._exceeded()
                if self.outcome.exceeded:
                    return
        finally:
            os.close(ending)

    def take(self) -> None:
        """Take what the process answered and printed."""
        data = _read(self._answers)
        self._answered += len(data)
        if self._answered <= _MOST_ANSWERED:
            *lines, self._received = (self._received + data).split(b"\n")
            self.outcome.lines += lines
            for line in lines:  # each beginning counts once: it may say anything later
                for start in [start for start in self._after if line.startswith(start)]:
                    self._deadline = time.monotonic() + self._after.pop(start)
                for start in [start for start in self._more if line.startswith(start)]:
                    self._deadline += self._more.pop(start)
        said = _read(self._printed)
        self._count += len(said)
        self.outcome.printed = (self.outcome.printed + said)[-_KEPT:]

    def _exceeded(self) -> str:
        if self._count > self._bounds.printed or self._answered > _MOST_ANSWERED:
            return "output"
        if time.monotonic() >= self._deadline:
            return "time"
        with suppress(OSError, ValueError, IndexError):
            if int((self._folder / "statm").read_bytes().split()[1]) * self._page > self._bounds.memory:
                return "memory"
            if len(os.listdir(self._folder / "task")) > self._bounds.threads:
                return "threads"
        return ""


def _read(descriptor: int) -> bytes:
    parts: list[bytes] = []
    with suppress(BlockingIOError):
        while len(parts) < 64 and (data := os.read(descriptor, 1 << 16)):
            parts.append(data)
    return b"".join(parts)


# ---- The end -------------------------------------------------------------------------------------


def _end_all(process: int) -> int:
    """End a child and all that it started; return its exit code."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if not _adopts_orphans():  # then all children are this process's own
        return code
    end = time.monotonic() + _PATIENCE
    # What left the group has become a child of this process.
    while time.monotonic() < end and (orphans := _children()):
        for orphan in orphans:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(orphan, signal.SIGKILL)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
    return code


def _children() -> list[int]:
    """Return the children of this process."""
    own = os.getpid()
    with suppress(OSError):
        return [int(word) for word in Path(f"/proc/{own}/task/{own}/children").read_bytes().split()]
    found: list[int] = []
    for name in os.listdir("/proc"):
        with suppress(OSError, ValueError, IndexError):
            if name.isdecimal() and int(Path(f"/proc/{name}/stat").read_bytes().rsplit(b")", 1)[1].split()[1]) == own:
                found.append(int(name))
    return found
