"""The tensor unit, and the lanes of WRAM that its filters lie in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.intrinsics.intrinsic_calls import DTYPES, Calls, assert_same
from support.selection import examples

SEEDS = st.integers(0, 2**32 - 1)
LANES = 64

#: Types of dst, src and filter; of a matrix product src and filter have one type.
MATMUL = (
    ("float", "float"),
    ("half", "half"),
    ("float", "half"),
    ("bfloat16_t", "bfloat16_t"),
    ("float", "bfloat16_t"),
)
FIXED = tuple(
    (to, src, kernel)
    for to in ("half", "float")
    for src, kernel in (
        ("int8", "int8"), ("int16", "int8"), ("int16", "int16"),
        ("int4x2_t", "int4x2_t"), ("int8", "int4x2_t"), ("int16", "int4x2_t"),
    )
)  # fmt: skip
INT16 = tuple(("int16", src, kernel) for src, kernel in (("int8", "int8"), ("int16", "int8"), ("int16", "int16")))
NEWER = tuple(product(("half", "float"), ("int4x2_t",), ("int8", "int16")))
REAL = tuple(("float", src, kernel) for src, kernel in product(("float", "half"), repeat=2))
BFLOAT16 = tuple(
    ("float", src, kernel)
    for src, kernel in (("bfloat16_t", "bfloat16_t"), ("float", "bfloat16_t"), ("bfloat16_t", "float"))
)
WIDE = ("float", "int", "int16")
MLP = tuple(kinds for kinds in (*FIXED, *INT16) if "int4x2_t" not in kinds)

#: How many numbers a form takes behind the sizes: dilations in the image, and of the results.
DILATIONS = (0, 2, 4)


def dtype_of(kind: str) -> np.dtype:
    own = {"int8": np.int8, "int16": np.int16, "int4x2_t": np.uint8}
    return np.dtype(own[kind]) if kind in own else np.dtype(DTYPES[kind])


def is_real(kind: str) -> bool:
    return kind in ("half", "float", "bfloat16_t")


# ---- Statements ----------------------------------------------------------------------------------

#: Copies the second source, N(0) bytes, to WRAM: as it is; with its rows put together by lane
#: before; with a copy that names the lanes.
LINEAR = "__memcpy(W(char), B(char), N(0), NRAM2WRAM);"
RESHAPED = "__bang_reshape_filter(D({T}), B({T}), N(4), 1, 1, N(2)); __memcpy(W(char), D(char), N(0), NRAM2WRAM);"
STRIDED = (
    "__memcpy(W(char), B(char), N(5), NRAM2WRAM, kLaneBytes, 63, N(5), N(4) / 64 - 1, N(5), 63, 64 * N(5), "
    "N(4) / 64 - 1);"
)
LINEAR_ASYNC = "__memcpy_async(W(char), B(char), N(0), NRAM2WRAM); __sync();"


def matmul_call(to: str, kind: str, load: str = LINEAR) -> str:
    load = load.replace("{T}", kind)
    return f"{{ {load} __bang_matmul(D({to}), A({kind}), W({kind}), N(1), N(2), N(3)); }}"


def mlp_call(to: str, src: str, kernel: str, bias: bool) -> str:
    more = f"C({to}), " if bias else ""
    return f"{{ {LINEAR} __bang_mlp(D({to}), A({src}), {more}W({kernel}), N(1), N(2), N(3)); }}"


def mlp_real_call(to: str, kind: str) -> str:
    return f"{{ {LINEAR} __bang_mlp(D({to}), A({kind}), W({kind}), N(1), N(2)); }}"


def conv_call(name: str, to: str, src: str, kernel: str, more: bool, dilations: int) -> str:
    """N(1) to N(8) are sizes; then position and dilations, packed into one number each."""
    numbers = [f"N({i})" for i in range(1, 9)]
    if not is_real(src):
        numbers.append("N(9)")
    numbers += ["N(10) % 8", "N(10) / 8", "N(11) % 8", "N(11) / 8"][:dilations]
    third = f", C({to})" if more else ""
    return f"{{ {LINEAR} {name}(D({to}), A({src}), W({kernel}){third}, {', '.join(numbers)}); }}"


def conv_types(arch: int) -> dict[tuple[str, bool], tuple[tuple[str, str, str], ...]]:
    """By name and whether there is a bias or partial result."""
    newer = NEWER if arch >= 300 else ()
    real = (REAL if arch >= 300 else ()) + (BFLOAT16 if arch >= 392 else ())
    return {
        ("__bang_conv", False): (*FIXED, *INT16, WIDE, *newer, *real),
        ("__bang_conv", True): (*FIXED, *INT16, *newer),
        ("__bang_conv_partial", True): (*FIXED, *newer, *real),
    }


def expand_call(add: bool) -> str:
    name, more = ("__bang_expand_channel_mul_add", ", C(float)") if add else ("__bang_expand_channel_mul", "")
    return (
        f"{{ __bang_write_value(D(float), 4096, 1.0f); __memcpy(W(char), D(char), 16384, NRAM2WRAM); "
        f"{name}(D(float), B(float), W(float), A(float){more}, N(0), N(1)); }}"
    )


RESHAPE_TYPES = (
    "char",
    "signed char",
    "unsigned char",
    "short",
    "unsigned short",
    "int",
    "unsigned int",
    "half",
    "float",
)


def reshape_call(ctype: str) -> str:
    return f"__bang_reshape_filter(D({ctype}), A({ctype}), N(0), N(1), N(2), N(3))"


OFFSET = (
    "{ __memcpy(W(char) + N(4), B(char), N(0), NRAM2WRAM); "
    "__bang_matmul(D(float), A(float), W(float) + N(4) / 4, N(1), N(2), N(3)); }"
)
BACK = "{ __memcpy(W(char), A(char), N(0), NRAM2WRAM); __memcpy(D(char), W(char), N(0), WRAM2NRAM); }"
NOT_IN_WRAM = "__bang_matmul(D(float), A(float), B(float), N(1), N(2), N(3))"


def statements(arch: int) -> list[str]:
    found = [mlp_call(*kinds, bias) for kinds in MLP for bias in (False, True)] + [mlp_call(*WIDE, True), BACK]
    found += [mlp_real_call(*kinds) for kinds in MATMUL if arch >= (592 if "bfloat16_t" in kinds else 372)]
    found += [
        conv_call(name, *kinds, more, dilations)
        for (name, more), types in conv_types(arch).items()
        for number, kinds in enumerate(types)
        for dilations in (DILATIONS if number == 0 or arch != 372 else (4,))
    ]
    found += [reshape_call(ctype) for ctype in RESHAPE_TYPES]
    if arch >= 372:
        usable = MATMUL if arch >= 392 else MATMUL[:3]
        found += [matmul_call(to, kind, load) for to, kind in usable for load in (LINEAR, RESHAPED, STRIDED)]
        found += [OFFSET, NOT_IN_WRAM, matmul_call("float", "float", LINEAR_ASYNC)]
    if arch >= 392:
        found.append(reshape_call("bfloat16_t"))
    if arch >= 592:
        found += [expand_call(False), expand_call(True)]
    return found


# ---- The oracle ----------------------------------------------------------------------------------


def spread(data: np.ndarray, lane_bytes: int) -> np.ndarray:
    """WRAM behind a linear copy: each lane has a 64th of the bytes."""
    lanes = np.zeros((LANES, lane_bytes), np.uint8)
    flat = data.reshape(-1).view(np.uint8)
    lanes[:, : flat.size // LANES] = flat.reshape(LANES, -1)
    return lanes


def rows_in(lanes: np.ndarray, rows: int, row_bytes: int) -> np.ndarray:
    """The bytes of the rows that a filter has there."""
    return np.array([lanes[r % LANES, r // LANES * row_bytes : (r // LANES + 1) * row_bytes] for r in range(rows)])


def by_lane(rows: np.ndarray) -> np.ndarray:
    """Rows as a linear copy brings them to their lanes; there are a multiple of 64."""
    return np.ascontiguousarray(rows.reshape(-1, LANES, *rows.shape[1:]).swapaxes(0, 1))


def numbers(data: np.ndarray, kind: str) -> np.ndarray:
    """The elements of bytes in the last axis, as float64."""
    if kind == "int4x2_t":
        low, high = data & 15, data >> 4
        both = np.stack([low, high], -1).reshape(*data.shape[:-1], -1).astype(np.int64)
        return np.where(both > 7, both - 16, both).astype(np.float64)
    return np.ascontiguousarray(data).view(dtype_of(kind)).astype(np.float64)


def rounded(sums: np.ndarray, kind: str) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):
        if kind == "int16":
            return np.clip(np.where(np.isnan(sums), 0, np.rint(sums)), -32768, 32767).astype(np.int16)
        if kind == "bfloat16_t":
            return sums.astype(np.float32).astype(ml_dtypes.bfloat16)
        return sums.astype(dtype_of(kind))


def product_of(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Rows of a by rows of b, each sum in the order of its terms."""
    sums = np.zeros((len(a), len(b)))
    with np.errstate(over="ignore", invalid="ignore"):
        for k in range(a.shape[1]):
            sums += a[:, k, None] * b[None, :, k]
    return sums


