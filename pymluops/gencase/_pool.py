"""Runs cases in processes, so that one that crashes or hangs fails alone.

One thread looks after all processes. An interrupt ends it at once, and the kernel ends processes
whose parent ended. What a process answers is said in `pymluops.gencase._worker`.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Generator, Iterable, Sequence
from pathlib import Path
from typing import Any

from pymluops._processes import LineProcess, ending, last_line, wait_for
from pymluops.gencase.result import Outcome, Result

__all__ = ["Worker", "run_files"]

#: What a process runs. With ``-P``, nothing of the current folder is imported.
_PROGRAM = "from pymluops.gencase._worker import main; raise SystemExit(main())"
#: Seconds until a process must be ready.
START_LIMIT = 120.0
#: How often a process is started for one case.
_STARTS = 2
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
        self._process: LineProcess | None = None
        self._path = Path()
        self._operator = self._computing = ""
        self._is_ready = self._has_begun = False
        self._deadline = 0.0
        self._starts = 0
        self._refusal = ""

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process, with all that it started."""
        self._stop()

    def run(self, path: Path) -> dict[str, Any]:
        """Run a case, and return its result as `Result.to_json` does."""
        self.begin(path)
        while (result := self.result()) is None:
            wait([self])
        return result

    def begin(self, path: Path) -> None:
        """Let the process run a case; it is started if there is none."""
        self._path, self._operator, self._computing, self._has_begun = path, "", "", False
        if self._refusal:
            return
        if self._process is None:
            self._start()
        else:
            self._send()

    def result(self) -> dict[str, Any] | None:
        """Return the result of the case, None as long as it runs."""
        has_ended = self._process is not None and self._process.has_ended
        for line in [] if self._process is None else self._process.lines():
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
        return None if self._process is None else self._process.descriptor

    # ---- The process -----------------------------------------------------------------------------

    def _start(self) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(_DUMPING)}
        environment["PYMLUOPS_NUM_THREADS"] = str(self._threads)
        self._is_ready = False
        self._starts += 1
        self._deadline = time.monotonic() + START_LIMIT
        try:
            self._process = LineProcess(_PROGRAM, (self._library, self._against), environment)
        except OSError as error:
            self._refusal = f"a process for cases cannot be started: {error.strerror or error}"

    def _send(self) -> None:
        assert self._process is not None
        self._process.forget_errors()
        self._deadline = time.monotonic() + self._timeout
        self._process.send(json.dumps(str(self._path)))

    def _stop(self) -> tuple[int, str]:
        """End the process; return its exit code, and the last that it said."""
        process, self._process = self._process, None
        if process is None:
            return 0, ""
        code, said = process.kill(), process.last_words()
        process.close()
        return code, said

    # ---- What it says ----------------------------------------------------------------------------

    def _take(self, line: bytes) -> dict[str, Any] | None:
        """Take a line; return the result if it is that."""
        try:
            answer = dict(json.loads(line))
        except (ValueError, TypeError):  # a library wrote to a file that is not its own
            self._stop()
            return self._failed(Outcome.ERROR, f"no answer of the process: {last_line(line)}")
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
        elif "computing" in answer:
            self._computing = str(answer["computing"])
        else:
            return dict(answer["result"])
        return None

    def _after_end(self) -> dict[str, Any] | None:
        """Blame the case if it was running; otherwise start another process for it."""
        code, said = self._stop()
        end = f"{ending(code)}{f': {said}' if said else ''}"
        if self._has_begun:
            return self._failed(Outcome.CRASHED, end + (self._part() if self._computing == "oracle" else ""))
        if self._starts < _STARTS:
            self._start()
            return None
        self._refusal = f"the process for cases does not start: {end}"
        return self._failed(Outcome.ERROR, self._refusal)

    def _after_time_limit(self) -> dict[str, Any] | None:
        _, said = self._stop()
        if self._has_begun:
            return self._failed(Outcome.TIMED_OUT, f"no result after {self._timeout:g} s{self._part()}")
        if self._is_ready and self._starts < _STARTS:  # it was stopped between two cases
            self._start()
            return None
        self._refusal = f"the process for cases is not ready after {START_LIMIT:g} s{f': {said}' if said else ''}"
        return self._failed(Outcome.ERROR, self._refusal)

    def _part(self) -> str:
        """Return what was computing, for a message."""
        article = "the " if self._computing == "oracle" else ""
        return f": {article}{self._computing} was computing" if self._computing else ""

    def _failed(self, outcome: Outcome, message: str) -> dict[str, Any]:
        facts = str(self._path), self._operator, self._library, self._against
        return Result(*facts, outcome, message=message).to_json()


def wait(workers: Iterable[Worker]) -> None:
    """Wait until one of some workers says something, but not for long: it may have ended in silence."""
    wait_for(worker.descriptor for worker in workers)


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
