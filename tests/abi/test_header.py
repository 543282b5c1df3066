"""The header, and the cffi module made from it, against the facts about mlu-ops 1.11.1."""

from __future__ import annotations

import re
from typing import Any

import pytest

from abi.c_objects import RawAbi
from abi.facts import ENUMS, EXTENSION_HEADER, EXTENSIONS, FACTS, FUNCTIONS, HANDLES, HEADER, Declarations, read_headers


@pytest.fixture(scope="module")
def header() -> Declarations:
    return read_headers(HEADER)


#: The functions that this project adds.
OURS = sorted(read_headers(HEADER, EXTENSION_HEADER).functions.keys() - FUNCTIONS.keys())


@pytest.fixture(scope="module")
def both() -> Declarations:
    return read_headers(HEADER, EXTENSION_HEADER)


def test_constants(header: Declarations) -> None:
    assert header.constants == FACTS["constants"]


def test_enumerations_and_their_order(header: Declarations) -> None:
    assert list(header.enums) == list(ENUMS)
    for name, items in ENUMS.items():
        assert list(header.enums[name].items()) == list(items.items()), name


def test_opaque_handles(header: Declarations) -> None:
    queue = {"cnrtQueue_t": "CNqueue_st"}
    assert header.handles == {**HANDLES, **queue}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(header: Declarations, name: str) -> None:
    assert name in header.functions
    declared, wanted = header.functions[name], FUNCTIONS[name]
    assert declared["returns"] == wanted["returns"]
    assert declared["params"] == wanted["params"]


def test_the_header_declares_all_functions_and_no_other(header: Declarations) -> None:
    assert len(FUNCTIONS) == 189
    assert set(header.functions) == set(FUNCTIONS)


def test_only_extensions_are_ours(both: Declarations) -> None:
    ours = {name: _types(both.functions[name]) for name in OURS}
    operators = {name for name, (_, types) in ours.items() if types[:1] == ["mluOpHandle_t"]}
    assert {name: types for name, types in ours.items() if name not in operators} == EXTENSIONS
    assert all(name.startswith("mluopsExt") for name in ours)
    assert all(ours[name][0] == "mluOpStatus_t" for name in operators)
    assert operators


def _types(declared: dict[str, Any]) -> tuple[str, list[str]]:
    return declared["returns"], [param["type"].removesuffix(" const") for param in declared["params"]]


def test_headers_need_only_standard_headers() -> None:
    parts = sorted(EXTENSION_HEADER.with_suffix("").glob("*.h"))
    includes = [
        re.findall(r"#\s*include\s*[<\"](.+?)[>\"]", path.read_text(encoding="utf-8"))
        for path in (HEADER, EXTENSION_HEADER, *parts)
    ]
    # Those of the toolkit are included where they are.
    assert includes[0] == ["stdbool.h", "stddef.h", "stdint.h", "cnrt.h", "cn_api.h"]
    assert sorted(includes[1]) == [f"mluops_ext/{part.name}" for part in parts]
    assert includes[2:] == [["mlu_op.h"]] * len(parts)


# ---- cffi ----------------------------------------------------------------------------------------


def _cffi_signature(abi: RawAbi, returns: str, params: list[str]) -> object:
    """The cffi function pointer type; cffi knows no const on parameters, so equal types are one object."""
    return abi.ffi.typeof(f"{returns}(*)({', '.join(params) or 'void'})")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_cffi_function_type(abi: RawAbi, name: str) -> None:
    wanted = FUNCTIONS[name]
    params = [param["type"] for param in wanted["params"]]
    assert abi.ffi.typeof(getattr(abi.lib, name)) is _cffi_signature(abi, wanted["returns"], params)


@pytest.mark.parametrize("name", OURS)
def test_cffi_extension_type(abi: RawAbi, both: Declarations, name: str) -> None:
    assert abi.ffi.typeof(getattr(abi.lib, name)) is _cffi_signature(abi, *_types(both.functions[name]))


@pytest.mark.parametrize("name", ENUMS)
def test_cffi_enumeration(abi: RawAbi, name: str) -> None:
    assert abi.ffi.typeof(name).relements == ENUMS[name]
    for enumerator, value in ENUMS[name].items():
        assert getattr(abi.lib, enumerator) == value
    assert abi.ffi.sizeof(name) == 4


def test_cffi_lists_every_function(abi: RawAbi, both: Declarations) -> None:
    functions = {name for name in dir(abi.lib) if name.startswith(("mluOp", "mluops"))}
    assert functions == set(both.functions)
