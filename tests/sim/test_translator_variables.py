"""Variables in the memories of a device: their scopes, initial values and attributes."""

from __future__ import annotations

import re

import pytest

from support.translation import in_function, refusal, translated


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("__nram__ float x[64];", 'MLUSIM_ARRAY(mlusim_nram, "", x, float[64]);'),
        ("__wram__ half x[N * (M + 1)];", 'MLUSIM_ARRAY(mlusim_wram, "", x, half[N * (M + 1)]);'),
        ("__mlu_shared__ int8_t x[A<1, 2>::n];", 'MLUSIM_ARRAY(mlusim_sram, "", x, int8_t[A<1, 2>::n]);'),
        ("static __nram__ float x[64];", 'MLUSIM_ARRAY(mlusim_nram, "", x, float[64]);'),
        ("__nram__ static float x[64];", 'MLUSIM_ARRAY(mlusim_nram, "", x, float[64]);'),
        ("float __nram__ x[64];", 'MLUSIM_ARRAY(mlusim_nram, "", x, float[64]);'),
        ("const float __nram__ static x[64];", 'MLUSIM_ARRAY(mlusim_nram, "", x, const float[64]);'),
        ("__nram__ unsigned long long int x[2];", 'MLUSIM_ARRAY(mlusim_nram, "", x, unsigned long long int[2]);'),
        (
            "__nram__ std::pair<int, vec<int>> x[2];",
            'MLUSIM_ARRAY(mlusim_nram, "", x, std::pair<int, vec<int>>[2]);',
        ),
        ("__nram__ A<(2 > 1), n[1]> x[2];", 'MLUSIM_ARRAY(mlusim_nram, "", x, A<(2 > 1), n[1]>[2]);'),
        ("__nram__ __nram__ int x[2];", 'MLUSIM_ARRAY(mlusim_nram, "", x, int[2]);'),
        ("__nram__ typename T::type x[2];", 'MLUSIM_ARRAY(mlusim_nram, "", x, typename T::type[2]);'),
        ("__nram__ decltype(f(1)) x[2];", 'MLUSIM_ARRAY(mlusim_nram, "", x, decltype(f(1))[2]);'),
        ("__nram__ struct S x[2];", 'MLUSIM_ARRAY(mlusim_nram, "", x, struct S[2]);'),
        ("__nram__ T x[2][64];", 'MLUSIM_ARRAY(mlusim_nram, "", x, T[2][64]);'),
        ("__nram__ float x;", 'MLUSIM_ARRAY(mlusim_nram, "", x, float);'),
        ("__nram__ float *x;", 'MLUSIM_ARRAY(mlusim_nram, "", x, float *);'),
        ("const float *__nram__ x[2];", 'MLUSIM_ARRAY(mlusim_nram, "", x, const float *[2]);'),
        ("extern __nram__ float x[64];", 'MLUSIM_EXTERN_ARRAY("", x, float[64]);'),
        (
            "__nram__ extern float x[64], y;",
            'MLUSIM_EXTERN_ARRAY("", x, float[64]); MLUSIM_EXTERN_ARRAY("", y, float);',
        ),
        ("__mlu_device__ __nram__ __mlu_const__ inline float x;", 'MLUSIM_ARRAY(mlusim_nram, "", x, float);'),
        ("SOME_MACRO(1)\n__nram__ float x[64];", 'SOME_MACRO(1)\nMLUSIM_ARRAY(mlusim_nram, "", x, float[64]);'),
        (
            "__nram__ T x[2], y[3][4], z;",
            'MLUSIM_ARRAY(mlusim_nram, "", x, T[2]); MLUSIM_ARRAY(mlusim_nram, "", y, T[3][4]); '
            'MLUSIM_ARRAY(mlusim_nram, "", z, T);',
        ),
        (
            "__nram__ float\n  x[\n64]\n;",
            'MLUSIM_ARRAY(mlusim_nram, "", x, float\n[\n64])\n;',
        ),
    ],
)
def test_at_file_scope(source: str, wanted: str) -> None:
    assert translated(source) == wanted


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("__nram__ float x[64];", "MLUSIM_LOCAL_ARRAY(mlusim_nram, x, float[64]);"),
        ("static __wram__ T x[N];", "MLUSIM_LOCAL_ARRAY(mlusim_wram, x, T[N]);"),
        ("__mlu_shared__ int x;", "MLUSIM_LOCAL_ARRAY(mlusim_sram, x, int);"),
        ("case 1: __nram__ int x[2];", "case 1: MLUSIM_LOCAL_ARRAY(mlusim_nram, x, int[2]);"),
        ("label: __nram__ int x[2];", "label: MLUSIM_LOCAL_ARRAY(mlusim_nram, x, int[2]);"),
        ("g(); { __nram__ int x[2]; }", "g(); { MLUSIM_LOCAL_ARRAY(mlusim_nram, x, int[2]); }"),
        ("g([] { __nram__ int x[2]; });", "g([] { MLUSIM_LOCAL_ARRAY(mlusim_nram, x, int[2]); });"),
        ("__nram__ float *x[2];", "MLUSIM_LOCAL_ARRAY(mlusim_nram, x, float *[2]);"),
        ("__nram__ float x[2], *y = x;", "MLUSIM_LOCAL_ARRAY(mlusim_nram, x, float[2]); float * y = x;"),
        ("extern __nram__ float x[2];", 'MLUSIM_EXTERN_ARRAY("", x, float[2]);'),
        ("static __nram__ float *x;", "MLUSIM_LOCAL_ARRAY(mlusim_nram, x, float *);"),
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


