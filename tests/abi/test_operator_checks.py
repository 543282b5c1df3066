"""Every documented check of every operator function: alone, in pairs, and swept over the values a field can take."""

from __future__ import annotations

import itertools
import random
import re

import pytest

from abi.documented import Outcome, outcome
from abi.facts import BAD_PARAM, DTYPES, FUNCTIONS, IMPLEMENTED, LAYOUTS, NOT_SUPPORTED, SUCCESS
from abi.faults import FAULTS, Fault
from abi.problems import PROBLEMS, REAL_TENSORS, Call, Edits, Problem
from abi.raw import RawAbi, packed

ALL_FAULTS = [pytest.param(name, fault, id=f"{name[5:]}-{fault.name}") for name in FAULTS for fault in FAULTS[name]()]
FUNCTION_NAMES = list(PROBLEMS)


def check(abi: RawAbi, problem: Problem, expected: Outcome, label: object = "") -> None:
    """Make the call and compare status, reason and what was touched."""
    call = Call(abi, problem)
    status = call.run()
    assert status == expected.status, f"{label}: status {status}, documented {expected}; reason: {abi.reason()}"
    if status == SUCCESS:
        call.assert_only_outputs_touched()
        return
    call_is_refused_well(abi, call, expected, label)


def call_is_refused_well(abi: RawAbi, call: Call, expected: Outcome, label: object) -> None:
    reason = abi.reason()
    match = re.fullmatch(r"(\w+): ([\w\[\], ]+): expected (.+), got (.+)", reason)
    assert match is not None, f"{label}: reason {reason!r}"
    assert match[1] == call.problem.function
    named = {*re.findall(r"\w+", match[2])}
    wanted = {*expected.arguments, *(name.removesuffix("_desc") for name in expected.arguments)}
    assert not wanted or named & wanted, f"{label}: reason {reason!r} names none of {sorted(wanted)}"
    call.assert_untouched(expected.rows_needed)


@pytest.mark.parametrize("name", FUNCTION_NAMES)
def test_plain_call_succeeds(abi: RawAbi, name: str) -> None:
    check(abi, PROBLEMS[name](), Outcome(SUCCESS))


@pytest.mark.parametrize(("name", "fault"), ALL_FAULTS)
def test_single_fault(abi: RawAbi, name: str, fault: Fault) -> None:
    problem = PROBLEMS[name]().edited(fault.edits)
    expected = outcome(problem)
    assert expected.status == fault.status, "the two descriptions in these tests disagree"
    check(abi, problem, expected, fault.name)


@pytest.mark.parametrize("name", FUNCTION_NAMES)
def test_of_two_faults_the_documented_first_one_decides(abi: RawAbi, name: str) -> None:
    """All pairs of faults that touch different fields."""
    faults = [fault for fault in FAULTS[name]() if "destroyed" not in fault.name]
    base = PROBLEMS[name]()
    statuses = set()
    for first, second in itertools.combinations(faults, 2):
        if first.edits.keys() & second.edits.keys():
            continue
        problem = base.edited({**first.edits, **second.edits})
        if not _can_be_described(problem):
            continue
        expected = outcome(problem)
        statuses.add((first.status, second.status, expected.status))
        _check_status(abi, problem, expected, f"{first.name} + {second.name}")
    wants_both = not name.startswith("mluOpPsamask")  # there every fault is BAD_PARAM
    assert {(BAD_PARAM, NOT_SUPPORTED, BAD_PARAM), (NOT_SUPPORTED, BAD_PARAM, NOT_SUPPORTED)} <= statuses or (
        not wants_both
    )


@pytest.mark.parametrize("name", FUNCTION_NAMES)
def test_many_faults_at_once(abi: RawAbi, name: str) -> None:
    """Random handfuls of faults; the seed makes every run the same."""
    choose = random.Random(name)
    faults = [fault for fault in FAULTS[name]() if "destroyed" not in fault.name]
    base = PROBLEMS[name]()
    for _ in range(150):
        edits: dict[tuple[str, str], object] = {}
        chosen = choose.sample(faults, choose.randint(3, 5))
        for fault in chosen:
            if not edits.keys() & fault.edits.keys():
                edits.update(fault.edits)
        problem = base.edited(edits)
        if _can_be_described(problem):
            _check_status(abi, problem, outcome(problem), [fault.name for fault in chosen])


