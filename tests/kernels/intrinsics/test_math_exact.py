"""What of the math library is exact or says how it rounds: arithmetic, casts, questions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.intrinsics.elementwise_rules import divide
from kernels.intrinsics.intrinsic_calls import DTYPES, Calls, assert_same, values
from kernels.intrinsics.test_convert import rounded, saturated, with_ties
from support.selection import examples

SEEDS = st.integers(0, 2**32 - 1)
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

DTYPES = DTYPES | {"std::uint64_t": np.dtype(np.uint64)}
REALS = {"f16": "half", "f32": "float"}
INTEGERS = {"s32": "int", "u32": "unsigned int", "s64": "std::int64_t", "u64": "std::uint64_t"}
TYPES = REALS | INTEGERS | {"u8": "unsigned char", "s16": "short"}
MODES = ("dn", "rn", "tz", "up")
ROUNDED: dict[str, Callable[..., Any]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "rcp": lambda x: 1 / x,
}
WHOLE: dict[str, Callable[..., np.ndarray]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": divide,
    "max": np.maximum,
    "min": np.minimum,
}
WHOLE_NAMES = [(op, suffix) for op in WHOLE for suffix in ("s32", "u32")]
WHOLE_NAMES += [(op, suffix) for op in ("add", "max") for suffix in ("s64", "u64")]
ROUNDED_NAMES = [(op, suffix, mode) for op in ROUNDED for suffix in REALS for mode in MODES]
#: From, to, how it is rounded.
CASTS = [("f16", "f32", ""), ("f32", "f16", "rn"), *(("f32", "s32", mode) for mode in MODES), ("f32", "s64", "tz"),
         ("f32", "u32", "rn"), ("s32", "f32", "rn"), ("s32", "s64", ""), ("s64", "f32", "tz"), ("u32", "f32", "rn"),
         ("u32", "u64", ""), ("u8", "s64", "")]  # fmt: skip
QUESTIONS = {"isinf": np.isinf, "isnan": np.isnan}
ANSWERS = {"f16": "short", "f32": "int"}


def vector_call(name: str, to: str, *sources: str) -> str:
    pointers = ", ".join(f"reinterpret_cast<{c} *>({m}(char))" for m, c in zip("DABC", [to, *sources], strict=False))
    return f"__cn_vector_{name}(N(0), {pointers})"


def scalar_call(name: str, _to: str, *sources: str) -> str:
    operands = ", ".join(f"*reinterpret_cast<{c} *>({m}(char))" for m, c in zip("AB", sources, strict=False))
    return f"RETURN(__cn_scalar_{name}({operands}))"


def cast_name(source: str, to: str, mode: str) -> str:
    return f"cast_{source}_to_{to}" + (f"_{mode}" if mode else "")


def functions() -> list[tuple[str, ...]]:
    """Name, type of the result, types of the operands."""
    found: list[tuple[str, ...]] = []
    for op, suffix, mode in ROUNDED_NAMES:
        operands = [TYPES[suffix]] * (1 if op == "rcp" else 2)
        found.append((f"{op}_{suffix}_{mode}", TYPES[suffix], *operands))
    found += [(f"{op}_{suffix}", TYPES[suffix], TYPES[suffix], TYPES[suffix]) for op, suffix in WHOLE_NAMES]
    found += [(cast_name(*cast), TYPES[cast[1]], TYPES[cast[0]]) for cast in CASTS]
    found += [(f"{name}_{suffix}", ANSWERS[suffix], TYPES[suffix]) for name in QUESTIONS for suffix in REALS]
    return found + [(f"scalbn_{suffix}", TYPES[suffix], TYPES[suffix], "int") for suffix in REALS]


FUNCTIONS = {function[0]: function for function in functions()}


def statements(_arch: int) -> list[str]:
    return [call(*function) for function in FUNCTIONS.values() for call in (vector_call, scalar_call)]


def numbers(rng: np.random.Generator, ctype: str, count: int) -> np.ndarray:
    if ctype == "std::uint64_t":
        return values(rng, "std::int64_t", count).view(np.uint64)
    return values(rng, ctype, count)


def run(calls: Calls, name: str, *operands: np.ndarray, over: bool = False) -> np.ndarray:
    """The vector function; the scalar one of the first elements has to agree."""
    dtype = DTYPES[FUNCTIONS[name][1]]
    count = len(operands[0])
    room = np.empty(max(count, -(-operands[0].nbytes // dtype.itemsize)), dtype)
    done = calls(
        vector_call(*FUNCTIONS[name]),
        *operands,
        dst=room,
        numbers=[count],
        alias=int(over),
        out=(0, count * dtype.itemsize),
    )
    one = calls(scalar_call(*FUNCTIONS[name]), *(operand[:1] for operand in operands))
    assert_same(one.returned.view(dtype)[:1], done.dst[:1])
    return done.dst[:count]


# ---- Arithmetic ----------------------------------------------------------------------------------


def once(exact: Fraction, dtype: np.dtype, mode: str) -> Any:
    """A number that is not zero, rounded once: of the neighbours around it, the one that the mode chooses."""
    infinity = dtype.type(np.inf)
    near = dtype.type(float(exact)) if abs(exact) < 2**200 else dtype.type(np.copysign(np.inf, exact))
    place = float("inf") if np.isinf(near) and near > 0 else float("-inf") if np.isinf(near) else Fraction(float(near))
    if place == exact:
        return near
    below = near if place < exact else np.nextafter(near, -infinity)
    above = near if place > exact else np.nextafter(near, infinity)
    if mode == "rn":
        # As far behind the largest number as another one would be.
        most = dtype.type(np.finfo(dtype).max)
        largest = Fraction(float(most))
        step = largest - Fraction(float(np.nextafter(most, dtype.type(0))))
        ends = [Fraction(float(n)) if np.isfinite(n) else int(np.sign(n)) * (largest + step) for n in (below, above)]
        left, right = exact - ends[0], ends[1] - exact
        is_even = int(np.asarray(below).view(f"u{dtype.itemsize}")) % 2 == 0
        chosen = below if left < right or (left == right and is_even) else above
    else:
        chosen = {"dn": below, "up": above, "tz": above if exact < 0 else below}[mode]
    return np.copysign(chosen, dtype.type(1 if exact > 0 else -1))


@pytest.mark.sampled("op", "suffix", "mode")
@pytest.mark.parametrize(("op", "suffix", "mode"), ROUNDED_NAMES)
def test_rounded_arithmetic(op: str, suffix: str, mode: str, calls: Callable[[int], Calls]) -> None:
    ctype = TYPES[suffix]
    dtype = DTYPES[ctype]

    @examples(4)
    @given(count=st.integers(1, 80), seed=SEEDS, over=st.booleans())
    def check(count: int, seed: int, over: bool) -> None:
        rng = np.random.default_rng(seed)
        operands = [values(rng, ctype, count) for _ in range(1 if op == "rcp" else 2)]
        expected = ROUNDED[op](*operands)
        for i, given_values in enumerate(zip(*operands, strict=True)):
            divisor = given_values[-1] if op in ("div", "rcp") else 1
            if np.isfinite(given_values).all() and divisor != 0:
                exact = ROUNDED[op](*(Fraction(float(value)) for value in given_values))
                expected[i] = once(exact, dtype, mode) if exact else expected[i]
        assert_same(run(calls(372), f"{op}_{suffix}_{mode}", *operands, over=over), expected)

    check()


@pytest.mark.parametrize(("op", "suffix"), WHOLE_NAMES)
def test_integer_arithmetic(op: str, suffix: str, calls: Callable[[int], Calls]) -> None:
    rng = np.random.default_rng(16)
    a, b = (numbers(rng, TYPES[suffix], 150) for _ in range(2))
    expected = WHOLE[op](a, b)
    assert_same(run(calls(372), f"{op}_{suffix}", a, b), expected)
    assert_same(run(calls(372), f"{op}_{suffix}", a, b, over=True), expected)


@pytest.mark.parametrize("suffix", REALS)
def test_powers_of_two(suffix: str, calls: Callable[[int], Calls]) -> None:
    rng = np.random.default_rng(17)
    a = values(rng, TYPES[suffix], 300)
    b = np.where(rng.random(300) < 0.8, rng.integers(-40, 40, 300), rng.integers(-(2**31), 2**31, 300)).astype(np.int32)
    exact = np.ldexp(a.astype(np.float64), np.clip(b, -1000, 1000))
    assert_same(run(calls(372), f"scalbn_{suffix}", a, b), rounded(exact, a.dtype, "rn"))


# ---- Casts and questions -------------------------------------------------------------------------


@pytest.mark.parametrize(("source", "to", "mode"), CASTS)
@pytest.mark.parametrize("over", [False, True])
def test_casts(source: str, to: str, mode: str, over: bool, calls: Callable[[int], Calls]) -> None:
    """Over the source as well, also where the result is longer: more than the shadow keeps at a time."""
    rng = np.random.default_rng(18)
    count = 1500
    a = numbers(rng, TYPES[source], count)
    dtype = DTYPES[TYPES[to]]
    if source in REALS and to not in REALS:
        a[::2] = (with_ties(rng, count, DTYPES["int"]) * np.float32(1.0))[::2]
    if dtype.kind == "f":
        expected = rounded(a.astype(np.float64), dtype, mode or "rn")
        if source == "s64":
            expected = np.array([once(Fraction(int(n)), dtype, mode) if n else dtype.type(0) for n in a], dtype)
    elif a.dtype.kind in "iu":
        expected = a.astype(dtype)
    else:
        expected = saturated(a.astype(np.float64), dtype, mode)
        if to == "s64":
            expected = np.where(a >= 2.0**63, np.iinfo(dtype).max, expected).astype(dtype)
    room = np.zeros(count * max(1, dtype.itemsize // a.itemsize), a.dtype)
    room[:count] = a
    count_bytes = count * dtype.itemsize
    call = vector_call(*FUNCTIONS[cast_name(source, to, mode)])
    dst = np.empty(max(count, room.nbytes // dtype.itemsize), dtype)
    done = calls(372)(
        call, room, dst=dst, numbers=[count], alias=int(over), loaded=[a.nbytes, 0, 0], out=(0, count_bytes)
    )
    assert_same(done.dst[:count], expected)
    one = calls(372)(scalar_call(*FUNCTIONS[cast_name(source, to, mode)]), a[5:6])
    assert_same(one.returned.view(dtype)[:1], expected[5:6])


@pytest.mark.parametrize("suffix", REALS)
@pytest.mark.parametrize("name", QUESTIONS)
def test_questions(name: str, suffix: str, calls: Callable[[int], Calls]) -> None:
    a = values(np.random.default_rng(19), TYPES[suffix], 200)
    assert_same(run(calls(372), f"{name}_{suffix}", a), QUESTIONS[name](a).astype(DTYPES[ANSWERS[suffix]]))


def test_longer_results_over_their_source_stay_undefined_where_it_is(calls: Callable[[int], Calls]) -> None:
    """1100 of 1200 numbers are defined, and there are 1024 in a block of the shadow."""
    count, known = 1200, 1100
    call = vector_call(*FUNCTIONS["cast_f16_to_f32"])
    a = np.ones(2 * count, np.float16)
    options = {"dst": np.empty(count, np.float32), "numbers": [count], "alias": 1, "loaded": [2 * known, 0, 0]}
    calls(372)(call, a, **options, out=(0, 4 * known))
    calls(372)(call, a, **options, out=(4 * known, 4), expected=[("init", "copy")])
