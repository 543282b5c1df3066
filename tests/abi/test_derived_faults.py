"""Faults of the arguments of every operator, from the descriptions: refused, with a reason, nothing written."""

from __future__ import annotations

import re

import pytest

import pymluops
from abi.derived import Fault, faults, large_problem, problem_of
from abi.facts import SUCCESS
from abi.problems import Call
from abi.raw import RawAbi
from calls import OPERATORS, legal_call


@pytest.mark.parametrize("name", OPERATORS)
def test_the_legal_calls_succeed(abi: RawAbi, name: str) -> None:
    for problem in (problem_of(legal_call(name, 2)), large_problem(name)):
        call = Call(abi, problem)
        assert call.run() == SUCCESS, abi.reason()
        call.assert_only_outputs_touched()


@pytest.mark.parametrize("name", OPERATORS)
def test_single_faults(abi: RawAbi, name: str) -> None:
    """All of an operator in one test: a test of its own takes longer than the call."""
    tried = list(faults(name))
    assert len(tried) > 20
    for fault in tried:
        refused(abi, name, fault)


def refused(abi: RawAbi, name: str, fault: Fault) -> None:
    """The call with the fault is refused with a reason, and nothing is written."""
    problem = problem_of(legal_call(name, 2)).edited(fault.edits)
    call = Call(abi, problem)
    status = call.run()
    assert status in fault.statuses, f"{fault.name}: {pymluops.Status(status).name}: {abi.reason()}"
    match = re.fullmatch(r"(\w+): ([\w\[\], ]+): expected (.+), got (.+)", abi.reason())
    assert match is not None, f"{fault.name}: {abi.reason()}"
    assert match[1] == problem.function, fault.name
    call.assert_untouched()


@pytest.mark.parametrize("name", OPERATORS)
def test_of_several_faults_one_is_told(abi: RawAbi, name: str) -> None:
    """All arguments wrong at once: NULL everywhere, and wrong types everywhere."""
    base = problem_of(legal_call(name, 2))
    for field, value in (("desc", "null"), ("data", "null"), ("dtype", "COMPLEX_HALF"), ("dims", (7,))):
        call = Call(abi, base.edited({(tensor, field): value for tensor in base.tensors}))
        assert call.run() != SUCCESS
        assert abi.reason().startswith(f"{base.function}: ")
        call.assert_untouched()
