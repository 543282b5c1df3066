"""BANG C becomes C++: launches, variables in memories, inline assembly, doubled `inline`; and nothing else changes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pymluops.sim.translator import TranslationError, translate

FOLDER = Path(__file__).resolve().parents[2] / "pymluops" / "sim"
EACH = "[=](const auto &...mlusim_each) {{ {0}(mlusim_each...); }}"


def translated(source: str) -> str:
    """What a source becomes, without the line that names it."""
    first, rest = translate(source, "some.mlu").split("\n", 1)
    assert first == '#line 1 "some.mlu"'
    assert rest.count("\n") == source.count("\n")
    return rest


def in_function(statement: str) -> str:
    """What a statement of a function becomes."""
    begin, end = "void f() { ", " }"
    result = translated(begin + statement + end)
    assert result.startswith(begin)
    assert result.endswith(end)
    return result[len(begin) : len(result) - len(end)]


def launch(kernel: str, arguments: str = "", config: str = "(dim), (type), (queue)", call: str | None = None) -> str:
    """The call that a launch becomes."""
    function = EACH.format(kernel if call is None else call)
    return f'::mlusim::launch("{kernel}", &::mlusim::unit, {config}, {function}{arguments})'


def refusal(source: str) -> tuple[int, str]:
    """Line and text of the message about a source."""
    with pytest.raises(TranslationError) as caught:
        translate(source, "some.mlu")
    assert str(caught.value) == f"some.mlu:{caught.value.line}: {caught.value.message}"
    return caught.value.line, caught.value.message


# ---- launches --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kernel",
    [
        "kernel",
        "kernel<float>",
        "kernel<float, 3>",
        "kernel<std::pair<int, float>, vec<vec<int>>>",
        "kernel<(3 > 2), sizeof(int)>",
        "ns::kernel",
        "::ns::inner::kernel<T>",
        "A<int>::kernel<T>",
        "A<B<int>>::template kernel<T>",
        "KERNEL_OF(float)",
        "ns::KERNEL_OF(float, 3)",
    ],
)
def test_a_kernel_is_named(kernel: str) -> None:
    assert in_function(f"{kernel}<<<dim, type, queue>>>(a, b + 1);") == launch(kernel, ", a, b + 1") + ";"


@pytest.mark.parametrize(
    "before", ["", "return ", "if (x) ", "else ", "(void)", "CHECK(", "{ ", "x ? y() : ", "label: "]
)
def test_what_stands_before_a_launch_stays(before: str) -> None:
    for kernel in ("kernel", "::kernel<int>"):
        after = ")" if before == "CHECK(" else " }" if before == "{ " else ""
        source = f"{before}{kernel}<<<dim, type, queue>>>(){after};"
        assert in_function(source) == f"{before}{launch(kernel)}{after};"


@pytest.mark.parametrize("callee", ["table[i]", "(flag ? one : two)", "object.kernel", "list->kernels[2]", "f(1)[2]"])
def test_other_expressions_are_evaluated_at_the_launch(callee: str) -> None:
    call = f"[mlusim_kernel = {callee}](const auto &...mlusim_each) {{ mlusim_kernel(mlusim_each...); }}"
    wanted = f'::mlusim::launch("{callee}", &::mlusim::unit, (dim), (type), (queue), {call}, x);'
    assert in_function(f"{callee}<<<dim, type, queue>>>(x);") == wanted


@pytest.mark.parametrize(
    ("config", "wanted"),
    [
        ("dim, type, queue", "(dim), (type), (queue)"),
        ("{4, 1, 1}, type, queue", "{4, 1, 1}, (type), (queue)"),
        ("cnrtDim3_t{4, 1, 1}, f(a, b), x[1, 2]", "(cnrtDim3_t{4, 1, 1}), (f(a, b)), (x[1, 2])"),
        ("dims<1, 2>(), f<a>(b), c", "(dims<1, 2>()), (f<a>(b)), (c)"),
        ("d, t, q<vec<vec<int>>>(0)", "(d), (t), (q<vec<vec<int>>>(0))"),
        ("d, t, get<vec<vec<int>>>", "(d), (t), (get<vec<vec<int>>>)"),
        ("a < b ? c : d, t, q", "(a < b ? c : d), (t), (q)"),
        ("a < b ? c : d, x<1, 2>::type, q", "(a < b ? c : d), (x<1, 2>::type), (q)"),
        ("CONFIGURATION", "CONFIGURATION"),
    ],
)
def test_the_parts_of_a_configuration(config: str, wanted: str) -> None:
    assert in_function(f"kernel<<<{config}>>>(x);") == launch("kernel", ", x", wanted) + ";"


def test_null_becomes_a_null_pointer() -> None:
    source = "kernel<<<dim, type, NULL>>>(NULL, f(NULL), NULL + 1, g(1, NULL), NULL);"
    wanted = ", nullptr, f(NULL), NULL + 1, g(1, NULL), nullptr"
    assert in_function(source) == launch("kernel", wanted, "(dim), (type), (NULL)") + ";"


def test_lines_stay_where_they_were() -> None:
    source = """void f() {
  CHECK(scale<half,
              3>  // what it is
        <<<dim,
           type, queue>>>
        (a,
         b));
  next();
}
"""
    lines = translated(source).split("\n")
    assert lines[1] == '  CHECK(::mlusim::launch("scale<half, 3>", &::mlusim::unit, '
    assert lines[2] == "  // what it is"
    assert lines[3:5] == ["        (dim),", "           (type), (queue)"]
    assert lines[5] == f"        , {EACH.format('scale<half, 3>')}, a,"
    assert lines[6:] == ["         b));", "  next();", "}", ""]


def test_a_launch_in_the_body_of_a_macro() -> None:
    source = "#define RUN(name, T, ...) \\\n  name##_kernel<T> \\\n    <<<d, t, q>>>(__VA_ARGS__)\nint x;\n"
    call = EACH.format("name##_kernel<T>")
    text = "::mlusim::launch(MLUSIM_TEXT(name##_kernel<T>), &::mlusim::unit, "
    wanted = f"#define RUN(name, T, ...) \\\n  {text} \\\n    (d), (t), (q), {call}, __VA_ARGS__)\nint x;\n"
    assert translated(source) == wanted


def test_the_name_of_a_kernel_is_a_string() -> None:
    result = in_function("kernel<'\"', '\\n'><<<dim, type, queue>>>();")
    assert "launch(\"kernel<'\\\"', '\\\\n'>\", " in result


@pytest.mark.parametrize(
    "text",
    [
        '"k<<<a, b, c>>>(NULL) __nram__ sync;"',
        "'<<<'",
        'R"(k<<<a, b, c>>>(d) "__nram__ float x[2];)"',
        'u8R"x(k<<<a, b, c>>>(d))" k<<<a, b, c>>>(d))x"',
        "// k<<<a, b, c>>>(d)",
        "// continued \\\n k<<<a, b, c>>>(d)",
        "/* k<<<a, b, c>>>(d)\n __nram__ float x[2]; */",
        "a<b<c<d>>> x;",
        "std::vector<std::vector<std::vector<int>>> x(3);",
        "x = y << 3 >> 4 >>1;",
        "operator<<<int>(a, b);",
        "n = 1'000'000 + 0x1p-3 + 'a';",
        "#include <a<<<b>>>(c)>",
        "#pragma bang walign(64)",
        "#error don't __nram__",
        "#define UNFINISHED(a",
        "#",
        '#define S "<<<" // <<<\n',
    ],
)
def test_what_is_no_launch_stays(text: str) -> None:
    source = f"void f() {{\n{text}\n}}\n"
    assert translated(source) == source


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        ("void f() {\n\n  kernel<<<dim, type>>>(x);\n}", 3, "three parts"),
        ("void f() {\n  kernel<<<dim, type, queue, 0>>>(x);\n}", 2, "three parts"),
        ("void f() {\n  kernel<<<dim, , queue>>>(x);\n}", 2, "three parts"),
        ("void f() {\n  kernel<<<>>>(x);\n}", 2, "three parts"),
        ("void f() {\n  kernel<<<dim, type, queue>>>;\n}", 2, "`>>>(`"),
        ("void f() {\n  kernel<<<dim, type, queue);\n}", 2, "`>>>(`"),
        ("void f() {\n  <<<dim, type, queue>>>(x);\n}", 2, "no kernel"),
        ("void f() {\n  return <<<dim, type, queue>>>(x);\n}", 2, "no kernel"),
        ("<<<a, b, c>>>(d);", 1, "no kernel"),
        ("void f() {\n  kernel<<<dim, type, queue>>>(x;\n}", 2, "not closed"),
        ("void f() {\n  >>> kernel><<<dim, type, queue>>>(x);\n}", 2, "not closed"),
        ("#define A \\\n  b<<<1>>>(2)\n", 2, "three parts"),
    ],
)
def test_launches_that_make_no_sense(source: str, line: int, words: str) -> None:
    found, message = refusal(source)
    assert found == line
    assert words in message


# ---- variables in memories -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("__nram__ float x[64];", 'MLUSIM_ARRAY(nram, "", x, float[64]);'),
        ("__wram__ half x[N * (M + 1)];", 'MLUSIM_ARRAY(wram, "", x, half[N * (M + 1)]);'),
        ("__mlu_shared__ int8_t x[A<1, 2>::n];", 'MLUSIM_ARRAY(sram, "", x, int8_t[A<1, 2>::n]);'),
        ("static __nram__ float x[64];", 'MLUSIM_ARRAY(nram, "", x, float[64]);'),
        ("__nram__ static float x[64];", 'MLUSIM_ARRAY(nram, "", x, float[64]);'),
        ("float __nram__ x[64];", 'MLUSIM_ARRAY(nram, "", x, float[64]);'),
        ("const float __nram__ static x[64];", 'MLUSIM_ARRAY(nram, "", x, const float[64]);'),
        ("__nram__ unsigned long long int x[2];", 'MLUSIM_ARRAY(nram, "", x, unsigned long long int[2]);'),
        ("__nram__ std::pair<int, vec<int>> x[2];", 'MLUSIM_ARRAY(nram, "", x, std::pair<int, vec<int>>[2]);'),
        ("__nram__ A<(2 > 1), n[1]> x[2];", 'MLUSIM_ARRAY(nram, "", x, A<(2 > 1), n[1]>[2]);'),
        ("__nram__ __nram__ int x[2];", 'MLUSIM_ARRAY(nram, "", x, int[2]);'),
        ("__nram__ typename T::type x[2];", 'MLUSIM_ARRAY(nram, "", x, typename T::type[2]);'),
        ("__nram__ decltype(f(1)) x[2];", 'MLUSIM_ARRAY(nram, "", x, decltype(f(1))[2]);'),
        ("__nram__ struct S x[2];", 'MLUSIM_ARRAY(nram, "", x, struct S[2]);'),
        ("__nram__ T x[2][64];", 'MLUSIM_ARRAY(nram, "", x, T[2][64]);'),
        ("__nram__ float x;", 'MLUSIM_ARRAY(nram, "", x, float);'),
        ("__nram__ float *x;", 'MLUSIM_ARRAY(nram, "", x, float *);'),
        ("const float *__nram__ x[2];", 'MLUSIM_ARRAY(nram, "", x, const float *[2]);'),
        ("extern __nram__ float x[64];", 'MLUSIM_EXTERN_ARRAY("", x, float[64]);'),
        (
            "__nram__ extern float x[64], y;",
            'MLUSIM_EXTERN_ARRAY("", x, float[64]); MLUSIM_EXTERN_ARRAY("", y, float);',
        ),
        ("__mlu_device__ __nram__ __mlu_const__ inline float x;", 'MLUSIM_ARRAY(nram, "", x, float);'),
        ("SOME_MACRO(1)\n__nram__ float x[64];", 'SOME_MACRO(1)\nMLUSIM_ARRAY(nram, "", x, float[64]);'),
        (
            "__nram__ T x[2], y[3][4], z;",
            'MLUSIM_ARRAY(nram, "", x, T[2]); MLUSIM_ARRAY(nram, "", y, T[3][4]); MLUSIM_ARRAY(nram, "", z, T);',
        ),
        (
            "__nram__ float\n  x[\n64]\n;",
            'MLUSIM_ARRAY(nram, "", x, float\n[\n64])\n;',
        ),
    ],
)
def test_at_file_scope(source: str, wanted: str) -> None:
    assert translated(source) == wanted


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("__nram__ float x[64];", "MLUSIM_LOCAL_ARRAY(nram, x, float[64]);"),
        ("static __wram__ T x[N];", "MLUSIM_LOCAL_ARRAY(wram, x, T[N]);"),
        ("__mlu_shared__ int x;", "MLUSIM_LOCAL_ARRAY(sram, x, int);"),
        ("case 1: __nram__ int x[2];", "case 1: MLUSIM_LOCAL_ARRAY(nram, x, int[2]);"),
        ("label: __nram__ int x[2];", "label: MLUSIM_LOCAL_ARRAY(nram, x, int[2]);"),
        ("g(); { __nram__ int x[2]; }", "g(); { MLUSIM_LOCAL_ARRAY(nram, x, int[2]); }"),
        ("g([] { __nram__ int x[2]; });", "g([] { MLUSIM_LOCAL_ARRAY(nram, x, int[2]); });"),
        ("__nram__ float *x[2];", "MLUSIM_LOCAL_ARRAY(nram, x, float *[2]);"),
        ("__nram__ float x[2], *y = x;", "MLUSIM_LOCAL_ARRAY(nram, x, float[2]); float * y = x;"),
        ("extern __nram__ float x[2];", 'MLUSIM_EXTERN_ARRAY("", x, float[2]);'),
        ("static __nram__ float *x;", "MLUSIM_LOCAL_ARRAY(nram, x, float *);"),
        # These say where the pointer points to.
        ("__nram__ float *x = y + 1;", " float *x = y + 1;"),
        ("const __nram__ T *x, *y;", "const  T *x, *y;"),
        ("__nram__ float &x = y[1];", " float &x = y[1];"),
        ("x = (__nram__ float *)y;", "x = ( float *)y;"),
        ("x = static_cast<const __nram__ float *>(y);", "x = static_cast<const  float *>(y);"),
        ("using P = __nram__ float *;", "using P =  float *;"),
        ("typedef __nram__ float *P;", "typedef  float *P;"),
        # Automatic variables are there already.
        ("__ldram__ float x[64] = {};", " float x[64] = {};"),
        ("__ldram__ float *x = y;", " float *x = y;"),
        ("x = (__ldram__ float *)y;", "x = ( float *)y;"),
    ],
)
def test_in_a_function(source: str, wanted: str) -> None:
    assert in_function(source) == wanted


INITIAL = "static constexpr {} mlusim_initial_x{} = {}; MLUSIM_LOCAL_ARRAY_INIT(nram, x, {})"
PLAIN = "::std::remove_const_t<decltype(mlusim_initial_x)>"
CONST = "decltype(mlusim_initial_x)"


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("__nram__ int x[2] = {1, 2};", INITIAL.format("int", "[2]", "{1, 2}", PLAIN) + ";"),
        ("static __nram__ T x[2] = {T(1)};", INITIAL.format("T", "[2]", "{T(1)}", PLAIN) + ";"),
        ("__nram__ const int x[] = {1, 2};", INITIAL.format("const int", "[]", "{1, 2}", CONST) + ";"),
        ("__nram__ const int *x[1] = {0};", INITIAL.format("const int *", "[1]", "{0}", PLAIN) + ";"),
        ("__nram__ int *const x[1] = {0};", INITIAL.format("int *const", "[1]", "{0}", CONST) + ";"),
        (
            "__nram__ int x[2][2] = {{1}, {f(1, 2), 3}};",
            INITIAL.format("int", "[2][2]", "{{1}, {f(1, 2), 3}}", PLAIN) + ";",
        ),
        ("__nram__ int x = 3;", INITIAL.format("int", "", "3", PLAIN) + ";"),
        ("__nram__ int x{3};", INITIAL.format("int", "", "3", PLAIN).replace(" = 3", "{3}") + ";"),
        (
            "__nram__ int y, x[2] = {1};",
            "MLUSIM_LOCAL_ARRAY(nram, y, int); " + INITIAL.format("int", "[2]", "{1}", PLAIN) + ";",
        ),
        (
            "__nram__ int x[1] = {1}, y;",
            INITIAL.format("int", "[1]", "{1}", PLAIN) + "; MLUSIM_LOCAL_ARRAY(nram, y, int);",
        ),
    ],
)
def test_initial_values(source: str, wanted: str) -> None:
    assert in_function(source) == wanted
    # At file scope only the macro is another.
    static = wanted.replace("LOCAL_ARRAY_INIT(nram, ", 'ARRAY_INIT(nram, "", ').replace(
        "LOCAL_ARRAY(nram, ", 'ARRAY(nram, "", '
    )
    assert translated(source) == static


def test_an_extern_variable_with_a_value_is_a_definition() -> None:
    wanted = f'static constexpr int mlusim_initial_x[1] = {{1}}; MLUSIM_ARRAY_INIT(nram, "", x, {PLAIN});'
    assert translated("extern __nram__ int x[1] = {1};") == wanted


def test_initial_values_keep_their_lines() -> None:
    source = "__nram__ int x[] = {\n  1,\n#if A\n  2,  // two\n#endif\n  3\n};\nint y;\n"
    wanted = (
        "static constexpr int mlusim_initial_x[] = {\n  1,\n#if A\n  2,  // two\n#endif\n  3\n}"
        f'; MLUSIM_ARRAY_INIT(nram, "", x, {PLAIN});\nint y;\n'
    )
    assert translated(source) == wanted


@pytest.mark.parametrize(
    ("attribute", "alignment"),
    [
        ("__attribute__((aligned(64)))", "64"),
        ("__attribute__((__aligned__(N * (2))))", "N * (2)"),
        ("alignas(128)", "128"),
        ("alignas(float)", "float"),
        ("__align__(16)", "16"),
        ("__attribute__((unused))", None),
        ("[[maybe_unused]]", None),
    ],
)
def test_attributes(attribute: str, alignment: str | None) -> None:
    macro = 'MLUSIM_ARRAY(nram, "", x, int[4])'
    aligned = f"; MLUSIM_ALIGNED(x, alignas({alignment}))" if alignment else ""
    for source in (
        f"{attribute} __nram__ int x[4];",
        f"__nram__ {attribute} int x[4];",
        f"__nram__ int {attribute} x[4];",
    ):
        assert translated(source) == f"{macro}{aligned};"
    behind = translated(f"__nram__ int x[4] {attribute};")
    assert behind == f"{macro} {aligned};"
    scalar = translated(f"__nram__ int x {attribute};")
    assert scalar == f'MLUSIM_ARRAY(nram, "", x, int) {aligned};'


def test_several_alignments() -> None:
    source = "alignas(8) __nram__ int x[4] __attribute__((aligned(64))), y = 1;"
    both = "alignas(8) alignas(64)"
    initial = "static constexpr int mlusim_initial_y = 1"
    y = f'MLUSIM_ARRAY_INIT(nram, "", y, {PLAIN.replace("_x", "_y")})'
    wanted = (
        f'MLUSIM_ARRAY(nram, "", x, int[4]) ; MLUSIM_ALIGNED(x, {both}); {initial}; {y}; MLUSIM_ALIGNED(y, {both});'
    )
    assert translated(source) == wanted


def test_branches_of_the_preprocessor() -> None:
    first, second, third, after = (f"__nram__ int {x};\n" for x in ("x[2]", "x[3]", "x[4]", "y[2]"))
    source = f"\n#if A\n{first}#elif B\n{second}#else\n{third}#endif\n{after}"
    wanted = re.sub(r"__nram__ int (\w)(\[.\]);", r'MLUSIM_ARRAY(nram, "", \1, int\2);', source)
    assert translated(source) == wanted
    local = re.sub(r"__nram__ int (\w)(\[.\]);", r"MLUSIM_LOCAL_ARRAY(nram, \1, int\2);", source)
    assert in_function(source) == local


# ---- scopes ----------------------------------------------------------------------------------------------------------

ARRAY = "__nram__ int x[2];"


@pytest.mark.parametrize(
    ("before", "path"),
    [
        ("namespace a {", "a."),
        ("namespace a { namespace b {", "a.b."),
        ("namespace a::b {", "a.b."),
        ("inline namespace a {", "a."),
        ("namespace a::inline b {", "a.b."),
        ("namespace [[deprecated]] a {", "a."),
        ("namespace {", "_."),
        ("namespace a { namespace {", "a._."),
        ("namespace MACRO {", "MACRO."),
        ('extern "C" {', ""),
        ('namespace a { extern "C" { namespace b {', "a.b."),
        ("namespace a { } namespace b {", "b."),
        ("void f() { { } if (x) { } } namespace b {", "b."),
        ("struct S { int a; }; namespace b {", "b."),
        ("int table[] = {1, 2}; struct S s = {1}; namespace b {", "b."),
        ("} namespace b {", "b."),  # whatever that closes
        ("#if A\nvoid f() {\n#else\nvoid f(int) {\n#endif\n}\nnamespace b {", "b."),
        ("#if 0\nvoid f() { don't\n#else\nnamespace b {\n#endif\n", "b."),
        ("#if 0\nvoid f() {\n#endif\nnamespace b {", "b."),
        ("#ifdef A\nvoid f() {\n#elif B\nvoid f(int) {\n#elif C\nvoid f(char) {\n#endif\n}\nnamespace b {", "b."),
    ],
)
def test_namespaces_are_file_scope(before: str, path: str) -> None:
    assert translated(before + ARRAY) == before + f'MLUSIM_ARRAY(nram, "{path}", x, int[2]);'
    source = before + "extern __nram__ int x[2];"
    assert translated(source) == before + f'MLUSIM_EXTERN_ARRAY("{path}", x, int[2]);'


FLOATS = 'MLUSIM_ARRAY(nram, "", a, float[4]);'


@pytest.mark.parametrize(
    ("macro", "use"),
    [
        ('#define BEGIN extern "C" {', "BEGIN"),
        ("#define END }", "END"),
        ("#define API", "API"),
        ("", "__END_DECLS"),
    ],
)
def test_a_word_that_is_a_macro_is_no_part_of_the_declaration_behind_it(macro: str, use: str) -> None:
    assert translated(f"{macro}\n{use}\n__nram__ float a[4];\n") == f"{macro}\n{use}\n{FLOATS}\n"


def test_a_macro_that_is_a_part_of_the_declaration_stays_one() -> None:
    source = "#if A\n#define REAL float\n#else\n#define REAL\n#endif\nREAL __nram__ a[4];\n"
    assert 'MLUSIM_ARRAY(nram, "", a, REAL[4])' in translated(source)


def test_macros_may_stand_before_a_block_of_c() -> None:
    assert translated('M(1) M(2) extern "C" {\n__nram__ float a[4];\n}\n').splitlines()[1] == FLOATS


@pytest.mark.parametrize(
    "before",
    [
        "void f() {",
        "struct S f() {",
        "struct S *f(int a[2]) const {",
        "template <class T> void f() {",
        "template <typename T, class = enable<T>> __attribute__((x(1))) void f(T) {",
        'extern "C" void f() {',
        "struct S { void f() {",
        "struct S { S() : a(1), b{2} {",
        "struct S { int a{3}; void f() {",
        "namespace a { void S::f() {",
        "auto f = [](int x) {",
        "void f() { for (;;) { if (x) {",
        "void f() { call([&] {",
        "void f() { struct T t = {1}; switch (x) {",
        "void f() try {",
        "bool operator==(S a, S b) {",
        "enum E f() {",
    ],
)
def test_what_is_a_function(before: str) -> None:
    assert translated(before + ARRAY) == before + "MLUSIM_LOCAL_ARRAY(nram, x, int[2]);"


@pytest.mark.parametrize(
    "before",
    [
        "struct S {",
        "class S : public Base<decltype(f(1))> {",
        "template <typename T> struct S<T *> {",
        "struct alignas(16) S {",
        "struct __attribute__((packed)) S final {",
        "union {",
        "void f() { struct S {",
        "namespace a { struct S { int f() { return 1; } public:",
        "typedef struct {",
        "struct S { struct T {",
    ],
)
def test_members_of_classes_are_refused(before: str) -> None:
    assert refusal("\n" + before + ARRAY) == (
        2,
        "__nram__ cannot be used for a member of a class; declare the variable outside of it",
    )
    # But a pointer may be a member.
    assert translated(before + "__nram__ int *x;") == before + " int *x;"


def test_parameters() -> None:
    source = "void f(__nram__ float *a, const __wram__ T *b, __nram__ int c[4], __mlu_shared__ int &d);"
    assert translated(source) == source.replace("__nram__", "").replace("__wram__", "").replace("__mlu_shared__", "")


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        ("__nram__ __wram__ int x[2];", 1, "one memory"),
        ("\n__nram__ float f(int);", 2, "variables and pointers"),
        ("__nram__ x;", 1, "variables and pointers"),
        ("__nram__", 1, "variables and pointers"),
        ("__nram__ int x[2", 1, "variables and pointers"),
        ("typedef __nram__ float T[4];", 1, "variables and pointers"),
        ("using T = __nram__ float;", 1, "variables and pointers"),
        ("void f() {\n  DECLARE(__nram__ float x[4]);\n}", 2, "arguments of a macro"),
        ("__ldram__ float x[4];", 1, "__ldram__"),
        ("void f() {\n static __ldram__ float x[4]; }", 2, "__ldram__"),
        ("struct S {\n__ldram__ float x[4]; };", 2, "__ldram__"),
        ("using T = __ldram__ float;", 1, "__ldram__"),
    ],
)
def test_declarations_that_make_no_sense(source: str, line: int, words: str) -> None:
    found, message = refusal(source)
    assert found == line
    assert words in message


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("__mlu_const__ float x[2] = {1, 2};", " float x[2] = {1, 2};"),
        ("static __mlu_const__ float x = 1;", "static  float x = 1;"),
        ("__mlu_device__ float x[2];", " float x[2];"),
        ("__mlu_device__ const A<int> x = f(1), y;", " const A<int> x = f(1), y;"),
        ("extern __mlu_device__ int x;", "extern  int x;"),
        ("struct S { static __mlu_device__ int x; };", "struct S { static  int x; };"),
    ],
)
def test_other_variables_are_plain(source: str, wanted: str) -> None:
    assert translated(source) == wanted


# ---- macros ----------------------------------------------------------------------------------------------------------

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
    wanted = f"#define BUFFER(name, T) MLUSIM_{scope}_ARRAY(nram, name##_, T[64])\n"
    assert translated(BUFFER + use).startswith(wanted)


def test_a_declaration_in_a_macro_with_a_value() -> None:
    source = "#define TABLE(T) \\\n  __nram__ T table[2] = \\\n      {1, 2};\nTABLE(int)\n"
    kind = "::std::remove_const_t<decltype(mlusim_initial_table)>"
    wanted = (
        "#define TABLE(T) \\\n  static constexpr T mlusim_initial_table[2] = \\\n      {1, 2}"
        f"; MLUSIM_NUMBERED_ARRAY_INIT(nram, table, {kind});\nTABLE(int)\n"
    )
    assert translated(source) == wanted


def test_braces_in_a_macro_are_scopes_too() -> None:
    source = "#define K(T) void k_##T() { __nram__ T x[2]; } namespace n { __nram__ T y[2]; }\nK(int)"
    wanted = (
        "#define K(T) void k_##T() { MLUSIM_LOCAL_ARRAY(nram, x, T[2]); } "
        "namespace n { MLUSIM_NUMBERED_ARRAY(nram, y, T[2]); }\nK(int)"
    )
    assert translated(source) == wanted


def test_names_that_a_macro_pastes() -> None:
    source = "#define P(n) __nram__ int *n##_##p[2], n##q, r##n = 1\nvoid f() { P(a); }"
    initial = "static constexpr int mlusim_initial_r##n = 1"
    kind = "::std::remove_const_t<decltype(mlusim_initial_r##n)>"
    wanted = (
        "#define P(n) MLUSIM_LOCAL_ARRAY(nram, n##_##p, int *[2]); MLUSIM_LOCAL_ARRAY(nram, n##q, int); "
        f"{initial}; MLUSIM_LOCAL_ARRAY_INIT(nram, r##n, {kind})\nvoid f() {{ P(a); }}"
    )
    assert translated(source) == wanted


def test_a_macro_of_two_scopes_is_refused() -> None:
    line, message = refusal("\n" + BUFFER + "BUFFER(a, int);\nvoid f() { BUFFER(b, int); }")
    assert line == 2
    assert "BUFFER" in message
    assert "at file scope and in a function" in message


def test_a_macro_in_a_class_is_refused() -> None:
    assert "member of a class" in refusal(BUFFER + "struct S { BUFFER(a, int); };")[1]


# ---- functions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("__mlu_func__ inline void f() {}", "__mlu_func__  void f() {}"),
        ("inline __mlu_func__ void f() {}", " __mlu_func__ void f() {}"),
        ("static __mlu_func__ __inline__ void f();", "static __mlu_func__  void f();"),
        (
            "template <typename T>\n__mlu_device__ inline T f(T x) {}",
            "template <typename T>\n__mlu_device__  T f(T x) {}",
        ),
        ("inline static A<int> __mlu_func__ f() {}", " static A<int> __mlu_func__ f() {}"),
        ("__mlu_func__ __mlu_device__ void f() {}", "__mlu_func__  void f() {}"),
        ("__mlu_func__ __attribute__((x(1))) inline void f() {}", "__mlu_func__ __attribute__((x(1)))  void f() {}"),
        ("#define FUNC __mlu_func__ inline\nFUNC void f();", "#define FUNC __mlu_func__ \nFUNC void f();"),
        ("struct S { __mlu_func__ inline S(int) {} };", "struct S { __mlu_func__  S(int) {} };"),
        ("struct S { __mlu_func__ inline S &operator=(S) {} };", "struct S { __mlu_func__  S &operator=(S) {} };"),
    ],
)
def test_inline_is_said_once(source: str, wanted: str) -> None:
    assert translated(source) == wanted


@pytest.mark.parametrize(
    "source",
    [
        "inline void f() {} __mlu_func__ void g() {}",
        "__mlu_func__ void f(); inline void g();",
        "inline namespace a { __mlu_func__ void f(); }",
        "__mlu_device__ float f(int x);",
        "__mlu_device__ bool operator==(S a, S b) { return true; }",
        "struct S { __mlu_device__ S(int); __mlu_device__ operator int() const; __mlu_device__ ~S(); };",
        "__mlu_entry__ void kernel(float *x) {}",
        "template <typename T> __mlu_global__ void kernel(T *x);",
    ],
)
def test_functions_stay(source: str) -> None:
    assert translated(source) == source


# ---- inline assembly -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        'asm("sync;");',
        '__asm__ volatile("sync;\\n\\t");',
        '__asm volatile("sync;" "\\n\\t" "sync;");',
        '__asm__ __volatile__("sync;\\n\\t" ::: "memory");',
        'asm volatile(R"(sync;)");',
    ],
)
def test_sync(statement: str) -> None:
    assert in_function(statement) == "::mlusim::asm_sync();"
    assert in_function(f"if (x) {statement}") == "if (x) ::mlusim::asm_sync();"
    assert in_function(f"do {statement} while (x);") == "do ::mlusim::asm_sync(); while (x);"
    assert translated(f"#define SYNC {statement}\n") == "#define SYNC ::mlusim::asm_sync();\n"


def test_sync_on_several_lines() -> None:
    assert in_function('asm volatile(\n  "sync;"  // all\n);\nx = 1;') == "::mlusim::asm_sync()\n\n;\nx = 1;"


@pytest.mark.parametrize(
    "text",
    [
        'int f() __asm__("name");',
        'extern int x __asm__("na" "me");',
        'asm(".globl x");',  # at file scope
        'void f() { asm volatile("" ::: "memory"); }',
        'void f() { extern int x asm("y"); }',
        "void f() { asm volatile; }",
    ],
)
def test_other_assembly_stays(text: str) -> None:
    assert translated(text) == text


@pytest.mark.parametrize(
    ("statement", "mnemonic"),
    [
        ('asm volatile("fuse.nram.f32 [%0], %1;" :: "r"(a), "r"(b));', "fuse.nram.f32"),
        ('asm volatile("sync;\\n\\tfindlast1.gpr.b32 %0, %1;" : "=r"(a) : "r"(b));', "findlast1.gpr.b32"),
        ('asm volatile("sync %0;" :: "r"(a));', "sync"),
        ("asm volatile(SOME_MACRO);", "SOME_MACRO"),
    ],
)
def test_unknown_assembly_is_refused(statement: str, mnemonic: str) -> None:
    line, message = refusal(f"void f() {{\n  x = 1;\n  {statement}\n}}\n")
    assert line == 3
    assert f"`{mnemonic}`" in message


# ---- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_ends_of_lines_stay(newline: str) -> None:
    source = newline.join(["// x", "#define A \\", '  __asm__("sync;") \\', "  ;", "__nram__ int x[2];", "int y;", ""])
    wanted = newline.join(
        ["// x", "#define A \\", "  ::mlusim::asm_sync() \\", "  ;", 'MLUSIM_ARRAY(nram, "", x, int[2]);', "int y;", ""]
    )
    assert translated(source) == wanted


def test_a_byte_order_mark_goes() -> None:
    assert translate("\ufeffint x;\n", "a") == '#line 1 "a"\nint x;\n'


def test_names_of_files_are_escaped() -> None:
    assert translate("", 'a\\b"c') == '#line 1 "a\\\\b\\"c"\n'


def test_messages_name_the_line_that_the_preprocessor_noted() -> None:
    bad = "void f() { kernel<<<1>>>(); }\n"
    for note in ('#line 40 "other.h"\n', '# 40 "other.h" 2\n'):
        with pytest.raises(TranslationError) as caught:
            translate(f"int x;\n{note}\n{bad}", "some.mlu")
        assert (caught.value.file, caught.value.line) == ("other.h", 41)
    with pytest.raises(TranslationError) as caught:
        translate(f"#line 40\n{bad}", "some.mlu")
    assert (caught.value.file, caught.value.line) == ("some.mlu", 40)


def test_headers_of_the_system_stay() -> None:
    bad = 'inline void f() { __asm__("bswap %0" : "+r"(x)); }\n'
    source = f'# 1 "/usr/include/x.h" 1 3 4\n{bad}# 2 "some.mlu" 2\n__nram__ int x[2];\n'
    assert translated(source) == source.replace("__nram__ int x[2]", 'MLUSIM_ARRAY(nram, "", x, int[2])')
    refusal(bad)


WORDS = st.sampled_from(
    [
        *("__nram__", "__wram__", "__ldram__", "__mlu_func__", "__mlu_device__", "inline", "static", "extern", "const"),
        *("asm", '"sync;"', "kernel", "namespace", "struct", "template", "int", "x", "NULL", "operator", "case", "R"),
        *(
            "<<<",
            ">>>",
            "<",
            ">",
            "::",
            "->",
            "##",
            "(",
            ")",
            "[",
            "]",
            "{",
            "}",
            ";",
            ",",
            "=",
            ":",
            "*",
            "&",
            '"',
            "'",
        ),
        *("\n", "\\\n", " ", "#", "#define A ", "#if 0\n", "#else\n", "#endif\n", "//", "/*", "*/", 'R"(', ')"', "1"),
    ]
)
TEXTS = st.one_of(st.text(), st.lists(WORDS, max_size=40).map(" ".join), st.lists(WORDS, max_size=40).map("".join))


@given(TEXTS)
@example("__nram__ ##")
@example("# ")
@example("a ## <<<")
def test_any_text_is_translated_or_refused(text: str) -> None:
    try:
        result = translate(text, "some.mlu")
    except TranslationError as error:
        assert 1 <= error.line <= text.count("\n") + 1
    else:
        assert result.count("\n") == text.count("\n") + 1


@given(TEXTS)
def test_comments_and_strings_stay(text: str) -> None:
    comment = "/*" + text.replace("*/", "") + "*/"
    string = 'R"delimiter(' + text.replace(")delimiter", "") + ')delimiter"'
    source = f"int x; {comment}\nconst char *y = {string};\n"
    if "/*/" not in comment[:3]:
        assert translate(source, "a") == '#line 1 "a"\n' + source


@given(
    st.lists(st.sampled_from(["float x;", "f(1);", "{ y = a << 2; }", "// <<<", "/* \n */", "\n", "if (a < b) c();"]))
)
def test_launches_do_not_touch_their_neighbours(lines: list[str]) -> None:
    neighbours = "\n".join(lines)
    source = f"void f() {{\n{neighbours}\nkernel<<<dim, type, queue>>>(x);\n{neighbours}\n}}\n"
    call = launch("kernel", ", x")
    assert translated(source) == source.replace("kernel<<<dim, type, queue>>>(x)", call)


# ---- command line ----------------------------------------------------------------------------------------------------


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the translator as the build does; with -S there is neither NumPy nor the compiled package."""
    command = [sys.executable, "-S", "-m", "translator", *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": str(FOLDER)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_program(tmp_path: Path) -> None:
    source, output = tmp_path / "kernel.mlu", tmp_path / "new" / "folder" / "kernel.cpp"
    source.write_bytes(b'__nram__ int x[2];\r\n// \xff\r\nconst char *s = "\xe4";\r\n')
    done = run(source, "--output", output, "--name", "some/kernel.mlu")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    array = b'MLUSIM_ARRAY(nram, "", x, int[2]);'
    wanted = b'#line 1 "some/kernel.mlu"\n' + array + b'\r\n// \xff\r\nconst char *s = "\xe4";\r\n'
    assert output.read_bytes() == wanted
    assert run(source, "--output", output).returncode == 0
    assert output.read_text(encoding="latin-1").startswith(f'#line 1 "{source}"\n')


def test_program_says_what_is_wrong(tmp_path: Path) -> None:
    source, output = tmp_path / "kernel.mlu", tmp_path / "kernel.cpp"
    source.write_text("\nstruct S { __nram__ int x[2]; };\n")
    done = run(source, "--output", output, "--name", "kernel.mlu")
    message = "kernel.mlu:2: __nram__ cannot be used for a member of a class; declare the variable outside of it\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", message)
    assert not output.exists()
    missing = run(tmp_path / "missing.mlu", "--output", output)
    assert (missing.returncode, missing.stderr) == (1, f"{tmp_path / 'missing.mlu'}: No such file or directory\n")
    assert run(source).returncode == 2