def _can_be_described(problem: Problem) -> bool:
    """Strides made for one rank do not fit dims of another, and a tensor is moved only into one that stays."""
    tensors = problem.tensors
    moved = [tensor.data[0] for tensor in tensors.values() if isinstance(tensor.data, tuple)]
    return all(tensors[target].data == "ok" for target in moved) and all(
        tensor.strides is None or len(tensor.strides) == len(tensor.dims or ()) for tensor in tensors.values()
    )


def _check_status(abi: RawAbi, problem: Problem, expected: Outcome, label: object) -> None:
    status = Call(abi, problem).run()
    assert status == expected.status, f"{label}: status {status}, documented {expected}; reason: {abi.reason()}"


# ---- sweeps ----------------------------------------------------------------------------------------------------------


def _sweep(abi: RawAbi, name: str, edits: Edits) -> int:
    """One edited call against the documented list; returns the status."""
    problem = PROBLEMS[name]().edited(edits)
    expected = outcome(problem)
    check(abi, problem, expected, edits)
    return expected.status


TENSORS = [
    pytest.param(name, tensor, id=f"{name[5:]}-{tensor}")
    for name in FUNCTION_NAMES
    for tensor in PROBLEMS[name]().tensors
]


@pytest.mark.parametrize(("name", "tensor"), TENSORS)
def test_every_dtype(abi: RawAbi, name: str, tensor: str) -> None:
    """Of all dtypes for one tensor alone, only the one it has is accepted; numbers that name no dtype are not."""
    accepted = {code for code in [*DTYPES.values(), 10, 18, 1000] if not _sweep(abi, name, {(tensor, "dtype"): code})}
    assert accepted == {DTYPES[str(PROBLEMS[name]().tensors[tensor].dtype)]}


@pytest.mark.parametrize("name", REAL_TENSORS)
def test_every_dtype_for_all_real_tensors(abi: RawAbi, name: str) -> None:
    accepted = set()
    for dtype in DTYPES:
        edits = {(tensor, "dtype"): dtype for tensor in REAL_TENSORS[name]}
        if _sweep(abi, name, edits) == SUCCESS:
            accepted.add(dtype)
    assert accepted == {"HALF", "FLOAT"}


@pytest.mark.parametrize(("name", "tensor"), TENSORS)
def test_every_layout(abi: RawAbi, name: str, tensor: str) -> None:
    accepted = {layout for layout in LAYOUTS if _sweep(abi, name, {(tensor, "layout"): layout}) == SUCCESS}
    if name.startswith("mluOpTinShift") or "IndicePairs" in name or tensor == "boxes":
        assert accepted == set(LAYOUTS)
        assert _sweep(abi, name, {(tensor, "layout"): 77}) == SUCCESS
    else:
        assert accepted == {PROBLEMS[name]().tensors[tensor].layout}
        assert _sweep(abi, name, {(tensor, "layout"): 77}) == BAD_PARAM


@pytest.mark.parametrize(("name", "tensor"), TENSORS)
def test_every_rank(abi: RawAbi, name: str, tensor: str) -> None:
    """Dims cut off or filled up with ones; rank 0 as a scalar and as a descriptor that was never set."""
    dims = PROBLEMS[name]().tensors[tensor].dims
    assert dims is not None
    statuses = {}
    for rank in range(9):
        statuses[rank] = _sweep(abi, name, {(tensor, "dims"): (*dims[:rank], *[1] * (rank - len(dims)))})
    assert [rank for rank, status in statuses.items() if status == SUCCESS] == [len(dims)]
    never_set = _sweep(abi, name, {(tensor, "dims"): None})
    assert never_set == (SUCCESS if name == "mluOpGetIndicePairsWorkspaceSize" else BAD_PARAM)


