"""The math library of the toolchain: functions of numbers and of vectors."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.intrinsics.intrinsic_calls import DTYPES, Calls, assert_same, values

EXAMPLES = 6
SEEDS = st.integers(0, 2**32 - 1)
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

Function = Callable[..., np.ndarray]


def inverse(function: Callable[[float], float], y: float, first: float, last: float) -> float:
    """Where a monotone function, which comes from `first` and goes to `last`, is y; by halving."""
    if not min(first, last) <= y <= max(first, last):
        return math.nan
    if y in (first, last):
        return math.copysign(math.inf, -1.0 if y == first else 1.0)
    if function(0.0) == y:
        return y if y == 0 else 0.0
    # From the sign and the exponent on, so that small results have all their digits.
    sign = 1.0 if (function(1e-300) - y) * (last - first) < 0 else -1.0
    low, high = -745.0, 5.0
    for _ in range(200):
        middle = (low + high) / 2
        below = (function(sign * math.exp(middle)) - y) * (last - first) * sign < 0
        low, high = (middle, high) if below else (low, middle)
    return sign * math.exp((low + high) / 2)


UNARY: dict[str, Function] = {
    "abs": np.abs,
    "acos": np.arccos,
    "asin": np.arcsin,
    "atan": np.arctan,
    "ceil": np.ceil,
    "cos": np.cos,
    "cosh": np.cosh,
    "erf": np.vectorize(math.erf, otypes=[float]),
    "erfcinv": np.vectorize(lambda y: inverse(math.erfc, y, 2.0, 0.0), otypes=[float]),
    "erfinv": np.vectorize(lambda y: inverse(math.erf, y, -1.0, 1.0), otypes=[float]),
    "exp": np.exp,
    "exp10": lambda x: np.power(10.0, x),
    "exp2": np.exp2,
    "expm1": np.expm1,
    "floor": np.floor,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "round": lambda x: np.copysign(np.trunc(np.abs(x) + 0.5), x),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sin": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
    "trunc": np.trunc,
}
BINARY: dict[str, Function] = {
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "max": lambda x, y: np.where((y > x) | np.isnan(x), y, x),
    "min": lambda x, y: np.where((y < x) | np.isnan(x), y, x),
    "mod": np.fmod,
    "pow": np.power,
}
TYPES = {"f16": "half", "f32": "float"}
CAST = "__cn_vector_cast_f32_to_s32(N(0), D(int), A(float))"
MOD = "__cn_vector_mod_scalar_u64(N(0), (std::uint64_t *)D(char), (std::uint64_t *)A(char), *(std::uint64_t *)B(char))"


NARROWED = {"half": "__bang_float2half(D(half), A(float), N(0))",
            "bfloat16_t": "__bang_float2bfloat16(D(bfloat16_t), A(float), N(0))"}  # fmt: skip
WIDENED = "__bang_uchar2float(D(float), A(unsigned char), N(0))"
BYTES = "__bang_float2uchar_rm(D(unsigned char), A(float), N(0))"


UNSIGNED = {
    (name, bits): f"__bang_{name}_scalar((std::uint{bits}_t *)D(char), (std::uint{bits}_t *)A(char), "
    f"*(std::uint{bits}_t *)B(char), N(0))"
    for name in ("add", "sub")
    for bits in (32, 64)
}


def vector_call(name: str, suffix: str) -> str:
    more = f", B({TYPES[suffix]})" if name in BINARY else ""
    return f"__cn_vector_{name}_{suffix}(N(0), D({TYPES[suffix]}), A({TYPES[suffix]}){more})"


def scalar_call(name: str, suffix: str) -> str:
    more = f", B({TYPES[suffix]})[0]" if name in BINARY else ""
    return f"RETURN(__cn_scalar_{name}_{suffix}(A({TYPES[suffix]})[0]{more}))"


def statements(arch: int) -> list[str]:
    found = [
        call(name, suffix) for name in (*UNARY, *BINARY) for suffix in TYPES for call in (vector_call, scalar_call)
    ]
    found += [CAST, MOD, WIDENED, BYTES, NARROWED["half"], *UNSIGNED.values()] if arch >= 372 else []
    return found + ([NARROWED["bfloat16_t"]] if arch >= 392 else [])


def assert_near(actual: np.ndarray, exact: np.ndarray) -> None:
    """The same, but for the last bit: of two libraries that compute in double one may round the other way."""
    expected = exact.astype(actual.dtype)
    size = actual.dtype.itemsize
    steps = np.abs(actual.view(f"i{size}").astype(np.int64) - expected.view(f"i{size}").astype(np.int64))
    same = (steps <= 1) | (np.isnan(actual) & np.isnan(expected)) | (actual == expected)
    assert same.all(), (actual[~same][:3], expected[~same][:3])


@pytest.mark.sampled("name", "suffix")
@pytest.mark.parametrize("suffix", TYPES)
@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_functions(name: str, suffix: str, calls: Callable[[int], Calls]) -> None:
    @settings(max_examples=EXAMPLES, deadline=None)
    @given(count=st.integers(1, 300), seed=SEEDS)
    def check(count: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        operands = [values(rng, TYPES[suffix], count) for _ in range(2 if name in BINARY else 1)]
        exact = (UNARY | BINARY)[name](*(operand.astype(np.float64) for operand in operands))
        done = calls(372)(vector_call(name, suffix), *operands, dst=np.empty_like(operands[0]), numbers=[count])
        assert_near(done.dst, exact)
        over = calls(372)(
            vector_call(name, suffix), *operands, dst=np.empty_like(operands[0]), numbers=[count], alias=1
        )
        assert_same(over.dst, done.dst)
        one = calls(372)(scalar_call(name, suffix), *(operand[:1] for operand in operands))
        assert_same(one.returned.view(done.dst.dtype)[:1], done.dst[:1])

    check()


@pytest.mark.parametrize("suffix", TYPES)
def test_what_is_undefined_stays_so(suffix: str, calls: Callable[[int], Calls]) -> None:
    a = np.ones(10, DTYPES[TYPES[suffix]])
    call = vector_call("sin", suffix)
    calls(372)(call, a, dst=np.empty_like(a), numbers=[10], loaded=[a.itemsize * 7, 0, 0], out=(0, a.itemsize * 7))
    calls(372)(
        call, a, dst=np.empty_like(a), numbers=[10], loaded=[a.itemsize * 7, 0, 0], out=(0, a.itemsize * 8),
        expected=[("init", "copy")],
    )  # fmt: skip


def test_casts_truncate_and_saturate(calls: Callable[[int], Calls]) -> None:
    a = np.array([0.9, -0.9, 2.5, -7.99, 3e9, -3e9, 2**31, -(2.0**31), np.inf, -np.inf, np.nan, 2147483520], np.float32)
    done = calls(372)(CAST, a, dst=np.empty(len(a), np.int32), numbers=[len(a)])
    most, least = 2**31 - 1, -(2**31)
    assert done.dst.tolist() == [0, 0, 2, -7, most, least, most, least, most, least, 0, 2147483520]


@pytest.mark.parametrize("divisor", [1, 7, 2**40 + 1, 2**64 - 1])
def test_remainders_of_long_numbers(divisor: int, calls: Callable[[int], Calls]) -> None:
    a = np.array([0, 1, 6, 7, 8, 2**40, 2**63, 2**64 - 1, 2**64 - 2], np.uint64)
    done = calls(372)(MOD, a, np.array([divisor], np.uint64), dst=np.empty_like(a), numbers=[len(a)])
    assert done.dst.tolist() == [int(value) % divisor for value in a]


@pytest.mark.parametrize(("ctype", "arch"), [("half", 372), ("half", 592), ("bfloat16_t", 592)])
def test_conversions_without_a_word_about_rounding(ctype: str, arch: int, calls: Callable[[int], Calls]) -> None:
    for seed, count in enumerate([1, 5, 400]):
        a = values(np.random.default_rng(seed), "float", count)
        done = calls(arch)(NARROWED[ctype], a, dst=np.empty(count, DTYPES[ctype]), numbers=[count])
        assert_same(done.dst, a.astype(DTYPES[ctype]))


def test_bytes(calls: Callable[[int], Calls]) -> None:
    a = np.arange(256, dtype=np.uint8)
    done = calls(372)(WIDENED, a, dst=np.empty(256, np.float32), numbers=[256])
    assert done.dst.tolist() == list(range(256))
    given = np.array([0.5, 0.49, -0.5, -3, 1.5, 2.5, 254.5, 254.4, 255.5, 1e30, -np.inf, np.inf, np.nan], np.float32)
    done = calls(372)(BYTES, given, dst=np.empty(len(given), np.uint8), numbers=[len(given)])
    assert done.dst.tolist() == [1, 0, 0, 0, 2, 3, 255, 254, 255, 255, 0, 255, 0]


@pytest.mark.parametrize(("name", "bits"), UNSIGNED)
def test_unsigned_numbers_wrap(name: str, bits: int, calls: Callable[[int], Calls]) -> None:
    dtype = np.dtype(f"u{bits // 8}")
    a = np.array([0, 1, 5, 2 ** (bits - 1), 2**bits - 1, 2**bits - 7], dtype)
    for value in (0, 1, 6, 2**bits - 1):
        operand = np.array([value], dtype)
        for alias in (0, 1):
            done = calls(372)(UNSIGNED[name, bits], a, operand, dst=np.empty_like(a), numbers=[len(a)], alias=alias)
            assert_same(done.dst, a + operand if name == "add" else a - operand)
