"""native/abi/generate.py: what it reads from headers, and what it refuses."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
INCLUDE, DEVICE = ROOT / "native/include", ROOT / "native/sim/include"
HEADERS = [
    INCLUDE / "mlu_op.h",
    INCLUDE / "mluops_ext.h",
    DEVICE / "cnrt.h",
    DEVICE / "mlusim.h",
    DEVICE / "mlusim_profile.h",
]


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "native/abi/generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["generate"] = module  # where dataclasses look up annotations
    spec.loader.exec_module(module)
    return module


def test_several_headers_count_as_one(generate: ModuleType) -> None:
    together, alone = generate.read_headers(HEADERS), [generate.read_headers([path]) for path in HEADERS]
    assert together.functions == tuple(function for header in alone for function in header.functions)
    assert "cnrtQueue_t" in alone[0].opaque
    assert "cnrtQueue_t" in alone[2].opaque
    assert together.opaque.count("cnrtQueue_t") == 1
    assert together.text.count(" *cnrtQueue_t;") == 1


def test_what_is_read_from_the_runtime(generate: ModuleType) -> None:
    header = generate.read_headers(HEADERS[2:])
    functions = {function.name: function for function in header.functions}
    copy = functions["cnrtMemcpyAsync"]
    assert copy.returns == "cnrtRet_t"
    assert [parameter.type for parameter in copy.parameters] == [
        "void *", "void *", "size_t", "cnrtQueue_t", "cnrtMemTransDir_t",
    ]  # fmt: skip
    assert functions["mlusimGetLastError"].returns == "const char *"
    assert {"cnrtDim3_t", "cnrtDeviceProp_t", "mlusimFinding"} <= set(header.structs)
    assert {"cnrtNotifier_t", "cnrtHostFn_t"} <= set(header.opaque)
    assert ("cnrtFunctionType_t", "cnrtJobType_t") in header.aliases
    assert dict(next(enum for enum in header.enums if enum.name == "cnrtRet_t").members)["cnrtErrorNotReady"] == 1


def test_exports_are_those_of_the_headers_given(generate: ModuleType) -> None:
    assert "cnrtMalloc;" in generate.exports(generate.read_headers(HEADERS))
    assert "cnrt" not in generate.exports(generate.read_headers(HEADERS[:1]))


def test_entries_stand_for_the_functions_of_the_abi(generate: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "small.h"
    path.write_text(
        "typedef enum { MLUOP_STATUS_SUCCESS = 0 } mluOpStatus_t;\n"
        "mluOpStatus_t MLUOP_WIN_API mluOpNew(const int pad[], const float scale);\n"
        "void mluOpSilent(int mode);\n"
        "mluOpStatus_t mluopsExtOurs(void);\n"
    )
    text = generate.entries(generate.read_headers([path]))
    assert "placeholder_mluOpNew(const int * pad, float scale) {" in text
    assert 'return mluops_not_implemented("mluOpNew");' in text
    assert '{"mluOpNew", (void (*)(void))mluOpNew, (void (*)(void))placeholder_mluOpNew},' in text
    assert '{"mluOpSilent", (void (*)(void))mluOpSilent, NULL},' in text
    assert "placeholder_mluOpSilent" not in text
    assert "mluopsExtOurs" not in text


def test_null_calls_give_every_argument(generate: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "small.h"
    path.write_text(
        "typedef struct mluOpContext *mluOpHandle_t;\n"
        "typedef enum { MLUOP_STATUS_SUCCESS = 0 } mluOpStatus_t;\n"
        "mluOpStatus_t mluOpNew(mluOpHandle_t handle, const int pad[], const float scale, mluOpStatus_t status);\n"
        "mluOpStatus_t mluOpNone(void);\n"
        "void mluOpSilent(int mode);\n"
        "mluOpStatus_t mluopsExtOurs(void);\n"
    )
    text = generate.null_calls(generate.read_headers([path]))
    assert "return mluOpNew((mluOpHandle_t)0, (const int *)0, (float)0, (mluOpStatus_t)0);" in text
    assert "return mluOpNone();" in text
    assert "mluOpSilent" not in text
    assert "mluopsExtOurs" not in text


@pytest.mark.parametrize(
    "declaration",
    [
        "int other(void);",
        "typedef enum { A = 1 << 2 } kind_t;",
        "cnrtRet_t cnrtCall(void (*function)(void *), void *arguments);",
        "cnrtRet_t cnrtCall(int);",
        "extern int variable;",
        "cnrtRet_t cnrtCall(int number)",
    ],
)
def test_what_it_cannot_read_it_refuses(generate: ModuleType, declaration: str, tmp_path: Path) -> None:
    path = tmp_path / "strange.h"
    path.write_text(declaration)
    with pytest.raises(SystemExit, match=r"strange\.h: "):
        generate.read_headers([path])
