"""Threads of the operators under PyTorch: as many as PyTorch has, on the main thread the same; see docs/torch.md."""

from __future__ import annotations

import ctypes
import functools
import importlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pymluops import library
from pymluops._core import check
from pymluops.threads import follow_num_threads, get_num_threads

__all__ = ["thread_follower"]

_MOST = 1024
_TEAM = "GOMP_parallel"


@functools.cache
def thread_follower() -> Callable[[], None]:
    """Return the function that lets the CPU library use as many threads as PyTorch, if PyTorch's number has changed."""
    if os.environ.get("PYMLUOPS_NUM_THREADS"):
        return lambda: None
    torch: Any = importlib.import_module("torch")
    number: Callable[[], int] = torch.get_num_threads
    team, seen = _find_team(torch), get_num_threads()
    _share_team(team, seen)

    def follow() -> None:
        nonlocal seen
        if number() != seen:
            seen = number()
            follow_num_threads(min(seen, _MOST))
            _share_team(team, seen)

    return follow


def _find_team(torch: Any) -> int:
    """Return the address of the function of PyTorch's OpenMP runtime that runs a team of threads, or 0."""
    path = Path(torch.__path__[0], "lib", "libtorch_cpu.so")
    if not torch.backends.openmp.is_available() or not path.exists():
        return 0
    # Symbols of a library are also looked for in those that it uses: this is the runtime of
    # PyTorch, not another one.
    function: Any = getattr(ctypes.CDLL(str(path)), _TEAM, None)
    return 0 if function is None else ctypes.cast(function, ctypes.c_void_p).value or 0


def _share_team(team: int, threads: int) -> None:
    """Let calls with as many threads as PyTorch run on its threads, which spin a while after each of its operators."""
    if team:
        backend = library.load("cpu")
        pointer = backend.ffi.cast("mluopsExtTeam", team)
        check(backend, "mluopsExtSetTeam", backend.lib.mluopsExtSetTeam(pointer, min(threads, _MOST)))
