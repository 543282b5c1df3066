"""Conversions to and from integers of 4 bits, two in a byte; and rounding by chance."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.intrinsics.intrinsic_calls import DTYPES, Calls, assert_same, values
from kernels.intrinsics.test_convert import ROUNDINGS, fixed, rounded, to_integer, with_ties
from support.selection import examples

SEEDS = st.integers(0, 2**32 - 1)
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

REALS = {"half": "half", "bfloat16": "bfloat16_t", "float": "float"}
INTEGERS = {"int8": "signed char", "int16": "short", "int32": "int"}
CHANCE = {
    "half": "__bang_float2half_sr(D(half), A(float), B(int), N(0))",
    "float": "__bang_float2tf32_sr(D(float), A(float), B(int), N(0))",
}


def between(name: str, to: str, source: str) -> str:
    return f"{name}(D({to}), A({source}), N(0), N(1), N(2))"


def to_call(kind: str, rounding: str) -> str:
    name = f"__bang_{kind}2int4_{rounding}"
    return (fixed if kind in REALS else between)(name, "int4x2_t", (REALS | INTEGERS)[kind])


def from_call(kind: str, rounding: str) -> str:
    name = f"__bang_int42{kind}_{rounding}"
    return (fixed if kind in REALS else between)(name, (REALS | INTEGERS)[kind], "int4x2_t")


PLAIN_CHARS = ["__bang_int82int4_rn(D(int4x2_t), A(char), N(0), N(1), N(2))",
               "__bang_int42int8_rn(D(char), A(int4x2_t), N(0), N(1), N(2))"]  # fmt: skip


def statements(arch: int) -> list[str]:
    if arch < 300:
        return []
    found = [call(kind, r) for kind in REALS | INTEGERS for r in ROUNDINGS for call in (to_call, from_call)]
    return found + PLAIN_CHARS + (list(CHANCE.values()) if arch >= 392 else [])


def packed(numbers: np.ndarray, count: int, before: np.ndarray) -> np.ndarray:
    """Two in a byte, the even ones in the lower half; what lies behind the last stays."""
    nibbles = np.stack([before & 15, before >> 4], axis=1).reshape(-1)
    nibbles[:count] = numbers.astype(np.int64) & 15
    return (nibbles[::2] | nibbles[1::2] << 4).astype(np.uint8)


def unpacked(data: np.ndarray, count: int) -> np.ndarray:
    nibbles = np.stack([data & 15, data >> 4], axis=1).reshape(-1)[:count].astype(np.int64)
    return np.where(nibbles < 8, nibbles, nibbles - 16)


@pytest.mark.sampled("kind", "rounding")
@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("kind", [*REALS, *INTEGERS])
def test_to_int4(kind: str, rounding: str, calls: Callable[[int], Calls]) -> None:
    ctype = (REALS | INTEGERS)[kind]

    @examples(3)
    @given(
        count=st.integers(1, 300), seed=SEEDS, position=st.sampled_from([0, 0, -2, 3]), alias=st.sampled_from([0, 1])
    )
    def check(count: int, seed: int, position: int, alias: int) -> None:
        rng = np.random.default_rng(seed)
        a = values(rng, ctype, count)
        if kind in REALS:
            near = (rng.integers(-40, 40, count) / 4 * 2.0**position).astype(np.float32)
            a = np.where(rng.random(count) < 0.6, near, with_ties(rng, count, DTYPES["char"])).astype(DTYPES[ctype])
        before = rng.integers(0, 256, (count + 1) // 2, np.uint8)
        numbers = [count, position] if kind in REALS else [count, position, 1]
        dst = a.view(np.uint8)[: len(before)] if alias else before
        done = calls(372)(to_call(kind, rounding), a, dst=dst, numbers=numbers, keep=True, alias=alias)
        exact = a.astype(np.float64) * 2.0 ** -(numbers[1] - sum(numbers[2:]))
        whole = np.where(np.isnan(exact), 0, np.clip(to_integer(exact, rounding), -8, 7))
        assert_same(done.dst, packed(whole, count, dst))

    check()


@pytest.mark.sampled("kind", "rounding")
@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("kind", [*REALS, *INTEGERS])
def test_from_int4(kind: str, rounding: str, calls: Callable[[int], Calls]) -> None:
    ctype = (REALS | INTEGERS)[kind]
    dtype = DTYPES[ctype]

    @examples(3)
    @given(count=st.integers(1, 300), seed=SEEDS, position=st.sampled_from([0, 0, -26, 14, 127, -3]))
    def check(count: int, seed: int, position: int) -> None:
        a = np.random.default_rng(seed).integers(0, 256, (count + 1) // 2, np.uint8)
        numbers = [count, position] if kind in REALS else [count, -position, 1]
        done = calls(372)(from_call(kind, rounding), a, dst=np.empty(count, dtype), numbers=numbers)
        exact = unpacked(a, count) * 2.0 ** (position + (kind in INTEGERS))
        if kind in REALS:
            assert_same(done.dst, rounded(exact, dtype, rounding))
        else:
            info = np.iinfo(dtype)
            assert_same(done.dst, np.clip(to_integer(exact, rounding), info.min, info.max).astype(dtype))

    check()


def test_characters_are_bytes(calls: Callable[[int], Calls]) -> None:
    a = np.arange(-10, 10, dtype=np.int8)
    done = calls(372)(PLAIN_CHARS[0], a, dst=np.zeros(10, np.uint8), numbers=[20, 0, 0])
    assert_same(unpacked(done.dst, 20), np.clip(a, -8, 7).astype(np.int64))
    back = calls(372)(PLAIN_CHARS[1], done.dst, dst=np.zeros(20, np.int8), numbers=[20, 0, 0])
    assert_same(back.dst, np.clip(a, -8, 7))


def test_halves_of_bytes_are_undefined_by_themselves(calls: Callable[[int], Calls]) -> None:
    """Of seven defined numbers out of eight only the last of the result is undefined, on both ways."""
    a = np.arange(8, dtype=np.float32)
    to, back = to_call("float", "rn"), from_call("float", "rn")
    bytes_of = {"dst": np.zeros(4, np.uint8), "numbers": [8, 0]}
    calls(372)(to, a, **bytes_of, loaded=[28, 0, 0], out=(0, 3))
    calls(372)(to, a, **bytes_of, loaded=[28, 0, 0], out=(3, 1), expected=[("init", "copy")])
    floats_of = {"dst": np.zeros(8, np.float32), "numbers": [8, 0]}
    calls(372)(back, np.zeros(4, np.uint8), **floats_of, loaded=[3, 0, 0], out=(0, 24))
    calls(372)(back, np.zeros(4, np.uint8), **floats_of, loaded=[3, 0, 0], out=(24, 4), expected=[("init", "copy")])


# ---- By chance -----------------------------------------------------------------------------------


def by_chance(a: np.ndarray, random: np.ndarray, step: np.ndarray, largest: float) -> np.ndarray:
    """Multiples of a step: the nearer to zero, or the next one if more is dropped than the random number says."""
    size = np.abs(a.astype(np.float64))
    inner = np.minimum(np.floor(size / step) * step, largest)
    away = (size - inner) / step > random.view(np.uint32) / 2.0**32
    return np.where(np.isfinite(a), np.copysign(np.where(away, inner + step, inner), a), a)


@pytest.mark.parametrize(("to", "least", "largest"), [("half", -24, 65504.0), ("float", -136, 2.0**128 - 2.0**117)])
def test_rounding_by_chance(to: str, least: int, largest: float, calls: Callable[[int], Calls]) -> None:
    rng = np.random.default_rng(14)
    a = with_ties(rng, 3000, DTYPES["half"])
    random = rng.integers(-(2**31), 2**31, 3000).astype(np.int32)
    random[:100] = 0
    random[100:200] = -1
    done = calls(592)(CHANCE[to], a, random, dst=np.empty(3000, DTYPES[to]), numbers=[3000])
    exponent = np.frexp(np.minimum(np.abs(np.nan_to_num(a.astype(np.float64))), largest))[1] - 11
    exact = by_chance(a, random, 2.0 ** np.maximum(exponent, least), largest)
    assert_same(done.dst, exact.astype(DTYPES[to]))
    assert (done.dst.view(np.uint32) & 0x1FFF == 0)[np.isfinite(a)].all() if to == "float" else True


def test_chance_is_fair(calls: Callable[[int], Calls]) -> None:
    """A number a quarter of the way goes up about once in four times."""
    rng = np.random.default_rng(15)
    a = np.full(4000, 1 + 2.0**-12, np.float32)
    random = rng.integers(-(2**31), 2**31, 4000).astype(np.int32)
    done = calls(592)(CHANCE["half"], a, random, dst=np.empty(4000, np.float16), numbers=[4000])
    assert 900 < np.count_nonzero(done.dst > 1) < 1100
    assert ml_dtypes.finfo(np.float16).eps == done.dst.max() - 1
