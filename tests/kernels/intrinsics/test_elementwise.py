"""Elementwise intrinsics against NumPy: arithmetic, logic, bits, comparisons, functions, fusion, tables."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.intrinsics.elementwise_rules import (
    ADD,
    BINARY,
    CYCLE,
    NEARLY,
    PACKED,
    SCALAR,
    UNARY,
    Intrinsic,
    number_larger,
    of_types,
    quotient_of_2xx,
    relu,
)
from kernels.intrinsics.intrinsic_calls import DTYPES, HALF_FLOAT, REALS, Calls, assert_same, values

MakeCalls = Callable[..., Calls]

EXAMPLES = 6
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

# ---- Calls ---------------------------------------------------------------------------------------


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

# ---- Tests ---------------------------------------------------------------------------------------


@pytest.mark.sampled("one.name", "one.ctype", "arch")
@pytest.mark.parametrize(("one", "arch"), cases(BINARY))
def test_two_operands(one: Intrinsic, arch: int, elementwise: Callable[[int], Calls]) -> None:
    @settings(max_examples=EXAMPLES, deadline=None)
    @given(count=lengths(arch, one.ctype), seed=SEEDS, alias=st.sampled_from([0, 1, 2]))
    def check(count: int, seed: int, alias: int) -> None:
        rng = np.random.default_rng(seed)
        a, b = values(rng, one.ctype, count), values(rng, one.ctype, count)
        # These do not allow dst over a source on any architecture, or spoil the second one.
        over = 0 if one.name in ("__bang_maximum", "__bang_minimum", "__bang_mininum") else alias
        done = elementwise(arch)(binary_call(one), a, b, dst=np.empty_like(a), numbers=[count], alias=over)
        assert_same(done.dst, one.on(arch)(a, b))

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
        assert_same(done.dst, one.on(arch)(a, b))

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
        assert_same(done.dst, one.on(arch)(a, b))

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
        assert_same(done.dst, one.on(arch)(a, np.tile(b, times)))

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
        assert_same(done.dst, one.on(arch)(a))

    check()


@pytest.mark.sampled("one.name", "one.ctype", "arch")
@pytest.mark.parametrize(("one", "arch"), cases(NEARLY))
def test_transcendental_functions(one: Intrinsic, arch: int, elementwise: Callable[[int], Calls]) -> None:
    @settings(max_examples=EXAMPLES, deadline=None)
    @given(count=lengths(arch, one.ctype), seed=SEEDS, alias=st.sampled_from([0, 1]))
    def check(count: int, seed: int, alias: int) -> None:
        a = values(np.random.default_rng(seed), one.ctype, count)
        done = elementwise(arch)(unary_call(one), a, dst=np.empty_like(a), numbers=[count], alias=alias)
        expected = one.on(arch)(a)
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
    assert_same(done.dst, quotient_of_2xx(a, b) if arch < 300 else a / b)


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
