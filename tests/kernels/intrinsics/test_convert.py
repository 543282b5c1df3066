"""Conversions of vectors and of single values against their definition, for every way of rounding."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.intrinsics.intrinsic_calls import DTYPES, Calls, assert_same, values

EXAMPLES = 6
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

OLDER = ("tz", "oz", "up", "dn", "rd")
ROUNDINGS = (*OLDER, "rn", "rm")
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
ARCHS = (270, 372, 592)

# ---- Rounding ------------------------------------------------------------------------------------


def to_integer(exact: np.ndarray, rounding: str) -> np.ndarray:
    away = np.where(exact < 0, np.floor(exact), np.ceil(exact))
    rules = {
        "tz": np.trunc(exact),
        "oz": away,
        "up": np.ceil(exact),
        "dn": np.floor(exact),
        "rd": np.trunc(exact + np.where(exact < 0, -0.5, 0.5)),
        "rn": np.rint(exact),
        "rm": np.floor(exact + 0.5),
    }
    return rules[rounding]


def saturated(exact: np.ndarray, dtype: np.dtype, rounding: str, symmetric: bool = False) -> np.ndarray:
    info = np.iinfo(dtype)
    whole = np.clip(to_integer(exact, rounding), info.min + symmetric, info.max)
    return np.where(np.isnan(exact), 0, whole).astype(np.int64).astype(dtype)


def rounded(exact: np.ndarray, dtype: np.dtype, rounding: str) -> np.ndarray:
    """Doubles in a smaller format: of the two neighbours, the one that the way of rounding chooses."""
    nearest = exact.astype(np.float32).astype(dtype) if dtype == BFLOAT16 else exact.astype(dtype)
    wide = nearest.astype(np.float64)
    one = np.asarray(np.inf, dtype)
    below = np.where(wide > exact, np.nextafter(nearest, -one), nearest)
    above = np.where(wide < exact, np.nextafter(nearest, one), nearest)
    low, high = below.astype(np.float64), above.astype(np.float64)
    inward = np.where(exact < 0, above, below)
    outward = np.where(exact < 0, below, above)
    # By way of float32 it may be the farther one of the two.
    finite = np.isfinite(low) & np.isfinite(high)
    nearest = np.where(finite & (exact - low < high - exact), below, nearest)
    nearest = np.where(finite & (exact - low > high - exact), above, nearest)
    tie = (low != high) & finite & (exact - low == high - exact)
    rules = {
        "tz": inward,
        "oz": outward,
        "up": above,
        "dn": below,
        "rd": np.where(tie, outward, nearest),
        "rn": nearest,
        "rm": np.where(tie, above, nearest),
    }
    special = ~np.isfinite(exact)
    return np.where(special, nearest, rules[rounding]).astype(dtype)


def with_ties(rng: np.random.Generator, count: int, to: np.dtype) -> np.ndarray:
    """Floats, many of them half way between two numbers of the other type, or close to it."""
    if to.kind in "iu":
        base = rng.integers(-300, 300, count) + 0.5
    else:
        some = values(rng, "half" if to == np.float16 else "bfloat16_t", count).astype(to)
        base = (some.astype(np.float64) + np.nextafter(some, np.asarray(np.inf, to)).astype(np.float64)) / 2
    ties = base.astype(np.float32)
    ties = np.where(rng.random(count) < 0.3, np.nextafter(ties, np.float32(rng.choice([-np.inf, np.inf]))), ties)
    return np.where(rng.random(count) < 0.5, values(rng, "float", count), ties).astype(np.float32)


# ---- Calls ---------------------------------------------------------------------------------------


def since(arch: int, rounding: str) -> bool:
    return arch >= 300 or rounding not in ("rn", "rm")


def plain(name: str, to: str, source: str) -> str:
    return f"{name}(D({to}), A({source}), N(0))"


def runs(name: str, to: str, source: str) -> str:
    return f"{name}(D({to}), A({source}), N(0), N(1), N(2), N(3))"


def fixed(name: str, to: str, source: str) -> str:
    return f"{name}(D({to}), A({source}), N(0), N(1))"


def fixed_runs(name: str, to: str, source: str) -> str:
    return f"{name}(D({to}), A({source}), N(0), N(1), N(2), N(3), N(4))"


# To integers with a position: name, type of the result, type of the source, first architecture.
TO_FIXED = [
    *((f"__bang_half2int16_{r}", "short", "half", r) for r in ROUNDINGS),
    *((f"__bang_half2int8_{r}", "signed char", "half", r) for r in ROUNDINGS),
    *((f"__bang_float2int16_{r}", "short", "float", r) for r in ROUNDINGS),
    *((f"__bang_float2int8_{r}", "signed char", "float", r) for r in ROUNDINGS),
    *((f"__bang_float2int_{r}", "int", "float", r) for r in ROUNDINGS),
    ("__bang_float2int32", "int", "float", "tz"),
    ("__bang_float2int32_tz", "int", "float", "tz"),
    ("__bang_float2int32_rd", "int", "float", "rd"),
    ("__bang_half2int32_tz", "int", "half", "tz"),
    ("__bang_half2int32_rd", "int", "half", "rd"),
]
MORE_TO_FIXED = [
    *((f"__bang_float2int32_{r}", "int", "float", r) for r in ROUNDINGS if r not in ("tz", "rd")),
    *((f"__bang_half2int32_{r}", "int", "half", r) for r in ROUNDINGS if r not in ("tz", "rd")),
    *((f"__bang_bfloat162int32_{r}", "int", "bfloat16_t", r) for r in ROUNDINGS),
    *((f"__bang_bfloat162int16_{r}", "short", "bfloat16_t", r) for r in ROUNDINGS),
    *((f"__bang_bfloat162int8_{r}", "signed char", "bfloat16_t", r) for r in ROUNDINGS),
    *((f"__bang_float2uint8_{r}", "unsigned char", "float", r) for r in ROUNDINGS),
    *((f"__bang_float2uint16_{r}", "unsigned short", "float", r) for r in ROUNDINGS),
    *((f"__bang_float2uint32_{r}", "unsigned int", "float", r) for r in ROUNDINGS),
    ("__bang_half2int32", "int", "half", "tz"),
    ("__bang_bfloat162int32", "int", "bfloat16_t", "tz"),
    ("__bang_bfloat162int16", "short", "bfloat16_t", "tz"),
    ("__bang_bfloat162int8", "signed char", "bfloat16_t", "tz"),
]
# Without.
TO_INTEGER = [
    *((f"__bang_float2uchar_{r}", "unsigned char", "float", r) for r in ROUNDINGS),
    *((f"__bang_bfloat162uchar_{r}", "unsigned char", "bfloat16_t", r) for r in ROUNDINGS),
    ("__bang_bfloat162uchar", "unsigned char", "bfloat16_t", "tz"),
    *((f"__bang_half2short_{r}", "short", "half", r) for r in ROUNDINGS),
    ("__bang_half2char_dn", "signed char", "half", "dn"),
    ("__bang_half2uchar_dn", "unsigned char", "half", "dn"),
    ("__bang_half2uchar_dn", "signed char", "half", "dn"),
]
NARROW = [
    *((f"__bang_float2half_{r}", "half", r) for r in ROUNDINGS),
    *((f"__bang_float2bfloat16_{r}", "bfloat16_t", r) for r in ROUNDINGS),
]
FROM_FIXED = [
    ("__bang_int162float", "float", "short", "tz"),
    ("__bang_int82float", "float", "signed char", "tz"),
    ("__bang_int162half", "half", "short", "tz"),
    ("__bang_int82half", "half", "signed char", "tz"),
    ("__bang_fix82half", "half", "signed char", "tz"),
    ("__bang_int2float", "float", "int", "tz"),
    ("__bang_int322float", "float", "int", "tz"),
    ("__bang_int322float_rn", "float", "int", "rn"),
    ("__bang_int322float_rd", "float", "int", "rd"),
]
MORE_FROM_FIXED = [
    *((f"__bang_int322float_{r}", "float", "int", r) for r in ROUNDINGS if r not in ("rn", "rd")),
    *((f"__bang_int322half_{r}", "half", "int", r) for r in ROUNDINGS),
    *((f"__bang_int322bfloat16_{r}", "bfloat16_t", "int", r) for r in ROUNDINGS),
    *((f"__bang_int162bfloat16_{r}", "bfloat16_t", "short", r) for r in ROUNDINGS),
    *((f"__bang_int82bfloat16_{r}", "bfloat16_t", "signed char", r) for r in ROUNDINGS),
    *((f"__bang_int162half_{r}", "half", "short", r) for r in ROUNDINGS),
    ("__bang_int322half", "half", "int", "tz"),
    ("__bang_int322bfloat16", "bfloat16_t", "int", "tz"),
    ("__bang_int162bfloat16", "bfloat16_t", "short", "tz"),
    ("__bang_int82bfloat16", "bfloat16_t", "signed char", "tz"),
    ("__bang_uint82float", "float", "unsigned char", "tz"),
    ("__bang_uint162float", "float", "unsigned short", "tz"),
    ("__bang_uint322float", "float", "unsigned int", "tz"),
]
FROM_INTEGER = [("__bang_short2half", "half", "short", "tz"), ("__bang_uchar2half", "half", "unsigned char", "tz")]
BETWEEN = [
    ("__bang_char2int", "int", "signed char"),
    ("__bang_char2short", "short", "signed char"),
    ("__bang_short2int", "int", "short"),
    ("__bang_short2char", "signed char", "short"),
    ("__bang_int2char", "signed char", "int"),
    ("__bang_int2short", "short", "int"),
    ("__bang_int322int16", "short", "int"),
    ("__bang_int322int8", "signed char", "int"),
    ("__bang_int162int32", "int", "short"),
    ("__bang_int162int8", "signed char", "short"),
    ("__bang_int82int32", "int", "signed char"),
    ("__bang_int82int16", "short", "signed char"),
]
WIDEN = [
    ("__bang_half2float", "half"),
    ("__bang_bfloat162float", "bfloat16_t"),
    *((f"__bang_bfloat162float_{r}", "bfloat16_t") for r in ROUNDINGS),
]
#: Between the short formats, and bytes to bfloat16.
SHORT = [
    *((f"__bang_half2bfloat16{r and f'_{r}'}", "bfloat16_t", "half", r or "tz") for r in ("", *ROUNDINGS)),
    *((f"__bang_bfloat162half{r and f'_{r}'}", "half", "bfloat16_t", r or "tz") for r in ("", *ROUNDINGS)),
    ("__bang_uchar2bfloat16", "bfloat16_t", "unsigned char", "tz"),
]
BYTES_TO_INTEGERS = "__bang_uchar2int32(D(int), A(unsigned char), N(0), N(1))"
INTEGERS_TO_BYTES = "__bang_int322uchar(D(unsigned char), A(int), N(0), N(1))"
OLD_FLOAT2INT = "__bang_float2int(D(int), B(float), A(float), C(float), N(0))"
OLD_INT2FLOAT = "__bang_int2float(D(float), B(float), A(int), C(float), N(0))"
OLD_HALF2UCHAR = "__bang_half2uchar_dn(D(unsigned char), A(half), B(half), N(0))"

#: Of the conversions of single values: what the parts of their names mean.
VALUE_TYPES = {
    "half": "half", "float": "float", "char": "char", "uchar": "unsigned char", "short": "short",
    "ushort": "unsigned short", "int": "int", "uint": "unsigned int", "bfloat16": "bfloat16_t",
}  # fmt: skip
VALUES = [
    (source, to)
    for source in VALUE_TYPES
    for to in VALUE_TYPES
    if source != to and {"half", "float", "bfloat16"} & {source, to}
]


def newer(name: str) -> bool:
    """Whether only architectures from 300 on have it."""
    return any(
        part in name for part in ("2int_", "int32", "float2uchar", "bfloat16", "2int2", "int2char", "int2short")
    ) or name in (
        "__bang_int2float",
        "__bang_char2int",
        "__bang_char2short",
        "__bang_short2int",
        "__bang_short2char",
    )


def value_name(source: str, to: str, rounding: str) -> str:
    return f"__{source}2{to}" + (f"_{rounding}" if rounding else "")


def value_call(name: str, source: str) -> str:
    return f"RETURN({name}(*A({VALUE_TYPES.get(source, source)})))"


def value_names(arch: int) -> list[tuple[str, str, str, str]]:
    """Name, source, target and rounding of the conversions of single values."""
    found = []
    for source, to in VALUES:
        for rounding in ("", *ROUNDINGS):
            newest = "bfloat16" in (source, to) or (source, to, rounding) == ("ushort", "half", "")
            if since(arch, rounding) and (arch >= 392 or not newest):
                found.append((value_name(source, to, rounding), source, to, rounding or "tz"))
    if arch >= 372:
        found += [
            (value_name(source, "int32", rounding), source, "int", rounding or "tz")
            for source in ("float", "half")
            for rounding in ("", *ROUNDINGS)
        ]
    return found


def statements(arch: int) -> list[str]:
    fixed_points = [*TO_FIXED, *MORE_TO_FIXED, *FROM_FIXED, *MORE_FROM_FIXED]
    found = [fixed(name, to, source) for name, to, source, r in fixed_points if has(arch, name, r)]
    found += [BYTES_TO_INTEGERS, INTEGERS_TO_BYTES] if arch >= 372 else []
    found += [fixed_runs(name, to, source) for name, to, source, r in TO_FIXED if "half2int8" in name and r in OLDER]
    found += [plain(name, to, source) for name, to, source, r in TO_INTEGER if has(arch, name, r)]
    found += [runs(name, to, source) for name, to, source, r in TO_INTEGER if "short" in name and r in OLDER]
    found += [plain(name, to, "float") for name, to, r in NARROW if has(arch, name, r)]
    found += [runs(name, to, "float") for name, to, r in NARROW if to == "half" and r in OLDER]
    found += [fixed_runs(name, to, source) for name, to, source, _ in FROM_FIXED if name in RUNS_FROM_FIXED]
    found += [form(name, to, source) for name, to, source, _ in FROM_INTEGER for form in (plain, runs)]
    found += [f"{name}(D({to}), A({source}), N(0), N(1), N(2))" for name, to, source in BETWEEN if arch >= 372]
    found += [plain(name, to, source) for name, to, source, _ in SHORT if arch >= 392]
    found += [plain(name, "float", source) for name, source in WIDEN if arch >= 372 or source == "half"]
    found += [runs("__bang_half2float", "float", "half"), OLD_FLOAT2INT, OLD_INT2FLOAT, OLD_HALF2UCHAR]
    return found + [value_call(name, source) for name, source, _, _ in value_names(arch)]


RUNS_FROM_FIXED = ("__bang_int82half", "__bang_fix82half")


def has(arch: int, name: str, rounding: str) -> bool:
    if "bfloat162int" in name or "bfloat162uchar" in name or ("2bfloat16" in name and "int" in name):
        return arch >= 392
    if "uint" in name or "int162half_" in name or name == "__bang_int322half":
        return arch >= 372
    return since(arch, rounding) and (arch >= 372 or not newer(name))


def on_archs(cases: Sequence[tuple[str, ...]]) -> list[tuple[object, ...]]:
    """Each case, which begins with the name and ends with the way of rounding, with the architectures that have it."""
    return [(*case, arch) for case in cases for arch in ARCHS if has(arch, case[0], case[-1])]


@pytest.fixture(scope="session")
def convert(calls: Callable[[int], Calls]) -> Callable[[int], Calls]:
    return calls


def counts(arch: int) -> st.SearchStrategy[int]:
    return st.integers(1, 8).map(lambda lines: lines * 128) if arch < 300 else st.integers(1, 700)


SEEDS = st.integers(0, 2**32 - 1)

# ---- Vectors -------------------------------------------------------------------------------------


@pytest.mark.sampled("name", "arch")
@pytest.mark.parametrize(("name", "to", "source", "rounding", "arch"), on_archs([*TO_FIXED, *MORE_TO_FIXED]))
def test_to_fixed_point(
    name: str, to: str, source: str, rounding: str, arch: int, convert: Callable[[int], Calls]
) -> None:
    @settings(max_examples=EXAMPLES, deadline=None)
    @given(count=counts(arch), seed=SEEDS, position=st.sampled_from([0, 0, -3, 4]))
    def check(count: int, seed: int, position: int) -> None:
        rng = np.random.default_rng(seed)
        a = with_ties(rng, count, DTYPES[to]).astype(DTYPES[source])
        done = convert(arch)(fixed(name, to, source), a, dst=np.empty(count, DTYPES[to]), numbers=[count, position])
        exact = a.astype(np.float64) * 2.0**-position
        assert_same(done.dst, saturated(exact, DTYPES[to], rounding, symmetric=to == "signed char"))

    check()


@pytest.mark.parametrize(("name", "to", "source", "rounding", "arch"), on_archs(TO_INTEGER))
def test_to_integers(
    name: str, to: str, source: str, rounding: str, arch: int, convert: Callable[[int], Calls]
) -> None:
    a = with_ties(np.random.default_rng(7), 640, DTYPES[to]).astype(DTYPES[source])
    done = convert(arch)(plain(name, to, source), a, dst=np.empty(640, DTYPES[to]), numbers=[640])
    assert_same(done.dst, saturated(a.astype(np.float64), DTYPES[to], rounding))


@pytest.mark.parametrize(("name", "to", "rounding", "arch"), on_archs(NARROW))
def test_to_shorter_numbers(name: str, to: str, rounding: str, arch: int, convert: Callable[[int], Calls]) -> None:
    @settings(max_examples=EXAMPLES, deadline=None)
    @given(count=counts(arch), seed=SEEDS, alias=st.sampled_from([0, 1]))
    def check(count: int, seed: int, alias: int) -> None:
        a = with_ties(np.random.default_rng(seed), count, DTYPES[to])
        done = convert(arch)(plain(name, to, "float"), a, dst=np.empty(count, DTYPES[to]), numbers=[count], alias=alias)
        assert_same(done.dst, rounded(a.astype(np.float64), DTYPES[to], rounding))

    check()


@pytest.mark.parametrize(("name", "to", "source", "rounding", "arch"), on_archs([*FROM_FIXED, *MORE_FROM_FIXED]))
def test_from_fixed_point(
    name: str, to: str, source: str, rounding: str, arch: int, convert: Callable[[int], Calls]
) -> None:
    @settings(max_examples=EXAMPLES, deadline=None)
    @given(count=counts(arch), seed=SEEDS, position=st.sampled_from([0, 0, -5, 3]))
    def check(count: int, seed: int, position: int) -> None:
        a = values(np.random.default_rng(seed), source, count)
        done = convert(arch)(fixed(name, to, source), a, dst=np.empty(count, DTYPES[to]), numbers=[count, position])
        assert_same(done.dst, rounded(a.astype(np.float64) * 2.0**position, DTYPES[to], rounding))

    check()


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize(("name", "to", "source", "rounding"), FROM_INTEGER)
def test_from_integers(
    name: str, to: str, source: str, rounding: str, arch: int, convert: Callable[[int], Calls]
) -> None:
    a = values(np.random.default_rng(8), source, 384)
    done = convert(arch)(plain(name, to, source), a, dst=np.empty(384, DTYPES[to]), numbers=[384])
    assert_same(done.dst, rounded(a.astype(np.float64), DTYPES[to], rounding))


@pytest.mark.sampled("name")
@pytest.mark.parametrize(("name", "to", "source", "rounding"), SHORT)
def test_between_short_numbers(name: str, to: str, source: str, rounding: str, convert: Callable[[int], Calls]) -> None:
    a = values(np.random.default_rng(14), source, 700)
    done = convert(592)(plain(name, to, source), a, dst=np.empty(700, DTYPES[to]), numbers=[700])
    assert_same(done.dst, rounded(a.astype(np.float64), DTYPES[to], rounding))


@pytest.mark.parametrize(("name", "to", "source"), BETWEEN)
@pytest.mark.parametrize(("dst_position", "src_position"), [(0, 0), (2, 0), (-1, 3)])
def test_between_integers(
    name: str, to: str, source: str, dst_position: int, src_position: int, convert: Callable[[int], Calls]
) -> None:
    a = values(np.random.default_rng(9), source, 333)
    call = f"{name}(D({to}), A({source}), N(0), N(1), N(2))"
    done = convert(372)(call, a, dst=np.empty(333, DTYPES[to]), numbers=[333, dst_position, src_position])
    exact = a.astype(np.float64) * 2.0 ** (src_position - dst_position)
    assert_same(done.dst, saturated(exact, DTYPES[to], "tz"))


@pytest.mark.parametrize("position", [0, 2, -3])
def test_bytes_and_integers(position: int, convert: Callable[[int], Calls]) -> None:
    """The position is that of the integer of 32 bits."""
    a = np.arange(256, dtype=np.uint8)
    done = convert(372)(BYTES_TO_INTEGERS, a, dst=np.empty(256, np.int32), numbers=[256, position])
    assert_same(done.dst, saturated(a * 2.0**-position, DTYPES["int"], "tz"))
    b = values(np.random.default_rng(13), "int", 333)
    done = convert(372)(INTEGERS_TO_BYTES, b, dst=np.empty(333, np.uint8), numbers=[333, position])
    assert_same(done.dst, saturated(b * 2.0**position, DTYPES["unsigned char"], "tz"))


@pytest.mark.parametrize(
    ("name", "source", "arch"),
    [(name, source, arch) for name, source in WIDEN for arch in ARCHS if arch >= 372 or source == "half"],
)
def test_to_longer_numbers(name: str, source: str, arch: int, convert: Callable[[int], Calls]) -> None:
    a = np.arange(2**16, dtype=np.uint16)[: 4096 * 16 : 16].view(DTYPES[source])
    done = convert(arch)(plain(name, "float", source), a, dst=np.empty(4096, np.float32), numbers=[4096])
    assert_same(done.dst, a.astype(np.float32))


@pytest.mark.parametrize("arch", [270, 372])
@pytest.mark.parametrize(
    ("call", "to", "source", "position"),
    [
        *((runs(name, to, "float"), to, "float", None) for name, to, r in NARROW if to == "half" and r in OLDER),
        *(
            (runs(name, to, "half"), to, "half", None)
            for name, to, _, r in TO_INTEGER
            if "2short" in name and r in OLDER
        ),
        *(
            (fixed_runs(name, to, "half"), to, "half", 1)
            for name, to, _, r in TO_FIXED
            if "half2int8" in name and r in OLDER
        ),
        *(
            (fixed_runs(name, to, source), to, source, 1)
            for name, to, source, _ in FROM_FIXED
            if name in RUNS_FROM_FIXED
        ),
        *((runs(name, to, source), to, source, None) for name, to, source, _ in FROM_INTEGER),
        (runs("__bang_half2float", "float", "half"), "float", "half", None),
    ],
)
def test_runs(
    call: str, to: str, source: str, position: int | None, arch: int, convert: Callable[[int], Calls]
) -> None:
    """Three runs of 128 elements with gaps give what one run gives; a source stride of 0 repeats the first."""
    run, gap, times = 128, 64, 3
    name = call[: call.index("(")]
    a = values(np.random.default_rng(10), source, run)
    whole = np.zeros((times, run + gap), DTYPES[source])
    whole[:, :run] = a * np.array([[1], [0], [1]], a.dtype)
    dst = np.zeros((times, run + gap), DTYPES[to])
    start = [run] if position is None else [run, position]
    strides = [dst.strides[0], whole.strides[0], times - 1]
    done = convert(arch)(call, whole, dst=dst, numbers=[*start, *strides], keep=True)
    single = plain if position is None else fixed
    once = convert(arch)(single(name, to, source), a, dst=np.empty(run, DTYPES[to]), numbers=start)
    zero = convert(arch)(single(name, to, source), a * 0, dst=np.empty(run, DTYPES[to]), numbers=start)
    assert_same(done.dst[:, :run], np.stack([once.dst, zero.dst, once.dst]))
    assert not done.dst[:, run:].any()
    repeated = convert(arch)(call, a, dst=dst, numbers=[*start, dst.strides[0], 0, times - 1], keep=True)
    assert_same(repeated.dst[:, :run], np.stack([once.dst] * times))


@pytest.mark.parametrize("arch", ARCHS)
def test_older_forms(arch: int, convert: Callable[[int], Calls]) -> None:
    rng = np.random.default_rng(11)
    scratch = np.zeros(256, np.float32)
    a = with_ties(rng, 256, DTYPES["int"])
    done = convert(arch)(OLD_FLOAT2INT, a, scratch, scratch, dst=np.empty(256, np.int32), numbers=[256])
    assert_same(done.dst, saturated(a.astype(np.float64), DTYPES["int"], "tz"))
    b = values(rng, "int", 256)
    done = convert(arch)(OLD_INT2FLOAT, b, scratch, scratch, dst=np.empty(256, np.float32), numbers=[256])
    assert_same(done.dst, rounded(b.astype(np.float64), DTYPES["float"], "tz"))
    c = values(rng, "half", 256)
    done = convert(arch)(OLD_HALF2UCHAR, c, c, dst=np.empty(256, np.uint8), numbers=[256])
    assert_same(done.dst, saturated(c.astype(np.float64), DTYPES["unsigned char"], "dn"))


# ---- Single values -------------------------------------------------------------------------------


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize(("source", "to"), VALUES)
def test_single_values(source: str, to: str, arch: int, convert: Callable[[int], Calls]) -> None:
    rng = np.random.default_rng(12)
    source_type, to_type = DTYPES[VALUE_TYPES[source]], DTYPES[VALUE_TYPES[to]]
    if source_type.kind in "iu":
        given_values = values(rng, VALUE_TYPES[source], 4, special=1)
    else:
        given_values = np.concatenate([with_ties(rng, 3, to_type), values(rng, "float", 3, special=1)]).astype(
            source_type
        )
    for name, from_type, into, rounding in value_names(arch):
        if (from_type, into) != (source, to):
            continue
        for value in given_values:
            done = convert(arch)(value_call(name, source), np.array([value], source_type), out=(0, 0), checks="none")
            exact = np.array([value], np.float64)
            integral = to_type.kind in "iu"
            expected = saturated(exact, to_type, rounding) if integral else rounded(exact, to_type, rounding)
            assert_same(np.array([done.value(to_type)]), expected)
