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


@pytest.mark.parametrize(
    ("name", "fault"),
    [pytest.param(name, fault, id=f"{name}-{fault.name}") for name in OPERATORS for fault in faults(name)],
)
def test_single_fault(abi: RawAbi, name: str, fault: Fault) -> None:
    problem = problem_of(legal_call(name, 2)).edited(fault.edits)
    call = Call(abi, problem)
    status = call.run()
    assert status in fault.statuses, f"{pymluops.Status(status).name}: {abi.reason()}"
    match = re.fullmatch(r"(\w+): ([\w\[\], ]+): expected (.+), got (.+)", abi.reason())
    assert match is not None, abi.reason()
    assert match[1] == problem.function
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
