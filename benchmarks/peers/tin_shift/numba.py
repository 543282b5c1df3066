"""tin_shift with numba: one block of channels of one frame after the other, on all threads."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from benchmarks.peers import Variants
from benchmarks.peers.numba_support import parallel, prange
from benchmarks.problem import Arrays, Problem

_memcpy: Any = ctypes.CDLL(None).memcpy
_memcpy.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_memcpy.restype = None


def _slices(source: Any, shifts: Any, target: Any) -> None:
    batch, steps, groups, _ = source.shape
    for task in prange(batch * steps * groups):
        g = task % groups
        t = task // groups % steps
        b = task // groups // steps
        before = t - shifts[b, g]
        if 0 <= before < steps:
            target[b, t, g, :] = source[b, before, g, :]
        else:
            target[b, t, g, :] = 0


def _calls(source: Any, shifts: Any, target: Any) -> None:
    batch, steps, groups, block = source.shape
    for task in prange(batch * steps * groups):
        g = task % groups
        t = task // groups % steps
        b = task // groups // steps
        before = t - shifts[b, g]
        if 0 <= before < steps:
            _memcpy(target[b, t, g].ctypes.data, source[b, before, g].ctypes.data, block * source.itemsize)
        else:
            target[b, t, g, :] = 0


_by_slices, _by_calls = parallel(_slices), parallel(_calls)


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return copies by numba's own loops and by memcpy."""
    shifts = problem.inputs["shifts"]
    batch, steps, channels, positions = problem.inputs["input"].shape
    groups = shifts.shape[1]
    words = np.dtype(f"u{problem.inputs['input'].itemsize}")
    shape = (batch, steps, groups, channels // groups * positions)
    source, target = problem.inputs["input"].view(words).reshape(shape), outputs["out"].view(words).reshape(shape)

    def slices() -> Arrays:
        _by_slices(source, shifts, target)
        return outputs

    def calls() -> Arrays:
        _by_calls(source, shifts, target)
        return outputs

    return {"slices": slices, "memcpy": calls}
