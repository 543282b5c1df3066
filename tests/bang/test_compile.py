"""Compiling sources into modules: errors, several files, the cache."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pymluops
from pymluops import bang, sim


def test_what_the_architecture_lacks_is_said_in_plain_words() -> None:
    source = "__mlu_entry__ void f(int *x, int n) {\n  __bang_rem(x, x, x, n);\n}\n"
    wanted = r"(?m):2:\d+: error: .*`__bang_rem` needs architecture 592 or newer; this is compiled for 372$"
    with pytest.raises(bang.CompileError, match=wanted):
        bang.compile(source, arch="mtp_372")
    assert "f" in bang.compile(source, arch="mtp_592").kernels


def test_what_the_architecture_lacks_is_one_error_for_each_place() -> None:
    source = "__nram__ int x[64];\n__nram__ bfloat16_t b[64];\n__mlu_entry__ void f() {\n  __bang_rem(x, x, x, 64);\n"
    source += "  __bang_add(b, b, b, 64);\n  __bang_rem(x, x, x, 64);\n  wrong;\n}\n"
    with pytest.raises(bang.CompileError) as caught:
        bang.compile(source, arch="mtp_372")
    lines = str(caught.value).splitlines()
    errors = [line for line in lines if ": error: " in line]
    assert [line.split(":")[1] for line in errors] == ["4", "5", "6", "7"]
    assert errors[1].endswith("this form of `__bang_add` needs architecture 592 or newer; this is compiled for 372")
    assert "lacking.h" not in str(caught.value)


def test_an_error_names_the_line_of_the_original(tmp_path: Path) -> None:
    (tmp_path / "part.mluh").write_text("#pragma once\n\n__nram__ float x[2];\nint g() { return wrong; }\n")
    main = tmp_path / "main.mlu"
    main.write_text('#include "part.mluh"\n__mlu_entry__ void f() {}\n')
    wanted = rf"(?m)^{tmp_path}/part\.mluh:4:\d+: error: (.wrong. was not declared|use of undeclared identifier)"
    with pytest.raises(bang.CompileError, match=wanted):
        bang.compile(main)
    main.write_text('#include "part.mluh"\n\nstruct S { __nram__ int x[2]; };\n')
    with pytest.raises(bang.CompileError, match=rf"^{main}:3: __nram__ cannot be used for a member"):
        bang.compile([main])


def test_several_sources_macros_and_folders(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "fill.h").write_text("__mlu_entry__ void fill(int *out);\n")
    one, two = tmp_path / "one.mlu", tmp_path / "two.cpp"
    one.write_text("#include <fill.h>\n__mlu_entry__ void fill(int *out) { out[0] = VALUE + __BANG_ARCH__; }\n")
    two.write_text("int g() { return VALUE * NOTHING(2); }\n")
    module = bang.compile(
        [str(one), two],
        include_dirs=[tmp_path / "include"],
        defines={"VALUE": 5, "NOTHING(x)": "x"},
        arch=592,
        options=["-O1"],
    )
    out = np.zeros(1, np.int32)
    module.kernel("fill")[1](out)
    assert (out[0], module.function("g")()) == (597, 10)


def test_what_did_not_change_is_not_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYMLUOPS_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "two").mkdir()
    header = tmp_path / "two" / "value.h"
    header.write_text("#define VALUE 1\n")
    source = tmp_path / "main.mlu"
    source.write_text("#include <value.h>\nint value() { return VALUE; }\n")
    folders = [tmp_path / "one", tmp_path / "two"]
    folders[0].mkdir()

    def value() -> tuple[Any, Path]:
        module = bang.compile(source, include_dirs=folders)
        return module.function("value")(), module.path

    first = value()
    start = time.perf_counter()
    assert value() == first == (1, first[1])
    assert time.perf_counter() - start < 0.5  # 50 ms on an idle machine
    header.write_text("#define VALUE 2\n")
    assert value()[0] == 2
    (folders[0] / "value.h").write_text("#define VALUE 3\n")  # found before the other one
    assert value()[0] == 3
    assert [path.name for path in (tmp_path / "cache").iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"source_or_paths": "missing.mlu"}, "source_or_paths: missing.mlu: No such file"),
        ({"source_or_paths": []}, "source_or_paths: expected a source or paths, got an empty list"),
        ({"source_or_paths": 5}, "source_or_paths: expected a list, got 5"),
        ({"arch": "mtp_613"}, r"arch: expected one of 'mtp_270' \(MLU270\), "),
        ({"arch": None}, "arch: expected one of"),
        ({"include_dirs": "x"}, "include_dirs: expected a list"),
        ({"include_dirs": ["missing"]}, "include_dirs: expected folders, got missing"),
        ({"defines": {"a b": 1}}, "defines: expected names of macros, got 'a b'"),
        ({"defines": ["a"]}, "defines: expected a mapping"),
        ({"options": "-O2"}, "options: expected a list"),
        ({"options": [1]}, "options: expected texts, got 1"),
    ],
)
def test_arguments_of_compile(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(pymluops.BadParamError, match=f"^compile: {said}"):
        bang.compile(**({"source_or_paths": "void f() {}"} | arguments))


def test_a_compiler_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYMLUOPS_CXX", "no-such-compiler -O2")
    with pytest.raises(pymluops.NotInitializedError, match="PYMLUOPS_CXX: expected the command of a C"):
        bang.compile("void f() {}")
    monkeypatch.setenv("PYMLUOPS_CXX", "")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "ziglang", None)
    with pytest.raises(pymluops.NotInitializedError, match=r"there is no C\+\+ compiler: install g\+\+"):
        bang.compile("void f() {}")


def test_a_cache_that_cannot_be_written_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYMLUOPS_CACHE_DIR", "/dev/null/cache")
    with pytest.raises(pymluops.NotInitializedError, match="set PYMLUOPS_CACHE_DIR to a folder that can be written"):
        bang.compile("void f() {}")


def test_a_source_with_no_kernel_is_a_module() -> None:
    module = bang.compile("int unused(int);\n")
    assert (dict(module.kernels), dict(module.functions)) == ({}, {})


def test_a_call_that_no_form_of_an_intrinsic_fits_is_told_in_a_few_lines() -> None:
    with pytest.raises(bang.CompileError) as caught:
        bang.compile("__nram__ float x[64];\n__mlu_entry__ void f() {\n  __bang_mlp(x, x, 1, 2, 3, 4, 5, 6, 7);\n}\n")
    lines = str(caught.value).splitlines()
    assert re.search(r":3:\d+: error: no matching function for call to .__bang_mlp", "\n".join(lines))
    assert "candidate" not in str(caught.value)
    prototype = "note: void __bang_mlp(T *dst, const S *src, const F *weight, int height, int width, int fix_position)"
    assert prototype in lines
    assert lines[-1] == "note: `pymluops kernel help __bang_mlp` tells what they mean"
    assert len(lines) < 25


@pytest.mark.parametrize("call", ["__bang_transpose(x, x, 8)", "__bang_transpose(x, x, 8, 8, 1)", "__is_ipu(3)"])
def test_a_wrong_call_of_an_intrinsic_shows_its_prototype(call: str) -> None:
    name = call.partition("(")[0]
    source = f"__nram__ float x[64];\n__mlu_entry__ void f() {{\n  {call};\n  {call};\n}}\n"
    with pytest.raises(bang.CompileError) as caught:
        bang.compile(source)
    lines = str(caught.value).splitlines()
    shown = [line for line in lines if re.match(rf"note: \w+ {name}\(", line)]
    assert len(shown) == 1, "once for all calls"
    assert lines.count(f"note: `pymluops kernel help {name}` tells what they mean") == 1
    assert sum(": error: " in line for line in lines) == 2
    assert not any("mlusim/" in line for line in lines)
    assert "MLUOPS_MODULE" not in str(caught.value)


def test_other_names_of_the_device_header() -> None:
    names = ("bang.h", "mlu.h", "bang_device_functions.h", "bang_device_functions_decls.h", "bang_device_types.h")
    source = "".join(f"#include <{name}>\n" for name in names)
    assert "f" in bang.compile(source + "__mlu_entry__ void f(half *x) { __bang_abs(x, x, 1); }\n").kernels


LAUNCHES = """
#define NAMED(name) name##_kernel
#define ONE second
__mlu_entry__ void first_kernel(float *o, int n) { o[n] = 1; }
__mlu_entry__ void second(float *o, int n) { o[n] = 1; }
#define IN_BODY ONE<<<dim, cnrtFuncTypeBlock, q>>>(o, n)
int run(cnrtQueue_t q, float *o, int n, int which) {
  cnrtDim3_t dim = {1, 1, 1};
  if (which == 0) NAMED(first)<<<dim, cnrtFuncTypeBlock, q>>>(o, n);
  if (which == 1) ONE<<<dim, cnrtFuncTypeBlock, q>>>(o, n);
  if (which == 2) IN_BODY;
  return cnrtQueueSync(q);
}
"""


def test_kernels_that_macros_name_have_their_own_names() -> None:
    run = bang.compile(LAUNCHES).function("run")
    with pymluops.DeviceArray((4,), "float32", "sim") as out, pymluops.Queue(backend="sim") as queue:
        for which, name in enumerate(("first_kernel", "second", "second")):
            with sim.checking("all"):
                sim.clear_findings()
                assert run(queue, out, 4, which) != 0
                assert [found.kernel for found in sim.findings()] == [name]
    sim.clear_findings()


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("__mlu_entry__ int k(float *o) { return 1; }", "a kernel returns void, not int"),
        (
            "__mlu_entry__ void k(float *o);\nvoid h(float *o) { k<<<1, 2, 3>>>(o); }",
            "`<<<dim, type, queue>>>` takes a cnrtDim3_t, a cnrtFunctionType_t and a cnrtQueue_t",
        ),
        (
            "__mlu_entry__ void k(float *o) {}\n"
            "void h(float *o, cnrtQueue_t q) { k<<<cnrtDim3_t{1, 1, 1}, cnrtFuncTypeBlock, q>>>(o, 3); }",
            "too many arguments to function",
        ),
    ],
)
def test_errors_about_launches_have_the_words_of_the_language(source: str, told: str) -> None:
    with pytest.raises(bang.CompileError) as caught:
        bang.compile(source)
    text = str(caught.value)
    assert text.count(told) == 1
    assert text.count("error: ") <= 1
    for word in ("mlusim", "launch(", "lambda", "launch.h", "required from"):
        assert word not in text, text


def test_errors_name_the_types_of_arrays() -> None:
    source = """__nram__ float wide[64], far[2];
namespace other { __nram__ half far[3]; }
__mlu_entry__ void f(float *x) {
  __nram__ half narrow[32][2];
  __bang_add(wide, narrow, far, 64, 5);
}
"""
    with pytest.raises(
        bang.CompileError, match=r"__bang_add\(float \[64\], half \[32\]\[2\], decltype\(far\), int, int\)"
    ):
        bang.compile(source)


def test_a_definition_twice_is_no_fault_of_a_header(tmp_path: Path) -> None:
    paths = [tmp_path / "one.mlu", tmp_path / "two.mlu"]
    for path in paths:
        path.write_text("#include <bang.h>\n__mlu_entry__ void twice(float *o) { o[0] = 1; }\n", encoding="utf-8")
    with pytest.raises(bang.CompileError) as caught:
        bang.compile(paths)
    assert "multiple definition of" in str(caught.value)
    assert "exception.h" not in str(caught.value)
