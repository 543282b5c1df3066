"""The header, and the cffi module made from it, against the facts about mlu-ops 1.11.1."""

from __future__ import annotations

import re

import pytest

from abi.facts import ENUMS, EXTENSIONS, FACTS, FUNCTIONS, HANDLES, HEADER, Declarations, read_header
from abi.raw import RawAbi


@pytest.fixture(scope="module")
def header() -> Declarations:
    return read_header()


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


def test_groups_are_complete() -> None:
    counts: dict[str, int] = {}
    for function in FUNCTIONS.values():
        counts[function["group"]] = counts.get(function["group"], 0) + 1
    assert counts == {
        "Runtime Management": 8,
        "Version Management": 1,
        "QuantizeRoundMode": 2,
        "Tensor": 28,
        "TensorSet": 7,
        "SeqData": 5,
        "SparseConv": 6,
        "ThreeInterpolate": 2,
        "Psamask": 2,
        "BorderAlign": 2,
        "TinShift": 2,
    }


def test_only_extensions_are_ours(header: Declarations) -> None:
    ours = {
        name: (declared["returns"], [param["type"] for param in declared["params"]])
        for name, declared in header.functions.items()
        if name not in FUNCTIONS
    }
    assert ours == EXTENSIONS
    assert all(name.startswith("mluopsExt") for name in ours)


def test_header_needs_only_standard_headers() -> None:
    includes = re.findall(r"#\s*include\s*[<\"](.+?)[>\"]", HEADER.read_text(encoding="utf-8"))
    assert includes == ["stddef.h", "stdint.h"]


def test_vendor_style_name_includes_the_header() -> None:
    text = (HEADER.parent / "mlu_op.h").read_text(encoding="utf-8")
    assert re.findall(r"^#include (.+)$", text, flags=re.MULTILINE) == ['"mlu_op.h"']


# ---- cffi ------------------------------------------------------------------------------------------------------------


def _cffi_signature(abi: RawAbi, returns: str, params: list[str]) -> object:
    """The cffi function pointer type; cffi knows no const on parameters, so equal types are one object."""
    return abi.ffi.typeof(f"{returns}(*)({', '.join(params) or 'void'})")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_cffi_function_type(abi: RawAbi, name: str) -> None:
    wanted = FUNCTIONS[name]
    params = [param["type"] for param in wanted["params"]]
    assert abi.ffi.typeof(getattr(abi.lib, name)) is _cffi_signature(abi, wanted["returns"], params)


@pytest.mark.parametrize("name", EXTENSIONS)
def test_cffi_extension_type(abi: RawAbi, name: str) -> None:
    assert abi.ffi.typeof(getattr(abi.lib, name)) is _cffi_signature(abi, *EXTENSIONS[name])


@pytest.mark.parametrize("name", ENUMS)
def test_cffi_enumeration(abi: RawAbi, name: str) -> None:
    assert abi.ffi.typeof(name).relements == ENUMS[name]
    for enumerator, value in ENUMS[name].items():
        assert getattr(abi.lib, enumerator) == value
    assert abi.ffi.sizeof(name) == 4


def test_cffi_lists_every_function(abi: RawAbi) -> None:
    functions = {name for name in dir(abi.lib) if name.startswith(("mluOp", "mluops"))}
    assert functions == set(FUNCTIONS) | set(EXTENSIONS)
