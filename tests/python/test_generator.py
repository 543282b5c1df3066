"""native/abi/generate.py: what it reads from headers, and what it refuses."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
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
def generate() -> Iterator[ModuleType]:
    sys.path.append(str(ROOT / "native/abi"))
    yield importlib.import_module("generate")
    sys.path.remove(str(ROOT / "native/abi"))


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


def test_calls_by_name_take_each_argument_out_of_its_field(generate: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "small.h"
    path.write_text(
        "typedef struct mluOpContext *mluOpHandle_t;\n"
        "typedef enum { MLUOP_STATUS_SUCCESS = 0 } mluOpStatus_t;\n"
        "mluOpStatus_t mluOpNew(mluOpHandle_t handle, const int pad[], const float scale, int64_t count);\n"
        "mluOpStatus_t mluopsExtNone(void);\n"
        "void mluOpSilent(int mode);\n"
    )
    text = generate.by_name.calls(generate.read_headers([path]))
    assert "mluOpNew((mluOpHandle_t)a[0].pointer, (const int *)a[1].pointer, (float)a[2].real, (int64_t)a[3]" in text
    assert 'names_mluOpNew[] = {"handle", "pad", "scale", "count"};' in text
    assert '{"mluOpNew", 4, names_mluOpNew, call_mluOpNew},' in text
    assert '{"mluopsExtNone", 0, names_mluopsExtNone, call_mluopsExtNone},' in text
    assert "mluOpSilent" not in text


@pytest.fixture
def marked(tmp_path: Path) -> Path:
    """A folder with one family that marks an operator in double."""
    (tmp_path / "ops" / "nearest").mkdir(parents=True)
    (tmp_path / "ops" / "nearest" / "nearest.cpp").write_text("MLUOPS_IN_DOUBLE(TopNNForward);\n", encoding="utf-8")
    (tmp_path / "mlu_op.h").write_text(
        "mluOpStatus_t MLUOP_WIN_API mluOpTopNNForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t x_desc,\n"
        "    const void *x, const float radius, void *workspace, const size_t workspace_size,\n"
        "    const mluOpTensorDescriptor_t y_desc, void *y);\n"
    )
    return tmp_path


def test_operators_in_double_are_declared_where_they_are_marked(generate: ModuleType, marked: Path) -> None:
    header = generate.read_headers([marked / "mlu_op.h"])
    text = generate.double_declarations(header, marked / "ops")
    assert text.startswith("/* The operators in double")
    assert text.endswith("#endif /* MLUOPS_EXT_DOUBLE_H_ */\n")
    assert "mluOpStatus_t MLUOP_WIN_API mluopsExtTopNNForwardDouble(\n    mluOpHandle_t handle, const mluOp" in text
    assert "const double radius" in text


def test_an_entry_in_double_takes_descriptor_and_data_as_one(generate: ModuleType, marked: Path) -> None:
    header = generate.read_headers([marked / "mlu_op.h"])
    (marked / "mluops_ext").mkdir()
    part = marked / "mluops_ext" / "double.h"
    part.write_text(generate.double_declarations(header, marked / "ops"), encoding="utf-8")
    path = marked / "mluops_ext.h"
    path.write_text('#include "mluops_ext/double.h"\n', encoding="utf-8")
    text = generate.double_entries(generate.read_headers([marked / "mlu_op.h", path]), marked / "ops")
    assert (
        "mluOpStatus_t top_nn_forward(const Entry &, mluOpHandle_t, const TensorArgument &, double, void *, size_t, "
        "const TensorArgument &);" in text
    )
    assert (
        'return mluops::top_nn_forward({"mluopsExtTopNNForwardDouble", true}, handle, {"x", x_desc, x}, radius, '
        'workspace, workspace_size, {"y", y_desc, y});' in text
    )


def test_an_operator_in_double_that_no_header_declares_is_an_error(generate: ModuleType, marked: Path) -> None:
    header = generate.read_headers([marked / "mlu_op.h"])
    with pytest.raises(SystemExit, match=r"mluops_ext/double\.h: does not declare TopNNForward in double"):
        generate.double_entries(header, marked / "ops")
    (marked / "ops" / "nearest" / "nearest.cpp").write_text("MLUOPS_IN_DOUBLE(Unknown);\n", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"MLUOPS_IN_DOUBLE\(Unknown\): no header declares mluOpUnknown"):
        generate.double_declarations(header, marked / "ops")


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
