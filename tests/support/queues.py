"""Queues that stand still, and work that fails, for the tests of queues."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from pymluops import DeviceArray, Handle, Queue, sim
from support.example import MOVING

FRAMES = np.arange(48, dtype=np.float32).reshape(2, 3, 4, 2)
SHIFTS = np.array([[1, -1], [0, 2]], np.int32)
MOVED = MOVING.run(FRAMES, SHIFTS)


@contextmanager
def held(queue: Queue) -> Iterator[threading.Event]:
    """Let a queue stand still until the event is set, which the end of the block does too."""
    backend, go = queue.backend, threading.Event()

    @backend.ffi.callback("cnrtHostFn_t")
    def wait(_: Any) -> None:
        go.wait(60)

    assert backend.lib.cnrtInvokeHostFunc(backend.ffi.cast("cnrtQueue_t", queue.address), wait, backend.ffi.NULL) == 0
    alive = weakref.ref(queue)
    del queue  # the block may drop it
    try:
        yield go
    finally:
        go.set()
        left = alive()
        if left is not None and not left.closed:
            left.sync()


@contextmanager
def init_checker() -> Iterator[None]:
    """Let the init checker watch. Its first launch takes what exists for written; inputs are to be made after that."""
    with sim.checking("init"), Handle("sim") as handle:
        MOVING.run(FRAMES, SHIFTS, handle=handle)
        yield


def device(array: np.ndarray) -> DeviceArray:
    return DeviceArray.from_host(array, "sim")


def unwritten() -> DeviceArray:
    """An input that makes a kernel fail when the init checker watches."""
    return DeviceArray(FRAMES.shape, "float32", "sim")
