"""How many threads each contender uses, and a small team of threads for work that lets go of the interpreter's lock."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import itertools
import os
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

import pymluops

Work = Callable[[], object]


def set_all_threads(count: int) -> None:
    """Tell our library and the packages that are loaded how many threads to use."""
    pymluops.set_num_threads(count)
    for name in ("torch", "numba"):
        if name in sys.modules:
            sys.modules[name].set_num_threads(count)
    _limit_blas(count)


@functools.lru_cache(maxsize=1)
def _limit_blas(count: int) -> None:
    """Tell NumPy's BLAS, if that is news: telling wakes its threads, which then spin for a while."""
    if importlib.util.find_spec("threadpoolctl") is not None:
        library: Any = importlib.import_module("threadpoolctl")
        library.threadpool_limits(limits=count, user_api="blas")


def blas_obeys(threads: int) -> bool:
    """Whether NumPy's BLAS uses so many threads: always, if threadpoolctl can tell it, else only its default."""
    return importlib.util.find_spec("threadpoolctl") is not None or threads == usable_cpus()


def usable_cpus() -> int:
    """Return the number of CPUs that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_open_teams: list[Team] = []


def close_teams() -> None:
    """Stop the threads of all teams, which hold references to possibly large arrays."""
    while _open_teams:
        _open_teams.pop().close()


class Team:
    """Threads that stay and do the same pieces of work together again and again; the caller does the first piece."""

    def __init__(self, pieces: Sequence[Work]) -> None:
        self._mine = pieces[0]
        self._start = [_taken_lock() for _ in pieces[1:]]
        self._done = [_taken_lock() for _ in pieces[1:]]
        self._stopping = False
        self._error: BaseException | None = None
        self._threads = [
            threading.Thread(target=self._serve, args=(start, done, piece), daemon=True)
            for start, done, piece in zip(self._start, self._done, pieces[1:], strict=True)
        ]
        for thread in self._threads:
            thread.start()

    def run(self) -> None:
        """Do all pieces and return when all are done."""
        for lock in self._start:
            lock.release()
        try:
            self._mine()
        finally:
            for lock in self._done:
                lock.acquire()
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        """Let the threads end."""
        self._stopping = True
        for lock in self._start:
            lock.release()
        for thread in self._threads:
            thread.join()

    def _serve(self, start: threading.Lock, done: threading.Lock, piece: Work) -> None:
        while True:
            start.acquire()
            if self._stopping:
                return
            try:
                piece()
            except BaseException as error:
                self._error = error
            finally:
                done.release()


def together(work: Callable[[int, int], object], size: int, threads: int) -> Work:
    """Return a function that does ``work(start, stop)`` over parts of ``range(size)``, one part a thread."""
    parts = min(threads, size)
    cuts = [size * part // max(parts, 1) for part in range(parts + 1)]
    pieces: list[Work] = [functools.partial(work, start, stop) for start, stop in itertools.pairwise(cuts)]
    if not pieces:
        return lambda: None
    if len(pieces) == 1:
        return pieces[0]
    _open_teams.append(Team(pieces))
    return _open_teams[-1].run


def _taken_lock() -> threading.Lock:
    lock = threading.Lock()
    lock.acquire()
    return lock
