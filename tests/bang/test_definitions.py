"""What the descriptions of kernels and functions say, and where they stand."""

from __future__ import annotations

import re

import hypothesis.strategies as st
import pytest
from hypothesis import given

from pymluops.bang._definitions import with_entries
from pymluops.bang._registry import Parameter, parameters_of
from support.selection import examples


def entries(text: str) -> list[str]:
    """The descriptions that a source gets."""
    described = with_entries(text, "x.mlu")
    assert described.count("\n") == text.count("\n")
    return re.findall(r"MLUOPS_MODULE_(\w+\(.*?\)\);)", described)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("__mlu_entry__ void f(int *a, float b) {}", 'KERNEL(1, "", f, (int *a, float b));'),
        ("\n__mlu_global__ static void f() { if (1) {} }", 'KERNEL(2, "", f, ());'),
        ('extern "C" {\n__mlu_entry__ void f(int a = g(1, 2), int b = 3) {}\n}', 'KERNEL(2, "", f, (int a, int b));'),
        (
            "namespace a { namespace { namespace b::c { __mlu_entry__ void f() {} } } }",
            'KERNEL(1, "a::b::c::", f, ());',
        ),
        (
            "template <typename T, int N = 4>\n__mlu_entry__ void f(T *x) {}",
            'TEMPLATE(2, "", f, "template <typename T, int N = 4>", (T *x));',
        ),
        ("int g(const char *s) noexcept(true) { return 0; }", 'FUNCTION(1, "", g, (const char *s));'),
        ("#define K(n) \\\n  __mlu_entry__ void f_##n(int *n) {}\nK(1)", 'KERNEL(__LINE__, "", f_##n, (int *n));'),
        ("#define BEGIN namespace a {\nBEGIN\n__mlu_entry__ void f() {}", 'KERNEL(3, "", f, ());'),
        ("#ifdef A\nU(a)\n#else\nU(b) U(c)\n#endif\n__mlu_entry__ void f() {}", 'KERNEL(6, "", f, ());'),
        ('#ifdef A\nextern "C"\n#endif\n__mlu_entry__ void f() {}', 'KERNEL(4, "", f, ());'),
        ("#if A\nEXPORT [[used]]\n#endif\n__mlu_entry__ void f() {}", 'KERNEL(4, "", f, ());'),
        ("#if A\nstatic\n#endif\n__mlu_entry__ void f() {}", 'KERNEL(4, "", f, ());'),
        ("#ifndef A\nU(a)\n#endif\nint g() { return 0; }", 'FUNCTION(4, "", g, ());'),
        ("MACRO(1)\n__mlu_entry__ void f(void (*g)(int)) {}", 'KERNEL(2, "", f, (void (*g)(int)));'),
    ],
)
def test_a_definition_is_described(text: str, expected: str) -> None:
    assert entries(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "__mlu_entry__ void f(int);",
        "__mlu_func__ int g(int a) { return a; }",
        "static int g() { return 0; }",
        "inline int g() { return 0; }",
        "template <typename T> T g(T a) { return a; }",
        "int S::g() { return 0; }",
        "struct S { int g() { return 0; } };",
        "S::S(int a) : a(a) {}",
        "int main() { return 0; }",
        "bool operator<(S a, S b) { return false; }",
        "int g(const char *format, ...) { return 0; }",
        "int a[] = {1, 2};",
        "auto g = [](int a) { return a; };",
        "TEST(a, b) { run(); }",
        "MACRO(1) MACRO(2) int x{1};",
        "#define G(n) int g_##n() { return n; }",
        "int g(\n#ifdef A\nint a\n#else\nfloat a\n#endif\n) { return 0; }",
    ],
)
def test_what_is_no_kernel_and_no_host_function_is_left_alone(text: str) -> None:
    assert with_entries(text, "x.mlu") == text


def test_a_condition_in_a_body_does_not_matter() -> None:
    text = "__mlu_entry__ void f() {\n#if A\n  if (a) {\n#else\n  if (b) {\n#endif\n  }\n}\nint x;\n"
    described = with_entries(text, "x.mlu").splitlines()
    assert described[7] == '} MLUOPS_MODULE_KERNEL(1, "", f, ());'


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("()", ()),
        ("(void)", ()),
        ("(const float *x, int n)", (Parameter("x", "const float *"), Parameter("n", "int"))),
        ("(std::map<int, P<2>> m)", (Parameter("m", "std::map<int, P<2>>"),)),
        ("(float, const void *)", (Parameter("argument 1", "float"), Parameter("argument 2", "const void *"))),
        ("(int sizes[4][2])", (Parameter("sizes", "int [4][2]"),)),
    ],
)
def test_parameters_are_taken_apart(written: str, expected: tuple[Parameter, ...]) -> None:
    assert parameters_of(written) == expected


def test_a_parameter_is_written_as_in_a_source() -> None:
    assert [str(p) for p in parameters_of("(const float *x, int n)")] == ["const float *x", "int n"]


PIECES = [
    *(
        "__mlu_entry__",
        "__mlu_func__",
        "template",
        "<",
        ">",
        "typename T",
        "void",
        "f",
        "g",
        "int a",
        ",",
        "(",
        ")",
        "{",
        "}",
    ),
    *(";", "=", "namespace", "struct S", 'extern "C"', "\n", "\n#if A\n", "\n#else\n", "\n#endif\n", "\n#define M(x) "),
    *("::", "operator", "*", ":", "...", "[", "]", '"text"', "// comment\n", "##", "static", "noexcept(1)"),
]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join))
@examples(500)
def test_any_text_keeps_what_it_says(text: str) -> None:
    described = with_entries(text, "x.mlu")
    assert described.count("\n") == text.count("\n")
    # Insertions only: the text is what is left of it.
    rest = iter(described)
    assert all(character in rest for character in text)
