"""Processes that answer with lines, and how processes end: what those who run others' code share."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import IO

from pymluops._shown import one_line, shortened

__all__ = ["LineProcess", "end_with", "ending", "has_ended", "last_line", "own_channels", "wait_for"]

#: ``PR_SET_PDEATHSIG`` of Linux.
_SIGNAL_AT_DEATH_OF_PARENT = 1
#: Bytes that are read of what a process wrote to standard error, and characters that are shown.
_MOST_READ, _MOST_SHOWN = 4096, 400
#: Milliseconds after which one looks whether a process has ended, although its pipe is still open.
_TICK = 50


def ending(code: int) -> str:
    """Return a phrase for the exit code of a process, which is negative if a signal ended it."""
    if code >= 0:
        return f"the process ended with code {code}"
    try:
        return f"the process was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"the process was ended by signal {-code}"


def last_line(text: bytes) -> str:
    """Return the last line of what a process said, short and printable."""
    line = text[-_MOST_READ:].strip().split(b"\n")[-1]
    return shortened(one_line(line.decode("utf-8", "replace").strip()), _MOST_SHOWN)


def has_ended(process: int) -> bool:
    """Tell whether a child has ended, whoever else has its pipes open; its number stays taken."""
    try:
        return os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def end_with(parent: int) -> None:
    """Let the system end this process when its parent ends, however that happens."""
    ctypes.CDLL(None).prctl(_SIGNAL_AT_DEATH_OF_PARENT, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:  # it has ended before
        os._exit(1)


def wait_for(descriptors: Iterable[int | None]) -> None:
    """Wait until one of some pipes has something, but not for long: a process may have ended in silence."""
    poll = select.poll()
    for descriptor in descriptors:
        if descriptor is not None:
            poll.register(descriptor, select.POLLIN)
    poll.poll(_TICK)


def own_channels() -> tuple[IO[str], IO[str]]:
    """Return standard input and output as files that nothing else in this process reads or writes.

    What others print goes to standard error, and there is nothing for them to read.
    """
    questions = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC), 0)
    os.dup2(2, 1)
    return questions, answers


class LineProcess:
    """A Python process that takes lines on standard input and answers with lines on standard output.

    Parameters
    ----------
    program : str
        What it runs. Nothing of the current folder is imported.
    arguments : sequence of str
        Of the program; the number of this process is put behind them.
    environment : mapping of str to str
        Its variables.

    Raises
    ------
    OSError
        If it cannot be started.
    """

    def __init__(self, program: str, arguments: Sequence[str], environment: Mapping[str, str]) -> None:
        self._received = b""
        self._is_silent = False
        self._errors: IO[bytes] = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - closed by stop()
        command = [sys.executable, "-Pc", program, *arguments, str(os.getpid())]
        try:
            # A group of its own: what it starts ends with it, and an interrupt is only for the
            # parent.
            self._process = subprocess.Popen(
                command, bufsize=0, env=dict(environment), process_group=0,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
            )  # fmt: skip
        except OSError:
            self._errors.close()
            raise
        assert self._process.stdout is not None
        os.set_blocking(self._process.stdout.fileno(), False)

    @property
    def descriptor(self) -> int | None:
        """What to wait for with `select.poll`; None if nothing can come any more."""
        if self._is_silent or self._process.stdout is None or self._process.stdout.closed:
            return None
        return self._process.stdout.fileno()

    def send(self, text: str) -> None:
        """Send a line. If the process has ended, nothing happens, which `has_ended` tells."""
        assert self._process.stdin is not None
        left = memoryview(text.encode() + b"\n")
        with suppress(BrokenPipeError):
            while left:
                left = left[self._process.stdin.write(left) :]

    def lines(self) -> list[bytes]:
        """Return the lines that have come."""
        while (descriptor := self.descriptor) is not None:
            try:
                data = os.read(descriptor, 1 << 16)
            except BlockingIOError:
                break
            self._is_silent = not data
            self._received += data
        *lines, self._received = self._received.split(b"\n")
        return lines

    @property
    def has_ended(self) -> bool:
        """Whether the process itself has, whoever else has its pipe open."""
        return has_ended(self._process.pid)

    def forget_errors(self) -> None:
        """Begin anew with what is written to standard error."""
        self._errors.seek(0)
        self._errors.truncate()

    def last_words(self) -> str:
        """Return the last line that the process wrote to standard error."""
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(size - _MOST_READ, 0))
        return last_line(self._errors.read(_MOST_READ))

    def kill(self) -> int:
        """End the process, with all that it started; return its exit code."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()
        code = self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        return code

    def close(self) -> None:
        """End the process, and forget what it said."""
        self.kill()
        self._errors.close()
