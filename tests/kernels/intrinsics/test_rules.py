"""What intrinsics demand of their operands: place, end, alignment, overlap; and what becomes of undefined bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from kernels.intrinsics import test_atomic as atomics
from kernels.intrinsics import test_convert as conversions
from kernels.intrinsics import test_elementwise as elementwise
from kernels.intrinsics import test_layout as layouts
from kernels.intrinsics import test_reduce as reductions
from kernels.intrinsics.intrinsic_calls import DTYPES, Calls, Done
from kernels.intrinsics.modules import MODULES

ARCH = 372


@dataclass(frozen=True)
class Sample:
    """A call that is right: its operands and the numbers that go with them."""

    statement: str
    sources: tuple[np.ndarray, ...]
    dst: np.ndarray
    numbers: tuple[int, ...]
    memory: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint8))

    @property
    def name(self) -> str:
        return self.statement.removeprefix("RETURN(").split("(")[0]

    def run(self, calls: Calls, **options: object) -> Done:
        return calls(self.statement, *self.sources, dst=self.dst, numbers=self.numbers, memory=self.memory, **options)


def ones(ctype: str, count: int) -> np.ndarray:
    return np.ones(count, DTYPES[ctype])


def distinct(group: Sequence[elementwise.Intrinsic]) -> list[elementwise.Intrinsic]:
    """The first type of each name that the architecture has."""
    return list({one.name: one for one in reversed(group) if ARCH in one.archs()}.values())


def array(words: str) -> np.ndarray:
    """``unsigned int 8``: so many elements of a type."""
    ctype, count = words.rsplit(" ", 1)
    return ones(ctype, int(count))


def case(statement: str, operands: str, numbers: tuple[int, ...]) -> Sample:
    """A call on ones: ``float 8, float 4 -> float 8 | int 3`` has two sources, dst and memory."""
    given, _, memory = operands.partition(" | ")
    sources, _, dst = given.partition(" -> ")
    return Sample(
        statement,
        tuple(array(source) for source in sources.split(", ")),
        array(dst),
        numbers,
        array(memory or "char 0"),
    )


COUNT = 128
ELEMENTWISE = [
    *(
        Sample(elementwise.binary_call(one), (ones(one.ctype, COUNT),) * 2, ones(one.ctype, COUNT), (COUNT,))
        for one in distinct(elementwise.BINARY)
    ),
    *(
        Sample(
            elementwise.scalar_call(one), (ones(one.ctype, COUNT), ones(one.ctype, 1)), ones(one.ctype, COUNT), (COUNT,)
        )
        for one in distinct(elementwise.SCALAR)
    ),
    *(
        Sample(elementwise.unary_call(one), (ones(one.ctype, COUNT),), ones(one.ctype, COUNT), (COUNT,))
        for one in [*distinct(elementwise.UNARY), *distinct(elementwise.NEARLY)]
    ),
    Sample(elementwise.RELUN.format(T="half"), (ones("half", COUNT), ones("half", 1)), ones("half", COUNT), (COUNT,)),
    Sample(elementwise.SRL, (ones("unsigned int", COUNT),), ones("unsigned int", COUNT), (COUNT, 1)),
    Sample(
        conversions.plain("__bang_half2float", "float", "half"), (ones("half", COUNT),), ones("float", COUNT), (COUNT,)
    ),
    *(
        Sample(conversions.fixed(name, to, source), (ones(source, COUNT),), ones(to, COUNT), (COUNT, 0))
        for name, to, source, _ in [*conversions.TO_FIXED, *conversions.FROM_FIXED]
    ),
    *(
        Sample(conversions.plain(name, to, "float"), (ones("float", COUNT),), ones(to, COUNT), (COUNT,))
        for name, to, _ in conversions.NARROW
    ),
]
# One element more, and there is one more of each operand.
FUSED = Sample(
    elementwise.fusion_call("FMA", "vv", "float"), (ones("float", COUNT),) * 3, ones("float", COUNT), (COUNT, COUNT)
)


def in_order_of_numbers(samples: list[Sample]) -> list[object]:
    return [
        pytest.param(sample, id=sample.statement.split("(")[0] + f"-{number}") for number, sample in enumerate(samples)
    ]


def all_statements(arch: int) -> list[str]:
    """Everything that the other modules call, and the variants of it that this one needs."""
    found = [statement for module in MODULES for statement in module.statements(arch)]
    variants = [*MISPLACED, *OVERLAPPING, *dict(SPOILED)] if arch == ARCH else []
    return [*found, *variants, UNALIGNED_ATOMIC]


@pytest.fixture(scope="session")
def calls_of(calls: Callable[[int], Calls]) -> Callable[[int], Calls]:
    return calls


# ---- Ends ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("sample", in_order_of_numbers(ELEMENTWISE))
def test_one_element_too_many(sample: Sample, calls_of: Callable[[int], Calls]) -> None:
    """One operand at a time ends where its array ends, and the others have room."""
    numbers = (COUNT + 1, *sample.numbers[1:])
    vectors = [number for number, source in enumerate(sample.sources) if len(source) == COUNT]
    for short in ("dst", *vectors):
        sources = tuple(
            source if number == short or len(source) == 1 else np.resize(source, COUNT + 64)
            for number, source in enumerate(sample.sources)
        )
        dst = sample.dst if short == "dst" else np.resize(sample.dst, COUNT + 64)
        variant = replace(sample, sources=sources, dst=dst, numbers=numbers)
        done = variant.run(calls_of(ARCH), expected=[("memory", "out-of-bounds")], out=(0, 0))
        wanted = "nram_dst" if short == "dst" else f"nram_src{short}"
        assert wanted in done.outcome.findings[0].allocation


EXTENTS = [
    # What the operands of other shapes end with: the number of rows, of bits, of segments.
    (case(layouts.turn_call("__bang_transpose", "int"), "int 12 -> int 12", (3, 4)), (3, 5)),
    (case(layouts.pad_sides_call("int"), "int 6 -> int 20", (1, 2, 3, 1, 1, 1, 1)), (1, 2, 4, 1, 1, 0, 1)),
    (case(layouts.pad_sides_call("int"), "int 6 -> int 20", (1, 2, 3, 1, 1, 1, 1)), (1, 2, 3, 1, 1, 1, 2)),
    (case(layouts.reshape_call("__bang_reshape_nchw2nhwc", "int"), "int 16 -> int 16", (1, 2, 4, 2)), (1, 2, 4, 4)),
    (
        case(reductions.pool_call("sumpool", "float", True), "float 12 -> float 2", (1, 4, 3, 2, 3, 1, 2)),
        (1, 5, 3, 2, 3, 1, 2),
    ),
    (
        case(reductions.pool_call("sumpool", "float", True), "float 12 -> float 2", (1, 4, 3, 2, 3, 1, 2)),
        (1, 4, 3, 2, 3, 1, 1),
    ),
    (case(reductions.search_call("count", "float"), "float 9 -> unsigned int 1", (9,)), (10,)),
    (case(reductions.returned_call("findfirst1", "float"), "float 9 -> char 0", (9,)), (10,)),
    (case(reductions.keep_call("filter", "float", False), "float 9, float 9 -> float 9", (9,)), (10,)),
    (case(reductions.keep_call("filter", "float", True), "float 24, unsigned char 2 -> float 24", (16,)), (17,)),
    (case(reductions.reduce_call("__bang_argmax", "float"), "float 9 -> char 12", (9,)), (10,)),
    # Nothing is written behind the last sum, which is the element 32 here.
    (case(reductions.reduce_call("__bang_reduce_sum", "float"), "float 40 -> float 33", (40,)), (41,)),
    (case(reductions.reduce_call("__bang_reduce_sum", "half"), "half 256 -> half 65", (128,)), (129,)),
    (case(elementwise.cycle_call(elementwise.CYCLE[1]), "float 8, float 4 -> float 8", (8, 4)), (8, 8)),
    (case(elementwise.LUT["int"], "unsigned int 8, int 4 -> int 8", (8, 4)), (8, 5)),
    (case(elementwise.binary_call(elementwise.PACKED[1]), "float 24, float 24 -> char 2", (16,)), (17,)),
    (case(atomics.fetch_call("add", "int", "vector"), "int 8 -> int 8 | int 16", (8,)), (9,)),
    (case(atomics.reduce_call("add", "int", "vector"), "int 8 -> int 0 | int 16", (8,)), (9,)),
    (case(atomics.reduce_call("add", "int", "value"), "int 1 -> int 0 | int 8", (8,)), (9,)),
]


@pytest.mark.parametrize(("sample", "beyond"), EXTENTS)
def test_other_ends(sample: Sample, beyond: tuple[int, ...], calls_of: Callable[[int], Calls]) -> None:
    sample.run(calls_of(ARCH), keep=True)
    replace(sample, numbers=beyond).run(calls_of(ARCH), keep=True, expected=[("memory", "out-of-bounds")])


# ---- Memories ------------------------------------------------------------------------------------

PLACED = [sample for sample, _ in EXTENTS if not sample.memory.nbytes] + [*ELEMENTWISE, FUSED]


def misplaced(sample: Sample) -> list[str]:
    """The statement with each of its operands in GDRAM in turn."""
    found = []
    for letter in "DABC":
        before, mark, behind = sample.statement.partition(f"{letter}(")
        # A value is no operand, and may come from anywhere.
        if mark and not before.endswith("*"):
            found.append(f"{before}M({behind}")
    return found


# Instructions with scratch memory, over their first source; which operand is the scratch memory,
# counted from 1.
SPOILED = [
    ("__bang_maximum(A(float), A(float), B(float), N(0))", 2),
    ("__bang_minimum(A(float), A(float), B(float), N(0))", 2),
    ("__bang_div(A(float), A(float), B(float), C(float), N(0))", 3),
    (conversions.OLD_FLOAT2INT.replace("D(", "A("), 2),
    (conversions.OLD_FLOAT2INT.replace("D(", "A("), 3),
    (conversions.OLD_INT2FLOAT.replace("D(", "A("), 2),
    (conversions.OLD_INT2FLOAT.replace("D(", "A("), 3),
    (conversions.OLD_HALF2UCHAR.replace("D(", "A("), 2),
]

MISPLACED = [statement for sample in PLACED for statement in misplaced(sample)]


@pytest.mark.parametrize("sample", in_order_of_numbers(PLACED))
def test_operands_in_the_wrong_memory(sample: Sample, calls_of: Callable[[int], Calls]) -> None:
    statements = misplaced(sample)
    assert statements
    for statement in statements:
        elsewhere = replace(sample, statement=statement, memory=np.ones(4096, np.uint8))
        elsewhere.run(calls_of(ARCH), keep=True, expected=[("memory", "wrong-space")])


# ---- Counts --------------------------------------------------------------------------------------


@pytest.mark.parametrize("sample", in_order_of_numbers(ELEMENTWISE))
def test_counts(sample: Sample, calls_of: Callable[[int], Calls]) -> None:
    calls = calls_of(ARCH)
    negative = replace(sample, numbers=(-1, *sample.numbers[1:]))
    negative.run(calls, keep=True, expected=[("memory", "negative-count")])
    nothing = replace(sample, numbers=(0, *sample.numbers[1:]))
    expected = [("align", "count")] if sample.name not in MAY_BE_EMPTY else []
    assert np.array_equal(nothing.run(calls, keep=True, expected=expected).dst, sample.dst)
    # Without that checker, nothing happens and nothing is found.
    assert np.array_equal(nothing.run(calls, keep=True, checks="memory").dst, sample.dst)


# Nothing is known of what these demand.
MAY_BE_EMPTY = {
    "__bang_abs", "__bang_half2float", "__bang_log2", "__bang_minimum", "__bang_srl",
    *(name for name, *_ in [*conversions.TO_FIXED, *conversions.FROM_FIXED, *conversions.NARROW]),
    "__bang_maximum", "__bang_mininum",
}  # fmt: skip


def test_a_repeated_operand_that_does_not_fit(calls_of: Callable[[int], Calls]) -> None:
    one = elementwise.CYCLE[1]
    sample = case(elementwise.cycle_call(one), "float 7, float 3 -> float 7", (7, 3))
    sample.run(calls_of(ARCH), expected=[("align", "size")])
    replace(FUSED, numbers=(COUNT, 100)).run(calls_of(ARCH), expected=[("align", "size")])


# ---- Alignment and sizes of the 2xx family -------------------------------------------------------

OLD = [
    Sample(elementwise.binary_call(one), (ones(one.ctype, COUNT),) * 2, ones(one.ctype, COUNT), (COUNT,))
    for one in elementwise.BINARY
    if 270 in one.archs() and one.ctype in ("half", "float", "char")
]
OLD += [
    Sample(elementwise.unary_call(one), (ones(one.ctype, COUNT),), ones(one.ctype, COUNT), (COUNT,))
    for one in [*elementwise.UNARY, *elementwise.NEARLY]
    if 270 in one.archs() and one.ctype == "float"
]
OLD += [
    case(layouts.turn_call("__bang_transpose", "float"), "float 512 -> float 512", (64, 8)),
    case(reductions.pool_call("maxpool", "float", True), "float 128 -> float 32", (32, 2, 2, 2, 2, 2, 2)),
    case(conversions.plain("__bang_float2half_rd", "half", "float"), "float 128 -> half 128", (128,)),
]


@pytest.mark.parametrize("sample", in_order_of_numbers(OLD))
def test_addresses_and_sizes(sample: Sample, calls_of: Callable[[int], Calls]) -> None:
    old, new = calls_of(270), calls_of(ARCH)
    for shift in (4, 32):
        sample.run(old, shift=shift, expected=[("align", "address")])
        sample.run(new, shift=shift)
    fewer = (sample.numbers[0] - 1, *sample.numbers[1:])
    smaller = replace(sample, numbers=fewer, dst=sample.dst)
    smaller.run(old, keep=True, expected=[("align", "size")])
    smaller.run(new, keep=True)


# ---- Overlaps ------------------------------------------------------------------------------------

OVERLAPPING = [
    "__bang_add(A(float) + 1, A(float), B(float), N(0))",
    "__bang_add(A(float), A(float) + 1, B(float), N(0))",
]
UNALIGNED_ATOMIC = "__bang_atomic_add(D(int), reinterpret_cast<int *>(memory + 2), *A(int))"


@pytest.mark.parametrize("statement", OVERLAPPING)
def test_partial_overlap(statement: str, calls_of: Callable[[int], Calls]) -> None:
    calls = calls_of(ARCH)
    operands = (ones("float", 8), ones("float", 8))
    calls(statement, *operands, numbers=[7], expected=[("align", "overlap")])
    calls(statement, *operands, numbers=[1])


@pytest.mark.parametrize(
    ("sample", "archs"),
    [
        (case(layouts.turn_call("__bang_transpose", "float"), "float 1024 -> float 1024", (32, 32)), (270, 372, 592)),
        (case(layouts.turn_call("__bang_mirror", "half"), "half 1024 -> half 1024", (16, 64)), (270, 372, 592)),
        (case("__bang_floor(D(float), A(float), N(0))", "float 32 -> float 32", (32,)), (372, 592)),
        (case(conversions.plain("__bang_half2float", "float", "half"), "half 128 -> float 64", (64,)), (270, 372, 592)),
        (
            case(reductions.pool_call("maxpool", "float", True), "float 128 -> float 32", (32, 2, 2, 2, 2, 2, 2)),
            (270, 372, 592),
        ),
        (case(reductions.pool_call("sumpool", "float", True), "float 128 -> float 32", (32, 2, 2, 2, 2, 2, 2)), (270,)),
    ],
)
def test_whole_overlap(sample: Sample, archs: tuple[int, ...], calls_of: Callable[[int], Calls]) -> None:
    """Working kernels for newer devices put the sums of a pool over its source."""
    for arch in (270, 372, 592):
        if sample.name == "__bang_floor" and arch == 270:
            continue
        expected = [("align", "overlap")] if arch in archs else []
        sample.run(calls_of(arch), alias=1, out=(0, 0), expected=expected)


def test_atomics_between_elements(calls_of: Callable[[int], Calls]) -> None:
    memory = np.zeros(8, np.uint8)
    for arch in (270, 372):
        calls_of(arch)(
            UNALIGNED_ATOMIC, ones("int", 1), dst=ones("int", 1), memory=memory, expected=[("align", "address")]
        )


# ---- Undefined bytes -----------------------------------------------------------------------------


@pytest.mark.parametrize("sample", in_order_of_numbers([*ELEMENTWISE, FUSED]))
def test_undefined_elements_stay_where_they_are(sample: Sample, calls_of: Callable[[int], Calls]) -> None:
    """What came out of undefined elements is undefined, everything else is not; for each operand."""
    calls = calls_of(ARCH)
    item = sample.dst.itemsize
    known = 50
    vectors = [number for number, source in enumerate(sample.sources) if len(source) == COUNT]
    for partly in vectors:
        loaded = [source.nbytes for source in sample.sources] + [0] * (3 - len(sample.sources))
        loaded[partly] = known * sample.sources[partly].itemsize
        sample.run(calls, loaded=loaded, out=(0, known * item))
        # Of the operands of `or` one that is not 0 suffices.
        decided = sample.name.startswith("__bang_or") and all(
            source[known % len(source)] != 0 for number, source in enumerate(sample.sources) if number != partly
        )
        decided = decided and (len(sample.sources) > 1 or "_scalar" in sample.name)
        expected = [] if decided else [("init", "copy")]
        sample.run(calls, loaded=loaded, out=(known * item, item), expected=expected)


MOVED = [
    # Which element of dst the last one of the source becomes.
    (case(layouts.turn_call("__bang_transpose", "int"), "int 12 -> int 12", (3, 4)), 11),
    (case(layouts.turn_call("__bang_rotate180", "int"), "int 12 -> int 12", (3, 4)), 0),
    (case(layouts.turn_call("__bang_mirror", "half"), "half 12 -> half 12", (3, 4)), 8),
    (case(layouts.pad_sides_call("int"), "int 6 -> int 20", (1, 2, 3, 1, 1, 1, 1)), 13),
    (case(layouts.reshape_call("__bang_reshape_nhwc2nchw", "int"), "int 16 -> int 16", (1, 2, 4, 2)), 15),
    (case(reductions.pool_call("avgpool", "float", True), "float 12 -> float 2", (1, 4, 3, 2, 3, 1, 2)), 1),
    (case(elementwise.cycle_call(elementwise.CYCLE[1]), "float 8, float 4 -> float 8", (8, 4)), 7),
    (Sample(elementwise.LUT["int"], (np.arange(8, dtype=np.uint32) % 4, ones("int", 4)), ones("int", 8), (8, 4)), 7),
    (case(reductions.reduce_call("__bang_reduce_sum", "float"), "float 40 -> float 40", (40,)), 32),
]


@pytest.mark.parametrize(("sample", "place"), MOVED)
def test_undefined_elements_move_along(sample: Sample, place: int, calls_of: Callable[[int], Calls]) -> None:
    calls = calls_of(ARCH)
    item = sample.dst.itemsize
    loaded = [source.nbytes for source in sample.sources] + [0] * (3 - len(sample.sources))
    loaded[0] -= sample.sources[0].itemsize
    for begin, end in ((0, place), (place + 1, len(sample.dst))):
        sample.run(calls, keep=True, loaded=loaded, out=(begin * item, (end - begin) * item))
    sample.run(calls, keep=True, loaded=loaded, out=(place * item, item), expected=[("init", "copy")])


def test_undefined_bits(calls_of: Callable[[int], Calls]) -> None:
    """A byte of a bit mask comes out of eight elements."""
    statement = elementwise.binary_call(elementwise.PACKED[1])
    sample = Sample(statement, (ones("float", 24),) * 2, ones("unsigned char", 3), (24,))
    sample.run(calls_of(ARCH), loaded=[92, 96, 0], out=(0, 2))
    sample.run(calls_of(ARCH), loaded=[92, 96, 0], out=(2, 1), expected=[("init", "copy")])


@pytest.mark.parametrize(("statement", "spoiled"), SPOILED)
def test_scratch_memory_is_undefined(statement: str, spoiled: int, calls_of: Callable[[int], Calls]) -> None:
    """The result goes over the first source, and the scratch operand back to the host."""
    operands = [ones("float", 64)] * 3
    options = {"dst": operands[0], "numbers": [32], "alias": spoiled, "checks": "memory,init"}
    elements = {"A": 4, "B": 4, "C": 4} | ({"B": 2} if "half" in statement else {})
    spoiled_bytes = 32 * elements["ABC"[spoiled - 1]]
    calls_of(ARCH)(statement, *operands, **options, out=(spoiled_bytes, 256 - spoiled_bytes))
    calls_of(ARCH)(statement, *operands, **options, out=(spoiled_bytes - 1, 1), expected=[("init", "copy")])


DECIDING = [
    (case(reductions.keep_call("filter", "float", False), "float 8, float 8 -> float 8", (8,)), 1),
    (case(reductions.keep_call("collect", "float", True), "float 1024, unsigned char 128 -> float 1024", (1024,)), 1),
    (case(reductions.returned_call("count", "float"), "float 8 -> char 0", (8,)), 0),
    (case(reductions.returned_call("findlast1", "half"), "half 8 -> char 0", (8,)), 0),
    (case("RETURN(__bang_popcnt(A(unsigned int), N(0)))", "unsigned int 8 -> char 0", (8,)), 0),
]


@pytest.mark.parametrize(("sample", "operand"), DECIDING)
def test_undefined_elements_must_not_decide(sample: Sample, operand: int, calls_of: Callable[[int], Calls]) -> None:
    loaded = [source.nbytes for source in sample.sources] + [0] * (3 - len(sample.sources))
    loaded[operand] -= 1
    sample.run(calls_of(ARCH), loaded=loaded, out=(0, 0), expected=[("init", "operand")])


def test_atomics_take_no_undefined_operand(calls_of: Callable[[int], Calls]) -> None:
    sample = case(atomics.reduce_call("add", "int", "vector"), "int 8 -> int 0 | int 8", (8,))
    sample.run(calls_of(ARCH), loaded=[28, 0, 0], expected=[("init", "atomic")])
