"""Elementwise intrinsics against NumPy: arithmetic, logic, bits, comparisons, functions, fusion, tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.intrinsics.calls import DTYPES, HALF_FLOAT, REALS, WORDS, Calls, assert_same, values

Oracle = Callable[..., np.ndarray]
MakeCalls = Callable[..., Calls]

EXAMPLES = 6
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

# ---- What they compute -----------------------------------------------------------------------------------------------


def truth(condition: Callable[..., Any]) -> Oracle:
    """1 or 0 of the operands' type."""
    return lambda a, *rest: condition(a, *rest).astype(a.dtype)


def bits(operation: Callable[..., Any]) -> Oracle:
    def of(a: np.ndarray, *rest: np.ndarray) -> np.ndarray:
        word = np.dtype(f"u{a.dtype.itemsize}")
        return operation(a.view(word), *(np.asarray(b).view(word) for b in rest)).view(a.dtype)

    return of


def packed(condition: Callable[..., Any]) -> Oracle:
    return lambda a, b: np.packbits(condition(a, b), bitorder="little")


def larger(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where(b > a, b, a)


def smaller(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where(b < a, b, a)


def nan_larger(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where((b > a) | np.isnan(b), b, a)


def nan_smaller(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where((b < a) | np.isnan(b), b, a)


def number_larger(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where((b > a) | np.isnan(a), b, a)


def number_smaller(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where((b < a) | np.isnan(a), b, a)


def divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.dtype.kind not in "iu":
        return a / b
    x, y = np.broadcast_arrays(a.astype(np.int64), np.asarray(b).astype(np.int64))
    safe = np.where(y == 0, 1, y)
    quotient = np.abs(x) // np.abs(safe) * np.sign(x) * np.sign(safe)
    return np.where(y == 0, 0, quotient).astype(a.dtype)


def remainder(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.dtype.kind not in "iu":
        return np.fmod(a, b)
    x, y = np.broadcast_arrays(a.astype(np.int64), np.asarray(b).astype(np.int64))
    safe = np.where(y == 0, 1, y)
    return np.where(y == 0, 0, np.fmod(x, safe)).astype(a.dtype)


def add_toward_zero(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    nearest = a + b
    too_far = np.zeros(a.shape, bool)
    for i in np.flatnonzero(np.isfinite(a) & np.isfinite(b)):
        exact = Fraction(float(a[i])) + Fraction(float(b[i]))
        too_far[i] = not np.isfinite(nearest[i]) or abs(Fraction(float(nearest[i]))) > abs(exact)
    return np.where(too_far, np.nextafter(nearest, np.zeros_like(nearest)), nearest)


ADD, SUB, MUL = np.add, np.subtract, np.multiply
AND, OR, XOR = (truth(operation) for operation in (np.logical_and, np.logical_or, np.logical_xor))
BAND, BOR, BXOR = (bits(operation) for operation in (np.bitwise_and, np.bitwise_or, np.bitwise_xor))
COMPARE = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


@dataclass(frozen=True)
class Intrinsic:
    """One intrinsic for one type."""

    name: str
    ctype: str
    oracle: Oracle
    since: int = 200
    without: int = 0  # an architecture that lacks it

    def archs(self) -> Iterator[int]:
        for arch in (270, 372, 592):
            if self.since <= arch != self.without:
                yield arch


def of_types(name: str, ctypes: tuple[str, ...], oracle: Oracle, since: int = 200, without: int = 0) -> list[Intrinsic]:
    return [
        Intrinsic(name, ctype, oracle, max(since, 392) if ctype == "bfloat16_t" and since < 392 else since, without)
        for ctype in ctypes
    ]


LOGIC_INTEGERS = ("int", "short", "char")
BINARY = [
    *of_types("__bang_add", REALS, ADD),
    *of_types("__bang_sub", REALS, SUB),
    *of_types("__bang_mul", REALS, MUL),
    *of_types("__bang_add", ("int", "unsigned int"), ADD, 372),
    *of_types("__bang_sub", ("int",), SUB, 372),
    *of_types("__bang_mul", ("int", "unsigned int"), MUL, 372),
    *of_types("__bang_add_tz", HALF_FLOAT, add_toward_zero),
    *of_types("__bang_div", (*HALF_FLOAT, *WORDS), divide, 300, without=372),
    *of_types("__bang_rem", WORDS, remainder, 300, without=372),
    *of_types("__bang_maxequal", REALS, larger),
    *of_types("__bang_minequal", REALS, smaller),
    *of_types("__bang_maxequal", ("int",), larger, 372),
    *of_types("__bang_minequal", ("int",), smaller, 372),
    *of_types("__bang_nan_maximum", HALF_FLOAT, nan_larger, 300),
    *of_types("__bang_nan_minimum", HALF_FLOAT, nan_smaller, 300),
    *of_types("__bang_maximum", HALF_FLOAT, number_larger, 300),
    *of_types("__bang_minimum", HALF_FLOAT, number_smaller, 300),
    *of_types("__bang_band", ("char",), BAND),
    *of_types("__bang_bor", ("char",), BOR),
    *of_types("__bang_bxor", ("char",), BXOR),
    *of_types("__bang_band", ("int", "short"), BAND, 300),
    *of_types("__bang_bor", ("int", "short"), BOR, 300),
    *of_types("__bang_bxor", ("int", "short"), BXOR, 300),
    *of_types("__bang_band", ("float", "signed char"), BAND, 372),
    *of_types("__bang_bor", ("signed char",), BOR, 372),
    *of_types("__bang_bxor", ("signed char",), BXOR, 372),
    *of_types("__bang_eq", ("int",), truth(np.equal), 372),
]
SCALAR = [
    *of_types("__bang_add_scalar", REALS, ADD),
    *of_types("__bang_sub_scalar", REALS, SUB),
    *of_types("__bang_mul_scalar", REALS, MUL),
    *of_types("__bang_add_scalar", ("int", "unsigned int", "std::int64_t"), ADD, 372),
    *of_types("__bang_sub_scalar", ("int",), SUB, 372),
    *of_types("__bang_mul_scalar", ("int", "unsigned int", "short"), MUL, 372),
    *of_types("__bang_add_const", HALF_FLOAT, ADD),
    *of_types("__bang_sub_const", HALF_FLOAT, SUB),
    *of_types("__bang_mul_const", HALF_FLOAT, MUL),
    *of_types("__bang_ge_const", HALF_FLOAT, truth(np.greater_equal)),
    *of_types("__bang_div", (*HALF_FLOAT, *WORDS), divide, 300, without=372),
    *of_types("__bang_rem", ("float", *WORDS), remainder, 300, without=372),
    *of_types("__bang_maxeq_scalar", HALF_FLOAT, larger, 300),
    *of_types("__bang_mineq_scalar", HALF_FLOAT, smaller, 300),
    *of_types("__bang_band_scalar", (*HALF_FLOAT, *LOGIC_INTEGERS), BAND, 300),
    *of_types("__bang_bor_scalar", (*HALF_FLOAT, *LOGIC_INTEGERS), BOR, 300),
    *of_types("__bang_bxor_scalar", (*HALF_FLOAT, *LOGIC_INTEGERS), BXOR, 300),
    *of_types("__bang_ge_scalar", REALS, truth(np.greater_equal)),
    *of_types("__bang_eq_scalar", ("int",), truth(np.equal), 372),
    *of_types("__bang_ne_scalar", ("int",), truth(np.not_equal), 372),
    *of_types("__bang_lt_scalar", ("int",), truth(np.less), 372),
    *of_types("__bang_ge_scalar", ("int", "short"), truth(np.greater_equal), 372),
]
CYCLE = [
    *of_types("__bang_cycle_add", REALS, ADD),
    *of_types("__bang_cycle_sub", REALS, SUB),
    *of_types("__bang_cycle_mul", REALS, MUL),
    *of_types("__bang_cycle_add", ("int",), ADD, 372),
    *of_types("__bang_cycle_mul", ("int",), MUL, 372),
    *of_types("__bang_cycle_add_tz", HALF_FLOAT, add_toward_zero),
    *of_types("__bang_cycle_maxequal", REALS, larger),
    *of_types("__bang_cycle_minequal", REALS, smaller),
    *of_types("__bang_cycle_nan_maximum", HALF_FLOAT, nan_larger, 300),
    *of_types("__bang_cycle_nan_minimum", HALF_FLOAT, nan_smaller, 300),
    *of_types("__bang_cycle_maximum", HALF_FLOAT, number_larger, 300),
    *of_types("__bang_cycle_minimum", HALF_FLOAT, number_smaller, 300),
    *of_types("__bang_cycle_band", ("char",), BAND),
    *of_types("__bang_cycle_bor", ("char",), BOR),
    *of_types("__bang_cycle_bxor", ("char",), BXOR),
    *of_types("__bang_cycle_band", ("int", "short"), BAND, 300),
    *of_types("__bang_cycle_bor", ("int", "short"), BOR, 300),
    *of_types("__bang_cycle_bxor", ("int", "short"), BXOR, 300),
    *of_types("__bang_cycle_band", ("signed char",), BAND, 372),
    *of_types("__bang_cycle_bor", ("signed char",), BOR, 372),
    *of_types("__bang_cycle_bxor", ("signed char",), BXOR, 372),
]
PACKED = []
for suffix, condition in COMPARE.items():
    BINARY += of_types(f"__bang_{suffix}", REALS, truth(condition))
    CYCLE += of_types(f"__bang_cycle_{suffix}", REALS, truth(condition))
    PACKED += of_types(f"__bang_{suffix}_bitindex", REALS, packed(condition))
    if suffix != "ge":
        SCALAR += of_types(f"__bang_{suffix}_scalar", REALS, truth(condition), 300)
for suffix, oracle in {"and": AND, "or": OR, "xor": XOR}.items():
    BINARY += of_types(f"__bang_{suffix}", REALS, oracle)
    CYCLE += of_types(f"__bang_cycle_{suffix}", REALS, oracle)
    BINARY += of_types(f"__bang_{suffix}", LOGIC_INTEGERS, oracle, 300)
    CYCLE += of_types(f"__bang_cycle_{suffix}", LOGIC_INTEGERS, oracle, 300)
    SCALAR += of_types(f"__bang_{suffix}_scalar", (*REALS, *LOGIC_INTEGERS), oracle, 300)


def through_double(function: Callable[[np.ndarray], np.ndarray]) -> Oracle:
    """Computed in double and rounded to float, then to the type: so near the functions of a device are taken to be."""
    return lambda a: function(a.astype(np.float32).astype(np.float64)).astype(np.float32).astype(a.dtype)


def bounded(oracle: Oracle, lowest: float, below: float, highest: float = np.inf, above: float = 0) -> Oracle:
    def of(a: np.ndarray) -> np.ndarray:
        x = a.astype(np.float32)
        result = np.where(x < lowest, a.dtype.type(np.float32(below)), oracle(a))
        return np.where(x > highest, a.dtype.type(np.float32(above)), result).astype(a.dtype)

    return of


def one_over(a: np.ndarray) -> np.ndarray:
    return (np.float32(1) / a.astype(np.float32)).astype(a.dtype)


def relu(a: np.ndarray) -> np.ndarray:
    return np.where((a > 0) | np.isnan(a.astype(np.float32)), a, np.zeros_like(a))


SMALLEST_HALF = 2.0**-24
SIGMOID = through_double(lambda x: 1 / (1 + np.exp(-x)))
EXP, LOG = through_double(np.exp), through_double(np.log)
RSQRT = through_double(lambda x: 1 / np.sqrt(x))
UNARY = [
    *of_types("__bang_square", REALS, lambda a: a * a),
    *of_types("__bang_not", REALS, truth(np.logical_not)),
    *of_types("__bang_not", LOGIC_INTEGERS, truth(np.logical_not), 300),
    *of_types("__bang_not", ("unsigned int",), truth(np.logical_not), 372),
    *of_types("__bang_bnot", ("char",), np.invert),
    *of_types("__bang_bnot", ("int", "short"), np.invert, 300),
    *of_types("__bang_bnot", ("signed char",), np.invert, 372),
    *of_types("__bang_abs", REALS, np.abs, 372),
    *of_types("__bang_abs", ("int",), np.abs, 372),
    *of_types("__bang_relu", REALS, relu, 300),
    *of_types("__bang_recip", ("float",), one_over, 300),
    *of_types("__bang_sqrt", ("float", "bfloat16_t"), lambda a: np.sqrt(a.astype(np.float32)).astype(a.dtype), 372),
    *of_types("__bang_floor", ("float",), np.floor, 301),
    *of_types("__bang_round", ("float",), np.rint, 301),
    *of_types("__bang_active_abs", HALF_FLOAT, np.abs),
    *of_types("__bang_active_sign", HALF_FLOAT, lambda a: np.where(a >= 0, 1, -1).astype(a.dtype)),
    *of_types("__bang_active_relu", HALF_FLOAT, relu),
    *of_types("__bang_active_recip", HALF_FLOAT, one_over),
    *of_types("__bang_active_reciphp", HALF_FLOAT, one_over),
    *of_types("__bang_active_recip_greater_1", HALF_FLOAT, one_over),
    *of_types("__bang_active_sqrt", HALF_FLOAT, lambda a: np.sqrt(a.astype(np.float32)).astype(a.dtype)),
    *of_types("__bang_active_sqrthp", HALF_FLOAT, lambda a: np.sqrt(a.astype(np.float32)).astype(a.dtype)),
]
# As near as the C library and NumPy are to each other.
NEARLY = [
    *of_types("__bang_rsqrt", ("float",), RSQRT, 300),
    *of_types("__bang_pow2", ("float",), through_double(np.exp2), 300),
    *of_types("__bang_log", ("float",), through_double(np.log2), 300),
    *of_types("__bang_log2", ("float",), through_double(np.log2), 372),
    *of_types("__bang_sin", ("float",), through_double(np.sin), 300),
    *of_types("__bang_cos", ("float",), through_double(np.cos), 300),
    *of_types("__bang_active_rsqrt", HALF_FLOAT, RSQRT),
    *of_types("__bang_active_rsqrthp", HALF_FLOAT, RSQRT),
    *of_types("__bang_active_log", HALF_FLOAT, LOG),
    *of_types("__bang_active_loghp", HALF_FLOAT, LOG),
    *of_types("__bang_active_exp", HALF_FLOAT, bounded(EXP, -7.75, SMALLEST_HALF)),
    *of_types("__bang_active_exp_less_0", HALF_FLOAT, bounded(EXP, -15.5, SMALLEST_HALF)),
    *of_types("__bang_active_exphp", ("half",), bounded(EXP, -7.75, SMALLEST_HALF)),
    *of_types("__bang_active_exphp", ("float",), bounded(EXP, -15.0, 3e-7)),
    *of_types("__bang_active_pow2", HALF_FLOAT, through_double(np.exp2)),
    *of_types("__bang_active_sigmoid", HALF_FLOAT, bounded(SIGMOID, -7.75, 0, 7.75, 1)),
    *of_types("__bang_active_tanh", HALF_FLOAT, through_double(np.tanh)),
    *of_types("__bang_active_sin", HALF_FLOAT, through_double(np.sin)),
    *of_types("__bang_active_cos", HALF_FLOAT, through_double(np.cos)),
]

# ---- Calls -----------------------------------------------------------------------------------------------------------


def binary_call(one: Intrinsic) -> str:
    return f"{one.name}(D({one.ctype}), A({one.ctype}), B({one.ctype}), N(0))"


def scalar_call(one: Intrinsic) -> str:
    return f"{one.name}(D({one.ctype}), A({one.ctype}), *B({one.ctype}), N(0))"


def cycle_call(one: Intrinsic) -> str:
    return f"{one.name}(D({one.ctype}), A({one.ctype}), B({one.ctype}), N(0), N(1))"


def unary_call(one: Intrinsic) -> str:
    return f"{one.name}(D({one.ctype}), A({one.ctype}), N(0))"


def product_and_sum(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Rounded once, to float. In the widest type the product is exact; what its sum drops moves it by one place."""
    if a.dtype.kind == "i":
        return a * b + c
    first, second, third = (operand.astype(np.float32).astype(np.longdouble) for operand in (a, b, c))
    product = first * second
    total = product + third
    part = total - product
    dropped = (product - (total - part)) + (third - part)
    total = np.where(dropped != 0, np.nextafter(total, np.copysign(np.longdouble(np.inf), dropped)), total)
    return total.astype(np.float32).astype(a.dtype)


FUSION = {
    "FMA": product_and_sum,
    "FMS": lambda a, b, c: product_and_sum(a, b, -c),
    "FAM": lambda a, b, c: (a + b) * c,
    "FSM": lambda a, b, c: (a - b) * c,
    "FAA": lambda a, b, c: a + b + c,
    "FAS": lambda a, b, c: a + b - c,
    "FSS": lambda a, b, c: a - b - c,
    "FSA": lambda a, b, c: a - b + c,
}
FUSION_OPERANDS = {
    "vv": ("B({T})", "C({T})"),
    "vs": ("B({T})", "*C({T})"),
    "sv": ("*B({T})", "C({T})"),
    "ss": ("*B({T})", "*C({T})"),
}


def fusion_call(op: str, form: str, ctype: str) -> str:
    second, third = (operand.format(T=ctype) for operand in FUSION_OPERANDS[form])
    more = "" if form == "ss" else ", N(1)"
    return f"__bang_fusion(FUSION_{op}, D({ctype}), A({ctype}), {second}, {third}, N(0){more})"


FORMS: list[tuple[list[Intrinsic], Callable[[Intrinsic], str]]] = [
    (BINARY, binary_call), (PACKED, binary_call), (SCALAR, scalar_call), (CYCLE, cycle_call), (UNARY, unary_call),
    (NEARLY, unary_call),
]  # fmt: skip
RELUN = "__bang_relun(D({T}), A({T}), N(0), *B({T}))"
DIVIDE_BY_RECIPROCAL = "__bang_div(D({T}), A({T}), B({T}), C({T}), N(0))"
DISTANCE = "__bang_maximum(D(half), A(half), N(1), N(0))"
SRL = "__bang_srl(D(unsigned int), A(unsigned int), N(1), N(0))"
LUT = {
    "int": "__bang_lut(D(int), A(unsigned int), B(int), N(0), N(1))",
    "short": "__bang_lut(D(short), A(unsigned short), B(short), N(0), N(1))",
}
INCSEQ = {ctype: f"__bang_incseq(D({ctype}), N(0))" for ctype in ("int", "std::int64_t")}


def statements(arch: int) -> list[str]:
    """Of everything in this file that the architecture has."""
    found = [call(one) for group, call in FORMS for one in group if arch in one.archs()]
    found += [DIVIDE_BY_RECIPROCAL.format(T=ctype) for ctype in HALF_FLOAT] + [DISTANCE]
    if arch >= 372:
        reals = REALS if arch >= 392 else HALF_FLOAT
        found += [RELUN.format(T=ctype) for ctype in reals]
        found += [fusion_call(op, form, ctype) for op in FUSION for form in FUSION_OPERANDS for ctype in reals]
        found += [fusion_call(op, "ss", "int") for op in FUSION]
        found += [SRL, *LUT.values(), *INCSEQ.values()]
    return found


@pytest.fixture(scope="session")
def elementwise(calls: MakeCalls) -> Callable[[int], Calls]:
    return calls


def cases(group: list[Intrinsic]) -> list[object]:
    return [
        pytest.param(one, arch, id=f"{one.name}-{one.ctype.replace(' ', '_')}-{arch}")
        for one in group
        for arch in one.archs()
    ]


def lengths(arch: int, ctype: str) -> st.SearchStrategy[int]:
    """How many elements: any number, or what a device of the 2xx family allows."""
    per_line = 128 // DTYPES[ctype].itemsize
    return st.integers(1, 8).map(lambda lines: lines * per_line) if arch < 300 else st.integers(1, 700)


SEEDS = st.integers(0, 2**32 - 1)

# ---- Tests -----------------------------------------------------------------------------------------------------------


@pytest.mark.sampled("one.name", "one.ctype", "arch")
@pytest.mark.parametrize(("one", "arch"), cases(BINARY))
def test_two_operands(one: Intrinsic, arch: int, elementwise: Callable[[int], Calls]) -> None:
    @settings(max_examples=EXAMPLES, deadline=None)
    @given(count=lengths(arch, one.ctype), seed=SEEDS, alias=st.sampled_from([0, 1, 2]))
    def check(count: int, seed: int, alias: int) -> None:
        rng = np.random.default_rng(seed)
        a, b = values(rng, one.ctype, count), values(rng, one.ctype, count)
        # These do not allow dst over a source on any architecture, or spoil the second one.
        over = 0 if one.name in ("__bang_maximum", "__bang_minimum") else alias
        done = elementwise(arch)(binary_call(one), a, b, dst=np.empty_like(a), numbers=[count], alias=over)
        assert_same(done.dst, one.oracle(a, b))

    check()


@pytest.mark.parametrize(("one", "arch"), cases(PACKED))
def test_bits(one: Intrinsic, arch: int, elementwise: Callable[[int], Calls]) -> None:
    @settings(max_examples=EXAMPLES, deadline=None)
    @given(groups=st.integers(1, 90), seed=SEEDS, alias=st.sampled_from([0, 1, 2]))
    def check(groups: int, seed: int, alias: int) -> None:
        rng = np.random.default_rng(seed)
        count = groups * 8 if arch >= 300 else groups % 7 * 512 + 512
        a, b = values(rng, one.ctype, count), values(rng, one.ctype, count)
        dst = np.empty(count // 8, np.uint8)
        done = elementwise(arch)(binary_call(one), a, b, dst=dst, numbers=[count], alias=alias)
        assert_same(done.dst, one.oracle(a, b))

    check()


@pytest.mark.sampled("one.name", "one.ctype", "arch")
@pytest.mark.parametrize(("one", "arch"), cases(SCALAR))
def test_operand_and_value(one: Intrinsic, arch: int, elementwise: Callable[[int], Calls]) -> None:
    @settings(max_examples=EXAMPLES, deadline=None)
    @given(count=lengths(arch, one.ctype), seed=SEEDS, alias=st.sampled_from([0, 1]))
    def check(count: int, seed: int, alias: int) -> None:
        rng = np.random.default_rng(seed)
        a, b = values(rng, one.ctype, count), values(rng, one.ctype, 1)
        done = elementwise(arch)(scalar_call(one), a, b, dst=np.empty_like(a), numbers=[count], alias=alias)
        assert_same(done.dst, one.oracle(a, b))

    check()


@pytest.mark.sampled("one.name", "one.ctype", "arch")
@pytest.mark.parametrize(("one", "arch"), cases(CYCLE))
def test_repeated_operand(one: Intrinsic, arch: int, elementwise: Callable[[int], Calls]) -> None:
    @settings(max_examples=EXAMPLES, deadline=None)
    @given(
        segment=st.integers(1, 300) if arch >= 300 else lengths(arch, one.ctype),
        times=st.integers(1, 6),
        seed=SEEDS,
        alias=st.sampled_from([0, 1]),
    )
    def check(segment: int, times: int, seed: int, alias: int) -> None:
        rng = np.random.default_rng(seed)
        a, b = values(rng, one.ctype, segment * times), values(rng, one.ctype, segment)
        done = elementwise(arch)(
            cycle_call(one), a, b, dst=np.empty_like(a), numbers=[segment * times, segment], alias=alias
        )
        assert_same(done.dst, one.oracle(a, np.tile(b, times)))

    check()


def test_a_long_repeated_operand(elementwise: Callable[[int], Calls]) -> None:
    rng = np.random.default_rng(1)
    a, b = values(rng, "float", 4095), values(rng, "float", 1365)
    one = of_types("__bang_cycle_add", ("float",), ADD)[0]
    done = elementwise(372)(cycle_call(one), a, b, dst=np.empty_like(a), numbers=[4095, 1365])
    assert_same(done.dst, a + np.tile(b, 3))


@pytest.mark.sampled("one.name", "one.ctype", "arch")
@pytest.mark.parametrize(("one", "arch"), cases(UNARY))
def test_one_operand(one: Intrinsic, arch: int, elementwise: Callable[[int], Calls]) -> None:
    @settings(max_examples=EXAMPLES, deadline=None)
    @given(count=lengths(arch, one.ctype), seed=SEEDS, alias=st.sampled_from([0, 1]))
    def check(count: int, seed: int, alias: int) -> None:
        a = values(np.random.default_rng(seed), one.ctype, count)
        over = 0 if one.name in ("__bang_floor", "__bang_round") else alias
        done = elementwise(arch)(unary_call(one), a, dst=np.empty_like(a), numbers=[count], alias=over)
        assert_same(done.dst, one.oracle(a))

    check()


@pytest.mark.sampled("one.name", "one.ctype", "arch")
@pytest.mark.parametrize(("one", "arch"), cases(NEARLY))
def test_transcendental_functions(one: Intrinsic, arch: int, elementwise: Callable[[int], Calls]) -> None:
    @settings(max_examples=EXAMPLES, deadline=None)
    @given(count=lengths(arch, one.ctype), seed=SEEDS, alias=st.sampled_from([0, 1]))
    def check(count: int, seed: int, alias: int) -> None:
        a = values(np.random.default_rng(seed), one.ctype, count)
        done = elementwise(arch)(unary_call(one), a, dst=np.empty_like(a), numbers=[count], alias=alias)
        expected = one.oracle(a)
        near = np.abs(done.dst.astype(np.float64) - expected.astype(np.float64)) <= np.spacing(np.abs(expected))
        same = (done.dst == expected) | (np.isnan(done.dst) & np.isnan(expected)) | near
        assert same.all(), (a[~same][:3], done.dst[~same][:3], expected[~same][:3])

    check()


@pytest.mark.sampled("op", "form", "ctype", "arch")
@pytest.mark.parametrize("op", FUSION)
@pytest.mark.parametrize(
    ("form", "ctype", "arch"),
    [
        *(
            (form, ctype, arch)
            for form in FUSION_OPERANDS
            for ctype, arch in (("half", 372), ("float", 372), ("bfloat16_t", 592))
        ),
        ("ss", "int", 372),
    ],
)
def test_fusion(op: str, form: str, ctype: str, arch: int, elementwise: Callable[[int], Calls]) -> None:
    @settings(max_examples=EXAMPLES, deadline=None)
    @given(segment=st.integers(1, 600), times=st.integers(1, 4), seed=SEEDS, alias=st.sampled_from([0, 1, 2, 3]))
    def check(segment: int, times: int, seed: int, alias: int) -> None:
        rng = np.random.default_rng(seed)
        count = segment * times
        a = values(rng, ctype, count)
        others = [values(rng, ctype, segment if kind == "v" else 1) for kind in form]
        # dst has the length of the first operand.
        over = alias if alias < 2 or (times == 1 and form[alias - 2] == "v") else 0
        done = elementwise(arch)(
            fusion_call(op, form, ctype), a, *others, dst=np.empty_like(a), numbers=[count, segment], alias=over
        )
        b, c = (np.tile(other, times) if len(other) == segment else other for other in others)
        assert_same(done.dst, FUSION[op](a, b, c).astype(a.dtype))

    check()


@pytest.mark.parametrize(("ctype", "arch"), [("half", 372), ("float", 372), ("half", 592), ("bfloat16_t", 592)])
def test_relun(ctype: str, arch: int, elementwise: Callable[[int], Calls]) -> None:
    a = values(np.random.default_rng(2), ctype, 333)
    limit = np.array([6], a.dtype)
    done = elementwise(arch)(RELUN.format(T=ctype), a, limit, dst=np.empty_like(a), numbers=[333])
    assert_same(done.dst, np.where(a.astype(np.float32) > 6, limit, relu(a)))


@pytest.mark.parametrize("arch", [270, 372, 592])
@pytest.mark.parametrize("ctype", HALF_FLOAT)
def test_division_with_scratch_memory(ctype: str, arch: int, elementwise: Callable[[int], Calls]) -> None:
    rng = np.random.default_rng(3)
    a, b = values(rng, ctype, 256), values(rng, ctype, 256)
    done = elementwise(arch)(
        DIVIDE_BY_RECIPROCAL.format(T=ctype), a, b, np.empty_like(a), dst=np.empty_like(a), numbers=[256]
    )
    assert_same(done.dst, a / b)


def test_larger_neighbours(elementwise: Callable[[int], Calls]) -> None:
    a = values(np.random.default_rng(5), "half", 192)
    done = elementwise(270)(DISTANCE, a, dst=np.empty(128, np.float16), numbers=[128, 64])
    assert_same(done.dst, number_larger(a[:128], a[64:]))


@pytest.mark.parametrize("shift", [0, 1, 29, 31])
def test_logical_shift(shift: int, elementwise: Callable[[int], Calls]) -> None:
    a = values(np.random.default_rng(shift), "unsigned int", 77)
    done = elementwise(372)(SRL, a, dst=np.empty_like(a), numbers=[77, shift], alias=1)
    assert_same(done.dst, a >> np.uint32(shift))


@pytest.mark.parametrize("ctype", LUT)
@pytest.mark.parametrize("alias", [0, 1])
def test_table_lookup(ctype: str, alias: int, elementwise: Callable[[int], Calls]) -> None:
    rng = np.random.default_rng(6)
    table = values(rng, ctype, 64)
    index = rng.integers(0, 64, 300).astype(DTYPES[f"unsigned {ctype}"])
    done = elementwise(372)(LUT[ctype], index, table, dst=np.empty(300, table.dtype), numbers=[300, 64], alias=alias)
    assert_same(done.dst, table[index])


def test_an_index_beyond_the_table(elementwise: Callable[[int], Calls]) -> None:
    table = np.arange(64, dtype=np.int32)
    index = np.array([0, 64, 3], np.uint32)
    dst = np.empty(3, np.int32)
    elementwise(372)(LUT["int"], index, table, dst=dst, numbers=[3, 64], expected=[("memory", "table-index")])
    # The value of an undefined index is unknown.
    elementwise(372)(LUT["int"], index, table, dst=dst, numbers=[3, 64], loaded=[4, 256, 0], out=(0, 4))


@pytest.mark.parametrize("ctype", INCSEQ)
def test_sequence(ctype: str, elementwise: Callable[[int], Calls]) -> None:
    done = elementwise(372)(INCSEQ[ctype], dst=np.empty(99, DTYPES[ctype]), numbers=[99])
    assert_same(done.dst, np.arange(99, dtype=DTYPES[ctype]))
