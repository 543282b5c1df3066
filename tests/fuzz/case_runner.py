"""Runs the cases of a target that is written in Python, in children, so that a crash is a finding and not the end.

A case is bytes; a target makes them from random numbers and checks one. ``python -m
fuzz.case_runner TARGET`` with the folder ``tests`` on the path runs a single target; ``python
tests/fuzz`` runs all.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import mmap
import os
import random
import re
import resource
import signal
import struct
import sys
import time
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

SECONDS_PER_CASE = 2.0
#: A child that says nothing for so long is ended.
SECONDS_OF_SILENCE = 60.0
CASES_PER_CHILD = 2000
MORE_MEMORY = 1 << 30
_PROGRESS = struct.Struct("<QQ")


class FindingError(Exception):
    """Something that must not happen did."""


class Target(Protocol):
    """What a module of a target offers."""

    def prepare(self) -> None:
        """Do what a process does once, before its memory is limited."""

    def make(self, rng: random.Random) -> bytes:
        """Return a new case."""

    def check(self, case: bytes, folder: Path) -> None:
        """Raise if the case shows a defect; `folder` is for its files."""


def load(name: str) -> Target:
    """The target of this name: ``module`` or ``module:object`` of this package."""
    module, _, member = name.partition(":")
    found = importlib.import_module(f"fuzz.{module}")
    target: Target = getattr(found, member or "TARGET")
    return target


def limit_memory() -> None:
    """Whoever reads a small file needs no gigabyte more than the process has."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MORE_MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))


def check_in_time(target: Target, case: bytes, folder: Path, limit: float) -> None:
    """Check one case; one that takes too long or warns is a finding."""
    start = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        target.check(case, folder)
    taken = time.process_time() - start
    for warning in caught:
        raise FindingError(f"a warning reaches the user: {warning.category.__name__}: {warning.message}")
    if taken > limit:
        raise FindingError(f"one case took {taken:.1f} seconds")


def describe(error: BaseException) -> str:
    """One line for what a case raised."""
    if isinstance(error, FindingError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
    return f"{type(error).__name__} at {where}: {error}".replace("\n", " ")[:300]


class Runner:
    """Runs cases until the time is over, and keeps those that found something."""

    def __init__(
        self, target: Target, seed: int, keep: Path, stop: int, limit: float, files: Sequence[Path] = ()
    ) -> None:
        self.target, self.seed, self.keep, self.stop, self.files = target, seed, keep, stop, files
        self.limit = limit
        self.progress = mmap.mmap(-1, mmap.PAGESIZE)
        self.findings: dict[str, Path] = {}  # by their messages without numbers
        self.open = [part for part in os.environ.get("MLUOPS_FUZZ_OPEN", "").split(";") if part]
        self.next = 0

    def case(self, number: int) -> bytes:
        if self.files:
            return self.files[number].read_bytes()
        return self.target.make(random.Random(f"{self.seed}:{number}"))

    def run(self, seconds: float) -> int:
        """Return the number of cases run."""
        end = time.monotonic() + seconds
        most = len(self.files) or sys.maxsize
        while time.monotonic() < end and len(self.findings) < self.stop and self.next < most:
            self._child(end)
        return self.next

    def _child(self, end: float) -> None:
        self.progress[:] = bytes(len(self.progress))
        reader, writer = os.pipe()
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            os.close(reader)
            self._cases(writer, end)
        os.close(writer)
        status = self._wait(pid)
        with os.fdopen(reader, "rb") as stream:
            message = stream.read().decode(errors="replace")
        number, done = _PROGRESS.unpack_from(self.progress)
        self.next += done
        if status != 0 or message:
            if os.WIFSIGNALED(status):
                ended = signal.Signals(os.WTERMSIG(status)).name
                message = "a case did not end" if ended == "SIGKILL" else f"the process died of {ended}"
                message += f" {self._kind(number)}"
            self._found(message or f"the process ended with {status}", number)
            self.next = number + 1

    def _cases(self, writer: int, end: float) -> None:
        """The life of a child."""
        import tempfile

        self.target.prepare()
        limit_memory()
        done = 0
        with tempfile.TemporaryDirectory() as folder, contextlib.suppress(MemoryError):
            for number in range(self.next, min(self.next + CASES_PER_CHILD, len(self.files) or sys.maxsize)):
                _PROGRESS.pack_into(self.progress, 0, number, done)
                try:
                    check_in_time(self.target, self.case(number), Path(folder), self.limit)
                except BaseException as error:
                    os.write(writer, describe(error).encode(errors="backslashreplace"))
                    break
                done += 1
                if time.monotonic() > end:
                    break
            _PROGRESS.pack_into(self.progress, 0, number, done)
        os._exit(0)

    def _wait(self, pid: int) -> int:
        """Return the exit status; a child whose progress stands still is killed."""
        seen, since = b"", time.monotonic()
        while True:
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                return status
            now = self.progress[: _PROGRESS.size]
            if now != seen:
                seen, since = now, time.monotonic()
            elif time.monotonic() - since > SECONDS_OF_SILENCE:
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.005)

    def _kind(self, number: int) -> str:
        """What a case is about, if its target can say it: a dead process tells nothing."""
        kind = getattr(self.target, "kind", None)
        return f"({kind(self.case(number))})" if kind is not None else ""

    def _found(self, message: str, number: int) -> None:
        kind = re.sub(r"\d+", "", message)[:70]
        if kind in self.findings or any(part in message for part in self.open):
            return
        if self.files:
            path = self.files[number]
        else:
            path = self.keep.with_name(f"{self.keep.name}-{self.seed}-{number}")
            path.write_bytes(self.case(number))
        self.findings[kind] = path
        print(f"finding: {message} ({path})", flush=True)


def main() -> int:
    """Run a target, or the cases in the files named."""
    parser = argparse.ArgumentParser(description="Run the cases of one fuzz target that is written in Python.")
    parser.add_argument("target", help="for example scans or dlpack")
    parser.add_argument("files", nargs="*", type=Path, help="check these cases")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--keep", type=Path, default=Path("finding"), help="how the names of kept cases begin")
    parser.add_argument("--limit", type=float, default=SECONDS_PER_CASE, help="seconds of computing for one case")
    parser.add_argument("--stop", type=int, default=20, help="end after so many findings")
    options = parser.parse_args()
    target = load(options.target)
    start = time.monotonic()
    runner = Runner(target, options.seed, options.keep, options.stop, options.limit, options.files)
    done = runner.run(sys.maxsize if options.files else options.seconds)
    print(f"runs {done} seconds {time.monotonic() - start:.2f} seed {options.seed}")
    return 1 if runner.findings else 0


if __name__ == "__main__":
    # The targets know this module by its name in the package, and so its classes.
    sys.exit(importlib.import_module("fuzz.case_runner").main())
