"""Memory of large results and workspaces that nobody has any more, for the next ones.

The system clears each page that it gives out, which takes longer than many an operator takes to write its result there.
The C library keeps blocks of up to 32 MiB for the next call by itself; this does it for somewhat larger ones, which are
what networks on voxels and on whole maps have.
"""

from __future__ import annotations

import math
import sys
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from pymluops import _environment
from pymluops.errors import NotInitializedError

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

__all__ = ["LEAST_BYTES", "Blocks", "new_array"]

#: Smaller arrays are not worth looking for a block.
LEAST_BYTES = 4 << 20

#: Larger ones would leave too much memory unused.
_MOST_BYTES = 64 << 20

_DEFAULT_MIB = 128


def _references(blocks: list[NDArray[np.uint8]], number: int) -> int:
    return sys.getrefcount(blocks[number])


#: What that gives for a block that nothing but the list refers to. Interpreters differ in what they count for a call.
_LIST_ALONE = _references([np.empty(1, np.uint8)], 0)


class Blocks:
    """Blocks of memory that arrays were made of, the one used last at the end.

    An array keeps its block alive, as any view keeps what it shows, so a block that only this list refers to is free.

    Parameters
    ----------
    most_bytes : int
        No more than that is kept in all.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._blocks: list[NDArray[np.uint8]] = []
        self._lock = threading.Lock()

    def array(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return an array whose values are not set, out of a free block if there is one that fits.

        Parameters
        ----------
        shape : tuple of int
            Its shape.
        dtype : data type
            Its type.

        Raises
        ------
        MemoryError
            If there is not enough memory.
        """
        size = math.prod(shape) * np.dtype(dtype).itemsize
        # Who finds the lock taken does not wait: after a fork, whoever took it may not be there any more.
        if not LEAST_BYTES <= size <= min(_MOST_BYTES, self._most) or not self._lock.acquire(blocking=False):
            return np.empty(shape, dtype)
        try:
            block = self._take(size)
        finally:
            self._lock.release()
        return block[:size].view(dtype).reshape(shape)

    def _take(self, size: int) -> NDArray[np.uint8]:
        free = [i for i in range(len(self._blocks)) if _references(self._blocks, i) == _LIST_ALONE]
        fitting = [i for i in free if size <= self._blocks[i].size <= 2 * size]
        if fitting:
            block = self._blocks.pop(min(fitting, key=lambda i: self._blocks[i].size))
        else:
            self._make_room(size, free)
            block = np.empty(size, np.uint8)
        self._blocks.append(block)
        return block

    def _make_room(self, size: int, free: list[int]) -> None:
        """Forget blocks, free ones first, until one more of `size` bytes may be kept."""
        order = [*free, *(i for i in range(len(self._blocks)) if i not in free)]
        kept = sum(block.size for block in self._blocks)
        forgotten: set[int] = set()
        for i in order:
            if kept + size <= self._most:
                break
            kept -= self._blocks[i].size
            forgotten.add(i)
        self._blocks = [block for i, block in enumerate(self._blocks) if i not in forgotten]


def _most_bytes() -> int:
    """Return what ``PYMLUOPS_KEEP_MIB`` says, or the default if that is no number, which loading a library refuses."""
    try:
        mib = _environment.integer("PYMLUOPS_KEEP_MIB")
    except NotInitializedError:
        mib = None
    return (_DEFAULT_MIB if mib is None else mib) << 20


new_array = Blocks(_most_bytes()).array
