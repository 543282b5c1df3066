"""Where little address space is left, a call works with fewer threads or is refused: the process never ends."""

from __future__ import annotations

import struct
from pathlib import Path

import pymluops
from support.example import PAIRING
from support.processes import python_output

# Each child has a little more room than the one before, a pool without threads, and a call that
# needs both.
SWEEP = f"""
import os, resource, sys
import numpy as np
import pymluops

rows = np.unique(np.random.default_rng(0).integers(0, [1, 20, 200, 200], (20000, 4)).astype(np.int32), axis=0)
geometry = dict(batch_size=1, spatial_shape=(20, 200, 200), kernel_size=3, stride=2, padding=1)
pymluops.set_num_threads(1)
pymluops.{PAIRING.name}(rows, **geometry)
pymluops.set_num_threads(8)
for step in range(60):
    child = os.fork()
    if child == 0:
        used = int(open("/proc/self/statm").read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        limit = used + step * 400 * 1024
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        try:
            pymluops.{PAIRING.name}(rows, **geometry)
            os._exit(10)
        except (pymluops.AllocFailedError, MemoryError):
            os._exit(11)
    print(os.waitpid(child, 0)[1])
"""


def test_scarce_address_space_ends_no_process() -> None:
    answers = [int(line) for line in python_output(SWEEP).split()]
    assert len(answers) == 60
    assert set(answers) <= {10 << 8, 11 << 8}
    assert answers[-1] == 10 << 8


def test_threads_need_no_memory_for_what_is_their_own() -> None:
    """Large thread-local data would be allocated when a thread first uses them, and the process ended if that fails."""
    library = Path(str(pymluops.load("cpu").path)).read_bytes()
    assert library[:6] == b"\x7fELF\x02\x01"  # 64 bits, little-endian
    (table,) = struct.unpack_from("<Q", library, 32)
    size, count = struct.unpack_from("<HH", library, 54)
    segments = [struct.unpack_from("<IIQQQQQ", library, table + i * size) for i in range(count)]
    thread_local, dynamic = 7, 2
    assert sum(segment[6] for segment in segments if segment[0] == thread_local) <= 64
    (entries,) = (library[segment[2] : segment[2] + segment[5]] for segment in segments if segment[0] == dynamic)
    flags, static = 30, 0x10
    assert any(tag == flags and value & static for tag, value in struct.iter_unpack("<QQ", entries))