def windows(image: np.ndarray, kernel: tuple[int, int], strides: tuple[int, int], apart: tuple[int, int]) -> np.ndarray:
    """[rows, columns, taps * channels] of an image [height, width, channels]; all pairs are height, width."""
    counts = [
        max(0, (size - (taps - 1) * gap - 1) // stride + 1)
        for size, taps, stride, gap in zip(image.shape, kernel, strides, apart)
    ]
    result = np.zeros((*counts, kernel[0] * kernel[1] * image.shape[2]))
    for y, x in np.ndindex(*counts):
        taps = [image[y * strides[0] + i * apart[0], x * strides[1] + j * apart[1]] for i, j in np.ndindex(*kernel)]
        result[y, x] = np.concatenate(taps)
    return result


def drawn(rng: np.random.Generator, kind: str, count: int, special: float = 0.01) -> np.ndarray:
    if kind == "int4x2_t":
        return rng.integers(0, 256, (count + 1) // 2).astype(np.uint8)
    dtype = dtype_of(kind)
    if dtype.kind == "i":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, count, dtype=dtype, endpoint=True)
    found = (rng.standard_normal(count) * 10.0 ** rng.integers(-2, 3, count)).astype(np.float32)
    found = np.where(
        rng.random(count) < special, rng.choice([np.inf, -np.inf, np.nan, 0.0, -0.0, 3e38, 1e-40], count), found
    )
    with np.errstate(over="ignore"):
        return found.astype(dtype)


def lane_bytes(arch: int) -> int:
    return {270: 1024, 290: 512, 372: 1024, 592: 512}[arch] * 1024 // LANES


# ---- Matrix products -----------------------------------------------------------------------------


@pytest.mark.sampled("to", "kind")
@pytest.mark.parametrize(
    ("to", "kind", "arch"),
    [(*kinds, arch) for kinds in MATMUL for arch in (372, 592) if arch >= 392 or "bfloat16_t" not in kinds],
)
def test_matmul(to: str, kind: str, arch: int, calls: Callable[[int], Calls]) -> None:
    """A filter whose rows lie in their lanes gives the product, whatever brought them there."""

    @examples(5)
    @given(m=st.integers(1, 9), k=st.integers(1, 15), n=st.integers(1, 128), seed=SEEDS)
    def check(m: int, k: int, n: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        slots = -(-n // LANES)
        a, b = drawn(rng, kind, m * k).reshape(m, k), drawn(rng, kind, slots * LANES * k).reshape(-1, k)
        expected = rounded(product_of(a.astype(np.float64), b[:n].astype(np.float64)), to)
        row = k * b.itemsize
        arguments = [b.nbytes, m, k, n, len(b), row]
        # The result overwrites the rows that dst holds before it.
        dst = np.zeros(max(expected.nbytes, b.nbytes), np.uint8)
        for load, given_filter in ((LINEAR, by_lane(b)), (RESHAPED, b), (STRIDED, b)):
            if load == STRIDED and row % 8 != 0:
                continue
            done = calls(arch)(
                matmul_call(to, kind, load), a, given_filter, dst=dst, numbers=arguments, out=(0, expected.nbytes)
            )
            assert_same(done.dst[: expected.nbytes].view(expected.dtype), expected.reshape(-1))

    check()


@pytest.mark.parametrize("arch", [372, 592])
def test_a_filter_in_the_wrong_lanes_gives_what_lies_there(arch: int, calls: Callable[[int], Calls]) -> None:
    rng = np.random.default_rng(arch)
    a, b = drawn(rng, "float", 3 * 32).reshape(3, 32), drawn(rng, "float", 128 * 32, 0).reshape(128, 32)
    found = rows_in(spread(b, lane_bytes(arch)), 128, 32 * 4).view(np.float32)
    assert not np.array_equal(found, b)
    expected = rounded(product_of(a.astype(np.float64), found.astype(np.float64)), "float")
    for load in (LINEAR, LINEAR_ASYNC):
        done = calls(arch)(
            matmul_call("float", "float", load), a, b, dst=np.empty_like(expected), numbers=[b.nbytes, 3, 32, 128]
        )
        assert_same(done.dst, expected)


@pytest.mark.parametrize("arch", [270, 372])
def test_linear_copies_come_back(arch: int, calls: Callable[[int], Calls]) -> None:
    for size in (64, 128, 4096, 16384) if arch < 300 else (16, 48, 64, 4096, 16384):
        a = np.random.default_rng(size).integers(0, 256, size).astype(np.uint8)
        done = calls(arch)(BACK, a, dst=np.empty_like(a), numbers=[size])
        assert_same(done.dst, a)


# ---- Convolutions --------------------------------------------------------------------------------

CONVOLUTIONS = [
    (name, more, kinds)
    for (name, more), types in conv_types(592).items()
    for kinds in types
]  # fmt: skip


@pytest.mark.sampled("name", "more", "kinds")
@pytest.mark.parametrize(("name", "more", "kinds"), CONVOLUTIONS)
def test_convolutions(name: str, more: bool, kinds: tuple[str, str, str], calls: Callable[[int], Calls]) -> None:
    to, src, kernel = kinds
    small = st.integers(1, 3)
    pairs = st.tuples(small, small)

    @examples(4)
    @given(
        channels=st.sampled_from([2, 4, 6, 16]), size=st.tuples(st.integers(1, 7), st.integers(1, 7)), taps=pairs,
        strides=pairs, apart=pairs, out=pairs, outputs=st.sampled_from([1, 3, 64, 65]), position=st.integers(-6, 3),
        dilations=st.sampled_from(DILATIONS), seed=SEEDS,
    )  # fmt: skip
    def check(
        channels: int, size: tuple[int, int], taps: tuple[int, int], strides: tuple[int, int], apart: tuple[int, int],
        out: tuple[int, int], outputs: int, position: int, dilations: int, seed: int,
    ) -> None:  # fmt: skip
        apart, out = (apart if dilations >= 2 else (1, 1)), (out if dilations == 4 else (1, 1))
        rng = np.random.default_rng(seed)
        depth = taps[0] * taps[1] * channels
        image = drawn(rng, src, size[0] * size[1] * channels)
        rows = -(-outputs // LANES) * LANES
        filters = np.stack([drawn(rng, kernel, depth) for _ in range(rows)])
        if filters.nbytes > 16384:
            filters, rows, outputs = filters[:LANES], LANES, min(outputs, LANES)
        if filters.nbytes > 16384 or filters.nbytes % 16:
            return
        pixels = numbers(image.view(np.uint8).reshape(*size, -1), src)
        taken = windows(pixels, taps, strides, apart)
        height, width, _ = taken.shape
        if 0 in (height, width):
            height = width = 0
            taken = taken.reshape(0, 0, depth)
        sums = product_of(taken.reshape(-1, depth), numbers(filters.view(np.uint8), kernel)[:outputs])
        sums = sums.reshape(height, width, outputs) * (1.0 if is_real(src) else 2.0**position)
        wide = [0 if 0 in (height, width) else (count - 1) * gap + 1 for count, gap in zip((height, width), out)]
        before = drawn(rng, to, wide[0] * wide[1] * outputs, 0).reshape(*wide, outputs)
        third = (
            drawn(rng, to, outputs, 0)
            if name == "__bang_conv"
            else drawn(rng, to, before.size, 0).reshape(before.shape)
        )
        expected = before.copy()
        if more:
            with np.errstate(invalid="ignore"):
                sums = sums + (third if name == "__bang_conv" else third[:: out[0], :: out[1]]).astype(np.float64)
        expected[:: out[0], :: out[1]] = rounded(sums, to)
        arguments = [
            filters.nbytes, channels, *size, *taps, strides[1], strides[0], outputs, position,
            apart[1] + 8 * apart[0], out[1] + 8 * out[0],
        ]  # fmt: skip
        sources = [image, by_lane(filters), *([third] if more else [])]
        done = calls(592)(conv_call(name, *kinds, more, dilations), *sources, dst=before, keep=True, numbers=arguments)
        assert_same(done.dst, expected)

    check()


def test_partial_results_may_be_where_the_results_go(calls: Callable[[int], Calls]) -> None:
    rng = np.random.default_rng(5)
    image, filters = drawn(rng, "float", 4 * 4 * 8), drawn(rng, "float", 64 * 8).reshape(64, 8)
    partial = drawn(rng, "float", 16 * 64).reshape(16, 64)
    sums = product_of(image.reshape(16, 8).astype(np.float64), filters.astype(np.float64))
    with np.errstate(invalid="ignore"):
        expected = rounded(sums + partial, "float")
    call = conv_call("__bang_conv_partial", "float", "float", "float", True, 0)
    arguments = [filters.nbytes, 8, 4, 4, 1, 1, 1, 1, 64, 0, 0, 0]
    done = calls(592)(call, image, by_lane(filters), partial, dst=np.empty_like(expected), alias=3, numbers=arguments)
    assert_same(done.dst, expected)


@pytest.mark.sampled("kinds", "bias")
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("kinds", [*MLP, WIDE])
def test_mlp(kinds: tuple[str, str, str], bias: bool, calls: Callable[[int], Calls]) -> None:
    (to, src, kernel), bias = kinds, bias or kinds == WIDE

    @examples(4)
    @given(height=st.integers(1, 64), position=st.integers(-20, 4), seed=SEEDS)
    def check(height: int, position: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        a, b = drawn(rng, src, 64), drawn(rng, kernel, 64 * 64).reshape(64, 64)
        more = drawn(rng, to, height, 0)
        sums = product_of(a[None].astype(np.float64), b[:height].astype(np.float64))[0] * 2.0**position
        expected = rounded(sums + more.astype(np.float64) if bias else sums, to)
        sources = [a, by_lane(b), *([more] if bias else [])]
        done = calls(372)(
            mlp_call(*kinds, bias), *sources, dst=np.empty_like(expected), numbers=[b.nbytes, height, 64, position]
        )
        assert_same(done.dst, expected)

    check()


@pytest.mark.parametrize(("to", "kind"), MATMUL)
def test_mlp_of_real_numbers(to: str, kind: str, calls: Callable[[int], Calls]) -> None:
    rng = np.random.default_rng(5)
    a, b = drawn(rng, kind, 64), drawn(rng, kind, 64 * 64).reshape(64, 64)
    expected = rounded(product_of(a[None].astype(np.float64), b[:40].astype(np.float64))[0], to)
    done = calls(592)(mlp_real_call(to, kind), a, by_lane(b), dst=np.empty_like(expected), numbers=[b.nbytes, 40, 64])
    assert_same(done.dst, expected)


# ---- Others --------------------------------------------------------------------------------------


@pytest.mark.sampled("ctype")
@pytest.mark.parametrize("ctype", [*RESHAPE_TYPES, "bfloat16_t"])
def test_reshape_filter(ctype: str, calls: Callable[[int], Calls]) -> None:
    arch = 592 if ctype == "bfloat16_t" else 372
    for slots in (1, 2):
        shape = (LANES * slots, 12 * DTYPES[ctype].itemsize)
        rows = np.random.default_rng(slots).integers(0, 256, shape, np.uint8)
        done = calls(arch)(reshape_call(ctype), rows, dst=np.empty_like(rows), numbers=[LANES * slots, 2, 3, 2])
        assert_same(done.dst.reshape(-1), by_lane(rows).reshape(-1))


@pytest.mark.parametrize("add", [False, True])
def test_expand_channel(add: bool, calls: Callable[[int], Calls]) -> None:
    rng = np.random.default_rng(7)
    a, w, c = drawn(rng, "float", 5 * 33).reshape(5, 33), drawn(rng, "float", 5), drawn(rng, "float", 5 * 33)
    with np.errstate(invalid="ignore", over="ignore"):
        expected = w[:, None] * a + c.reshape(5, 33) if add else w[:, None] * a
    # Ones go through dst, which is one operand more.
    done = calls(592)(expand_call(add), a, w, c, dst=np.zeros(4096, np.float32), numbers=[5, 33])
    assert_same(done.dst[: a.size], expected.reshape(-1))


# ---- What checkers say ---------------------------------------------------------------------------


def call_matmul(
    calls: Callable[[int], Calls], statement: str, b: np.ndarray, arguments: Iterable[int], **options: object
) -> None:
    a = np.ones((2, 4), np.float32)
    calls(372)(statement, a, b, dst=np.ones((2, 64), np.float32), keep=True, numbers=list(arguments), **options)


def test_undefined_rows_and_columns(calls: Callable[[int], Calls]) -> None:
    """A result is defined where its row of src and its row of the filter are."""
    a, b = np.ones((2, 4), np.float32), np.ones((64, 4), np.float32)
    dst, arguments = np.zeros((2, 64), np.float32), [b.nbytes, 2, 4, 64]
    statement = matmul_call("float", "float")
    calls(372)(statement, a, b, dst=dst, numbers=arguments, loaded=[16, b.nbytes, 0], out=(0, 256))
    calls(372)(
        statement, a, b, dst=dst, numbers=arguments, loaded=[16, b.nbytes, 0], out=(256, 4), expected=[("init", "copy")]
    )
    # The last lane's row lacks its last number.
    calls(372)(statement, a, b, dst=dst, numbers=arguments, loaded=[32, b.nbytes - 4, 0], out=(0, 252))
    calls(372)(
        statement,
        a,
        b,
        dst=dst,
        numbers=arguments,
        loaded=[32, b.nbytes - 4, 0],
        out=(252, 4),
        expected=[("init", "copy")],
    )


def test_lanes_that_are_too_short(calls: Callable[[int], Calls]) -> None:
    b = np.ones((64, 4), np.float32)
    call_matmul(calls, OFFSET, b, [b.nbytes, 2, 4, 64, 1024 - 16])
    # Each lane has 1024 bytes of the array.
    call_matmul(calls, OFFSET, b, [b.nbytes, 2, 4, 64, 1024 - 8], expected=[("memory", "out-of-bounds")])


def test_an_offset_of_the_whole(calls: Callable[[int], Calls]) -> None:
    """Offsets count within a lane; one behind it is a finding, the launch goes on, and the product is right."""
    a, b = np.arange(8, dtype=np.float32).reshape(2, 4), np.arange(256, dtype=np.float32).reshape(64, 4)
    for offset in (2048, 3 * 16384 + 64):
        outcome = calls(372)
        done = outcome(
            OFFSET, a, by_lane(b), dst=np.zeros((2, 64), np.float32), numbers=[b.nbytes, 2, 4, 64, offset],
            recorded=[("memory", "lane-overflow")],
        )  # fmt: skip
        assert_same(done.dst, (a @ b.T).astype(np.float32))


def test_filters_lie_in_wram(calls: Callable[[int], Calls]) -> None:
    call_matmul(calls, NOT_IN_WRAM, np.ones((64, 4), np.float32), [0, 2, 4, 64], expected=[("memory", "wrong-space")])


def test_results_lie_apart(calls: Callable[[int], Calls]) -> None:
    b = np.ones((64, 4), np.float32)
    a = np.ones((2, 64), np.float32)
    calls(372)(
        matmul_call("float", "float"),
        a,
        b,
        dst=a,
        alias=1,
        numbers=[b.nbytes, 2, 4, 64],
        expected=[("align", "overlap")],
    )
