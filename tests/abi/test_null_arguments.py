"""Every function survives NULL in every pointer argument, with the documented status and reason."""

from __future__ import annotations

from typing import Any

import pytest

from abi.c_objects import RawAbi
from abi.facts import (
    BAD_PARAM,
    FUNCTIONS,
    IMPLEMENTED,
    NO_STATUS,
    NOT_SUPPORTED,
    PROTOTYPES,
    SUCCESS,
    is_pointer,
    pointer_parameters,
)
from abi.legal_calls import ALL_NULL_STATUS, CALLS, null_status

STATUS_CALLS = [name for name in CALLS if name not in NO_STATUS]
WITH_POINTERS = [name for name in STATUS_CALLS if pointer_parameters(name)]

ONE_NULL = [
    pytest.param(name, parameter, id=f"{name[5:]}-{parameter}")
    for name in STATUS_CALLS
    for parameter in pointer_parameters(name)
]


def test_every_function_of_the_core_has_a_case() -> None:
    """What is left are operators: they take a handle, and tests of their own call them."""
    assert {name for name in CALLS if name in FUNCTIONS} <= IMPLEMENTED
    for name in IMPLEMENTED - set(CALLS):
        assert PROTOTYPES[name]["params"][0]["name"] == "handle", name


def _all_null(abi: RawAbi, name: str) -> list[Any]:
    types = [param["type"].removeprefix("const ") for param in PROTOTYPES[name]["params"]]
    return [abi.null if is_pointer(kind) else abi.ffi.cast(kind, 0) for kind in types]


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in NO_STATUS])
def test_every_function_answers_null_and_zero(abi: RawAbi, name: str) -> None:
    status = getattr(abi.lib, name)(*_all_null(abi, name))
    if name not in IMPLEMENTED:
        assert status == NOT_SUPPORTED
        assert abi.reason() == f"{name}: not implemented by the cpu library"
    elif pointer_parameters(name):
        assert status == ALL_NULL_STATUS.get(name, BAD_PARAM)
        assert abi.reason().startswith(f"{name}: ")


@pytest.mark.parametrize("name", STATUS_CALLS)
def test_without_null_it_succeeds(abi: RawAbi, name: str) -> None:
    arguments = CALLS[name](abi)
    assert list(arguments) == [param["name"] for param in PROTOTYPES[name]["params"]]
    assert getattr(abi.lib, name)(*arguments.values()) == SUCCESS, abi.reason()


@pytest.mark.parametrize(("name", "parameter"), ONE_NULL)
def test_one_null(abi: RawAbi, name: str, parameter: str) -> None:
    arguments = CALLS[name](abi)
    arguments[parameter] = abi.null
    status = getattr(abi.lib, name)(*arguments.values())
    assert status == null_status(name, parameter)
    if status != SUCCESS:
        blamed = "dtype" if (name, parameter) == ("mluOpGetSeqDataDescriptor_v2", "dtype") else parameter
        assert abi.reason().startswith(f"{name}: {blamed}: expected "), abi.reason()
        assert abi.reason().endswith("NULL"), abi.reason()


@pytest.mark.parametrize("name", WITH_POINTERS)
def test_all_null(abi: RawAbi, name: str) -> None:
    arguments = CALLS[name](abi)
    arguments.update(dict.fromkeys(pointer_parameters(name), abi.null))
    assert getattr(abi.lib, name)(*arguments.values()) == ALL_NULL_STATUS.get(name, BAD_PARAM)


@pytest.mark.parametrize("name", WITH_POINTERS)
@pytest.mark.parametrize("number", [0, -1, 2**31 - 1, -(2**31)])
def test_all_null_with_odd_numbers(abi: RawAbi, name: str, number: int) -> None:
    """The numbers beside the pointers do not lead anywhere a NULL would be followed."""
    arguments = CALLS[name](abi)
    for param in PROTOTYPES[name]["params"]:
        if param["name"] in pointer_parameters(name):
            arguments[param["name"]] = abi.null
        elif param["type"].removeprefix("const ") == "size_t":
            arguments[param["name"]] = number % 2**64
        elif param["type"].removeprefix("const ") in ("int", "int32_t"):
            arguments[param["name"]] = number
        elif param["type"].removeprefix("const ").startswith("mluOp"):
            arguments[param["name"]] = abi.enum(param["type"].removeprefix("const "), number)
    assert getattr(abi.lib, name)(*arguments.values()) == ALL_NULL_STATUS.get(name, BAD_PARAM)


def test_element_number_of_null_is_0(abi: RawAbi) -> None:
    assert abi.lib.mluOpGetTensorElementNum(abi.null) == 0


@pytest.mark.parametrize("wanted", range(8))
def test_version_skips_null(abi: RawAbi, wanted: int) -> None:
    slots = [abi.out("int") if wanted >> i & 1 else abi.null for i in range(3)]
    abi.lib.mluOpGetLibVersion(*slots)
    assert [slot[0] for slot in slots if slot != abi.null] == [v for i, v in enumerate((1, 11, 1)) if wanted >> i & 1]


@pytest.mark.parametrize("name", ["mluOpSetGroupTensorDescriptors", "mluOpCreateGroupTensorDescriptors",
                                  "mluOpDestroyGroupTensorDescriptors"])  # fmt: skip
def test_null_inside_a_group(abi: RawAbi, name: str) -> None:
    for position in range(2):
        arguments = CALLS[name](abi)
        arguments["group_desc"][position] = abi.null
        assert getattr(abi.lib, name)(*arguments.values()) == BAD_PARAM


def test_null_descriptor_variables_inside_a_group(abi: RawAbi) -> None:
    for name in ("mluOpSetGroupTensorDescriptors", "mluOpDestroyGroupTensorDescriptors"):
        arguments = CALLS[name](abi)
        arguments["group_desc"][1][0] = abi.null
        wanted = SUCCESS if name == "mluOpSetGroupTensorDescriptors" else BAD_PARAM
        assert getattr(abi.lib, name)(*arguments.values()) == wanted
