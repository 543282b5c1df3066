"""Threads of the operators under PyTorch: as many as PyTorch has, on the main thread the same; see docs/torch.md."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

import torch

from pymluops import library
from pymluops._core import check
from pymluops.threads import follow_num_threads, get_num_threads

__all__ = ["follow_threads"]

_MOST = 1024
_TEAM = "GOMP_parallel"


def _find_team() -> int:
    """Return the address of the function of PyTorch's OpenMP runtime that runs a team of threads, or 0."""
    path = Path(torch.__path__[0], "lib", "libtorch_cpu.so")
    if not torch.backends.openmp.is_available() or not path.exists():
        return 0
    # Symbols of a library are also looked for in those that it uses: this is the runtime of PyTorch, not another one.
    function = getattr(ctypes.CDLL(str(path)), _TEAM, None)
    return ctypes.cast(function, ctypes.c_void_p).value or 0 if function is not None else 0


class _Threads:
    """The number of threads of torch that the CPU library was last told."""

    followed = not os.environ.get("PYMLUOPS_NUM_THREADS")
    seen = get_num_threads() if followed else torch.get_num_threads()
    team = _find_team() if followed else 0


_num_threads = torch.get_num_threads


def follow_threads() -> None:
    """Let the CPU library use as many threads as torch, if torch's number has changed."""
    if _Threads.followed and _num_threads() != _Threads.seen:
        _Threads.seen = _num_threads()
        follow_num_threads(min(_Threads.seen, _MOST))
        _share_team()


def _share_team() -> None:
    """Let calls with as many threads as torch run on its threads, which spin for a while after each work of torch."""
    if _Threads.team:
        backend = library.load("cpu")
        team = backend.ffi.cast("mluopsExtTeam", _Threads.team)
        check(backend, "mluopsExtSetTeam", backend.lib.mluopsExtSetTeam(team, min(_Threads.seen, _MOST)))


_share_team()
