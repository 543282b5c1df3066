"""Instructions that kernels write in assembly."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.intrinsics.intrinsic_calls import DTYPES, Calls, assert_same, values
from pymluops.sim.toolchain import CompileError, Toolchain
from support.selection import examples

SEEDS = st.integers(0, 2**32 - 1)
TYPES = {"f16": "half", "f32": "float", "s32": "int", "u32": "unsigned int"}
BITS = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
SUMS = {"add": np.add, "sub": np.subtract, "mul": np.multiply}
COMPARISONS = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal
}  # fmt: skip
EXTREMES = {"max": np.fmax, "min": np.fmin}
STAGES = (*SUMS, *BITS, *COMPARISONS, *EXTREMES)


def stage_call(kind: str, stage: str) -> str:
    """With a vector, then with a register, whose value is the first of C."""
    return (
        f'__asm__ volatile("fuse.nram.{kind} [%[d]], %[n], [%[s]], .{stage}([%[v]]), .{stage}(%[k]);\\n\\t" ::'
        f'[d] "r"(D(char)), [n] "r"(N(0)), [s] "r"(A(char)), [v] "r"(B(char)), [k] "r"(*C({TYPES[kind]})))'
    )


#: A mask out of comparisons, as kernels make it.
MASK = (
    '__asm__ volatile("fuse.nram.u32 [%0], %1, [%2], .ge(5), .mul(-1), .and([%3]);\\n\\t" :: "r"(D(char)), "r"(N(0)), '
    '"r"(A(char)), "r"(B(char)))'
)
NUMBERS = (
    '__asm__("fuse.nram.f32 [%0], %1, [%2], .mul(2), .add(-0.5), .and(0x7fffffff);" :: "r"(D(char)), "r"(N(0)), '
    '"r"(A(char)))'
)
FIND_LAST = (
    '{ int found; __asm__ volatile("findlast1.gpr.b32 %[f], %[b];" : [f] "=r"(found) : [b] "r"(*A(unsigned int))); '
    "RETURN(found); }"
)
INDEX = (
    '{ vv_float lanes; __asm__ volatile("index.vvr.f32 %[v], %[b], 1;\\n\\t" : [v] "+r"(lanes) : [b] "r"(*A(float))); '
    "__vv_store(D(float), lanes); }"
)
GATHER = (
    '__asm__ volatile("gather.vector.nram.nram.nram.u32 [%0], [%1], [%2], %3, %4, %5;\\n\\t" :: "r"(D(char)), '
    '"r"(A(char)), "r"(B(unsigned int)), "r"(N(0)), "r"(N(1)), "r"(N(2)))'
)
NOP = '__asm__ volatile("nop;\\n\\tnop;\\n\\t" ::: "memory")'


def divide_call(kind: str) -> str:
    return (
        f'__asm__ volatile("div.scalar.nram.{kind} [%[d]], [%[s]], %[k], %[n];\\n\\t" ::[d] "r"(D(char)), '
        f'[s] "r"(A(char)), [k] "r"(*B({TYPES[kind]})), [n] "r"(N(0)))'
    )


def statements(arch: int) -> list[str]:
    if arch < 372:
        return []
    found = [stage_call(kind, stage) for kind in TYPES for stage in STAGES]
    return [*found, MASK, NUMBERS, FIND_LAST, INDEX, GATHER, NOP, divide_call("f16"), divide_call("f32")]


def applied(stage: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """One stage, rounded to the type."""
    with np.errstate(all="ignore"):
        if stage in BITS:
            word = np.dtype(f"u{a.itemsize}")
            return BITS[stage](a.view(word), b.view(word)).view(a.dtype)
        if stage in COMPARISONS:
            return COMPARISONS[stage](a, b).astype(a.dtype)
        if stage in EXTREMES:
            # Of two that are equal the first, so that the sign of a zero is its own.
            return np.where(a == b, a, EXTREMES[stage](a, b)).astype(a.dtype)
        return SUMS[stage](a, b).astype(a.dtype)


@pytest.mark.sampled("kind", "stage")
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("kind", TYPES)
def test_stages(kind: str, stage: str, calls: Callable[[int], Calls]) -> None:
    @examples(3)
    @given(count=st.integers(1, 700), seed=SEEDS, alias=st.integers(0, 2))
    def check(count: int, seed: int, alias: int) -> None:
        rng = np.random.default_rng(seed)
        a, b, k = values(rng, TYPES[kind], count), values(rng, TYPES[kind], count), values(rng, TYPES[kind], 1)
        # A register with a NaN keeps its bits on its way through float only as far as it is one.
        k = np.where(k == k, k, 1).astype(k.dtype)
        if stage in COMPARISONS:
            # The second stage lets the first one's 1 and 0 be seen.
            b, k = np.where(rng.random(count) < 0.5, a, b), np.array([stage in ("eq", "ge", "lt")], k.dtype)
        expected = applied(stage, applied(stage, a, b), np.broadcast_to(k, count).copy())
        done = calls(372)(stage_call(kind, stage), a, b, k, dst=np.empty_like(a), alias=alias, numbers=[count])
        assert_same(done.dst, expected)

    check()


def test_masks_and_numbers(calls: Callable[[int], Calls]) -> None:
    rng = np.random.default_rng(3)
    a, b = (values(rng, "unsigned int", 600) for _ in range(2))
    a[:10] = np.arange(10)
    done = calls(592)(MASK, a, b, dst=np.empty_like(a), numbers=[600])
    assert_same(done.dst, np.where(a >= 5, b, 0).astype(np.uint32))
    f = values(rng, "float", 99)
    with np.errstate(all="ignore"):
        expected = np.abs(f * np.float32(2) + np.float32(-0.5))
    assert_same(calls(372)(NUMBERS, f, dst=np.empty_like(f), numbers=[99]).dst, expected)


@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_division(kind: str, calls: Callable[[int], Calls]) -> None:
    rng = np.random.default_rng(4)
    a = values(rng, TYPES[kind], 500)
    for alias in (0, 1):
        by = values(rng, TYPES[kind], 1, special=0)
        with np.errstate(all="ignore"):
            expected = a / by
        done = calls(372)(divide_call(kind), a, by, dst=np.empty_like(a), alias=alias, numbers=[500])
        assert_same(done.dst, expected.astype(DTYPES[TYPES[kind]]))


def test_others(calls: Callable[[int], Calls]) -> None:
    for bits, place in ((1, 0), (2, 1), (3, 1), (0x80000000, 31), (0x00FF0000, 23), (0, -1)):
        done = calls(372)(FIND_LAST, np.array([bits], np.uint32))
        assert done.value(np.int32) == place
    done = calls(372)(INDEX, np.array([2.5], np.float32), dst=np.empty(64, np.float32))
    assert_same(done.dst, np.arange(64, dtype=np.float32) + np.float32(2.5))
    a = np.arange(64, dtype=np.float32)
    offsets = np.array([8, 0, 252, 100], np.uint32)
    done = calls(372)(GATHER, a, offsets, dst=np.empty(4, np.float32), numbers=[4, 4, 4])
    assert_same(done.dst, a[offsets // 4])
    calls(372)(NOP)


def test_undefined_elements_are_carried_along(calls: Callable[[int], Calls]) -> None:
    a, one = np.ones(64, np.float32), np.ones(1, np.float32)
    for loaded in ([128, 256, 4], [256, 128, 4]):
        for alias in (0, 1, 2):
            options = {"dst": np.empty_like(a), "alias": alias, "numbers": [64], "loaded": loaded}
            calls(372)(stage_call("f32", "add"), a, a, one, **options, out=(0, 128))
            calls(372)(stage_call("f32", "add"), a, a, one, **options, out=(128, 4), expected=[("init", "copy")])


def test_what_is_not_known_is_a_compile_error(toolchain: Toolchain) -> None:
    """It names the instruction, the file and the line."""
    source = (
        '#include "bang.h"\n__mlu_entry__ void kernel(float *a) {\n  __asm__ volatile("ld.3d [%0];" ::"r"(a));\n}\n'
    )
    with pytest.raises(CompileError, match=r"unknown\.mlu:3:.*`ld\.3d` is not known"):
        toolchain.compile(source, 372, name="unknown.mlu")


def test_macros_that_make_text_of_their_arguments(toolchain: Toolchain) -> None:
    source = """#include "bang.h"
#define FUSE(type, op, d, s, n, v)                                         \\
  __asm__ volatile("fuse.nram." #type " [%[to]], %[count], [%[from]], ." #op "(%[value]);\\n\\t" \\
                   ::[to] "r"(d), [count] "r"(n), [from] "r"(s), [value] "r"(v))
template <typename T> __mlu_func__ void step(T *p, int n) {
  if (std::is_same<T, half>::value) FUSE(f16, mul, p, p, n, (T)2); else FUSE(f32, ge, p, p, n, (T)2);
}
__mlu_entry__ void kernel(half *h, float *f, int n) { step(h, n); step(f, n); }
"""
    toolchain.compile(source, 372, name="macro.mlu")
