"""Lets the first allocation of Python inside a call fail, then the second, and so on until the call needs no more.

    python tests/memory/python_allocations.py LIBRARY BACKEND

LIBRARY is `failing_allocator.c`, compiled. Every call must raise MemoryError (of which
`AllocFailedError` is one) or succeed; afterwards the same call must give the right result, and
nothing may be left on the device. Where CPython has no memory for the frame of a traceback, Python
raises SystemError.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import pymluops

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the modules of the tests

from support.example import MOVING, PAIRING

FRAMES = np.arange(48, dtype=np.float32).reshape(2, 3, 4, 2)
SHIFTS = np.array([[1, -1], [0, 2]], np.int32)
VOXELS = np.array([[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 3]], np.int32)
#: More allocations than any of the calls makes.
MOST = 5000


def pairs() -> list[Any]:
    found = PAIRING.run(VOXELS, batch_size=1, spatial_shape=(1, 1, 4), kernel_size=(1, 1, 2), stride=(1, 1, 2))
    return [array.tolist() for array in found]


def into_an_array() -> Any:
    out = np.zeros_like(FRAMES)
    MOVING.run(FRAMES, SHIFTS, out=out)
    return out.tolist()


def refused() -> str:
    try:
        MOVING.run(FRAMES[0], SHIFTS)
    except pymluops.BadParamError as error:
        return str(error)
    return "accepted"


def of_buffers() -> Any:
    return MOVING.run(memoryview(FRAMES), memoryview(SHIFTS)).tolist()


def handles() -> Any:
    with pymluops.Handle() as handle:
        return MOVING.run(FRAMES, SHIFTS, handle=handle).tolist()


def descriptors() -> Any:
    found = pymluops.TensorDescriptor.of(FRAMES)
    return found.shape, pymluops.SparseConvolutionDescriptor(1, (8, 8, 8), 3, (4, 4, 4), 2, 1).num_act_out


def threads() -> Any:
    pymluops.set_num_threads(2)
    return pymluops.get_num_threads()


def device_arrays() -> Any:
    arrays = pymluops.DeviceArray.from_host(FRAMES), pymluops.DeviceArray.from_host(SHIFTS)
    return MOVING.run(*arrays).to_host().tolist()


def queues() -> Any:
    with pymluops.Queue() as queue, pymluops.Handle(queue=queue) as handle:
        arrays = [pymluops.DeviceArray.from_host(array, queue=queue) for array in (FRAMES, SHIFTS)]
        found = MOVING.run(*arrays, handle=handle).to_host(queue=queue)
        queue.sync()
        return found.tolist()


CALLS: dict[str, list[Callable[[], Any]]] = {
    "cpu": [into_an_array, pairs, refused, of_buffers, handles, descriptors, threads],
    "sim": [into_an_array, pairs, refused, handles, device_arrays, queues],
}


def drive(library: Any, call: Callable[[], Any]) -> int:
    """Let each allocation of a call fail in turn; return how many there were."""
    wanted = call()
    for number in range(MOST):
        error = attempt(library, call, number)
        of_python = isinstance(error, SystemError) and str(error) == "error return without exception set"
        if error is not None and not isinstance(error, MemoryError) and not of_python:
            raise AssertionError(f"{call.__name__}, allocation {number}: {error!r}") from error
        reached = bool(library.has_failed())
        found = call()
        if found != wanted:
            raise AssertionError(f"{call.__name__} after allocation {number}: {found!r}")
        if not reached:
            return number
    raise AssertionError(f"{call.__name__}: more than {MOST} allocations")


def attempt(library: Any, call: Callable[[], Any], number: int) -> BaseException | None:
    """Call with one allocation failing, and return what was raised."""
    error: BaseException | None = None
    try:
        library.fail_at(number)
        call()
    except BaseException as raised:
        error = raised
    try:
        library.stop()
    except (MemoryError, ctypes.ArgumentError):
        library.stop()  # it was this call that needed the allocation
    return error


def main() -> None:
    """Run all calls of a backend."""
    library = ctypes.PyDLL(sys.argv[1])
    library.fail_at.argtypes = [ctypes.c_long]
    backend = pymluops.use(sys.argv[2]).backend
    for call in CALLS[backend.name]:
        call()
    library.install()
    gc.disable()  # so that a collection does not come at another place each time
    for call in CALLS[backend.name]:
        print(call.__name__, drive(library, call), flush=True)
    gc.collect()
    if backend.on_device:
        counters = pymluops.sim.counters()
        assert (counters.live_allocations, counters.live_queues) == (0, 0), counters


if __name__ == "__main__":
    main()
