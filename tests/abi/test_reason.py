"""The text of the last refusal: what it says, when it changes, and that every thread has its own."""

from __future__ import annotations

import re
import threading
from typing import Any

import pytest

from abi.facts import BAD_PARAM, NOT_SUPPORTED, SUCCESS
from abi.problems import PROBLEMS, Call, Edits
from abi.raw import RawAbi


def refuse(abi: RawAbi, name: str, edits: Edits) -> str:
    assert Call(abi, PROBLEMS[name]().edited(edits)).run() != SUCCESS
    return abi.reason()


CASES: list[tuple[str, Edits, str, str, str]] = [
    # function, what is wrong, argument, words of the expectation, words of the finding
    ("mluOpTinShiftForward", {("input", "desc"): "null"}, "input_desc", "tensor descriptor", "NULL"),
    ("mluOpTinShiftForward", {("shifts", "dims"): (1, 2, 3)}, "shifts_desc", "2 dims", "3"),
    ("mluOpTinShiftForward", {("shifts", "dims"): (2, 3)}, "shifts_desc", "4", "3"),
    ("mluOpTinShiftForward", {("output", "dtype"): "HALF"}, "output_desc", "float", "half"),
    ("mluOpTinShiftForward", {("input", "strides"): (61, 20, 5, 1)}, "input_desc", "", "strid"),
    ("mluOpTinShiftBackward", {("grad_input", "data"): "null"}, "grad_input", "", "NULL"),
    ("mluOpPsamaskForward", {("psa_type", "value"): 5}, "psa_type", "0", "5"),
    ("mluOpPsamaskForward", {("x", "layout"): "NCHW"}, "x_desc", "NHWC", "NCHW"),
    ("mluOpBorderAlignForward", {("pool_size", "value"): -7}, "pool_size", "", "-7"),
    ("mluOpBorderAlignBackward", {("boxes", "dims"): (2, 5, 7)}, "boxes_desc", "4", "7"),
    ("mluOpThreeInterpolateForward", {("weights", "dims"): (2, 9, 3)}, "weights_desc", "5", "9"),
    ("mluOpThreeInterpolateBackward", {("indices", "dtype"): "INT64"}, "indices_desc", "int32", "int64"),
    ("mluOpGetIndicePairs", {("indices", "dims"): (4, 3)}, "indices_desc", "4", "3"),
    ("mluOpGetIndicePairs", {("workspace_size", "value"): 5}, "workspace_size", "", "5"),
]


@pytest.mark.parametrize(("name", "edits", "argument", "expected", "found"), CASES, ids=lambda value: str(value)[:40])
def test_names_function_argument_expectation_and_finding(
    abi: RawAbi, name: str, edits: Edits, argument: str, expected: str, found: str
) -> None:
    reason = refuse(abi, name, edits)
    match = re.fullmatch(r"(\w+): (\w+): expected (.+), got (.+)", reason)
    assert match is not None, reason
    assert (match[1], match[2]) == (name, argument), reason
    assert expected in match[3], reason
    assert found in match[4], reason


def test_huge_numbers_fit(abi: RawAbi) -> None:
    """Eight dims of 19 digits do not overflow the text."""
    dims = (2**56, 1, 1, 1, 1, 1, 1, 1)
    for shape in (dims, (1, 2**30, 1, 2**10, 1, 2**10, 1, 1)):
        reason = refuse(abi, "mluOpTinShiftForward", {("input", "dims"): shape, ("input", "dtype"): "INT8"})
        assert reason.startswith("mluOpTinShiftForward: input_desc: expected 4 dims")
        assert "\n" not in reason
    empty = (0, *[2**62] * 7)
    reason = refuse(abi, "mluOpTinShiftForward", {("input", "dims"): empty})
    assert len(reason) < 768
    assert reason.isprintable()


def test_stays_until_the_next_refusal(abi: RawAbi) -> None:
    first = refuse(abi, "mluOpTinShiftForward", {("shifts", "dims"): (2, 3)})
    assert Call(abi, PROBLEMS["mluOpTinShiftForward"]()).run() == SUCCESS
    assert abi.reason() == first
    second = refuse(abi, "mluOpPsamaskForward", {("psa_type", "value"): 3})
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
    refuse(abi, "mluOpTinShiftForward", {("input", "desc"): "null"})
    assert _in_new_thread(abi.reason) == [""]


def test_successful_calls_leave_it_empty(abi: RawAbi) -> None:
    def work() -> tuple[int, str]:
        return Call(abi, PROBLEMS["mluOpTinShiftForward"]()).run(), abi.reason()

    assert _in_new_thread(work) == [(SUCCESS, "")]


def test_is_per_thread(abi: RawAbi) -> None:
    """Threads refused at the same time for different arguments each read their own reason."""
    cases = {"input": "mluOpTinShiftForward", "x": "mluOpPsamaskForward", "boxes": "mluOpBorderAlignForward"}
    names = list(cases) * 2
    barrier = threading.Barrier(len(names))
    wrong: list[str] = []

    def work(tensor: str) -> None:
        call = Call(abi, PROBLEMS[cases[tensor]]().edited({(tensor, "desc"): "null"}))
        barrier.wait()
        for _ in range(300):
            status, reason = call.run(), abi.reason()
            if status != BAD_PARAM or not reason.startswith(f"{cases[tensor]}: {tensor}_desc: "):
                wrong.append(reason)

    threads = [threading.Thread(target=work, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_status_7_has_a_reason_too(abi: RawAbi) -> None:
    call = Call(abi, PROBLEMS["mluOpThreeInterpolateForward"]().edited({("weights", "strides"): (15, 3, 7)}))
    assert call.run() == NOT_SUPPORTED
    assert abi.reason().startswith("mluOpThreeInterpolateForward: weights_desc: expected ")