INITIAL = "static constexpr {} mlusim_initial_x{} = {}; MLUSIM_LOCAL_ARRAY_INIT(mlusim_nram, x, {})"
PLAIN = "::mlusim::mlusim_remove_const<decltype(mlusim_initial_x)>"
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
            "MLUSIM_LOCAL_ARRAY(mlusim_nram, y, int); " + INITIAL.format("int", "[2]", "{1}", PLAIN) + ";",
        ),
        (
            "__nram__ int x[1] = {1}, y;",
            INITIAL.format("int", "[1]", "{1}", PLAIN) + "; MLUSIM_LOCAL_ARRAY(mlusim_nram, y, int);",
        ),
    ],
)
def test_initial_values(source: str, wanted: str) -> None:
    assert in_function(source) == wanted
    # At file scope only the macro is another.
    static = wanted.replace("LOCAL_ARRAY_INIT(mlusim_nram, ", 'ARRAY_INIT(mlusim_nram, "", ').replace(
        "LOCAL_ARRAY(mlusim_nram, ", 'ARRAY(mlusim_nram, "", '
    )
    assert translated(source) == static


def test_an_extern_variable_with_a_value_is_a_definition() -> None:
    wanted = f'static constexpr int mlusim_initial_x[1] = {{1}}; MLUSIM_ARRAY_INIT(mlusim_nram, "", x, {PLAIN});'
    assert translated("extern __nram__ int x[1] = {1};") == wanted