@pytest.mark.parametrize(("name", "tensor"), TENSORS)
def test_every_dim(abi: RawAbi, name: str, tensor: str) -> None:
    dims = PROBLEMS[name]().tensors[tensor].dims
    assert dims is not None
    for axis, dim in enumerate(dims):
        for value in (0, 1, dim - 1, dim + 1, 2 * dim, 2**31 - 1, 2**31, 2**33):
            _sweep(abi, name, {(tensor, "dims"): (*dims[:axis], value, *dims[axis + 1 :])})


@pytest.mark.parametrize(("name", "tensor"), TENSORS)
def test_every_stride(abi: RawAbi, name: str, tensor: str) -> None:
    """Gaps, zero, negative and overlapping strides are refused; packed strides given explicitly are not."""
    dims = PROBLEMS[name]().tensors[tensor].dims
    assert dims is not None
    plain = packed(dims)
    assert _sweep(abi, name, {(tensor, "strides"): plain}) == SUCCESS
    for axis, stride in enumerate(plain):
        for value in (stride + 1, 0, -stride, 2**40):
            changed = (*plain[:axis], value, *plain[axis + 1 :])
            wanted = BAD_PARAM if name.startswith("mluOpPsamask") else NOT_SUPPORTED
            assert _sweep(abi, name, {(tensor, "strides"): changed}) == wanted


def test_stride_of_a_dim_of_size_1_does_not_matter(abi: RawAbi) -> None:
    edits = {("input", "dims"): (1, 3, 4, 1), ("output", "dims"): (1, 3, 4, 1), ("shifts", "dims"): (1, 2)}
    strided = {**edits, ("input", "strides"): (-7, 4, 1, 99), ("shifts", "strides"): (0, 1)}
    assert _sweep(abi, "mluOpTinShiftForward", strided) == SUCCESS


def test_strides_of_an_empty_tensor_do_not_matter(abi: RawAbi) -> None:
    dims = (2, 0, 4, 5)
    edits = {("input", "dims"): dims, ("output", "dims"): dims, ("input", "strides"): (1, 2, 3, 4)}
    assert _sweep(abi, "mluOpTinShiftForward", edits) == SUCCESS


# ---- early success and big tensors -----------------------------------------------------------------------------------


NO_DATA = {
    "mluOpTinShiftForward": ("input", "shifts", "output"),
    "mluOpTinShiftBackward": ("grad_output", "shifts", "grad_input"),
}


@pytest.mark.parametrize("name", NO_DATA)
def test_tin_shift_without_time_steps_succeeds_before_pointers(abi: RawAbi, name: str) -> None:
    first, shifts, last = NO_DATA[name]
    edits: dict[tuple[str, str], object] = {(first, "dims"): (2, 0, 4, 5), (last, "dims"): (2, 0, 4, 5)}
    edits |= {(tensor, "data"): "null" for tensor in NO_DATA[name]}
    assert _sweep(abi, name, edits) == SUCCESS
    # every check before it still counts
    assert _sweep(abi, name, {**edits, (first, "dims"): (2, 0, 4, 0), (last, "dims"): (2, 0, 4, 0)}) == BAD_PARAM
    assert _sweep(abi, name, {**edits, (shifts, "dtype"): "FLOAT"}) == BAD_PARAM


@pytest.mark.parametrize(("name", "mask", "full"), [("Forward", "x", "y"), ("Backward", "dx", "dy")])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_psamask_of_nothing_succeeds_before_pointers(abi: RawAbi, name: str, mask: str, full: str, axis: int) -> None:
    sizes = [2, 3, 4]
    sizes[axis] = 0
    dims = {(mask, "dims"): (*sizes, 15), (full, "dims"): (*sizes, sizes[1] * sizes[2])}
    edits = {**dims, (mask, "data"): "null", (full, "data"): "null"}
    assert _sweep(abi, "mluOpPsamask" + name, edits) == SUCCESS
    assert _sweep(abi, "mluOpPsamask" + name, {**edits, ("h_mask", "value"): 5}) == BAD_PARAM


