"""Pools that give places, and repeated elements."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.intrinsics.intrinsic_calls import HALF_FLOAT, REALS, Calls, assert_same, values

EXAMPLES = 6
SEEDS = st.integers(0, 2**32 - 1)
NAMES = ("maxpool", "minpool")
EXTENSION = "__extension(D(char), A(char), B(unsigned char), N(0), NRAM2NRAM, N(1))"
INDEX = {"half": "unsigned short", "float": "unsigned int", "bfloat16_t": "unsigned short"}


def index_call(name: str, ctype: str, strides: bool) -> str:
    more = ", N(5), N(6)" if strides else ""
    return f"__bang_{name}_index(D({INDEX[ctype]}), A({ctype}), N(0), N(1), N(2), N(3), N(4){more})"


def both_call(name: str, ctype: str) -> str:
    return f"__bang_{name}_value_index(D({ctype}), A({ctype}), N(0), N(1), N(2), N(3), N(4), N(5), N(6), N(7))"


def statements(arch: int) -> list[str]:
    types = REALS if arch >= 392 else HALF_FLOAT
    found = [index_call(name, ctype, strides) for name in NAMES for ctype in types for strides in (False, True)]
    if arch >= 372:
        found += [both_call(name, ctype) for name in NAMES for ctype in (REALS if arch >= 392 else HALF_FLOAT)]
        found.append(EXTENSION)
    return found


def places(name: str, a: np.ndarray, kernel: tuple[int, int], strides: tuple[int, int]) -> np.ndarray:
    """By window and channel, the first place of the extreme; NaN counts for nothing beside a number."""
    height, width, channels = a.shape
    rows = (height - kernel[0]) // strides[0] + 1 if height >= kernel[0] else 0
    columns = (width - kernel[1]) // strides[1] + 1 if width >= kernel[1] else 0
    result = np.zeros((rows, columns, channels), np.int64)
    for row, column, channel in np.ndindex(*result.shape):
        top, left = row * strides[0], column * strides[1]
        window = a[top : top + kernel[0], left : left + kernel[1], channel].astype(np.float64).reshape(-1)
        window = window if name == "maxpool" else -window
        result[row, column, channel] = 0 if np.isnan(window).all() else np.nanargmax(window)
    return result


def values_at(a: np.ndarray, found: np.ndarray, kernel: tuple[int, int], strides: tuple[int, int]) -> np.ndarray:
    row, column, channel = np.indices(found.shape)
    return a[row * strides[0] + found // kernel[1], column * strides[1] + found % kernel[1], channel]


@pytest.mark.sampled("name", "ctype", "arch")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("ctype", "arch"), [("half", 372), ("float", 372), ("float", 592), ("bfloat16_t", 592)])
def test_places_of_extremes(name: str, ctype: str, arch: int, calls: Callable[[int], Calls]) -> None:
    small = st.integers(1, 3)

    @settings(max_examples=EXAMPLES, deadline=None)
    @given(
        c=st.integers(1, 9),
        height=st.integers(1, 6),
        width=st.integers(1, 6),
        kernel=st.tuples(small, small),
        strides=st.tuples(small, small),
        seed=SEEDS,
    )
    def check(c: int, height: int, width: int, kernel: tuple[int, int], strides: tuple[int, int], seed: int) -> None:
        a = values(np.random.default_rng(seed), ctype, height * width * c).reshape(height, width, c)
        word = np.dtype(f"u{a.itemsize}")
        found = places(name, a, kernel, strides)
        numbers = [c, height, width, *kernel, strides[1], strides[0]]
        both = np.concatenate(
            [values_at(a, found, kernel, strides).reshape(-1).view(word), found.reshape(-1).astype(word)]
        )
        done = calls(arch)(both_call(name, ctype), a, dst=np.empty_like(both), numbers=[*numbers, both.nbytes // 2])
        half = both.size // 2
        assert_same(done.dst[:half].view(a.dtype), both[:half].view(a.dtype))
        assert_same(done.dst[half:], both[half:])
        done = calls(arch)(index_call(name, ctype, True), a, dst=np.empty_like(both[half:]), numbers=numbers)
        assert_same(done.dst, both[half:])
        beside = places(name, a, kernel, kernel).astype(word)
        done = calls(arch)(index_call(name, ctype, False), a, dst=np.empty_like(beside), numbers=numbers[:5])
        assert_same(done.dst, beside)

    check()


@pytest.mark.sampled("size")
@pytest.mark.parametrize("size", [1, 3, 4, 12])
def test_elements_are_repeated(size: int, calls: Callable[[int], Calls]) -> None:
    @settings(max_examples=EXAMPLES, deadline=None)
    @given(counts=st.lists(st.integers(0, 5), min_size=1, max_size=60), seed=SEEDS)
    def check(counts: list[int], seed: int) -> None:
        a = np.random.default_rng(seed).integers(0, 256, (len(counts), size)).astype(np.uint8)
        times = np.array(counts, np.uint8)
        expected = np.repeat(a, times, axis=0)
        done = calls(372)(EXTENSION, a, times, dst=np.empty_like(expected), numbers=[size, len(counts)])
        assert_same(done.dst, expected)

    check()


def test_counts_have_to_be_defined(calls: Callable[[int], Calls]) -> None:
    a, times = np.ones((4, 4), np.uint8), np.ones(4, np.uint8)
    calls(372)(
        EXTENSION, a, times, dst=np.zeros((4, 4), np.uint8), keep=True, numbers=[4, 4], loaded=[16, 3, 0],
        expected=[("init", "operand")],
    )  # fmt: skip
