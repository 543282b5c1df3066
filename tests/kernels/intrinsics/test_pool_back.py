"""From the results of pools back to their images; dilated pools; tiles; sums and counts that the tensor unit makes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.intrinsics.intrinsic_calls import DTYPES, HALF_FLOAT, REALS, Calls, assert_same, values
from kernels.intrinsics.test_matrix import by_lane, drawn, dtype_of, rounded
from support.selection import examples

SEEDS = st.integers(0, 2**32 - 1)
SMALL = st.integers(1, 3)
MASKS = {"half": "int16", "float": "int", "bfloat16_t": "unsigned short"}
SIZES = "N(0), N(1), N(2), N(3), N(4), N(6), N(5)"  # strides of rows and columns: N(5), N(6)
TILES = (8, 16, 32, 64, 128, 256)
INTEGRALS = (
    ("int", "char"), ("short", "char"), ("float", "int8"), ("half", "int8"), ("int", "short"), ("short", "short"),
    ("float", "int16"), ("half", "int16"), ("float", "float"), ("float", "half"),
)  # fmt: skip
HISTOGRAMS = (
    ("int", "int8"), ("half", "int8"), ("float", "int8"), ("int16", "int8"), ("half", "int16"), ("float", "int16"),
    ("int16", "int16"), ("float", "half"), ("float", "bfloat16_t"),
)  # fmt: skip
LOAD = "__memcpy(W(char), B(char), N(0), NRAM2WRAM);"


def reals(arch: int) -> tuple[str, ...]:
    return REALS if arch >= 392 else HALF_FLOAT


def unpool_call(ctype: str) -> str:
    return f"__bang_unpool(D({ctype}), A({ctype}), {SIZES}, N(7))"


def average_call(ctype: str, overlap: str) -> str:
    return f"__bang_avgpool_bp(D({ctype}), A({ctype}), {SIZES}{overlap and ', ' + overlap})"


def maximum_call(ctype: str, overlap: str) -> str:
    return f"__bang_maxpool_bp(D({ctype}), A({ctype}), B({MASKS[ctype]}), {SIZES}{overlap and ', ' + overlap})"


FIRST_UNDEFINED = f"{{ __memcpy(A(char) + 4, B(char), 4, NRAM2NRAM); {average_call('float', '')}; }}"


def dilated_call(name: str, ctype: str) -> str:
    return f"__bang_{name}_value_index(D({ctype}), A({ctype}), {SIZES}, N(7), N(8), N(9), N(10), N(11))"


def count_call(ctype: str) -> str:
    return f"__bang_count_bitindex(D(unsigned int), A({ctype}), N(0))"


def tile_call(bits: int) -> str:
    return f"__bang_tiling_2d_b{bits}(D(char), A(char), N(0), N(1), N(2), N(3), N(4), N(5), N(6), N(7))"


TILE_3D = "__bang_tiling_3d_b1024(D(char), A(char), 2, 12, 2, 5, 3, 2, 1, 2, 4, 2, 3, 8, N(0))"


def integral_call(to: str, kind: str) -> str:
    position = ", N(2)" if kind in ("int8", "int16") else ""
    return f"{{ {LOAD} __bang_integral(D({to}), A({kind}), W({kind}), N(1){position}); }}"


def histogram_call(to: str, kind: str) -> str:
    return f"{{ {LOAD} __bang_histogram(D({to}), A({kind}), W({kind}), N(1)); }}"


def histograms(arch: int) -> list[tuple[str, str]]:
    lacking = {"int16"} if arch != 372 else {"bfloat16_t"}
    return [(to, kind) for to, kind in HISTOGRAMS if kind not in lacking]


def statements(arch: int) -> list[str]:
    found = [tile_call(bits) for bits in TILES] + [TILE_3D]
    for ctype in reals(arch):
        found += [unpool_call(ctype), count_call(ctype)]
        found += [call(ctype, overlap) for call in (average_call, maximum_call) for overlap in ("", "OVERLAP_COVER")]
        if arch >= 372:
            found += [dilated_call(name, ctype) for name in ("maxpool", "minpool")]
    if arch >= 372:
        found.append(FIRST_UNDEFINED)
        found += [integral_call(to, kind) for to, kind in INTEGRALS]
        found += [histogram_call(to, kind) for to, kind in histograms(arch)]
    return found


# ---- Oracles -------------------------------------------------------------------------------------

Pair = tuple[int, int]


def counts_of(shape: tuple[int, ...], kernel: Pair, strides: Pair, apart: Pair = (1, 1)) -> Pair:
    found = [
        max(0, (size - (places - 1) * gap - 1) // stride + 1)
        for size, places, stride, gap in zip(shape, kernel, strides, apart)
    ]
    return (0, 0) if 0 in found else (found[0], found[1])


def spread_back(
    shares: np.ndarray, shape: tuple[int, int, int], kernel: Pair, strides: Pair, covers: bool
) -> np.ndarray:
    """Shares [rows, columns, kernel height, kernel width, channels] put into an image of zeros; None is none."""
    image = np.zeros(shape, np.float32)
    for row, column, i, j in np.ndindex(*shares.shape[:4]):
        place = row * strides[0] + i, column * strides[1] + j
        share = shares[row, column, i, j]
        for channel in range(shape[2]):
            if share[channel] is None:
                continue
            with np.errstate(over="ignore", invalid="ignore"):
                image[place][channel] = share[channel] if covers else image[place][channel] + share[channel]
    return image


POOLS = {
    "shape": st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(1, 4)),
    "kernel": st.tuples(SMALL, SMALL),
    "strides": st.tuples(SMALL, SMALL),
    "seed": SEEDS,
}
CASES = [(ctype, arch) for arch in (372, 592) for ctype in reals(arch)]


@pytest.mark.sampled("ctype", "arch")
@pytest.mark.parametrize(("ctype", "arch"), CASES)
def test_unpool(ctype: str, arch: int, calls: Callable[[int], Calls]) -> None:
    @examples(6)
    @given(**POOLS)
    def check(shape: tuple[int, int, int], kernel: Pair, strides: Pair, seed: int) -> None:
        rng = np.random.default_rng(seed)
        rows, columns = counts_of(shape, kernel, strides)
        src = values(rng, ctype, rows * columns * shape[2]).reshape(rows, columns, shape[2])
        before = values(rng, ctype, int(np.prod(shape))).reshape(shape)
        index = int(rng.integers(0, kernel[0] * kernel[1]))
        expected = before.copy()
        for row, column in np.ndindex(rows, columns):
            top, left = row * strides[0], column * strides[1]
            expected[top : top + kernel[0], left : left + kernel[1]] = 0
            expected[top + index // kernel[1], left + index % kernel[1]] = src[row, column]
        numbers = [shape[2], *shape[:2], *kernel, *strides, index]
        done = calls(arch)(unpool_call(ctype), src, dst=before, keep=True, numbers=numbers)
        assert_same(done.dst, expected)

    check()


@pytest.mark.sampled("ctype", "arch", "overlap")
@pytest.mark.parametrize("overlap", ["", "OVERLAP_COVER"])
@pytest.mark.parametrize(("ctype", "arch"), CASES)
def test_gradients(ctype: str, arch: int, overlap: str, calls: Callable[[int], Calls]) -> None:
    @examples(5)
    @given(**POOLS)
    def check(shape: tuple[int, int, int], kernel: Pair, strides: Pair, seed: int) -> None:
        rng = np.random.default_rng(seed)
        rows, columns = counts_of(shape, kernel, strides)
        src = values(rng, ctype, rows * columns * shape[2], special=0.05).reshape(rows, columns, shape[2])
        places = kernel[0] * kernel[1]
        shares = np.full((rows, columns, *kernel, shape[2]), None, object)
        shares[:] = (src.astype(np.float32) / np.float32(places))[:, :, None, None]
        numbers = [shape[2], *shape[:2], *kernel, *strides]
        dst = np.empty(shape, DTYPES[ctype])
        done = calls(arch)(average_call(ctype, overlap), src, dst=dst, numbers=numbers)
        assert_same(done.dst, rounded(spread_back(shares, shape, kernel, strides, bool(overlap)), ctype))
        chosen = rng.integers(0, places, src.shape)
        shares[:] = None
        for row, column, channel in np.ndindex(*src.shape):
            place = int(chosen[row, column, channel])
            shares[row, column, place // kernel[1], place % kernel[1], channel] = np.float32(src[row, column, channel])
        mask = chosen.astype(np.int32 if ctype == "float" else np.int16)
        done = calls(arch)(maximum_call(ctype, overlap), src, mask, dst=dst, numbers=numbers)
        assert_same(done.dst, rounded(spread_back(shares, shape, kernel, strides, bool(overlap)), ctype))

    check()


@pytest.mark.sampled("name", "ctype", "arch")
@pytest.mark.parametrize("name", ["maxpool", "minpool"])
@pytest.mark.parametrize(("ctype", "arch"), CASES)
def test_dilated_pools(name: str, ctype: str, arch: int, calls: Callable[[int], Calls]) -> None:
    @examples(5)
    @given(apart=st.tuples(SMALL, SMALL), out=st.tuples(SMALL, SMALL), **POOLS)
    def check(apart: Pair, out: Pair, shape: tuple[int, int, int], kernel: Pair, strides: Pair, seed: int) -> None:
        rng = np.random.default_rng(seed)
        a = values(rng, ctype, int(np.prod(shape))).reshape(shape)
        word = np.dtype(f"u{a.itemsize}")
        rows, columns = counts_of(shape, kernel, strides, apart)
        wide = ((rows - 1) * out[0] + 1, (columns - 1) * out[1] + 1) if rows else (0, 0)
        before = rng.integers(0, 9, (2, *wide, shape[2])).astype(word)
        expected = before.copy()
        for row, column, channel in np.ndindex(rows, columns, shape[2]):
            window = a[row * strides[0] :: apart[0], column * strides[1] :: apart[1], channel][: kernel[0], : kernel[1]]
            flat = window.astype(np.float64).reshape(-1) * (1 if name == "maxpool" else -1)
            place = 0 if np.isnan(flat).all() else int(np.nanargmax(flat))
            at = row * out[0], column * out[1], channel
            expected[(0, *at)] = np.ascontiguousarray(window).reshape(-1)[place : place + 1].view(word)[0]
            expected[(1, *at)] = place
        numbers = [shape[2], *shape[:2], *kernel, *strides, before.nbytes // 2, *apart, *out]
        done = calls(arch)(dilated_call(name, ctype), a, dst=before, keep=True, numbers=numbers)
        assert_same(done.dst[0].view(a.dtype), expected[0].view(a.dtype))
        assert_same(done.dst[1], expected[1])

    check()


# ---- Bits and tiles ------------------------------------------------------------------------------


@pytest.mark.parametrize(("ctype", "arch"), CASES)
def test_bits_are_counted(ctype: str, arch: int, calls: Callable[[int], Calls]) -> None:
    for count in (512, 1024, 8192):
        bits = np.random.default_rng(count).integers(0, 256, count // 8).astype(np.uint8)
        done = calls(arch)(count_call(ctype), bits, dst=np.empty(1, np.uint32), numbers=[count])
        assert done.dst[0] == np.unpackbits(bits).sum()


def walked(data: np.ndarray, unit: int, loops: list[tuple[int, int]]) -> np.ndarray:
    """The bytes that each unit of a walk begins with; loops from the inner to the outer, in steps of 64 bytes."""
    begins = np.zeros(1, np.int64)
    for count, stride in loops:
        begins = (np.arange(count)[:, None] * stride * 64 + begins).reshape(-1)
    assert begins.max() + unit <= data.size
    return begins[:, None] + np.arange(unit)


@pytest.mark.parametrize("bits", TILES)
def test_tiles(bits: int, calls: Callable[[int], Calls]) -> None:
    rng = np.random.default_rng(bits)
    unit, units = bits // 8, 512 // bits
    a, before = (rng.integers(0, 256, 10240).astype(np.uint8) for _ in range(2))
    inner = 1 if units == 2 else units // 2
    numbers = [units // inner, 3 * inner, inner, 2, inner, 2, units // inner, 2 * inner]
    source = walked(a, unit, [(inner, 2), (units // inner, 3 * inner)])
    target = walked(before, unit, [(units // inner, 2 * inner), (inner, 2)])
    expected = before.copy()
    expected[target] = a[source]
    for arch in (270, 372):
        done = calls(arch)(tile_call(bits), a, dst=before, keep=True, numbers=numbers)
        assert_same(done.dst, expected)
    calls(372)(
        tile_call(bits), a, dst=before, keep=True, numbers=[units, 1, 2, 1, units, 1, 1, 1],
        expected=[("memory", "bad-argument")],
    )  # fmt: skip


def test_tiles_in_three_loops(calls: Callable[[int], Calls]) -> None:
    rng = np.random.default_rng(1)
    a, before = (rng.integers(0, 256, 4096).astype(np.uint8) for _ in range(2))
    expected = before.copy()
    expected[walked(before, 128, [(3, 8), (4, 2), (1, 2)])] = a[walked(a, 128, [(3, 2), (2, 5), (2, 12)])]
    assert_same(calls(372)(TILE_3D, a, dst=before, keep=True, numbers=[0]).dst, expected)
    calls(372)(TILE_3D, a, dst=before, keep=True, numbers=[1], expected=[("memory", "bad-argument")])


# ---- Sums and counts -----------------------------------------------------------------------------


@pytest.mark.parametrize(("to", "kind"), INTEGRALS)
def test_integral(to: str, kind: str, calls: Callable[[int], Calls]) -> None:
    """With ones below the diagonal or everywhere the sums of what comes before; other numbers are weights."""
    rng = np.random.default_rng(len(to + kind))
    own = {"char": "int8", "short": "int16"}.get(kind, kind)
    size, position = 64, -3 if kind in ("int8", "int16") else 0
    a = drawn(rng, own, size)
    weights = drawn(rng, own, size * size, 0).reshape(size, size)
    ones = np.ones((size, size), a.dtype)
    for kernel in (ones, np.tril(ones), weights):
        with np.errstate(invalid="ignore"):
            sums = [sum(float(kernel[n, j]) * float(a[j]) for j in range(n + 1)) * 2.0**position for n in range(size)]
        if to == "int":
            expected = np.clip(np.array(sums), -(2**31), 2**31 - 1).astype(np.int32)
        else:
            expected = rounded(np.array(sums), "int16" if to == "short" else to)
        done = calls(372)(
            integral_call(to, kind),
            a,
            by_lane(kernel),
            dst=np.empty_like(expected),
            numbers=[kernel.nbytes, size, position],
        )
        assert_same(done.dst, expected)


@pytest.mark.parametrize(("to", "kind"), HISTOGRAMS)
def test_histogram(to: str, kind: str, calls: Callable[[int], Calls]) -> None:
    rng = np.random.default_rng(len(to + kind))
    a = rng.integers(-40, 40, 640).astype(dtype_of(kind))
    bins = np.arange(-32, 32).astype(dtype_of(kind))
    counts = (a[None, :] == bins[:, None]).sum(1)
    expected = counts.astype(np.int32 if to == "int" else dtype_of(to))
    arch = 592 if kind == "bfloat16_t" else 372
    done = calls(arch)(histogram_call(to, kind), a, bins, dst=np.empty_like(expected), numbers=[bins.nbytes, a.size])
    assert_same(done.dst, expected)


# ---- What checkers say ---------------------------------------------------------------------------


def test_undefined_results_and_places(calls: Callable[[int], Calls]) -> None:
    """Gradients of what is undefined are; the places of maxima have to be defined and lie in their window."""
    run = calls(372)
    src, mask, dst = np.ones(4, np.float32), np.zeros(4, np.int32), np.zeros((4, 4), np.float32)
    numbers = [1, 4, 4, 2, 2, 2, 2, 0]
    for call in (average_call("float", ""), maximum_call("float", ""), unpool_call("float")):
        more = {"dst": dst, "keep": True, "numbers": numbers}
        run(call, src, mask, **more, loaded=[12, 16, 0], out=(0, 40))
        run(call, src, mask, **more, loaded=[12, 16, 0], out=(40, 4), expected=[("init", "copy")])
    # Of an element that two windows share, the first one's is undefined.
    run(
        FIRST_UNDEFINED, src[:2], src[:1], dst=np.zeros(3, np.float32), numbers=[1, 1, 3, 1, 2, 1, 1],
        loaded=[0, 4, 0], out=(4, 4), expected=[("init", "copy")],
    )  # fmt: skip
    call = maximum_call("float", "")
    run(call, src, mask, dst=dst, numbers=numbers, loaded=[16, 12, 0], expected=[("init", "operand")])
    run(call, src, mask + 4, dst=dst, numbers=numbers, expected=[("memory", "table-index")])
    run(call, src, mask, dst=dst, numbers=[1, 4, 4, 2, 2, 2, 0], expected=[("memory", "bad-argument")])
    run(unpool_call("float"), src, dst=dst, numbers=[*numbers[:7], 4], expected=[("memory", "bad-argument")])
    run(average_call("float", ""), src, dst=dst, numbers=[1, 4, 4, 1, 1, 1, 1], expected=[("memory", "out-of-bounds")])
