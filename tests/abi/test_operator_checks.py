"""Every check of every operator function: alone, in pairs, and swept over the values that a field can take.

`abi.checks` says what must become of each call.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator

import pytest

import pymluops
from abi.c_objects import RawAbi, packed
from abi.checks import OPERATORS, Outcome, outcome, refusals, sizes, status_of, types_of
from abi.derived import COMPUTING, PROBLEMS, Fault, can_be_made, changes, faults, large_problem, with_size
from abi.facts import (
    BAD_PARAM,
    DEPRECATED,
    DTYPE_NAMES,
    DTYPES,
    FUNCTIONS,
    IMPLEMENTED,
    LAYOUTS,
    NOT_SUPPORTED,
    PROTOTYPES,
    SUCCESS,
)
from abi.operator_call import LARGEST_BUFFER, Call, Edits, Problem
from pymluops.ops._schema import Pairs
from support import families
from support.selection import is_thorough

FUNCTION_NAMES = list(PROBLEMS)
every_function = pytest.mark.parametrize("name", FUNCTION_NAMES)


def _by_argument(name: str) -> Iterator[tuple[str, list[Fault]]]:
    """The faults of a function, those of each argument together: a test for each takes longer to find than to run."""
    found: dict[str, list[Fault]] = {}
    for fault in faults(name):
        found.setdefault(fault.name.split()[0], []).append(fault)
    yield from found.items()


SINGLE_FAULTS = [
    pytest.param(name, those, id=f"{name.removeprefix('mluOp')}-{argument}")
    for name in FUNCTION_NAMES
    for argument, those in _by_argument(name)
]
#: Pairs and handfuls of faults that are tried for each function.
PAIRS = 4000 if is_thorough() else 150


def check(abi: RawAbi, problem: Problem, label: object = "") -> int:
    """Make the call and compare status, reason and what was touched; return the status."""
    expected = outcome(problem)
    if expected.status == SUCCESS and any(tensor.nbytes > LARGEST_BUFFER for tensor in problem.tensors.values()):
        # Too large to be computed: without memory nothing but that is left to refuse.
        problem = problem.edited({(tensor, "data"): "null" for tensor in problem.tensors})
        expected = outcome(problem)
    call = Call(abi, problem)
    status = call.run()
    said = f"{label}: {pymluops.Status(status).name}, expected {expected}; reason: {abi.reason()}"
    assert status == expected.status, said
    if status == SUCCESS:
        call.assert_only_outputs_touched()
    else:
        call_is_refused_well(abi, call, expected, label)
    return status


def call_is_refused_well(abi: RawAbi, call: Call, expected: Outcome, label: object) -> None:
    reason = abi.reason()
    match = re.fullmatch(r"(\w+): ([\w\[\], ]+): expected (.+), got (.+)", reason)
    assert match is not None, f"{label}: reason {reason!r}"
    assert match[1] == call.problem.function
    named = {*re.findall(r"\w+", match[2])}
    wanted = {*expected.arguments, *(name.removesuffix("_desc") for name in expected.arguments)}
    assert named & wanted, f"{label}: reason {reason!r} names none of {sorted(wanted)}"
    call.assert_untouched(expected.rows_needed)


@every_function
def test_legal_calls_succeed(abi: RawAbi, name: str) -> None:
    assert check(abi, PROBLEMS[name]()) == SUCCESS
    if name in COMPUTING:
        call = Call(abi, large_problem(name))
        assert call.run() == SUCCESS, abi.reason()
        call.assert_only_outputs_touched()


@pytest.mark.parametrize(("name", "those"), SINGLE_FAULTS)
def test_single_fault(abi: RawAbi, name: str, those: list[Fault]) -> None:
    base = PROBLEMS[name]()
    for fault in those:
        assert check(abi, base.edited(fault.edits), fault.name) != SUCCESS, fault.name


@every_function
def test_every_argument_has_faults(name: str) -> None:
    base, tried = PROBLEMS[name](), faults(name)
    assert len(tried) > (60 if name in COMPUTING else 4)
    told = {argument for fault in tried for argument in outcome(base.edited(fault.edits)).arguments}
    order = refusals(name).order.split()
    unlooked = set[str]() if "data" in order else set(base.tensors)
    if "objects" not in order:  # then of some descriptors alone
        unlooked |= {f"{tensor}_desc" for tensor in base.tensors if f"objects:{tensor}" not in order}
        unlooked |= {settings for settings in base.settings if f"objects:{settings}" not in order}
    assert {param["name"] for param in PROTOTYPES[name]["params"]} - {*base.values, *unlooked} <= told


@every_function
def test_changes_that_are_legal(abi: RawAbi, name: str) -> None:
    """Another value of a size that is free, another layout or type where any will do, a size of 0."""
    base = PROBLEMS[name]()
    for change in changes(name, base):
        if outcome(base.edited(change.edits)).status == SUCCESS:
            check(abi, base.edited(change.edits), change.name)


@every_function
def test_of_two_faults_the_documented_first_one_decides(abi: RawAbi, name: str) -> None:
    base = PROBLEMS[name]()
    tried = [fault for fault in faults(name) if "destroyed" not in fault.name]
    alone = {fault.name: status_of(base.edited(fault.edits)) for fault in tried}
    statuses = set()
    for pair in _pairs(name, tried, alone):
        problem = _with_all(base, pair)
        if problem is not None:
            expected = _check_status(abi, problem, [fault.name for fault in pair])
            statuses.add((alone[pair[0].name], alone[pair[1].name], expected))
    if NOT_SUPPORTED in alone.values():
        assert {expected for first, second, expected in statuses if first != second} == {BAD_PARAM, NOT_SUPPORTED}


def _pairs(name: str, tried: list[Fault], alone: dict[str, int]) -> list[tuple[Fault, Fault]]:
    """Pairs of faults: half of them with different statuses, where there are some; the same in every run."""
    every = list(itertools.combinations(tried, 2))
    choose = random.Random(name)
    differ = [pair for pair in every if alone[pair[0].name] != alone[pair[1].name]]
    return [
        *choose.sample(differ, min(PAIRS // 2, len(differ))),
        *choose.sample(every, min(PAIRS // 2, len(every))),
    ]


@every_function
def test_many_faults_at_once(abi: RawAbi, name: str) -> None:
    """Random handfuls of faults; the seed makes every run the same."""
    choose = random.Random(name)
    tried = [fault for fault in faults(name) if "destroyed" not in fault.name]
    base = PROBLEMS[name]()
    for _ in range(PAIRS // 4):
        chosen = choose.sample(tried, choose.randint(3, min(5, len(tried))))
        problem = _with_all(base, chosen)
        if problem is not None:
            _check_status(abi, problem, [fault.name for fault in chosen])


@every_function
def test_of_everything_wrong_one_thing_is_told(abi: RawAbi, name: str) -> None:
    base = PROBLEMS[name]()
    dims = (7, 7) if all(len(tensor.dims) == 1 for tensor in base.tensors.values()) else (7,)
    for field, value in (("desc", "null"), ("data", "null"), ("dtype", "COMPLEX_HALF"), ("dims", dims)):
        described = [tensor for tensor in base.tensors if not base.tensors[tensor].bare]
        problem = base.edited({(tensor, field): value for tensor in described})
        refused = check(abi, problem, field) != SUCCESS
        looks = field not in ("data", "dtype") and (field != "dims" or "ranks" in refusals(name).order.split())
        assert refused or not (looks or name in COMPUTING)


def _with_all(base: Problem, chosen: tuple[Fault, ...] | list[Fault]) -> Problem | None:
    """The call with several faults, the first one of each field; None if it cannot be made."""
    edits: dict[tuple[str, str], object] = {}
    for fault in chosen:
        if not edits.keys() & fault.edits.keys():
            edits.update(fault.edits)
    problem = base.edited(edits)
    tensors = problem.tensors
    # Strides made for one rank do not fit dims of another, and a tensor is moved only into one that
    # stays.
    moved = [tensor.data[0] for tensor in tensors.values() if isinstance(tensor.data, tuple)]
    made = can_be_made(problem) and all(tensors[target].data == "ok" for target in moved)
    fits = all(t.strides is None or len(t.strides) == len(t.dims or ()) for t in tensors.values())
    return problem if made and fits else None


def _check_status(abi: RawAbi, problem: Problem, label: object) -> int:
    expected, status = status_of(problem), Call(abi, problem).run()
    assert status == expected, f"{label}: status {status}, expected {expected}; reason: {abi.reason()}"
    return status


# ---- sweeps --------------------------------------------------------------------------------------


def _sweep(abi: RawAbi, name: str, edits: Edits) -> int | None:
    """One edited call; its status, or None if it cannot be made."""
    problem = PROBLEMS[name]().edited(edits)
    return check(abi, problem, edits) if can_be_made(problem) else None


TENSORS = [
    pytest.param(name, tensor, id=f"{name.removeprefix('mluOp')}-{tensor}")
    for name in FUNCTION_NAMES
    for tensor, value in PROBLEMS[name]().tensors.items()
    if not value.bare
]
every_tensor = pytest.mark.parametrize(("name", "tensor"), TENSORS)


@every_tensor
def test_every_dtype(abi: RawAbi, name: str, tensor: str) -> None:
    """Of one tensor alone; numbers that name no dtype are not accepted."""
    codes = [*DTYPES.values(), 10, 18, 1000]
    accepted = {code for code in codes if _sweep(abi, name, {(tensor, "dtype"): code}) == SUCCESS}
    if "types" in refusals(name).order.split():
        assert DTYPES[str(PROBLEMS[name]().tensors[tensor].dtype)] in accepted
        assert not accepted & {10, 18, 1000, DTYPES["COMPLEX_HALF"]}


@every_function
def test_every_dtype_for_all_that_must_agree(abi: RawAbi, name: str) -> None:
    known, base = OPERATORS[name], PROBLEMS[name]()
    groups: dict[str, list[str]] = {}
    for tensor in known.tensors:
        parameter = tensor.parameter or tensor.name
        if parameter in base.tensors and not base.tensors[parameter].bare and not isinstance(tensor.dtype, Pairs):
            first = tensor.dtype if isinstance(tensor.dtype, str) else tensor.name
            groups.setdefault(first, []).append(parameter)
    for tensor in known.tensors:  # types in pairs are not all legal beside the type of this call
        if isinstance(tensor.dtype, Pairs):
            groups.pop(tensor.dtype.other, None)
    for first, members in groups.items():
        accepted = {d for d in DTYPES if _sweep(abi, name, {(one, "dtype"): d for one in members}) == SUCCESS}
        root = next(tensor for tensor in known.tensors if tensor.name == first)
        if "types" in refusals(name).order.split():
            assert accepted == {DTYPE_NAMES[kind] for kind in types_of(known, root)}


@every_tensor
def test_every_layout(abi: RawAbi, name: str, tensor: str) -> None:
    accepted = {layout for layout in [*LAYOUTS, 77] if _sweep(abi, name, {(tensor, "layout"): layout}) == SUCCESS}
    assert PROBLEMS[name]().tensors[tensor].layout in accepted


@every_tensor
def test_every_rank(abi: RawAbi, name: str, tensor: str) -> None:
    """Dims cut off or filled up with ones; rank 0 as a scalar and as a descriptor that was never set."""
    dims = PROBLEMS[name]().tensors[tensor].dims
    assert dims is not None
    for rank in range(9):
        status = _sweep(abi, name, {(tensor, "dims"): (*dims[:rank], *[1] * (rank - len(dims)))})
        if "ranks" in refusals(name).order:
            assert (status == SUCCESS) == (rank == len(dims)), rank
    _sweep(abi, name, {(tensor, "dims"): None})


@every_tensor
def test_every_dim(abi: RawAbi, name: str, tensor: str) -> None:
    dims = PROBLEMS[name]().tensors[tensor].dims
    assert dims is not None
    for axis, dim in enumerate(dims):
        for value in (0, 1, dim - 1, dim + 1, 2 * dim, 2**31 - 1, 2**31, 2**33):
            _sweep(abi, name, {(tensor, "dims"): (*dims[:axis], value, *dims[axis + 1 :])})


@every_tensor
def test_every_stride(abi: RawAbi, name: str, tensor: str) -> None:
    """Gaps, zero, negative and overlapping strides are refused; packed strides given explicitly are not."""
    base = PROBLEMS[name]()
    dims = base.tensors[tensor].dims
    assert dims is not None
    plain = packed(dims)
    assert _sweep(abi, name, {(tensor, "strides"): plain}) == SUCCESS
    for axis, stride in enumerate(plain):
        for value in (stride + 1, 0, -stride, 2**40):
            changed = (*plain[:axis], value, *plain[axis + 1 :])
            status = _sweep(abi, name, {(tensor, "strides"): changed})
            if "packed" in refusals(name).order:
                assert (status == SUCCESS) == (dims[axis] == 1)


def _sizes_and_strides(name: str, value: int) -> Iterator[tuple[dict[tuple[str, str], object], str]]:
    """Edits that give each size the value, and the arrays that have it."""
    base = PROBLEMS[name]()
    for symbol in sizes(base):
        edits = with_size(base, symbol, value)
        for tensor in [argument for argument, field in edits if field == "dims" and not base.tensors[argument].bare]:
            yield edits, tensor


@every_function
def test_strides_of_sizes_of_1_and_of_empty_tensors_do_not_matter(abi: RawAbi, name: str) -> None:
    for edits, tensor in (*_sizes_and_strides(name, 1), *_sizes_and_strides(name, 0)):
        dims = edits[tensor, "dims"]
        assert isinstance(dims, tuple)
        strides = packed(dims)
        odd = tuple(99 if size == 1 or 0 in dims else step for size, step in zip(dims, strides, strict=True))
        assert _sweep(abi, name, {**edits, (tensor, "strides"): odd}) == _sweep(abi, name, edits), (tensor, odd)


@every_function
def test_sizes_are_free(abi: RawAbi, name: str) -> None:
    """Each size alone, everywhere where it stands."""
    base = PROBLEMS[name]()
    for symbol in sizes(base):
        for value in (1, 3, 12, 41):
            _sweep(abi, name, with_size(base, symbol, value))


# ---- early success and big tensors ---------------------------------------------------------------


@every_function
def test_sizes_of_0_succeed_or_are_refused_before_pointers(abi: RawAbi, name: str) -> None:
    base = PROBLEMS[name]()
    nothing = {(tensor, "data"): "null" for tensor, value in base.tensors.items() if not value.bare}
    for symbol in sizes(base):
        edits = with_size(base, symbol, 0)
        for missing in ({}, nothing):
            _sweep(abi, name, {**edits, **missing})
        # Every check before it still counts.
        for tensor, _ in nothing:
            _sweep(abi, name, {**edits, **nothing, (tensor, "dtype"): "COMPLEX_HALF"})


@pytest.mark.parametrize("name", COMPUTING)
def test_big_comes_before_pointers(abi: RawAbi, name: str) -> None:
    """Descriptors of 2^31 elements and more with NULL pointers: the size decides, nothing is read."""
    base = PROBLEMS[name]()
    nothing = {(tensor, "data"): "null" for tensor, value in base.tensors.items() if not value.bare}
    big = [fault for fault in faults(name) if fault.name.endswith((" is big", " is 2**31"))]
    assert big
    for fault in big:
        assert _sweep(abi, name, {**fault.edits, **nothing}) != SUCCESS


@every_function
def test_handle_of_another_kind_or_destroyed(abi: RawAbi, name: str) -> None:
    destroyed = abi.new_handle()
    abi.lib.mluOpDestroy(destroyed)
    tensor = abi.tensor((1,))
    for handle in (destroyed, abi.ffi.cast("mluOpHandle_t", tensor)):
        problem = PROBLEMS[name]()
        if "workspace" in problem.values:
            problem = problem.edited({("workspace_size", "value"): 1 << 16})
        call = Call(abi, problem, handle)
        assert call.run() == BAD_PARAM
        call_is_refused_well(abi, call, Outcome(BAD_PARAM, ("handle",)), "handle")


def test_all_operator_functions_are_covered() -> None:
    takes_tensors = {
        name
        for name in IMPLEMENTED - {"mluOpMakeFFTPlanMany"}  # makes a plan
        if FUNCTIONS[name]["params"][:1]
        and FUNCTIONS[name]["params"][0]["name"] == "handle"
        and any("TensorDescriptor" in param["type"] for param in FUNCTIONS[name]["params"])
        and name not in DEPRECATED
    }
    apart = {name for name in families.APART if not name.startswith("mluopsExt")}
    assert takes_tensors >= apart
    assert takes_tensors - apart == {name for name in PROBLEMS if name in FUNCTIONS}
