"""Macros that declare variables in the memories of a device."""

from __future__ import annotations

import pytest

from pymluops.sim.translator import translate
from support.translation import refusal, translated

BUFFER = "#define BUFFER(name, T) __nram__ T name##_[64]\n"


@pytest.mark.parametrize(
    ("use", "scope"),
    [
        ("", "LOCAL"),
        ("BUFFER(a, int);", "NUMBERED"),
        ("namespace n { BUFFER(a, int); }", "NUMBERED"),
        ("void f() { BUFFER(a, int); }", "LOCAL"),
        ("#define OTHER BUFFER(a, int)\nOTHER;", "NUMBERED"),
        ("#define OTHER BUFFER(a, int)\n#define THIRD OTHER; OTHER\nvoid f() { THIRD; }", "LOCAL"),
        ("#define OTHER void f() { BUFFER(a, int); }\nOTHER", "LOCAL"),
        ("#define OTHER namespace n { BUFFER(a, int); }\nOTHER", "NUMBERED"),
        ("#if 0\nBUFFER(a, int);\n#endif\nvoid f() { BUFFER(b, int); }", "LOCAL"),
    ],
)
def test_a_declaration_in_a_macro_stands_where_that_is_used(use: str, scope: str) -> None:
    wanted = f"#define BUFFER(name, T) MLUSIM_{scope}_ARRAY(mlusim_nram, name##_, T[64])\n"
    assert translated(BUFFER + use).startswith(wanted)


def test_a_declaration_in_a_macro_with_a_value() -> None:
    source = "#define TABLE(T) \\\n  __nram__ T table[2] = \\\n      {1, 2};\nTABLE(int)\n"
    kind = "::mlusim::mlusim_remove_const<decltype(mlusim_initial_table)>"
    wanted = (
        "#define TABLE(T) \\\n  static constexpr T mlusim_initial_table[2] = \\\n      {1, 2}"
        f"; MLUSIM_NUMBERED_ARRAY_INIT(mlusim_nram, table, {kind});\nTABLE(int)\n"
    )
    assert translated(source) == wanted


def test_braces_in_a_macro_are_scopes_too() -> None:
    source = "#define K(T) void k_##T() { __nram__ T x[2]; } namespace n { __nram__ T y[2]; }\nK(int)"
    wanted = (
        "#define K(T) void k_##T() { MLUSIM_LOCAL_ARRAY(mlusim_nram, x, T[2]); } "
        "namespace n { MLUSIM_NUMBERED_ARRAY(mlusim_nram, y, T[2]); }\nK(int)"
    )
    assert translated(source) == wanted


def test_names_that_a_macro_pastes() -> None:
    source = "#define P(n) __nram__ int *n##_##p[2], n##q, r##n = 1\nvoid f() { P(a); }"
    initial = "static constexpr int mlusim_initial_r##n = 1"
    kind = "::mlusim::mlusim_remove_const<decltype(mlusim_initial_r##n)>"
    wanted = (
        "#define P(n) MLUSIM_LOCAL_ARRAY(mlusim_nram, n##_##p, int *[2]); MLUSIM_LOCAL_ARRAY(mlusim_nram, n##q, int); "
        f"{initial}; MLUSIM_LOCAL_ARRAY_INIT(mlusim_nram, r##n, {kind})\nvoid f() {{ P(a); }}"
    )
    assert translated(source) == wanted


def test_a_macro_of_two_scopes_has_two_bodies() -> None:
    text = translate("\n" + BUFFER + "BUFFER(a, int);\nvoid f() { BUFFER(b, int); }", "x.mlu").splitlines()[1:]
    assert text[1] == "#define BUFFER(name, T) MLUSIM_NUMBERED_ARRAY(mlusim_nram, name##_, T[64])"
    assert text[2] == "#define mlusim_own_BUFFER(name, T) MLUSIM_LOCAL_ARRAY(mlusim_nram, name##_, T[64])"
    assert text[3] == '#line 3 "x.mlu"'
    assert text[4:] == ["BUFFER(a, int);", "void f() { mlusim_own_BUFFER(b, int); }"]


def test_a_macro_of_a_class_and_a_function_is_refused() -> None:
    line, message = refusal("\n" + BUFFER + "struct S { BUFFER(a, int); };\nvoid f() { BUFFER(b, int); }")
    assert line == 2
    assert "BUFFER" in message
    assert "in a class and in a function" in message


def test_a_macro_in_a_class_is_refused() -> None:
    assert "member of a class" in refusal(BUFFER + "struct S { BUFFER(a, int); };")[1]
