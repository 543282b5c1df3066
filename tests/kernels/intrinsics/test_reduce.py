"""Intrinsics that make few values out of many: counts, sums, extremes, pools, filters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.intrinsics.intrinsic_calls import DTYPES, HALF_FLOAT, REALS, Calls, assert_same, values

EXAMPLES = 6
ARCHS = (270, 372, 592)
LINE = 128
SEEDS = st.integers(0, 2**32 - 1)
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def reals(arch: int) -> tuple[str, ...]:
    return REALS if arch >= 392 else HALF_FLOAT


def on_archs(*ctypes: str, since: int = 200) -> list[tuple[str, int]]:
    return [(ctype, arch) for ctype in ctypes for arch in ARCHS if arch >= since and ctype in reals(arch)]


SEARCHES = ("count", "findfirst1", "findlast1")
EXTREMES: dict[str, tuple[Callable[[np.ndarray], np.ndarray], bool, int]] = {
    # What is compared, whether the smallest is wanted, since which architecture.
    "__bang_max": (lambda a: a, False, 200),
    "__bang_min": (lambda a: a, True, 200),
    "__bang_argmax": (lambda a: a, False, 300),
    "__bang_argmin": (lambda a: a, True, 300),
    "__bang_fabsmax": (np.abs, False, 300),
    "__bang_fabsmin": (np.abs, True, 300),
}
SUMS = ("sumpool", "avgpool")
POOLS = (*SUMS, "maxpool", "minpool")


def search_call(name: str, ctype: str) -> str:
    return f"__bang_{name}(D(unsigned int), A({ctype}), N(0))"


def returned_call(name: str, ctype: str) -> str:
    return f"RETURN(__bang_{name}(A({ctype}), N(0)))"


def reduce_call(name: str, ctype: str) -> str:
    return f"{name}(D({ctype}), A({ctype}), N(0))"


def pool_call(name: str, ctype: str, strides: bool) -> str:
    more = ", N(5), N(6)" if strides else ""
    return f"__bang_{name}(D({ctype}), A({ctype}), N(0), N(1), N(2), N(3), N(4){more})"


def keep_call(name: str, ctype: str, by_bits: bool) -> str:
    mask = f"B({'void' if by_bits else ctype})"
    call = f"__bang_{name}{'_bitindex' if by_bits else ''}(D({ctype}), A({ctype}), {mask}, N(0))"
    return f"RETURN({call})" if name == "filter" else call


def statements(arch: int) -> list[str]:
    found = [search_call(name, ctype) for name in SEARCHES for ctype in reals(arch)]
    found += [
        f"RETURN(__bang_popcnt(A({ctype}), N(0)))" for ctype in ("unsigned int", "unsigned short", "unsigned char")
    ]
    found += [reduce_call("__bang_reduce_sum", ctype) for ctype in HALF_FLOAT]
    found += [
        reduce_call(name, ctype) for name, (_, _, since) in EXTREMES.items() if arch >= since for ctype in reals(arch)
    ]
    found += [pool_call(name, "half", False) for name in POOLS]
    found += [pool_call(name, ctype, True) for name in POOLS for ctype in reals(arch)]
    found += [keep_call(name, t, by) for name in ("collect", "select") for t in HALF_FLOAT for by in (False, True)]
    if arch >= 372:
        found += [returned_call(name, ctype) for name in SEARCHES for ctype in HALF_FLOAT]
        found += [keep_call("filter", ctype, by_bits) for ctype in HALF_FLOAT for by_bits in (False, True)]
    if arch >= 392:
        found += [returned_call("sum", ctype) for ctype in REALS]
    return found


@pytest.fixture(scope="session")
def reduce(calls: Callable[[int], Calls]) -> Callable[[int], Calls]:
    return calls


def counts(arch: int, ctype: str) -> st.SearchStrategy[int]:
    per_line = LINE // DTYPES[ctype].itemsize
    return st.integers(1, 8).map(lambda lines: lines * per_line) if arch < 300 else st.integers(1, 700)


def sparse(rng: np.random.Generator, ctype: str, count: int) -> np.ndarray:
    """Mostly zeros, of both signs."""
    a = values(rng, ctype, count)
    zeros = np.where(rng.random(count) < 0.5, 0.0, -0.0).astype(a.dtype)
    return np.where(rng.random(count) < rng.choice([0.0, 0.05, 0.5]), a, zeros)


# ---- Counting and finding ------------------------------------------------------------------------


def found_in(name: str, a: np.ndarray) -> int:
    places = np.flatnonzero(a.astype(np.float32) != 0)
    if name == "count":
        return len(places)
    return 2**32 - 1 if len(places) == 0 else int(places[0 if name == "findfirst1" else -1])


@pytest.mark.sampled("name", "ctype", "arch")
@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize(("ctype", "arch"), on_archs(*REALS))
def test_search(name: str, ctype: str, arch: int, reduce: Callable[[int], Calls]) -> None:
    @settings(max_examples=EXAMPLES, deadline=None)
    @given(count=counts(arch, ctype), seed=SEEDS)
    def check(count: int, seed: int) -> None:
        a = sparse(np.random.default_rng(seed), ctype, count)
        dst = np.full(LINE // 4, 7, np.uint32)
        done = reduce(arch)(search_call(name, ctype), a, dst=dst, numbers=[count], keep=True)
        # Devices of the 2xx family clear the rest of the line.
        assert done.dst[0] == found_in(name, a)
        assert (done.dst[1:] == (0 if arch < 300 else 7)).all()
        if arch >= 372 and ctype != "bfloat16_t":
            assert reduce(arch)(returned_call(name, ctype), a, numbers=[count]).value(np.uint32) == found_in(name, a)

    check()


@pytest.mark.parametrize("ctype", ["unsigned int", "unsigned short", "unsigned char"])
@pytest.mark.parametrize("arch", ARCHS)
def test_bits_are_counted(ctype: str, arch: int, reduce: Callable[[int], Calls]) -> None:
    a = values(np.random.default_rng(1), ctype, 256)
    done = reduce(arch)(f"RETURN(__bang_popcnt(A({ctype}), N(0)))", a, numbers=[256])
    assert done.value(np.int32) == sum(int(value).bit_count() for value in a)


# ---- Sums ----------------------------------------------------------------------------------------


def sum_in_order(a: np.ndarray) -> np.float32:
    total = np.float32(a[0])
    for value in a[1:]:
        total = np.float32(total + np.float32(value))
    return total


@pytest.mark.parametrize(("ctype", "arch"), on_archs(*HALF_FLOAT))
def test_sum_of_lines(ctype: str, arch: int, reduce: Callable[[int], Calls]) -> None:
    @settings(max_examples=EXAMPLES, deadline=None)
    @given(count=counts(arch, ctype), seed=SEEDS, alias=st.sampled_from([0, 1]))
    def check(count: int, seed: int, alias: int) -> None:
        a = values(np.random.default_rng(seed), ctype, count, special=0.01)
        before = a if alias else np.full_like(a, 3)
        expected = before.copy() if arch >= 300 else np.zeros_like(a)
        per_line = LINE // a.itemsize
        for first in range(0, count, per_line):
            expected[first] = sum_in_order(a[first : first + per_line])
        done = reduce(arch)(
            reduce_call("__bang_reduce_sum", ctype), a, dst=before, numbers=[count], keep=True, alias=alias
        )
        assert_same(done.dst, expected)

    check()


@pytest.mark.parametrize("ctype", REALS)
def test_sum(ctype: str, reduce: Callable[[int], Calls]) -> None:
    for count in (1, 2, 511, 512, 513, 700):
        a = values(np.random.default_rng(count), ctype, count, special=0.0)
        done = reduce(592)(returned_call("sum", ctype), a, numbers=[count])
        assert_same(np.array([done.value(a.dtype)]), np.array([sum_in_order(a)]).astype(a.dtype))


# ---- Extremes ------------------------------------------------------------------------------------


@pytest.mark.sampled("name", "ctype", "arch")
@pytest.mark.parametrize(
    ("name", "ctype", "arch"),
    [(name, ctype, arch) for name, (_, _, since) in EXTREMES.items() for ctype, arch in on_archs(*REALS, since=since)],
)
def test_extremes(name: str, ctype: str, arch: int, reduce: Callable[[int], Calls]) -> None:
    of, smallest, _ = EXTREMES[name]

    @settings(max_examples=EXAMPLES, deadline=None)
    @given(count=counts(arch, ctype), seed=SEEDS)
    def check(count: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        a = values(rng, ctype, count)
        a = np.where(np.isnan(a.astype(np.float32)), a.dtype.type(2), a)
        compared = of(a.astype(np.float32))
        place = int(np.argmin(compared) if smallest else np.argmax(compared))
        size = a.itemsize
        index = size if name in ("__bang_max", "__bang_min") else 8
        dst = np.zeros(LINE if arch < 300 else size + index, np.uint8)
        if arch < 300:
            done = reduce(arch)(reduce_call(name, ctype), a, dst=dst, numbers=[count], keep=True)
        else:
            done = reduce(arch)(reduce_call(name, ctype), a, dst=dst, numbers=[count])
        assert_same(done.dst[:size].view(a.dtype), compared[place : place + 1].astype(a.dtype))
        assert int.from_bytes(done.dst[size : size + index].tobytes(), "little") == place
        assert not done.dst[size + index :].any()

    check()


@pytest.mark.parametrize("name", ["__bang_argmax", "__bang_argmin"])
def test_nan_is_no_extreme(name: str, reduce: Callable[[int], Calls]) -> None:
    a = np.array([1, np.nan, 3, -2], np.float32)
    done = reduce(372)(reduce_call(name, "float"), a, dst=np.empty(12, np.uint8), numbers=[4])
    value, place = (3, 2) if name == "__bang_argmax" else (-2, 3)
    assert done.dst[:4].view(np.float32)[0] == value
    assert done.dst[4:].view(np.int64)[0] == place


# ---- Pools ---------------------------------------------------------------------------------------


def pooled(name: str, a: np.ndarray, kernel: tuple[int, int], strides: tuple[int, int]) -> np.ndarray:
    """Of an image of height, width and channels, in float, place by place of the window."""
    height, width, channels = a.shape
    rows = (height - kernel[0]) // strides[0] + 1 if height >= kernel[0] else 0
    columns = (width - kernel[1]) // strides[1] + 1 if width >= kernel[1] else 0
    result = np.zeros((rows, columns, channels), np.float32)
    for row in range(rows):
        for column in range(columns):
            top, left = row * strides[0], column * strides[1]
            window = a[top : top + kernel[0], left : left + kernel[1]].astype(np.float32).reshape(-1, channels)
            total = window[0]
            for place in window[1:]:
                better = (place > total if name == "maxpool" else place < total) | np.isnan(total)
                total = np.where(better, place, total) if name in ("maxpool", "minpool") else total + place
            result[row, column] = total / np.float32(len(window)) if name == "avgpool" else total
    return result.astype(a.dtype)


def pooled_on(arch: int, name: str, *operands: Any) -> np.ndarray:
    """MLU270 and MLU290 compute no negative zero; what the last two pools choose keeps its bits."""
    result = pooled(name, *operands)
    return np.where(result == 0, np.zeros_like(result), result) if arch < 300 and name in SUMS else result


@pytest.mark.parametrize(
    ("name", "smallest"), [("__bang_argmax", False), ("__bang_argmin", True), ("__bang_max", False)]
)
def test_nan_in_front_is_no_extreme(name: str, smallest: bool, reduce: Callable[[int], Calls]) -> None:
    for a in (np.array([np.nan, np.nan, 5, 7, np.nan], np.float32), np.full(3, np.nan, np.float32)):
        size = 8 if name == "__bang_max" else 12
        done = reduce(372)(reduce_call(name, "float"), a, dst=np.empty(size, np.uint8), numbers=[len(a)])
        numbers = np.flatnonzero(~np.isnan(a))
        place = (numbers[0] if smallest else numbers[-1]) if len(numbers) else 0
        assert_same(done.dst[:4].view(np.float32), a[place : place + 1])
        assert int.from_bytes(done.dst[4:].tobytes(), "little") == place


@pytest.mark.parametrize("channels", [1, 3, 40])
@pytest.mark.parametrize("name", ["maxpool", "minpool"])
def test_nan_in_pools_is_kept_only_where_there_is_nothing_else(
    name: str, channels: int, reduce: Callable[[int], Calls]
) -> None:
    a = np.full((1, 6, channels), np.nan, np.float32)
    a[0, 1], a[0, 2], a[0, 4] = 2, 3, -1
    done = reduce(372)(
        pool_call(name, "float", True),
        a,
        dst=np.empty((1, 3, channels), np.float32),
        numbers=[channels, 1, 6, 1, 2, 2, 1],
    )
    assert_same(done.dst, np.repeat(np.array([[[2], [3], [-1]]], np.float32), channels, axis=2))
    done = reduce(372)(
        pool_call(name, "float", True),
        a,
        dst=np.empty((1, 6, channels), np.float32),
        numbers=[channels, 1, 6, 1, 1, 1, 1],
    )
    assert_same(done.dst, a)


@pytest.mark.sampled("name", "ctype", "arch")
@pytest.mark.parametrize("name", POOLS)
@pytest.mark.parametrize(("ctype", "arch"), on_archs(*REALS))
def test_pools(name: str, ctype: str, arch: int, reduce: Callable[[int], Calls]) -> None:
    channels = st.integers(1, 40) if arch >= 300 else st.just(LINE // DTYPES[ctype].itemsize)
    small = st.integers(1, 3)

    @settings(max_examples=EXAMPLES, deadline=None)
    @given(
        c=channels,
        height=st.integers(1, 8),
        width=st.integers(1, 8),
        kernel=st.tuples(small, small),
        strides=st.tuples(small, small),
        seed=SEEDS,
    )
    def check(c: int, height: int, width: int, kernel: tuple[int, int], strides: tuple[int, int], seed: int) -> None:
        a = values(np.random.default_rng(seed), ctype, height * width * c).reshape(height, width, c)
        expected = pooled_on(arch, name, a, kernel, strides)
        numbers = [c, height, width, *kernel, strides[1], strides[0]]
        done = reduce(arch)(pool_call(name, ctype, True), a, dst=np.empty_like(expected), numbers=numbers)
        assert_same(done.dst, expected)
        if ctype == "half":
            beside = pooled_on(arch, name, a, kernel, kernel)
            done = reduce(arch)(pool_call(name, ctype, False), a, dst=np.empty_like(beside), numbers=numbers[:5])
            assert_same(done.dst, beside)

    check()


def test_pool_over_many_channels_and_over_its_source(reduce: Callable[[int], Calls]) -> None:
    a = values(np.random.default_rng(5), "float", 2 * 3 * 600).reshape(2, 3, 600)
    expected = pooled("sumpool", a, (2, 1), (1, 1))
    done = reduce(372)(
        pool_call("sumpool", "float", True), a, dst=np.empty_like(expected), numbers=[600, 2, 3, 2, 1, 1, 1], alias=1
    )
    assert_same(done.dst, expected)


# ---- Keeping what a mask selects -----------------------------------------------------------------


@pytest.mark.sampled("name", "ctype", "arch")
@pytest.mark.parametrize("by_bits", [False, True])
@pytest.mark.parametrize(
    ("name", "ctype", "arch"),
    [
        (name, ctype, arch)
        for name, since in (("filter", 372), ("collect", 200), ("select", 200))
        for ctype, arch in on_archs(*HALF_FLOAT, since=since)
    ],
)
def test_masks(name: str, by_bits: bool, ctype: str, arch: int, reduce: Callable[[int], Calls]) -> None:
    # Of bit masks, older devices take 1024 elements or a multiple of them.
    groups = by_bits and name != "filter" and arch < 392
    many = st.integers(1, 3).map(lambda n: 1024 * n) if groups else counts(arch, ctype)

    @settings(max_examples=EXAMPLES, deadline=None)
    @given(count=many, seed=SEEDS, alias=st.sampled_from([0, 1]))
    def check(count: int, seed: int, alias: int) -> None:
        rng = np.random.default_rng(seed)
        word = np.dtype(f"u{DTYPES[ctype].itemsize}")
        # Any bits: kernels move integers in the disguise of floats.
        a = rng.integers(0, 2 ** (8 * word.itemsize) - 1, count).astype(word)
        mask = sparse(rng, ctype, count)
        chosen = mask.astype(np.float32) != 0
        given_mask = np.packbits(chosen, bitorder="little") if by_bits else mask
        kept = a[chosen]
        # Devices of the 2xx family want whole lines, so there the result has some room behind it.
        lines = -(-kept.nbytes // LINE) * LINE
        dst = np.zeros(
            (LINE if name == "select" else 0) + (lines if name == "select" or arch < 300 else kept.nbytes), np.uint8
        )
        over = alias if name != "select" else 0
        keep = over == 0 and dst.nbytes > kept.nbytes
        done = reduce(arch)(
            keep_call(name, ctype, by_bits), a, given_mask, dst=dst, numbers=[count], alias=over, keep=keep,
            out=(0, kept.nbytes if over else dst.nbytes),
        )  # fmt: skip
        if name == "filter":
            assert done.value(np.int32) == len(kept)
        if name == "select":
            assert done.dst[:4].view(np.uint32)[0] == len(kept)
            assert not done.dst[4:LINE].any()
        packed = done.dst[LINE:] if name == "select" else done.dst
        assert_same(packed[: kept.nbytes].view(word), kept)
        assert not packed[kept.nbytes :].any()

    check()
