"""Atomic changes by the scalar unit, and of elements that lie apart."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.intrinsics.intrinsic_calls import DTYPES, REALS, WORDS, Calls, assert_same, values
from kernels.intrinsics.test_atomic import OPERATIONS
from support.selection import examples

SEEDS = st.integers(0, 2**32 - 1)
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

SUFFIXES = {"s16": "short", "u16": "unsigned short", "s32": "int", "u32": "unsigned int", "f16": "half", "f32": "float"}
SIGNED = ("short", "int")
OFFSETS = ("char", "short", "int", "std::int64_t")
#: The types of elements of the discrete forms.
DISCRETE = {
    **dict.fromkeys(("max", "min"), (*WORDS, *REALS)),
    **dict.fromkeys(("add", "exch", "cas"), (*SIGNED, *REALS)),
    **dict.fromkeys(("and", "or", "xor"), SIGNED),
    **dict.fromkeys(("inc", "dec"), WORDS),
}


def scalar_names() -> list[tuple[str, str]]:
    found = [(op, suffix) for op in OPERATIONS for suffix in SUFFIXES]
    found = [(op, s) for op, s in found if op in ("add", "max", "min", "exch") or s[0] != "f"]
    return [(op, s) for op, s in found if op not in ("inc", "dec") or s[0] == "u"]


CAS = [(suffix, ctype) for suffix, ctype in SUFFIXES.items() if suffix[0] != "f"]


def scalar_call(op: str, suffix: str) -> str:
    more = f", *B({SUFFIXES[suffix]})" if op == "cas" else ""
    ctype = SUFFIXES[suffix]
    return f"RETURN(__cn_scalar_atomic_{op}_{suffix}(M({ctype}), *A({ctype}){more}))"


def discrete_call(op: str, ctype: str, offset: str, masked: bool) -> str:
    """The values, the offsets and the mask are A, B and C."""
    more = (", (void *)C(char)" if masked else "") + (", *M(T)" if op == "cas" else "")
    call = f"__bang_discrete_atomic_{op}(D(T), M(T) + 1, B(O), A(T){more}, N(0))"
    return call.replace("(T)", f"({ctype})").replace("(O)", f"({offset})")


def cases() -> list[tuple[str, str, str, bool]]:
    """Each type of elements, with the types of offsets in turn, with a mask and without."""
    pairs = [(op, ctype) for op, ctypes in DISCRETE.items() for ctype in ctypes]
    return [(*pair, OFFSETS[(i + masked) % 4], bool(masked)) for i, pair in enumerate(pairs) for masked in (0, 1)]


PLACES = discrete_call("add", "int", "int", False)
MISPLACED = "__bang_discrete_atomic_add(D(int), A(int), B(int), A(int), N(0))"


def statements(arch: int) -> list[str]:
    found = [scalar_call(*name) for name in scalar_names()] + [scalar_call("cas", suffix) for suffix, _ in CAS]
    return found + ([discrete_call(*case) for case in cases()] + [PLACES, MISPLACED] if arch >= 392 else [])


@pytest.mark.parametrize(("op", "suffix"), scalar_names())
def test_by_the_scalar_unit(op: str, suffix: str, calls: Callable[[int], Calls]) -> None:
    rng = np.random.default_rng(20)
    ctype = SUFFIXES[suffix]
    for _ in range(4):
        memory, b = values(rng, ctype, 1), values(rng, ctype, 1)
        done = calls(372)(scalar_call(op, suffix), b, memory=memory)
        assert_same(done.returned.view(memory.dtype)[:1], memory)
        assert_same(done.memory, OPERATIONS[op](memory, b).astype(memory.dtype))


@pytest.mark.parametrize(("suffix", "ctype"), CAS)
def test_swapping_by_the_scalar_unit(suffix: str, ctype: str, calls: Callable[[int], Calls]) -> None:
    for old, expected, left in ((5, 5, 9), (5, 6, 5)):
        memory, a, b = (np.array([number], DTYPES[ctype]) for number in (old, expected, 9))
        done = calls(372)(scalar_call("cas", suffix), a, b, memory=memory)
        assert done.returned.view(memory.dtype)[0] == old
        assert done.memory[0] == left


def test_the_scalar_unit_checks_its_address(calls: Callable[[int], Calls]) -> None:
    one = np.ones(1, np.int32)
    calls(372)(scalar_call("add", "s32"), one, expected=[("memory", "out-of-bounds")])


@pytest.mark.sampled("op", "ctype", "offset", "masked")
@pytest.mark.parametrize(("op", "ctype", "offset", "masked"), cases())
def test_elements_apart(op: str, ctype: str, offset: str, masked: bool, calls: Callable[[int], Calls]) -> None:
    """One after the other, so that an element that comes twice is changed twice."""
    dtype = DTYPES[ctype]

    @examples(3)
    @given(count=st.integers(1, 60), seed=SEEDS)
    def check(count: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        room = 127 // dtype.itemsize
        memory, b = values(rng, ctype, room + 2), values(rng, ctype, count)
        memory[2:] = np.where(rng.random(room) < 0.4, b[rng.integers(0, count, room)], memory[2:])
        places = rng.integers(-1, room - 1, count)
        mask = rng.integers(0, 256, (count + 7) // 8, np.uint8)
        selected = np.unpackbits(mask, bitorder="little")[:count] if masked else np.ones(count, np.uint8)
        before = values(rng, ctype, count)
        after, old = memory.copy(), before.copy()
        for i in np.flatnonzero(selected):
            place = places[i] + 1
            old[i] = after[place]
            if op == "cas":
                after[place] = memory[0] if after[place] == b[i] else after[place]
            else:
                after[place] = OPERATIONS[op](after[place : place + 1], b[i : i + 1])[0]
        offsets = (places * dtype.itemsize).astype(DTYPES[offset])
        done = calls(592)(
            discrete_call(op, ctype, offset, masked), b, offsets, mask, dst=before, memory=memory, keep=True,
            numbers=[count],
        )  # fmt: skip
        assert_same(done.dst, old)
        assert_same(done.memory, after)

    check()


def test_places_are_checked(calls: Callable[[int], Calls]) -> None:
    ones, memory = np.ones(4, np.int32), np.zeros(8, np.int32)
    options = {"dst": ones, "memory": memory, "numbers": [4]}
    calls(592)(PLACES, ones, np.array([0, 4, 4, 24], np.int32), **options)
    calls(592)(PLACES, ones, np.array([0, 4, 4, 28], np.int32), **options, expected=[("memory", "out-of-bounds")])
    calls(592)(PLACES, ones, np.array([0, 4, 6, 8], np.int32), **options, expected=[("align", "address")])
    calls(592)(PLACES, ones, ones * 4, **options, loaded=[16, 12, 0], expected=[("init", "operand")])
    calls(592)(MISPLACED, ones, ones * 0, **options, expected=[("memory", "wrong-space")])
