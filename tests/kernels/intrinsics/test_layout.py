"""Intrinsics that put elements into another order: bit for bit, whatever the elements are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.intrinsics.intrinsic_calls import DTYPES, HALF_FLOAT, WORDS, Calls, assert_same, values

EXAMPLES = 6
LAYOUT_TYPES = ("char", "signed char", "unsigned char", *WORDS, *HALF_FLOAT)

TURNS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "__bang_transpose": np.transpose,
    "__bang_rotate90": lambda a: np.rot90(a, -1),
    "__bang_rotate180": lambda a: np.rot90(a, 2),
    "__bang_rotate270": np.rot90,
    "__bang_mirror": np.fliplr,
}
RESHAPES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "__bang_reshape_nchw2nhwc": lambda a: a.transpose(0, 2, 3, 1),
    "__bang_reshape_nhwc2nchw": lambda a: a.transpose(0, 3, 1, 2),
}
PAD_TYPES = ("char", "short", "int", "half", "float", "bfloat16_t")
SEEDS = st.integers(0, 2**32 - 1)


def has_turn(name: str, ctype: str, arch: int) -> bool:
    return name != "__bang_mirror" or (ctype != "int" and (ctype != "float" or arch >= 372))


def turn_call(name: str, ctype: str) -> str:
    return f"{name}(D({ctype}), A({ctype}), N(0), N(1))"


def pad_call(ctype: str) -> str:
    return f"__bang_pad(D({ctype}), A({ctype}), N(0), N(1), N(2), N(3), N(5))"


def pad_sides_call(ctype: str) -> str:
    return f"__bang_pad(D({ctype}), A({ctype}), N(0), N(1), N(2), N(3), N(4), N(5), N(6))"


def with_value(call: str, ctype: str) -> str:
    return call[:-1] + f", *B({ctype}))"


def reshape_call(name: str, ctype: str) -> str:
    return f"{name}(D({ctype}), A({ctype}), N(0), N(1), N(2), N(3))"


def statements(arch: int) -> list[str]:
    found = [turn_call(name, ctype) for name in TURNS for ctype in LAYOUT_TYPES if has_turn(name, ctype, arch)]
    found += [call(ctype) for ctype in LAYOUT_TYPES for call in (pad_call, pad_sides_call)]
    found += [reshape_call(name, ctype) for name in RESHAPES for ctype in LAYOUT_TYPES]
    if arch >= 392:
        found += [with_value(call(ctype), ctype) for ctype in PAD_TYPES for call in (pad_call, pad_sides_call)]
    return found


@pytest.fixture(scope="session")
def layout(calls: Callable[[int], Calls]) -> Callable[[int], Calls]:
    return calls


@pytest.mark.sampled("name", "ctype", "arch")
@pytest.mark.parametrize(
    ("name", "ctype", "arch"),
    [
        (name, ctype, arch)
        for name in TURNS
        for ctype in LAYOUT_TYPES
        for arch in (270, 372, 592)
        if has_turn(name, ctype, arch)
    ],
)
def test_turns(name: str, ctype: str, arch: int, layout: Callable[[int], Calls]) -> None:
    sides = st.integers(1, 70) if arch >= 300 else st.sampled_from([16, 32, 64])

    @settings(max_examples=EXAMPLES, deadline=None)
    @given(height=sides, width=st.integers(1, 58) if arch >= 300 else sides, seed=SEEDS)
    def check(height: int, width: int, seed: int) -> None:
        a = values(np.random.default_rng(seed), ctype, height * width).reshape(height, width)
        expected = np.ascontiguousarray(TURNS[name](a))
        done = layout(arch)(turn_call(name, ctype), a, dst=np.empty_like(expected), numbers=[height, width])
        assert_same(done.dst, expected)

    check()


def padded(a: np.ndarray, sides: tuple[int, int, int, int], value: object) -> np.ndarray:
    """Of an image of height, width and channels; top, bottom, left, right."""
    top, bottom, left, right = sides
    height, width, channels = a.shape
    result = np.full((top + height + bottom, left + width + right, channels), value, a.dtype)
    result[top : top + height, left : left + width] = a
    return result


@pytest.mark.sampled("ctype", "arch")
@pytest.mark.parametrize("ctype", dict.fromkeys([*LAYOUT_TYPES, *PAD_TYPES]))
@pytest.mark.parametrize("arch", [372, 592])
def test_padding(ctype: str, arch: int, layout: Callable[[int], Calls]) -> None:
    small = st.integers(0, 3)

    @settings(max_examples=EXAMPLES, deadline=None)
    @given(
        shape=st.tuples(st.integers(1, 7), st.integers(1, 7), st.integers(1, 9)),
        sides=st.tuples(small, small, small, small),
        seed=SEEDS,
    )
    def check(shape: tuple[int, int, int], sides: tuple[int, int, int, int], seed: int) -> None:
        rng = np.random.default_rng(seed)
        a, value = values(rng, ctype, int(np.prod(shape))).reshape(shape), values(rng, ctype, 1)
        height, width, channels = shape
        equal = (sides[0], sides[0], sides[2], sides[2])
        run = layout(arch)
        for call, around in ((pad_call(ctype), equal), (pad_sides_call(ctype), sides)):
            numbers = [channels, height, width, *around]
            if ctype in LAYOUT_TYPES:
                zeros = padded(a, around, 0)
                assert_same(run(call, a, dst=np.empty_like(zeros), numbers=numbers).dst, zeros)
            if ctype in PAD_TYPES and arch >= 392:
                filled = padded(a, around, value[0])
                done = run(with_value(call, ctype), a, value, dst=np.empty_like(filled), numbers=numbers)
                assert_same(done.dst, filled)

    check()


@pytest.mark.parametrize("arch", [270, 372])
@pytest.mark.parametrize("ctype", LAYOUT_TYPES)
@pytest.mark.parametrize("name", RESHAPES)
def test_channels_first_and_last(name: str, ctype: str, arch: int, layout: Callable[[int], Calls]) -> None:
    n, h, w, c = 2, 4, 8, 16
    shape = (n, c, h, w) if name.endswith("nhwc") else (n, h, w, c)
    a = values(np.random.default_rng(1), ctype, n * h * w * c).reshape(shape)
    expected = np.ascontiguousarray(RESHAPES[name](a))
    done = layout(arch)(reshape_call(name, ctype), a, dst=np.empty_like(expected), numbers=[n, h, w, c])
    assert_same(done.dst, expected)
    assert done.dst.dtype == DTYPES[ctype]
