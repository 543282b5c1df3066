"""The elementwise intrinsics: which types they take, and what they compute, in NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from kernels.intrinsics.intrinsic_calls import HALF_FLOAT, INTEGERS, REALS, WORDS

Oracle = Callable[..., np.ndarray]


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


def or_unordered(condition: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, b: condition(a, b) | np.isnan(a) | np.isnan(b)


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


def without_negative_zero(oracle: Oracle) -> Oracle:
    """The oracle of what MLU270 and MLU290 compute: a zero is positive."""

    def of(*operands: np.ndarray) -> np.ndarray:
        result = oracle(*operands)
        return np.where(result == 0, np.zeros_like(result), result)

    return of


def product_of_2xx(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Zero if a factor is, whatever the other one is."""
    product = without_negative_zero(MUL)(a, b)
    return np.where((a == 0) | (b == 0), np.zeros_like(product), product)


def quotient_of_2xx(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The product with the reciprocal, which is zero for an infinite divisor."""
    quotient = without_negative_zero(np.divide)(a, b)
    return np.where((a == 0) | np.isinf(b), np.zeros_like(quotient), quotient)


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

    def on(self, arch: int) -> Oracle:
        """The oracle for an architecture: MLU270 and MLU290 compute zeros of their own."""
        if arch >= 300 or self.ctype not in REALS:
            return self.oracle
        if self.oracle is MUL:
            return product_of_2xx
        if self.oracle in (ADD, SUB, add_toward_zero) or self.name.startswith("__bang_active"):
            return without_negative_zero(self.oracle)
        return self.oracle


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
    *of_types("__bang_add", (*INTEGERS, "std::int64_t", "std::uint64_t"), ADD, 372),
    *of_types("__bang_sub", INTEGERS, SUB, 372),
    *of_types("__bang_mul", INTEGERS, MUL, 372),
    *of_types("__bang_add_tz", HALF_FLOAT, add_toward_zero),
    *of_types("__bang_div", (*REALS, *WORDS), divide, 300, without=372),
    *of_types("__bang_rem", WORDS, remainder, 300, without=372),
    *of_types("__bang_maxequal", REALS, larger),
    *of_types("__bang_minequal", REALS, smaller),
    *of_types("__bang_maxequal", INTEGERS, larger, 372),
    *of_types("__bang_minequal", INTEGERS, smaller, 372),
    *of_types("__bang_nan_maximum", REALS, nan_larger, 300),
    *of_types("__bang_nan_minimum", REALS, nan_smaller, 300),
    *of_types("__bang_maximum", REALS, number_larger, 300),
    *of_types("__bang_minimum", REALS, number_smaller, 300),
    *of_types("__bang_mininum", HALF_FLOAT, number_smaller, 300),
    *of_types("__bang_band", ("char",), BAND),
    *of_types("__bang_bor", ("char",), BOR),
    *of_types("__bang_bxor", ("char",), BXOR),
    *of_types("__bang_band", ("int", "short"), BAND, 300),
    *of_types("__bang_bor", ("int", "short"), BOR, 300),
    *of_types("__bang_bxor", ("int", "short"), BXOR, 300),
    *of_types("__bang_band", ("float", "signed char"), BAND, 372),
    *of_types("__bang_bor", ("signed char",), BOR, 372),
    *of_types("__bang_bxor", ("signed char",), BXOR, 372),
]
SCALAR = [
    *of_types("__bang_add_scalar", REALS, ADD),
    *of_types("__bang_sub_scalar", REALS, SUB),
    *of_types("__bang_mul_scalar", REALS, MUL),
    *of_types("__bang_add_scalar", (*INTEGERS, "std::int64_t"), ADD, 372),
    *of_types("__bang_sub_scalar", INTEGERS, SUB, 372),
    *of_types("__bang_mul_scalar", INTEGERS, MUL, 372),
    *of_types("__bang_add_const", HALF_FLOAT, ADD),
    *of_types("__bang_sub_const", HALF_FLOAT, SUB),
    *of_types("__bang_mul_const", HALF_FLOAT, MUL),
    *of_types("__bang_ge_const", HALF_FLOAT, truth(np.greater_equal)),
    *of_types("__bang_div", (*REALS, *WORDS), divide, 300, without=372),
    *of_types("__bang_rem", ("float", *WORDS), remainder, 300, without=372),
    *of_types("__bang_maxeq_scalar", REALS, larger, 300),
    *of_types("__bang_mineq_scalar", REALS, smaller, 300),
    *of_types("__bang_maxeq_scalar", INTEGERS, larger, 372),
    *of_types("__bang_mineq_scalar", INTEGERS, smaller, 372),
    *of_types("__bang_maximum_scalar", REALS, number_larger, 392),
    *of_types("__bang_minimum_scalar", REALS, number_smaller, 392),
    *of_types("__bang_nan_maximum_scalar", REALS, nan_larger, 392),
    *of_types("__bang_nan_minimum_scalar", REALS, nan_smaller, 392),
    *of_types("__bang_band_scalar", (*HALF_FLOAT, *LOGIC_INTEGERS), BAND, 300),
    *of_types("__bang_bor_scalar", (*HALF_FLOAT, *LOGIC_INTEGERS), BOR, 300),
    *of_types("__bang_bxor_scalar", (*HALF_FLOAT, *LOGIC_INTEGERS), BXOR, 300),
    *of_types("__bang_ge_scalar", REALS, truth(np.greater_equal)),
]
CYCLE = [
    *of_types("__bang_cycle_add", REALS, ADD),
    *of_types("__bang_cycle_sub", REALS, SUB),
    *of_types("__bang_cycle_mul", REALS, MUL),
    *of_types("__bang_cycle_add", INTEGERS, ADD, 372),
    *of_types("__bang_cycle_sub", INTEGERS, SUB, 372),
    *of_types("__bang_cycle_mul", INTEGERS, MUL, 372),
    *of_types("__bang_cycle_maxequal", INTEGERS, larger, 372),
    *of_types("__bang_cycle_minequal", INTEGERS, smaller, 372),
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
    BINARY += of_types(f"__bang_{suffix}", INTEGERS, truth(condition), 372)
    CYCLE += of_types(f"__bang_cycle_{suffix}", INTEGERS, truth(condition), 372)
    SCALAR += of_types(f"__bang_{suffix}_scalar", INTEGERS, truth(condition), 372)
    BINARY += of_types(f"__bang_{suffix}u", REALS, truth(or_unordered(condition)), 392)
    CYCLE += of_types(f"__bang_cycle_{suffix}u", REALS, truth(or_unordered(condition)), 392)
    SCALAR += of_types(f"__bang_{suffix}u_scalar", REALS, truth(or_unordered(condition)), 392)
    PACKED += of_types(f"__bang_{suffix}u_bitindex", REALS, packed(or_unordered(condition)), 392)
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
GELU = through_double(np.vectorize(lambda x: x * math.erfc(-x / math.sqrt(2)) / 2, otypes=[float]))
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
    *of_types("__bang_neg", (*REALS, *INTEGERS), np.negative, 372),
    *of_types("__bang_relu", REALS, relu, 300),
    *of_types("__bang_recip", ("float",), one_over, 300),
    *of_types("__bang_sqrt", ("float", "bfloat16_t"), lambda a: np.sqrt(a.astype(np.float32)).astype(a.dtype), 372),
    *of_types("__bang_floor", ("float",), np.floor, 301),
    *of_types("__bang_round", ("float",), np.rint, 301),
    *of_types("__bang_nearbyint", ("float",), np.rint, 392),
    *of_types("__bang_recip", ("bfloat16_t",), one_over, 392),
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
    *of_types("__bang_rsqrt", ("float", "bfloat16_t"), RSQRT, 300),
    *of_types("__bang_pow2", ("float", "bfloat16_t"), through_double(np.exp2), 300),
    *of_types("__bang_log", ("float", "bfloat16_t"), through_double(np.log2), 300),
    *of_types("__bang_log2", ("float",), through_double(np.log2), 372),
    *of_types("__bang_sin", ("float", "bfloat16_t"), through_double(np.sin), 300),
    *of_types("__bang_cos", ("float", "bfloat16_t"), through_double(np.cos), 300),
    *of_types("__bang_active_rsqrt", HALF_FLOAT, RSQRT),
    *of_types("__bang_active_rsqrthp", HALF_FLOAT, RSQRT),
    *of_types("__bang_active_log", HALF_FLOAT, LOG),
    *of_types("__bang_active_loghp", HALF_FLOAT, LOG),
    *of_types("__bang_active_exp", HALF_FLOAT, bounded(EXP, -7.75, SMALLEST_HALF)),
    *of_types("__bang_active_exp_less_0", REALS, bounded(EXP, -15.5, SMALLEST_HALF)),
    *of_types("__bang_active_exphp", ("half",), bounded(EXP, -7.75, SMALLEST_HALF)),
    *of_types("__bang_active_exphp", ("float",), bounded(EXP, -15.0, 3e-7)),
    *of_types("__bang_active_pow2", HALF_FLOAT, through_double(np.exp2)),
    *of_types("__bang_active_sigmoid", REALS, bounded(SIGMOID, -7.75, 0, 7.75, 1)),
    *of_types("__bang_active_tanh", HALF_FLOAT, through_double(np.tanh)),
    *of_types("__bang_active_gelu", HALF_FLOAT, bounded(GELU, -3.875, -SMALLEST_HALF)),
    *of_types("__bang_active_gelup", HALF_FLOAT, bounded(GELU, -3.875, -SMALLEST_HALF)),
    *of_types("__bang_active_sigmoid_hp", HALF_FLOAT, SIGMOID),
    *of_types("__bang_active_sin", HALF_FLOAT, through_double(np.sin)),
    *of_types("__bang_active_cos", HALF_FLOAT, through_double(np.cos)),
]
