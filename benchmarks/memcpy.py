"""The yardstick: copying memory, as many bytes in all as the operator must move.

Half of the bytes are read and half are written. Several ways to copy are tried and the fastest is
taken, because none is the fastest everywhere: the C library's memmove on one thread or on several,
and the copy loops of numba and torch, whose threads wake up sooner than Python's.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.problem import Array
from benchmarks.threads import together

_PAGE = 4096


class Memcpy:
    """Two blocks of memory, all pages touched, and ways to copy one to the other."""

    def __init__(self, bytes_moved: int) -> None:
        self.size = max(1, bytes_moved // 2)
        self.source = _block(self.size, 1)
        self.target = _block(self.size, 2)

    def variants(self, threads: int) -> dict[str, Callable[[], object]]:
        """Return the ways to copy with up to so many threads."""
        found: dict[str, Callable[[], object]] = {"memmove": self._memmove(1)}
        if threads > 1 and self.size > _PAGE * threads:
            found[f"memmove, {threads} threads"] = self._memmove(threads)
        if importlib.util.find_spec("numba") is not None:
            from benchmarks.peers.numba_support import parallel_copy

            found["numba"] = lambda: parallel_copy(self.target, self.source, threads)
        if importlib.util.find_spec("torch") is not None:
            torch: Any = importlib.import_module("torch")
            source, target = torch.from_numpy(self.source), torch.from_numpy(self.target)
            found["torch"] = lambda: target.copy_(source)
        return found

    def copied(self) -> bool:
        """Whether the target holds what the source holds."""
        return self.source.tobytes() == self.target.tobytes()

    def _memmove(self, threads: int) -> Callable[[], object]:
        # Called through ctypes, which lets go of the interpreter's lock.
        memmove = ctypes.CDLL(None).memmove
        memmove.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
        memmove.restype = None
        source, target = self.source.ctypes.data, self.target.ctypes.data
        pages = -(-self.size // _PAGE)

        def work(start: int, stop: int) -> None:
            first, last = start * _PAGE, min(stop * _PAGE, self.size)
            memmove(target + first, source + first, last - first)

        return together(work, pages, threads)


def _block(size: int, fill: int) -> Array:
    """Return memory that starts at a page and whose pages are all there."""
    raw = np.empty(size + _PAGE, np.uint8)
    offset = -raw.ctypes.data % _PAGE
    block = raw[offset : offset + size]
    block.fill(fill)
    return block