def test_initial_values_keep_their_lines() -> None:
    source = "__nram__ int x[] = {\n  1,\n#if A\n  2,  // two\n#endif\n  3\n};\nint y;\n"
    wanted = (
        "static constexpr int mlusim_initial_x[] = {\n  1,\n#if A\n  2,  // two\n#endif\n  3\n}"
        f'; MLUSIM_ARRAY_INIT(mlusim_nram, "", x, {PLAIN});\nint y;\n'
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
    macro = 'MLUSIM_ARRAY(mlusim_nram, "", x, int[4])'
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
    assert scalar == f'MLUSIM_ARRAY(mlusim_nram, "", x, int) {aligned};'


def test_several_alignments() -> None:
    source = "alignas(8) __nram__ int x[4] __attribute__((aligned(64))), y = 1;"
    both = "alignas(8) alignas(64)"
    initial = "static constexpr int mlusim_initial_y = 1"
    y = f'MLUSIM_ARRAY_INIT(mlusim_nram, "", y, {PLAIN.replace("_x", "_y")})'
    x = f'MLUSIM_ARRAY(mlusim_nram, "", x, int[4]) ; MLUSIM_ALIGNED(x, {both})'
    wanted = f"{x}; {initial}; {y}; MLUSIM_ALIGNED(y, {both});"
    assert translated(source) == wanted


def test_branches_of_the_preprocessor() -> None:
    first, second, third, after = (f"__nram__ int {x};\n" for x in ("x[2]", "x[3]", "x[4]", "y[2]"))
    source = f"\n#if A\n{first}#elif B\n{second}#else\n{third}#endif\n{after}"
    wanted = re.sub(r"__nram__ int (\w)(\[.\]);", r'MLUSIM_ARRAY(mlusim_nram, "", \1, int\2);', source)
    assert translated(source) == wanted
    local = re.sub(r"__nram__ int (\w)(\[.\]);", r"MLUSIM_LOCAL_ARRAY(mlusim_nram, \1, int\2);", source)
    assert in_function(source) == local


# ---- scopes --------------------------------------------------------------------------------------

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
    assert translated(before + ARRAY) == before + f'MLUSIM_ARRAY(mlusim_nram, "{path}", x, int[2]);'
    source = before + "extern __nram__ int x[2];"
    assert translated(source) == before + f'MLUSIM_EXTERN_ARRAY("{path}", x, int[2]);'


FLOATS = 'MLUSIM_ARRAY(mlusim_nram, "", a, float[4]);'


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
    assert 'MLUSIM_ARRAY(mlusim_nram, "", a, REAL[4])' in translated(source)


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
    assert translated(before + ARRAY) == before + "MLUSIM_LOCAL_ARRAY(mlusim_nram, x, int[2]);"


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
        ("__mlu_const__ constexpr float x[2] = {1, 2};", " constexpr float x[2] = {1, 2};"),
        ("void f() { __mlu_const__ float x[2] = {1, 2}; }", "void f() {  float x[2] = {1, 2}; }"),
        ("struct S { static __mlu_const__ float x[2]; };", "struct S { static  float x[2]; };"),
        ("void f(__mlu_const__ float x[2]);", "void f( float x[2]);"),
        ("static __mlu_const__ float x = 1;", "static  float x = 1;"),
        ("__mlu_device__ constexpr float x = 2;", " constexpr float x = 2;"),
        ("template <typename T> __mlu_device__ T x;", "template <typename T>  T x;"),
        ("__mlu_device__ int &x = y;", " int &x = y;"),
        ("__mlu_device__ int *const x = y;", " int *const x = y;"),
        ("extern __mlu_device__ int x; __mlu_device__ int x;", "extern  int x;  int x;"),
        ("void f() { static __mlu_device__ int x; }", "void f() { static  int x; }"),
        ("__mlu_device__ const A<int> x = f(1), y;", " const A<int> x = f(1), y;"),
        ("extern __mlu_device__ int x;", "extern  int x;"),
        ("struct S { static __mlu_device__ int x; };", "struct S { static  int x; };"),
    ],
)
def test_other_variables_are_plain(source: str, wanted: str) -> None:
    assert translated(source) == wanted


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        (
            "__mlu_const__ float x[2] = {1, 2};",
            'static float mlusim_initial_x[2] = {1, 2}; MLUSIM_ARRAY_INIT(mlusim_constant, "", x, '
            "::mlusim::mlusim_remove_const<decltype(mlusim_initial_x)>);",
        ),
        (
            "namespace n { static const __mlu_const__ int x[] = {1}; }",
            "namespace n { static const int mlusim_initial_x[] = {1}; "
            'MLUSIM_ARRAY_INIT(mlusim_constant, "n.", x, decltype(mlusim_initial_x)); }',
        ),
        ("__mlu_const__ float x[2];", 'MLUSIM_ARRAY(mlusim_constant, "", x, float[2]);'),
        ("extern __mlu_const__ float x[2];", 'MLUSIM_EXTERN_ARRAY("", x, float[2]);'),
    ],
)
def test_arrays_of_constants(source: str, wanted: str) -> None:
    assert translated(source) == wanted


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("__mlu_device__ float x[2];", 'MLUSIM_ARRAY(mlusim_gdram, "", x, float[2]);'),
        ("inline __mlu_device__ float x[2];", 'MLUSIM_ARRAY(mlusim_gdram, "", x, float[2]);'),
        ("static __mlu_device__ int x;", 'MLUSIM_ARRAY(mlusim_gdram, "", x, int);'),
        ("namespace n { int __mlu_device__ *x; }", 'namespace n { MLUSIM_ARRAY(mlusim_gdram, "n.", x, int *); }'),
        ("__mlu_device__ const int *x;", 'MLUSIM_ARRAY(mlusim_gdram, "", x, const int *);'),
        (
            "__mlu_device__ int x = f(1), y;",
            'static int mlusim_initial_x = f(1); MLUSIM_ARRAY_INIT(mlusim_gdram, "", x, '
            '::mlusim::mlusim_remove_const<decltype(mlusim_initial_x)>); MLUSIM_ARRAY(mlusim_gdram, "", y, int);',
        ),
        ("extern int y; __mlu_device__ int x;", 'extern int y; MLUSIM_ARRAY(mlusim_gdram, "", x, int);'),
    ],
)
def test_variables_of_the_device(source: str, wanted: str) -> None:
    assert translated(source) == wanted


