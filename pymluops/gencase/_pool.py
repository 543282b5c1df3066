"""Runs cases in processes, so that one that crashes or hangs fails alone.

One thread looks after all processes. An interrupt ends it at once, and the kernel ends processes
whose parent ended. What a process answers is said in `pymluops.gencase._worker`.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from pymluops._shown import one_line, shortened
from pymluops.gencase.result import Outcome, Result

__all__ = ["Worker", "run_files"]

#: What a process runs. With ``-P``, nothing of the current folder is imported.
_PROGRAM = "from pymluops.gencase._worker import main; raise SystemExit(main())"
#: Seconds until a process must be ready.
START_LIMIT = 120.0
#: How often a process is started for one case.
_STARTS = 2
#: Milliseconds after which one looks whether a process has ended, although its pipe is still open.
_TICK = 50
#: Bytes that are read of what a process wrote to standard error, and characters that are shown.
_MOST_READ, _MOST_SHOWN = 4096, 400
#: Variables that would let processes dump the cases that they run.
_DUMPING = "MLUOP_GEN_CASE"


class Worker:
    """A process that runs one case after the other; a new one is started where it has ended.

    Parameters
    ----------
    library, against : str
        As for `Case.run`.
    timeout : float
        Seconds after which a case counts as hanging.
    threads : int
        Threads that the library for the CPU may use.
    """

    def __init__(self, library: str, against: str, timeout: float, threads: int = 1) -> None:
        self._library, self._against, self._timeout, self._threads = library, against, timeout, threads
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None
        self._path = Path()
        self._operator = ""
        self._is_ready = self._has_begun = self._is_silent = False
        self._deadline = 0.0
        self._received = b""
        self._starts = 0
        self._refusal = ""

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process, with all that it started."""
        self._stop()
        if self._errors is not None:
            self._errors.close()
            self._errors = None

    def run(self, path: Path) -> dict[str, Any]:
        """Run a case, and return its result as `Result.to_json` does."""
        self.begin(path)
        while (result := self.result()) is None:
            wait([self])
        return result

    def begin(self, path: Path) -> None:
        """Let the process run a case; it is started if there is none."""
        self._path, self._operator, self._has_begun = path, "", False
        if self._refusal:
            return
        if self._process is None:
            self._start()
        else:
            self._send()

    def result(self) -> dict[str, Any] | None:
        """Return the result of the case, None as long as it runs."""
        has_ended = self._process is not None and self._has_ended()
        for line in self._lines():
            result = self._take(line)
            if result is not None:
                return result
        if not self._refusal:
            if has_ended:
                return self._after_end()
            if time.monotonic() >= self._deadline:
                return self._after_time_limit()
        return self._failed(Outcome.ERROR, self._refusal) if self._refusal else None

    @property
    def descriptor(self) -> int | None:
        """What to wait for with `select.poll`; None if nothing can come any more."""
        if self._process is None or self._process.stdout is None or self._is_silent:
            return None
        return self._process.stdout.fileno()

    # ---- The process -----------------------------------------------------------------------------

    def _start(self) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(_DUMPING)}
        environment["PYMLUOPS_NUM_THREADS"] = str(self._threads)
        command = [sys.executable, "-Pc", _PROGRAM, self._library, self._against, str(os.getpid())]
        self._received, self._is_ready, self._is_silent = b"", False, False
        self._starts += 1
        self._deadline = time.monotonic() + START_LIMIT
        try:
            if self._errors is None:
                self._errors = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - closed by close()
            self._forget_errors()
            # A group of its own: what a library starts ends with it, and an interrupt is only for
            # the parent.
            self._process = subprocess.Popen(
                command, bufsize=0, env=environment, process_group=0,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
            )  # fmt: skip
        except OSError as error:
            self._refusal = f"a process for cases cannot be started: {error.strerror or error}"
            return
        assert self._process.stdout is not None
        os.set_blocking(self._process.stdout.fileno(), False)

    def _send(self) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._forget_errors()
        self._deadline = time.monotonic() + self._timeout
        with suppress(BrokenPipeError):  # it has ended, which `result` notices
            self._process.stdin.write(json.dumps(str(self._path)).encode() + b"\n")

    def _stop(self) -> int | None:
        """End the process; return its exit code."""
        process, self._process = self._process, None
        if process is None:
            return None
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        code = process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        return code

    def _has_ended(self) -> bool:
        """Whether the process itself has, whoever else has its pipe open; its number stays taken."""
        assert self._process is not None
        try:
            return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True

    # ---- What it says ----------------------------------------------------------------------------

    def _lines(self) -> list[bytes]:
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

    def _take(self, line: bytes) -> dict[str, Any] | None:
        """Take a line; return the result if it is that."""
        try:
            answer = dict(json.loads(line))
        except (ValueError, TypeError):  # a library wrote to a file that is not its own
            self._stop()
            return self._failed(Outcome.ERROR, f"no answer of the process: {_shown(line)}")
        if "ready" in answer:
            self._is_ready = True
            self._send()
        elif "refused" in answer:
            self._refusal = str(answer["refused"])
        elif "begun" in answer:
            self._has_begun, self._starts = True, 0
            self._deadline = time.monotonic() + self._timeout
        elif "operator" in answer:
            self._operator = str(answer["operator"])
        else:
            return dict(answer["result"])
        return None

    def _after_end(self) -> dict[str, Any] | None:
        """Blame the case if it was running; otherwise start another process for it."""
        code = self._stop()
        said = self._last_words()
        ending = f"{_ending(code or 0)}{f': {said}' if said else ''}"
        if self._has_begun:
            return self._failed(Outcome.CRASHED, ending)
        if self._starts < _STARTS:
            self._start()
            return None
        self._refusal = f"the process for cases does not start: {ending}"
        return self._failed(Outcome.ERROR, self._refusal)

    def _after_time_limit(self) -> dict[str, Any] | None:
        self._stop()
        if self._has_begun:
            return self._failed(Outcome.TIMED_OUT, f"no result after {self._timeout:g} s")
        if self._is_ready and self._starts < _STARTS:  # it was stopped between two cases
            self._start()
            return None
        said = self._last_words()
        self._refusal = f"the process for cases is not ready after {START_LIMIT:g} s{f': {said}' if said else ''}"
        return self._failed(Outcome.ERROR, self._refusal)

    def _failed(self, outcome: Outcome, message: str) -> dict[str, Any]:
        facts = str(self._path), self._operator, self._library, self._against
        return Result(*facts, outcome, message=message).to_json()

    def _forget_errors(self) -> None:
        """Begin anew with what is written to standard error."""
        if self._errors is not None:
            self._errors.seek(0)
            self._errors.truncate()

    def _last_words(self) -> str:
        """Return the last line that the process wrote to standard error."""
        if self._errors is None:
            return ""
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(size - _MOST_READ, 0))
        lines = self._errors.read(_MOST_READ).strip().split(b"\n")
        return _shown(lines[-1])


