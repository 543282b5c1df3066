"""Threads in processes that `multiprocessing` starts: one each, unless the program says otherwise.

A pool of processes, the workers of a DataLoader and those of Dask share the CPUs. If each of them
used as many threads as there are CPUs, the threads would multiply.
"""

from __future__ import annotations

import os
import sys

from pymluops._core import Backend, set_threads

__all__ = ["limit_threads", "program_chose"]


class _State:
    """What is known of this process and, by a fork, of those before it."""

    library: Backend | None = None  # that for the CPU, once it is loaded
    chosen = False  # whether the program called set_num_threads
    watching = False  # whether multiprocessing calls `_limit` in processes that it forks


_state = _State()


def program_chose() -> None:
    """Note that the program has set a number, which counts in the processes that it forks too."""
    _state.chosen = True


def limit_threads(library: Backend) -> None:
    """Limit the library for the CPU, which has just been loaded, and do so in every process forked from this one."""
    _state.library = library
    _watch()
    _limit(_state)


def _watch() -> None:
    """Let multiprocessing call `_limit` when it has started a process; nothing is imported, a fork may be under way."""
    util = sys.modules.get("multiprocessing.util")
    if util is not None and not _state.watching:
        _state.watching = True
        util.register_after_fork(_state, _limit)


def _limit(state: _State) -> None:
    """Use one thread in a process that multiprocessing has started."""
    process = sys.modules.get("multiprocessing.process")
    if state.library is None or process is None:
        return
    # A process that is not forked imports the main module before it knows its parent.
    importing = getattr(process.current_process(), "_inheriting", False)
    if process.parent_process() is None and not importing:
        return
    if not state.chosen and not os.environ.get("PYMLUOPS_NUM_THREADS"):
        set_threads(state.library, 1)


os.register_at_fork(before=_watch)
