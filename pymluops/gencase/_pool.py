"""Runs cases in processes, so that one that crashes or hangs fails alone."""

from __future__ import annotations

import json
import os
import queue
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pymluops.gencase.result import Outcome, Result

__all__ = ["Worker", "run_files"]


class Worker:
    """A process that runs one case after the other; a new one is started after a crash.

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
        self._process: subprocess.Popen[str] | None = None
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        self._stop()
        self._errors.close()

    def run(self, path: Path) -> dict[str, Any]:
        """Run a case, and return its result as `Result.to_json` does."""
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(str(path)) + "\n")
            process.stdin.flush()
            ready = bool(select.select([process.stdout], [], [], self._timeout)[0])
            line = process.stdout.readline() if ready else ""
        except BrokenPipeError:
            ready, line = True, ""
        if line:
            return dict(json.loads(line))
        if not ready:
            self._stop()
            return self._failed(path, Outcome.TIMED_OUT, f"no result after {self._timeout:g} s")
        code = process.wait()
        said = self._last_words()
        self._stop()
        return self._failed(path, Outcome.CRASHED, f"{_ending(code)}{f': {said}' if said else ''}")

    def _failed(self, path: Path, outcome: Outcome, message: str) -> dict[str, Any]:
        return Result(str(path), path.parent.name, self._library, self._against, outcome, message=message).to_json()

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            environment = {**os.environ, "PYMLUOPS_NUM_THREADS": str(self._threads)}
            command = [sys.executable, "-m", "pymluops.gencase._worker", self._library, self._against]
            self._errors.truncate(0)
            self._process = subprocess.Popen(
                command, text=True, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors
            )
            assert self._process.stdout is not None
            self._process.stdout.readline()  # it is ready, or has ended, which the first case will find
        return self._process

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()

    def _last_words(self) -> str:
        """Return the last line that the process wrote to standard error."""
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1].strip() if lines else ""


def _ending(code: int) -> str:
    if code >= 0:
        return f"the process ended with code {code}"
    try:
        return f"the process was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"the process was ended by signal {-code}"


def run_files(
    paths: Sequence[Path], library: str, against: str, *, jobs: int, timeout: float
) -> Iterator[dict[str, Any]]:
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
    workers: queue.Queue[Worker] = queue.Queue()
    threads = max((os.cpu_count() or 1) // jobs, 1)
    made = [Worker(library, against, timeout, threads) for _ in range(jobs)]
    for worker in made:
        workers.put(worker)

    def run(path: Path) -> dict[str, Any]:
        worker = workers.get()
        try:
            return worker.run(path)
        finally:
            workers.put(worker)

    try:
        with ThreadPoolExecutor(jobs) as pool:
            try:
                yield from pool.map(run, paths)
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
    finally:
        for worker in made:
            worker.close()