def _shown(line: bytes) -> str:
    return shortened(one_line(line.decode("utf-8", "replace").strip()), _MOST_SHOWN)


def _ending(code: int) -> str:
    if code >= 0:
        return f"the process ended with code {code}"
    try:
        return f"the process was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"the process was ended by signal {-code}"


def wait(workers: Iterable[Worker]) -> None:
    """Wait until one of some workers says something, but not for long: it may have ended in silence."""
    poll = select.poll()
    for worker in workers:
        if worker.descriptor is not None:
            poll.register(worker.descriptor, select.POLLIN)
    poll.poll(_TICK)


def run_files(
    paths: Sequence[Path], library: str, against: str, *, jobs: int, timeout: float
) -> Generator[dict[str, Any]]:
    """Yield the results of some files in their order.

    Parameters
    ----------
    paths : sequence of pathlib.Path
        The files.
    library, against : str
        As for `Case.run`.
    jobs : int
        Processes at a time.
    timeout : float
        Seconds for each case.
    """
    threads = max((os.cpu_count() or 1) // jobs, 1)
    workers = [Worker(library, against, timeout, threads) for _ in range(min(jobs, len(paths)))]
    try:
        yield from _in_order(paths, workers)
    finally:
        for worker in workers:
            worker.close()


def _in_order(paths: Sequence[Path], workers: Sequence[Worker]) -> Generator[dict[str, Any]]:
    idle = list(workers)
    running: dict[Worker, int] = {}
    found: dict[int, dict[str, Any]] = {}
    begun = yielded = 0
    while yielded < len(paths):
        while idle and begun < len(paths):
            worker = idle.pop()
            worker.begin(paths[begun])
            running[worker] = begun
            begun += 1
        for worker, number in list(running.items()):
            result = worker.result()
            if result is not None:
                found[number] = result
                del running[worker]
                idle.append(worker)
        if yielded not in found and not (idle and begun < len(paths)):
            wait(running)
        while yielded in found:
            yield found.pop(yielded)
            yielded += 1
