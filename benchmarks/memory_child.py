"""One case in a process of its own: ``python -m benchmarks.memory_child CASE THREADS`` prints bytes as JSON."""

from __future__ import annotations

import ctypes
import gc
import json
import sys
from pathlib import Path

import pymluops
from benchmarks.cases import Case, load_cases
from benchmarks.families import build, sized

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def main(name: str, threads: int) -> None:
    """Measure the case of this name."""
    case = next(case for case in load_cases() if case.id == name)
    pymluops.set_num_threads(threads)
    _warm_up(case)
    problem = build(case)
    buffers = problem.buffers()
    outputs = sum(array.nbytes for array in buffers.values())
    _let_go_of_free_memory()
    before = resident()
    forget_peak()
    result = problem.run(buffers)
    extra = peak() - before
    if not buffers:  # the call made its results: they lie in `extra`
        outputs = sum(array.nbytes for array in result.values())
        extra -= outputs
    inputs = sum(array.nbytes for array in problem.inputs.values())
    sizes = {"input_bytes": inputs, "output_bytes": outputs, "extra_bytes": max(extra, 0)}
    print(json.dumps({**sizes, "made_by_the_call": not buffers}))


def _warm_up(case: Case) -> None:
    """Run a small problem, so that threads and libraries are there."""
    for facts in sized(case.family, 20_000).values():
        small = build(Case("", case.family, case.operator, "small", "", case.dtype, facts))
        small.run(small.buffers())


def _let_go_of_free_memory() -> None:
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def resident() -> int:
    """Return the bytes of this process that are in memory."""
    return _field("VmRSS")


def peak() -> int:
    """Return the most bytes that were in memory since `forget_peak`."""
    return _field("VmHWM")


def forget_peak() -> None:
    """Reset the peak to the current resident memory."""
    _CLEAR.write_text("5")


def _field(name: str) -> int:
    for line in _STATUS.read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"{_STATUS} has no {name}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
