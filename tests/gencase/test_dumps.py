"""Cases that the libraries write, read back: the arrays and the numbers of the call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pymluops
from pymluops import functions, gencase
from pymluops.gencase._operators import OPERATORS as ROWS
from pymluops.gencase._operators import CaseOperator, CaseOutput
from support.described_calls import OPERATORS, legal_call, on

CALLED = [name for name in on("cpu") if OPERATORS[name].c_function.startswith("mluOp")]
ROW_OF = {function: row for row in ROWS for function in row.functions}
#: Decimal numbers, hexadecimal ones, and files.
WAYS = {"decimal": (1, 0), "hexadecimal": (2, 0), "files": (1, 1)}


def dumped(operator: str, seed: int, folder: Path, way: str = "decimal") -> tuple[gencase.Case, dict[str, Any]]:
    """The case of a call, and the arguments as they were before it."""
    call = legal_call(operator, seed)
    given = call.by_parameter()
    before = {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in given.items()}
    backend = pymluops.load("cpu")
    with gencase.recording(folder):
        assert backend.lib.mluopsExtSetGenCaseSwitches(2, *WAYS[way], 0) == 0
        getattr(functions, call.description.c_function)(*given.values())
    (path,) = folder.rglob("*.prototxt")
    return gencase.read(path), before


def rows_of(row: CaseOperator, case: gencase.Case, given: dict[str, Any]) -> list[tuple[Any, gencase.CaseTensor]]:
    """The rows of the table that a case has tensors for, next to these."""

    def has(condition: str) -> bool:
        value = given.get(condition.removeprefix("!"))
        there = value is not None and (isinstance(value, np.ndarray) or value != 0)
        return not condition or there != condition.startswith("!")

    inputs = [one for one in row.inputs if has(one.condition)]
    outputs = [one for one in row.outputs if has(one.condition)]
    return [*zip(inputs, case.inputs, strict=True), *zip(outputs, case.outputs, strict=True)]


def bits(array: np.ndarray) -> bytes:
    return np.ascontiguousarray(array).tobytes()


@pytest.mark.parametrize("operator", CALLED)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.sampled("operator", "way")
def test_arrays_of_a_call(operator: str, way: str, tmp_path: Path) -> None:
    case, given = dumped(operator, 7, tmp_path, way)
    row = ROW_OF[OPERATORS[operator].c_function]
    assert case.op_name == row.name
    assert case.node.op_type == row.number
    compared = 0
    for one, tensor in rows_of(row, case, given):
        assert tensor.id == one.id
        array = given.get(one.argument)
        if not isinstance(array, np.ndarray):
            continue
        assert (tensor.shape, tensor.dtype) == (array.shape, pymluops.dtypes.as_data_type(array.dtype))
        compared += 1
        if isinstance(one, CaseOutput):
            assert tensor.values() is None
        else:
            values = tensor.values()
            assert values is not None
            assert bits(values) == bits(array)
    assert compared > 0


@pytest.mark.parametrize("operator", CALLED)
def test_numbers_of_a_call(operator: str, tmp_path: Path) -> None:
    case, given = dumped(operator, 3, tmp_path)
    row = ROW_OF[OPERATORS[operator].c_function]
    for parameter in row.parameters:
        value = given.get(parameter.source)
        found = case.parameter(row.message, parameter.name)
        if isinstance(value, float):
            assert found == np.float32(value)
        elif isinstance(value, int):
            assert found == value
    criteria = case.node.test_param
    names = criteria.DESCRIPTOR.fields_by_name["error_func"].enum_type.values_by_number
    found = [names[number].name for number in criteria.error_func]
    assert [*zip(found, criteria.error_threshold, strict=True)] == [*row.criteria]


@pytest.mark.parametrize("operator", CALLED)
@pytest.mark.parametrize("suffix", [".prototxt", ".pb"])
@pytest.mark.parametrize("data", ["keep", "decimal", "hexadecimal", "files"])
@pytest.mark.sampled("operator", "data", "suffix")
def test_round_trip_of_a_dump(operator: str, data: str, suffix: str, tmp_path: Path) -> None:
    case, _ = dumped(operator, 11, tmp_path / "dump", "hexadecimal" if data == "keep" else "decimal")
    (tmp_path / "other").mkdir()
    target = tmp_path / "other" / f"case{suffix}"
    case.write(target, data=data)
    again = gencase.read(target)
    if data == "keep":
        assert again.node == case.node
    assert [tensor.id for tensor in again.inputs] == [tensor.id for tensor in case.inputs]
    for one, other in zip((*case.inputs, *case.outputs), (*again.inputs, *again.outputs), strict=True):
        before, after = one.values(), other.values()
        assert (before is None) == (after is None)
        if before is not None and after is not None:
            assert before.dtype == after.dtype
            assert bits(before) == bits(after)
        assert (one.shape, one.strides, one.dtype, one.layout) == (
            other.shape,
            other.strides,
            other.dtype,
            other.layout,
        )
