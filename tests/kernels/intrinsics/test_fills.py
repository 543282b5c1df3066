"""Fills: which bytes they write, in each memory, for each type, repeated and asynchronous."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.intrinsics.intrinsic_calls import DTYPES, Run, succeed, values

ARCHS = (270, 372, 592)

FILL_TYPES = ("char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned int", "half", "float")
FILLS = ("__bang_write_value", "__nramset", "__memset_nram", "__gdramset", "__ldramset", "__sramset")
# Which of them repeat a run, and for which types.
REPEATING = ("__nramset", "__gdramset", "__ldramset", "__sramset")
REPEATED_TYPES = ("char", "short", "int", "half", "float")


def repeats(name: str, ctype: str, arch: int) -> bool:
    return arch >= 300 and (name == "__bang_write_value" or (name in REPEATING and ctype in REPEATED_TYPES))


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("name", FILLS)
@pytest.mark.parametrize("ctype", FILL_TYPES)
def test_fills(ctype: str, name: str, arch: int, run: Run) -> None:
    value = values(np.random.default_rng(len(name)), ctype, 1)
    function = f"fill_{ctype.replace(' ', '_')}_run"
    shapes = [(0, 0, 0, 0)]
    if repeats(name, ctype, arch):
        shapes += [(200, 2, 0, 0), (144, 1, 512, 2)]
    count = 128 // value.itemsize
    for stride0, iter1, stride1, iter2 in shapes:
        dst = np.random.default_rng(1).integers(0, 255, 2048, np.uint8)
        expected = dst.copy()
        for outer in range(iter2 + 1):
            for inner in range(iter1 + 1):
                start = outer * stride1 + inner * stride0
                expected[start : start + 128] = np.frombuffer(value.tobytes() * count, np.uint8)
        numbers = np.array([2048, FILLS.index(name), count, stride0, iter1, stride1, iter2], np.int32)
        succeed(run(arch, function, dst, value, numbers))
        assert np.array_equal(dst, expected)
        assert value.dtype == DTYPES[ctype]


@pytest.mark.parametrize("arch", ARCHS)
def test_typed_fills(arch: int, run: Run) -> None:
    dst = np.empty(2176, np.uint8)
    succeed(run(arch, "typed_fills_run", dst))
    filled = [np.full(64, 1.5, np.float16), np.full(32, 2.5, np.float32), np.full(64, -3, np.int16)]
    filled += [
        np.full(64, 4, np.uint16),
        np.full(32, -5, np.int32),
        np.full(32, 6, np.uint32),
        np.full(128, 7, np.uint8),
    ]
    zeros, longs = bytes(1024), np.full(16, -9_000_000_000, np.int64)
    assert dst.tobytes() == b"".join(part.tobytes() for part in filled) + zeros + longs.tobytes() + bytes(128)


def test_asynchronous_fill(run: Run) -> None:
    dst = np.empty(64, np.float32)
    succeed(run(372, "fill_async_run", dst))
    expected = np.ones((16, 4), np.float32)
    expected[:4, :2] = 3
    assert np.array_equal(dst, expected.reshape(-1))