KERNEL = "__mlu_entry__ void f(int *y) { y[0] = x; }"


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("static int x;", 'MLUSIM_ARRAY(mlusim_gdram, "", x, int);'),
        ("static unsigned long x;", 'MLUSIM_ARRAY(mlusim_gdram, "", x, unsigned long);'),
        ("namespace n { static half x[4]; } using n::x;", "same"),
        ("static int x; int g() { return x; }", "same"),
        ("struct S { int g() { return x; } }; static int x;", "same"),
        ("static int x; static int *p = &x;", "same"),
        ("static int x;\n#define X x\n", "same"),
        ("static const int x = 3;", "same"),
        ("static volatile int x;", "same"),
        ("static S x;", "same"),
        ("static int *x;", "same"),
        ("int x;", "same"),
    ],
)
def test_statics_that_only_kernels_use_lie_on_the_device(source: str, wanted: str) -> None:
    assert translated(f"{source} {KERNEL}") == f"{source if wanted == 'same' else wanted} {KERNEL}"


def test_statics_that_nobody_or_the_launch_uses_are_plain() -> None:
    for source in (
        "static int x, z; __mlu_entry__ void f(int *y) { y[0] = x; }",
        "static int x; void g() { h(x); } __mlu_func__ void k() { x = 1; }",
    ):
        assert translated(source).startswith("static int x")


@pytest.mark.parametrize(
    ("declaration", "wanted"),
    [
        ("BEGIN_DECLS\n__nram__ float a[4];", 'BEGIN_DECLS\nMLUSIM_ARRAY(mlusim_nram, "", a, float[4]);'),
        (
            "BEGIN_DECLS END_DECLS static __nram__ float a[4];",
            'BEGIN_DECLS END_DECLS MLUSIM_ARRAY(mlusim_nram, "", a, float[4]);',
        ),
        ("BEGIN_DECLS\nextern __nram__ half *a[4];", 'BEGIN_DECLS\nMLUSIM_EXTERN_ARRAY("", a, half *[4]);'),
        ("unsigned __nram__ int a[4];", 'MLUSIM_ARRAY(mlusim_nram, "", a, unsigned int[4]);'),
        ("half __nram__ a[4];", 'MLUSIM_ARRAY(mlusim_nram, "", a, half[4]);'),
        ("struct __nram__ Pair a[4];", 'MLUSIM_ARRAY(mlusim_nram, "", a, struct Pair[4]);'),
    ],
)
def test_a_word_before_a_declaration_may_be_a_macro(declaration: str, wanted: str) -> None:
    assert translated(declaration) == wanted