@pytest.mark.parametrize("name", [name for name in FUNCTION_NAMES if name != "mluOpGetIndicePairsWorkspaceSize"])
def test_big_comes_before_pointers(abi: RawAbi, name: str) -> None:
    """Descriptors of 2^31 elements and more with NULL pointers: the size decides, nothing is read."""
    for fault in FAULTS[name]():
        if "big" in fault.name:
            edits = dict(fault.edits) | {(tensor, "data"): "null" for tensor in PROBLEMS[name]().tensors}
            assert _sweep(abi, name, edits) == fault.status


def test_largest_tensor_that_is_not_big(abi: RawAbi) -> None:
    """2^31 - 1 elements pass the size check; the NULL pointer is what is left to refuse."""
    dims = (1, 1, 1, 2**31 - 1)
    edits: dict[tuple[str, str], object] = {
        ("input", "dims"): dims,
        ("output", "dims"): dims,
        ("shifts", "dims"): (1, 1),
    }
    edits |= {(tensor, "data"): "null" for tensor in ("input", "shifts", "output")}
    assert _sweep(abi, "mluOpTinShiftForward", edits) == BAD_PARAM
    assert ": input: " in abi.reason()


def test_border_align_takes_any_number_of_boxes(abi: RawAbi) -> None:
    """K is free: it need not be H*W."""
    for boxes in (1, 3, 12, 40):
        forward = {
            ("boxes", "dims"): (2, boxes, 4),
            ("output", "dims"): (2, boxes, 4, 2),
            ("argmax_idx", "dims"): (2, boxes, 4, 2),
        }
        assert _sweep(abi, "mluOpBorderAlignForward", forward) == SUCCESS
        backward = {**forward, ("grad_output", "dims"): (2, boxes, 4, 2)}
        del backward["output", "dims"]
        assert _sweep(abi, "mluOpBorderAlignBackward", backward) == SUCCESS


@pytest.mark.parametrize("psa_type", [0, 1])
def test_psamask_has_no_size_limit_on_the_cpu(abi: RawAbi, psa_type: int) -> None:
    """A mask of 101 x 101 does not fit the memory of a core of the device; the CPU does not care."""
    edits = {
        ("x", "dims"): (1, 2, 2, 101 * 101), ("y", "dims"): (1, 2, 2, 4),
        ("h_mask", "value"): 101, ("w_mask", "value"): 101, ("psa_type", "value"): psa_type,
    }  # fmt: skip
    assert _sweep(abi, "mluOpPsamaskForward", edits) == SUCCESS


@pytest.mark.parametrize("name", FUNCTION_NAMES)
def test_handle_of_another_kind_or_destroyed(abi: RawAbi, name: str) -> None:
    destroyed = abi.new_handle()
    abi.lib.mluOpDestroy(destroyed)
    tensor = abi.tensor((1,))
    for handle in (destroyed, abi.ffi.cast("mluOpHandle_t", tensor)):
        problem = PROBLEMS[name]()
        if problem.values.get("workspace_size") == "need":
            problem = problem.edited({("workspace_size", "value"): 1 << 16})
        call = Call(abi, problem, handle)
        assert call.run() == BAD_PARAM
        call_is_refused_well(abi, call, Outcome(BAD_PARAM, ("handle",)), "handle")


def test_all_operator_functions_are_covered() -> None:
    groups = {"TinShift", "Psamask", "BorderAlign", "ThreeInterpolate", "SparseConv"}
    operators = {name: function for name, function in FUNCTIONS.items() if function["group"] in groups}
    takes_handle = {name for name, function in operators.items() if function["params"][0]["name"] == "handle"}
    elsewhere = {name for name in takes_handle if "IndiceConvolution" in name}  # tests/ops has their refusals
    assert (takes_handle & IMPLEMENTED) - elsewhere == set(PROBLEMS) == set(FAULTS)
