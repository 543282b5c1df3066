"""Masks of bits, comparisons that keep, tables of signed indices, series, random numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.intrinsics.elementwise_rules import COMPARE
from kernels.intrinsics.intrinsic_calls import DTYPES, HALF_FLOAT, REALS, Calls, assert_same, values
from kernels.intrinsics.test_math import assert_near
from support.selection import examples

SEEDS = st.integers(0, 2**32 - 1)
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

LUT = {"int": "__bang_lut_s32(D(int), A(int), B(int), N(0), N(1))",
       "short": "__bang_lut_s16(D(int16), A(int16), B(int16), N(0), N(1))"}  # fmt: skip
RAND = "__bang_rand(D(short), N(0))"
RAND_TWICE = "__bang_rand(D(short), N(0)); __bang_rand(D(short) + N(0), N(0))"
SERIES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "softplus": lambda x: np.logaddexp(0, x),
}


def reals(arch: int) -> tuple[str, ...]:
    return REALS if arch >= 392 else HALF_FLOAT


def maskmove_call(ctype: str) -> str:
    return f"__bang_maskmove(D({ctype}), A({ctype}), B({ctype}), N(0))"


def packing_call(ctype: str) -> str:
    return f"__bang_maskmove_bitindex(D({ctype}), A({ctype}), (void *)B(char), N(0))"


def compare_call(mode: str, ctype: str, vector: bool) -> str:
    second = f"B({ctype})" if vector else f"*B({ctype})"
    return f"__bang_fcmpfilter(CMP_{mode.upper()}, D({ctype}), A({ctype}), {second}, N(0))"


def series_call(order: int, name: str, ctype: str) -> str:
    return f"__bang_taylor{order}_{name}(D({ctype}), A({ctype}), B({ctype}), C({ctype}), N(0))"


def expand_call(ctype: str) -> str:
    return f"__bang_bexpand(D({ctype}), A(unsigned char), N(0), N(1), N(2), N(3))"


def shrink_call(ctype: str) -> str:
    return f"__bang_breduce(D(unsigned char), A({ctype}), N(0), N(1), N(2), N(3))"


WRONG_MODE = "__bang_fcmpfilter((CompareMode)6, D(float), A(float), 1.0f, N(0))"


def statements(arch: int) -> list[str]:
    found = [call(ctype) for ctype in reals(arch) for call in (maskmove_call, packing_call)]
    found += [series_call(order, name, ctype) for order in (3, 4) for name in SERIES for ctype in HALF_FLOAT]
    found += [RAND, RAND_TWICE]
    if arch >= 300:
        found += [*LUT.values(), WRONG_MODE]
        found += [compare_call(mode, ctype, v) for mode in COMPARE for ctype in reals(arch) for v in (False, True)]
    if arch >= 392:
        found += [call(ctype) for ctype in ("char", "short", "int") for call in (expand_call, shrink_call)]
    return found


# ---- Masks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ctype", "arch"), [("half", 270), ("float", 270), ("float", 372), ("bfloat16_t", 592)])
def test_masked_bytes(ctype: str, arch: int, calls: Callable[[int], Calls]) -> None:
    rng = np.random.default_rng(21)
    a, before = values(rng, ctype, 128), values(rng, ctype, 128)
    mask = rng.integers(0, 256, a.nbytes // 8, np.uint8)
    room = np.zeros(128, np.uint8)
    room[: len(mask)] = mask
    done = calls(arch)(maskmove_call(ctype), a, room, dst=before, numbers=[128], keep=True)
    selected = np.unpackbits(mask, bitorder="little").astype(bool)
    assert_same(done.dst.view(np.uint8), np.where(selected, a.view(np.uint8), before.view(np.uint8)))


def test_a_byte_with_an_undefined_bit_is_undefined(calls: Callable[[int], Calls]) -> None:
    a = np.ones(16, np.float32)
    options = {"dst": a, "numbers": [16], "keep": True, "loaded": [60, 7, 0]}
    mask = np.array([255] * 6 + [0, 0], np.uint8)
    calls(372)(maskmove_call("float"), a, mask, **options, out=(0, 56))
    calls(372)(maskmove_call("float"), a, mask, **options, out=(56, 1), expected=[("init", "copy")])


@pytest.mark.parametrize(("ctype", "arch"), [("half", 372), ("float", 372), ("bfloat16_t", 592)])
def test_packing_by_bits(ctype: str, arch: int, calls: Callable[[int], Calls]) -> None:
    rng = np.random.default_rng(22)
    a, mask = values(rng, ctype, 1024), rng.integers(0, 256, 128, np.uint8)
    kept = a[np.unpackbits(mask, bitorder="little").astype(bool)]
    done = calls(arch)(packing_call(ctype), a, mask, dst=np.zeros_like(a), numbers=[1024], keep=True)
    assert_same(done.dst, np.concatenate([kept, np.zeros(1024 - len(kept), a.dtype)]))


@pytest.mark.parametrize("ctype", ["char", "short", "int"])
def test_bits_and_elements(ctype: str, calls: Callable[[int], Calls]) -> None:
    dtype = DTYPES[ctype]
    rng = np.random.default_rng(23)
    for n, h, w, c in ((1, 1, 1, 5), (2, 3, 1, 4), (1, 2, 7, 9)):
        count = n * h * w * c
        bits = rng.integers(0, 2, count).astype(np.uint8)
        mask = np.packbits(bits, bitorder="little")
        sides = [n, h, w, c * dtype.itemsize]
        done = calls(592)(expand_call(ctype), mask, dst=np.empty(count, dtype), numbers=sides)
        assert_same(done.dst, bits.astype(dtype))
        elements = np.where(bits, values(rng, ctype, count, special=0) | dtype.type(1), 0).astype(dtype)
        back = calls(592)(shrink_call(ctype), elements, dst=np.zeros_like(mask), numbers=sides, keep=True)
        assert_same(back.dst, mask)
    if dtype.itemsize > 1:
        calls(592)(expand_call(ctype), mask, dst=elements, numbers=[1, 1, 1, 3], expected=[("memory", "bad-argument")])


# ---- Comparisons that keep -----------------------------------------------------------------------


@pytest.mark.sampled("mode", "ctype", "vector")
@pytest.mark.parametrize("vector", [False, True])
@pytest.mark.parametrize(("ctype", "arch"), [("half", 372), ("float", 372), ("bfloat16_t", 592)])
@pytest.mark.parametrize("mode", COMPARE)
def test_comparisons_that_keep(mode: str, ctype: str, arch: int, vector: bool, calls: Callable[[int], Calls]) -> None:
    @examples(4)
    @given(count=st.integers(1, 300), seed=SEEDS, alias=st.sampled_from([0, 1]))
    def check(count: int, seed: int, alias: int) -> None:
        rng = np.random.default_rng(seed)
        a = values(rng, ctype, count)
        b = values(rng, ctype, count if vector else 1)
        b = np.where(rng.random(len(b)) < 0.3, a[: len(b)], b).astype(a.dtype)
        kept = a[COMPARE[mode](a, b)]
        before = a if alias else np.zeros_like(a)
        done = calls(arch)(compare_call(mode, ctype, vector), a, b, dst=before, numbers=[count], keep=True, alias=alias)
        assert_same(done.dst, np.concatenate([kept, before[len(kept) :]]))

    check()


def test_what_decides_is_defined(calls: Callable[[int], Calls]) -> None:
    a = np.arange(8, dtype=np.float32)
    call = compare_call("lt", "float", True)
    calls(372)(call, a, a + 1, dst=a, numbers=[8], loaded=[32, 28, 0], out=(0, 0), expected=[("init", "operand")])
    calls(372)(WRONG_MODE, a, dst=a, numbers=[8], out=(0, 0), expected=[("memory", "bad-argument")])


# ---- Tables, series, random numbers --------------------------------------------------------------


@pytest.mark.parametrize("ctype", LUT)
def test_tables_of_signed_indices(ctype: str, calls: Callable[[int], Calls]) -> None:
    rng = np.random.default_rng(24)
    table = values(rng, ctype, 64)
    a = rng.integers(0, 64, 200).astype(table.dtype)
    done = calls(372)(LUT[ctype], a, table, dst=np.empty_like(a), numbers=[200, 64])
    assert_same(done.dst, table[a])
    for beyond in (-1, 64):
        a[7] = beyond
        calls(372)(LUT[ctype], a, table, dst=np.empty_like(a), numbers=[200, 64], expected=[("memory", "table-index")])
    calls(372)(LUT[ctype], a, table, dst=a, numbers=[5, 64], alias=1, out=(0, 0), expected=[("align", "overlap")])


@pytest.mark.sampled("name", "ctype", "order")
@pytest.mark.parametrize("order", [3, 4])
@pytest.mark.parametrize("ctype", HALF_FLOAT)
@pytest.mark.parametrize("name", SERIES)
def test_series(name: str, ctype: str, order: int, calls: Callable[[int], Calls]) -> None:
    rng = np.random.default_rng(25)
    a = np.concatenate([rng.uniform(-7.75, 7.75, 100), values(rng, ctype, 28).astype(np.float64)]).astype(DTYPES[ctype])
    call = series_call(order, name, ctype)
    done = calls(270)(call, a, a, a, dst=np.empty_like(a), numbers=[128])
    assert_near(done.dst, SERIES[name](a.astype(np.float64)))
    # Both temporaries are overwritten.
    options = {"dst": np.empty_like(a), "numbers": [64], "out": (0, 2), "checks": "memory,init"}
    for scratch in (2, 3):
        calls(270)(call, a, a, a, **options, alias=scratch, expected=[("init", "copy")])


def test_random_numbers(calls: Callable[[int], Calls]) -> None:
    done = calls(372)(RAND, dst=np.empty(6400, np.int16), numbers=[6400])
    again = calls(372)(RAND, dst=np.empty(6400, np.int16), numbers=[6400])
    assert_same(again.dst, done.dst)
    share = np.bincount(done.dst.astype(np.int64) % 16, minlength=16) / 6400
    assert abs(share - 1 / 16).max() < 0.02
    assert abs(done.dst.astype(np.float64).mean()) < 1500
    twice = calls(372)(RAND_TWICE, dst=np.empty(128, np.int16), numbers=[64])
    assert_same(twice.dst, done.dst[:128])
