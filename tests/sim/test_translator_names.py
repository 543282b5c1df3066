"""Names at file scope that the C library has taken."""

from __future__ import annotations

import pytest

from support.translation import translated


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("int index; int f() { return index; }", "int mlusim_own_index; int f() { return mlusim_own_index; }"),
        ("int a, index = 3;", "int a, mlusim_own_index = 3;"),
        ("int a[2] = {1, 2}, *y1[2];", "int a[2] = {1, 2}, *mlusim_own_y1[2];"),
        ("namespace { int y0; }\nint x = ::y0;", "namespace { int mlusim_own_y0; }\nint x = ::mlusim_own_y0;"),
        ('extern "C" { int y0; }', 'extern "C" { int mlusim_own_y0; }'),
        ("int y0;\n#define Y y0 + 1", "int mlusim_own_y0;\n#define Y mlusim_own_y0 + 1"),
        ("float exp; float f(P p) { return exp + exp(2) + std::exp(1) + p.exp; }",
         "float mlusim_own_exp; float f(P p) { return mlusim_own_exp + exp(2) + std::exp(1) + p.exp; }"),
        ("float y0; struct P { float y0; }; float f(P p) { return p.y0; }",
         "float mlusim_own_y0; struct P { float mlusim_own_y0; }; float f(P p) { return p.mlusim_own_y0; }"),
        ("using namespace std;\nint data;", "using namespace std;\nint mlusim_own_data;"),
        # Nothing clashes.
        ("namespace a { int y1; }", "namespace a { int y1; }"),
        ("void f(int y1) { int index; }", "void f(int y1) { int index; }"),
        ("struct S { int y1; };", "struct S { int y1; };"),
        ("int data;", "int data;"),
        ("using std::exp;", "using std::exp;"),
        ("typedef int y1;", "typedef int y1;"),
        ("int index(int a) { return a; }", "int index(int a) { return a; }"),
        # Kernels.
        ('extern "C" __mlu_entry__ void exp(float *x) {}', 'extern "C++" __mlu_entry__ void exp(float *x) {}'),
        ('extern "C" { __mlu_entry__ void exp(int); }', 'extern "C" { extern "C++" __mlu_entry__ void exp(int); }'),
        ('extern "C" __mlu_entry__ void add(float *x) {}', 'extern "C" __mlu_entry__ void add(float *x) {}'),
        ('extern "C" void exp(float *x) {}', 'extern "C" void exp(float *x) {}'),
        ("template <class T> __mlu_entry__ void exp(T *x) {}", "template <class T> __mlu_entry__ void exp(T *x) {}"),
    ],
)  # fmt: skip
def test_names_that_are_taken(source: str, wanted: str) -> None:
    assert translated(source) == wanted


def test_headers_of_the_system_declare_names_themselves() -> None:
    source = '# 1 "/usr/include/string.h" 1 3\nextern int index;\n# 2 "a.mlu" 2\nint f() { return index; }'
    assert "mlusim_own" not in translated(source)
