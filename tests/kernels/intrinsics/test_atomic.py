"""Atomic changes of device memory, against what one core after the other would do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.intrinsics.intrinsic_calls import DTYPES, HALF_FLOAT, REALS, WORDS, Calls, assert_same, values

Operation = Callable[[np.ndarray, np.ndarray], np.ndarray]

EXAMPLES = 4
SEEDS = st.integers(0, 2**32 - 1)
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

OPERATIONS: dict[str, Operation] = {
    "add": lambda old, b: old + b,
    "max": lambda old, b: np.where(b > old, b, old),
    "min": lambda old, b: np.where(b < old, b, old),
    "and": lambda old, b: old & b,
    "or": lambda old, b: old | b,
    "xor": lambda old, b: old ^ b,
    "inc": lambda old, b: np.where(old >= b, 0, old + 1).astype(old.dtype),
    "dec": lambda old, b: np.where((old == 0) | (old > b), b, old - 1).astype(old.dtype),
    "exch": lambda old, b: np.broadcast_to(b, old.shape),
}
FOR_REALS = ("add", "max", "min", "exch")
# Forms that give no old value have some of them for two integer types only.
TWO_INTEGERS = ("add", "and", "or", "xor", "exch")


def reals(arch: int) -> tuple[str, ...]:
    return REALS if arch >= 392 else HALF_FLOAT


def fetching(arch: int) -> list[tuple[str, str]]:
    found = [(op, ctype) for op in OPERATIONS for ctype in WORDS]
    return found + [(op, ctype) for op in FOR_REALS for ctype in reals(arch)]


def reducing(arch: int) -> list[tuple[str, str]]:
    if arch < 300:
        return []
    found = [(op, ctype) for op in OPERATIONS for ctype in (("short", "int") if op in TWO_INTEGERS else WORDS)]
    return found + [(op, ctype) for op in FOR_REALS for ctype in reals(arch)]


def swapping(arch: int) -> list[str]:
    return [*WORDS, *(REALS if arch >= 392 else ())]


def swapping_in_place(arch: int) -> list[str]:
    return [] if arch < 300 else ["short", "int", *(REALS if arch >= 392 else ())]


def fetch_call(op: str, ctype: str, form: str) -> str:
    more = {"vector": f"A({ctype}), N(0)", "value": f"*A({ctype}), N(0)", "one": f"*A({ctype})"}[form]
    return f"__bang_atomic_{op}(D({ctype}), M({ctype}), {more})"


def reduce_call(op: str, ctype: str, form: str) -> str:
    more = {"vector": f"A({ctype}), N(0)", "value": f"*A({ctype}), N(0)", "one": f"*A({ctype})"}[form]
    return f"__bang_atomic_reduce_{op}(M({ctype}), {more})"


def cas_call(ctype: str) -> str:
    return f"__bang_atomic_cas(D({ctype}), M({ctype}), *A({ctype}), *B({ctype}))"


def reduce_cas_call(ctype: str) -> str:
    return f"__bang_atomic_reduce_cas(M({ctype}), *A({ctype}), *B({ctype}))"


SEGMENTS = "__bang_atomic_reduce_add(M(float), A(float), N(0), N(1), N(2), N(3), N(4), N(5), N(6))"
FORMS = ("vector", "value", "one")


def statements(arch: int) -> list[str]:
    found = [fetch_call(op, ctype, form) for op, ctype in fetching(arch) for form in FORMS]
    found += [reduce_call(op, ctype, form) for op, ctype in reducing(arch) for form in FORMS]
    found += [cas_call(ctype) for ctype in swapping(arch)] + [
        reduce_cas_call(ctype) for ctype in swapping_in_place(arch)
    ]
    return found + ([SEGMENTS] if arch >= 592 else [])


@pytest.fixture(scope="session")
def atomic(calls: Callable[[int], Calls]) -> Callable[[int], Calls]:
    return calls


def on_archs(cases: Callable[[int], list[tuple[str, str]]]) -> list[tuple[str, str, int]]:
    return [(op, ctype, arch) for arch in (270, 372, 592) for op, ctype in cases(arch)]


def operands(seed: int, ctype: str, count: int, form: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    b = values(rng, ctype, count if form == "vector" else 1)
    old = values(rng, ctype, 1 if form == "one" else count)
    return np.where(rng.random(len(old)) < 0.3, b[0], old).astype(old.dtype), b


@pytest.mark.sampled("op", "ctype", "arch", "form")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("op", "ctype", "arch"), on_archs(fetching))
def test_old_values(op: str, ctype: str, arch: int, form: str, atomic: Callable[[int], Calls]) -> None:
    @settings(max_examples=EXAMPLES, deadline=None)
    @given(count=st.integers(1, 400), seed=SEEDS, alias=st.sampled_from([0, 1]))
    def check(count: int, seed: int, alias: int) -> None:
        memory, b = operands(seed, ctype, count, form)
        over = alias if form == "vector" else 0
        done = atomic(arch)(
            fetch_call(op, ctype, form), b, dst=np.empty_like(memory), memory=memory, numbers=[count], alias=over
        )
        assert_same(done.dst, memory)
        assert_same(done.memory, OPERATIONS[op](memory, b).astype(memory.dtype))

    check()


@pytest.mark.sampled("op", "ctype", "arch", "form")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("op", "ctype", "arch"), on_archs(reducing))
def test_in_place(op: str, ctype: str, arch: int, form: str, atomic: Callable[[int], Calls]) -> None:
    @settings(max_examples=EXAMPLES, deadline=None)
    @given(count=st.integers(1, 400), seed=SEEDS)
    def check(count: int, seed: int) -> None:
        memory, b = operands(seed, ctype, count, form)
        done = atomic(arch)(reduce_call(op, ctype, form), b, memory=memory, numbers=[count])
        assert_same(done.memory, OPERATIONS[op](memory, b).astype(memory.dtype))

    check()


@pytest.mark.parametrize(
    ("ctype", "arch", "in_place"),
    [(ctype, arch, False) for arch in (270, 372, 592) for ctype in swapping(arch)]
    + [(ctype, arch, True) for arch in (372, 592) for ctype in swapping_in_place(arch)],
)
@pytest.mark.parametrize("hit", [True, False])
def test_compare_and_swap(ctype: str, arch: int, in_place: bool, hit: bool, atomic: Callable[[int], Calls]) -> None:
    old, expected, new = (np.array([value]).astype(DTYPES[ctype]) for value in (5, 5 if hit else 6, 9))
    call = reduce_cas_call(ctype) if in_place else cas_call(ctype)
    done = atomic(arch)(call, expected, new, dst=np.zeros(0 if in_place else 1, old.dtype), memory=old)
    assert_same(done.memory, new if hit else old)
    if not in_place:
        assert_same(done.dst, old)


def test_segments(atomic: Callable[[int], Calls]) -> None:
    rng = np.random.default_rng(1)
    count, inner, outer = 5, 3, 2
    source = values(rng, "float", outer * inner * count).reshape(outer, inner, count)
    memory = values(rng, "float", outer * inner * 8).reshape(outer, inner, 8)
    strides = [memory.strides[1], memory.strides[0], source.strides[1], source.strides[0]]
    done = atomic(592)(SEGMENTS, source, memory=memory, numbers=[count, inner - 1, outer - 1, *strides])
    expected = memory.copy()
    expected[:, :, :count] += source
    assert_same(done.memory, expected)
