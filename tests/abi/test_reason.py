"""The text of the last refusal: what it says, when it changes, and that every thread has its own."""

from __future__ import annotations

import re
import threading
from typing import Any

import pytest

from abi.c_objects import RawAbi
from abi.checks import OPERATORS, refusals
from abi.derived import COMPUTING, PROBLEMS, faults
from abi.facts import BAD_PARAM, NOT_SUPPORTED, SUCCESS
from abi.operator_call import Call, Edits

#: Functions whose ranks are what they look at first.
RANKS_FIRST = [name for name in COMPUTING if refusals(name).order.startswith("handle objects ranks")]
FIRST, SECOND, THIRD = RANKS_FIRST[:3]


def array_of(name: str) -> str:
    """The first array of a function."""
    return next(iter(PROBLEMS[name]().tensors))


def refuse(abi: RawAbi, name: str, edits: Edits) -> str:
    assert Call(abi, PROBLEMS[name]().edited(edits)).run() != SUCCESS
    return abi.reason()


def told(abi: RawAbi, name: str, edits: Edits) -> re.Match[str]:
    """The reason in its parts: function, argument, expectation and finding."""
    reason = refuse(abi, name, edits)
    match = re.fullmatch(r"(\w+): (\w+): expected (.+), got (.+)", reason)
    assert match is not None, reason
    assert match[1] == name
    return match


@pytest.mark.parametrize("name", COMPUTING)
def test_arrays_are_named_with_what_is_wrong(abi: RawAbi, name: str) -> None:
    base = PROBLEMS[name]()
    optional = {tensor.parameter or tensor.name for tensor in OPERATORS[name].tensors if tensor.optional}
    for array, tensor in base.tensors.items():
        if array in optional:  # it may be missing
            continue
        if tensor.bare:
            match = told(abi, name, {(array, "data"): "null"})
            assert (match[2], match[4]) == (array, "NULL")
            continue
        match = told(abi, name, {(array, "desc"): "null"})
        assert (match[2], match[3], match[4]) == (f"{array}_desc", "a tensor descriptor", "NULL")
        match = told(abi, name, {(array, "data"): "null"})
        assert (match[2], match[3], match[4]) == (array, "a pointer", "NULL")
        match = told(abi, name, {(array, "dtype"): "COMPLEX_HALF"})
        assert match[2].endswith("_desc")
        assert "complex_half" in match[0]
        match = told(abi, name, {(array, "dims"): (*(tensor.dims or ()), 1)})
        assert match[2] == f"{array}_desc"
        assert re.search(r"\d dims?\b|the shape of \w+, \[|^\[\w+, ", match[3]), match[0]


@pytest.mark.parametrize("name", COMPUTING)
def test_wrong_numbers_are_told(abi: RawAbi, name: str) -> None:
    """The value of a scalar, and the size of a dim, which may be blamed or what another is compared with."""
    scalars = {scalar.c_name for scalar in OPERATORS[name].scalars}
    products = any("*" in tensor.shape for tensor in OPERATORS[name].tensors)  # of which a reason tells the value
    for fault in faults(name):
        for (argument, field), value in fault.edits.items():
            if field == "value" and isinstance(value, int) and argument in scalars:
                reason = told(abi, name, fault.edits)[0]
                assert str(value).lower() in reason or (products and "2^31" in reason), fault.name
        size = re.search(r" with (\d+) in dim ", fault.name)
        if size is not None and not products:
            assert size[1] in refuse(abi, name, fault.edits), fault.name


def test_huge_numbers_fit(abi: RawAbi) -> None:
    """Eight dims of 19 digits do not overflow the text."""
    array = array_of(FIRST)
    dims = (2**56, 1, 1, 1, 1, 1, 1, 1)
    for shape in (dims, (1, 2**30, 1, 2**10, 1, 2**10, 1, 1)):
        reason = refuse(abi, FIRST, {(array, "dims"): shape, (array, "dtype"): "INT8"})
        assert re.match(rf"{FIRST}: {array}_desc: expected \d dims", reason)
        assert "\n" not in reason
    empty = (0, *[2**62] * 7)
    reason = refuse(abi, FIRST, {(array, "dims"): empty})
    assert len(reason) < 768
    assert reason.isprintable()


def test_stays_until_the_next_refusal(abi: RawAbi) -> None:
    first = refuse(abi, FIRST, {(array_of(FIRST), "dims"): (2,)})
    assert Call(abi, PROBLEMS[FIRST]()).run() == SUCCESS
    assert abi.reason() == first
    second = refuse(abi, SECOND, {(array_of(SECOND), "data"): "null"})
    assert abi.reason() == second != first


def _in_new_thread(work: Any) -> list[Any]:
    """What `work` returned, or raised, on a thread that has made no call before."""
    results: list[Any] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            results.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return results


def test_empty_when_there_was_none(abi: RawAbi) -> None:
    refuse(abi, FIRST, {(array_of(FIRST), "desc"): "null"})
    assert _in_new_thread(abi.reason) == [""]


def test_successful_calls_leave_it_empty(abi: RawAbi) -> None:
    def work() -> tuple[int, str]:
        return Call(abi, PROBLEMS[FIRST]()).run(), abi.reason()

    assert _in_new_thread(work) == [(SUCCESS, "")]


def test_is_per_thread(abi: RawAbi) -> None:
    """Threads refused at the same time for different arguments each read their own reason."""
    names = [FIRST, SECOND, THIRD] * 2
    barrier = threading.Barrier(len(names))
    wrong: list[str] = []

    def work(name: str) -> None:
        array = array_of(name)
        call = Call(abi, PROBLEMS[name]().edited({(array, "desc"): "null"}))
        barrier.wait()
        for _ in range(300):
            status, reason = call.run(), abi.reason()
            if status != BAD_PARAM or not reason.startswith(f"{name}: {array}_desc: "):
                wrong.append(reason)

    threads = [threading.Thread(target=work, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_status_7_has_a_reason_too(abi: RawAbi) -> None:
    strided = next(fault for fault in faults(FIRST) if "strided" in fault.name)
    call = Call(abi, PROBLEMS[FIRST]().edited(strided.edits))
    assert call.run() == NOT_SUPPORTED
    assert abi.reason().startswith(f"{FIRST}: {array_of(FIRST)}_desc: expected packed strides, got ")
