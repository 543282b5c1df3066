"""Accesses of kernels that Clang, or the compiler of ziglang, compiles: each is seen, or no kernel has it."""

from __future__ import annotations

import importlib.util
import shutil
import sys

import numpy as np
import pytest

import pymluops
from pymluops import bang, sim

COMPILERS = [
    *([f"{sys.executable} -P -m ziglang c++"] if importlib.util.find_spec("ziglang") else []),
    *(name for name in ("clang++", "clang++-16", "clang++-19") if shutil.which(name)),
]
HEAD = """
#include <cstring>
typedef float V8 __attribute__((vector_size(32)));
struct S { float f[64]; };
#define PASTE(a, b) a##b
"""
KERNEL = "{head}\n__mlu_entry__ void kernel(const float *x, float *out) {{ float *bad = out + 64; {code} }}\n"
SEEN = [
    "*bad = 1;",
    "*bad += 1;",
    "__builtin_nontemporal_store(1.f, bad);",
    "memcpy(bad, x, 256);",
    "(memcpy)(bad, x, 256);",
    "__builtin_bcopy(x, bad, 64);",
    "*(S *)bad = *(const S *)x;",
    "__atomic_fetch_add((int *)bad, 1, 0);",
]
REFUSED = [
    ("*(V8 *)bad = V8{x[0]};", "", "writes 32 bytes at once"),
    ("*(long double *)bad = x[0];", "", "writes 10 bytes at once"),
    ("__atomic_fetch_max((int *)bad, 3, 0);", "", "uses an atomic operation that no checker sees"),
    ("__builtin_prefetch(bad);", "", "uses llvm.prefetch"),
    ('PASTE(__as, m__) volatile("nop" : : "r"(bad));', "", "of the host"),
    ("*(__attribute__((address_space(256))) int *)8 = 1;", "", "in an address space of the host"),
    ("f(bad);", '__attribute__((noinline, no_sanitize("thread"))) void f(float *p) { *p = 1; }', "without checks"),
    (
        "f(bad);",
        "__attribute__((noinline, disable_sanitizer_instrumentation)) void f(float *p) { *p = 1; }",
        "without checks",
    ),
    ("auto *volatile f = memcpy; f(bad, x, 256);", "", "takes the address of memcpy"),
]
pytestmark = pytest.mark.thorough


@pytest.fixture(params=COMPILERS, autouse=True)
def _compiler(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYMLUOPS_CXX", request.param)


@pytest.mark.parametrize("code", SEEN)
def test_a_write_behind_the_end_is_found(code: str) -> None:
    module = bang.compile(HEAD + KERNEL.format(head="", code=code))
    x, out = np.zeros(64, np.float32), np.zeros(64, np.float32)
    with pytest.raises(pymluops.ExecutionFailedError, match="memory/"), sim.checking("all"):
        module.kernel("kernel")[1](x, out)
    sim.clear_findings()


@pytest.mark.parametrize(("code", "head", "message"), REFUSED)
def test_an_unseen_access_is_an_error_with_its_line(code: str, head: str, message: str) -> None:
    with pytest.raises(bang.CompileError, match=rf"<source>:\d+: error: a kernel [^\n]*{message}"):
        bang.compile(HEAD + KERNEL.format(head=head, code=code))
