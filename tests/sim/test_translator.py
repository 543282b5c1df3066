"""BANG C becomes C++: launches, variables in memories, inline assembly, doubled `inline`; and nothing else changes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pymluops.sim.translator import TranslationError, translate
from support.translation import in_function, launch, refusal, translated

FOLDER = Path(__file__).resolve().parents[2] / "pymluops" / "sim"
# ---- functions -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("__mlu_func__ inline void f() {}", "__mlu_func__  void f() {}"),
        ("inline __mlu_func__ void f() {}", " __mlu_func__ void f() {}"),
        ("static __mlu_func__ __inline__ void f();", "static __mlu_func__  void f();"),
        (
            "template <typename T>\n__mlu_device__ inline T f(T x) {}",
            "template <typename T>\n__mlu_device__ MLUSIM_INLINED  T f(T x) {}",
        ),
        ("inline static A<int> __mlu_func__ f() {}", " static A<int> __mlu_func__ MLUSIM_INLINED f() {}"),
        ("__mlu_func__ __mlu_device__ void f() {}", "__mlu_func__  void f() {}"),
        ("__mlu_func__ __attribute__((x(1))) inline void f() {}", "__mlu_func__ __attribute__((x(1)))  void f() {}"),
        ("#define FUNC __mlu_func__ inline\nFUNC void f();", "#define FUNC \n__mlu_func__  void f();"),
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


@pytest.mark.parametrize(
    "source",
    [
        "__mlu_func__ @ Pair f(float x) { return {x, x}; }",
        "template <typename T, int N = 3> static __mlu_func__ @ Vector<T, N> f(T x) { return {}; }",
        "template <typename T> __mlu_func__ @ T f(T x) { return x; }",
        "struct S { __mlu_func__ @ S operator*(const S &o) const { return o; } };",
        "struct S { __mlu_func__ @ S operator()(int n) const { return g(n); } };",
        "struct S { __mlu_func__ S operator()(int n) { return n == 0 ? *this : (*this)(n - 1); } };",
        "__mlu_func__ @ S S::conjugate(S a) { return a; }",
        "__mlu_func__ @ typename Q<int>::type f() { return {}; }",
        "__mlu_device__ @ auto f(int x) -> Pair { return {}; }",
        "#define MAKE(name) __mlu_func__ @ Pair name(float x) { return {}; }\nMAKE(f)",
        "__mlu_func__ @ Pair f() { return g(); } __mlu_func__ @ Pair g() { return {}; }",
        "__mlu_func__ Pair f(int n) { return f(n - 1); } __mlu_func__ @ Pair g() { return f(1); }",
        "__mlu_func__ Pair f(int n) { return g(n - 1); } __mlu_func__ Pair g(int n) { return n ? f(n) : Pair{}; }",
        "__mlu_func__ Pair f(float x);",
        "__mlu_func__ float *f(float *x) { return x; } __mlu_func__ const Pair &f(const Pair &x) { return x; }",
        "__mlu_func__ unsigned int f() { return 1; } static __mlu_func__ std::uint32_t g() { return 1; }",
        "struct S { __mlu_func__ S(int x) : y(x) {} __mlu_func__ operator float() const { return 1; } };",
        "__mlu_func__ Pair f(const char *text, ...) { return {}; }",
    ],
)
def test_functions_that_return_objects_are_inlined(source: str) -> None:
    """But not those that call themselves, which no compiler can inline."""
    assert translated(source.replace(" @", "")) == source.replace("@", "MLUSIM_INLINED")


# ---- inline assembly -----------------------------------------------------------------------------


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
        ('asm volatile("fuse.nram.f64 [%0], %1, [%0];" :: "r"(a), "r"(b));', "fuse.nram.f64"),
        ('asm volatile("fuse.nram.f32 [%0], %1, [%0], .pow(2);" :: "r"(a), "r"(b));', ".pow"),
        ('asm volatile("fuse.nram.f32 [%0], %1, [%0], .add(%3);" :: "r"(a), "r"(b));', "fuse.nram.f32"),
        ('asm volatile("sync;\\n\\tfindlast0.gpr.b32 %0, %1;" : "=r"(a) : "r"(b));', "findlast0.gpr.b32"),
        ('asm volatile("findlast1.gpr.b32 [%0], %1;" : "=r"(a) : "r"(b));', "findlast1.gpr.b32"),
        ('asm volatile("div.scalar.nram.u32 [%0], [%0], %1, 4;" :: "r"(a), "r"(b));', "div.scalar.nram.u32"),
        ('asm volatile(".volatile{ld.3d.async.nram.gdram [%0]; }" :: "r"(a));', ".volatile{ld.3d.async.nram.gdram"),
        ('asm volatile("sync %0;" :: "r"(a));', "sync"),
        ('asm volatile("sync %0;" :: "r");', "r"),
        ("asm volatile(SOME_MACRO);", "SOME_MACRO"),
    ],
)
def test_unknown_assembly_is_refused(statement: str, mnemonic: str) -> None:
    line, message = refusal(f"void f() {{\n  x = 1;\n  {statement}\n}}\n")
    assert line == 3
    assert f"`{mnemonic}`" in message or f'`"{mnemonic}"`' in message


@pytest.mark.parametrize(
    ("statement", "call"),
    [
        ('asm("nop;");', "::mlusim::asm_nop();"),
        (
            'asm volatile("fuse.nram.f32 [%[d]], %[n], [%[s]], .mul(%[k]), .add([%[v]]);\\n\\t" '
            '::[d] "r"(a + 1), [n] "r"(f(b, 2)),\n [s] "r"(s), [k] "r"(k), [v] "r"(v));',
            "::mlusim::asm_fuse_f32(::mlusim::asm_address((a + 1)), (f(b, 2)), ::mlusim::asm_address((s)), "
            "{::mlusim::fuse_register(::mlusim::FuseStep::fuse_mul, (k)), "
            "::mlusim::fuse_vector(::mlusim::FuseStep::fuse_add, ::mlusim::asm_address((v)))})\n;",
        ),
        (
            'asm("fuse.nram.s32 [%0], 4, [%0], .and(0xff), .mul(-1);" :: "r"(a));',
            "::mlusim::asm_fuse_s32(::mlusim::asm_address((a)), 4, ::mlusim::asm_address((a)), "
            "{::mlusim::fuse_register(::mlusim::FuseStep::fuse_and, 0xff), "
            "::mlusim::fuse_literal(::mlusim::FuseStep::fuse_mul, -1)});",
        ),
        ('asm("findlast1.gpr.b32 %0, %1;" : "=r"(a) : "r"(b));', "(a) = ::mlusim::asm_find_last_1((b));"),
        (
            'asm("sync;\\n\\tindex.vvr.f32 %[v], %[b], 1;" : [v] "+r"(v) : [b] "r"(b));',
            "::mlusim::asm_sync(), ::__vv_index((v), static_cast<float>((b)), static_cast<float>(1));",
        ),
        (
            'asm("div.scalar.nram.f16 [%0], [%1], %2, %3;" :: "r"(a), "r"(b), "r"(c), "r"(n));',
            "::mlusim::asm_div_scalar_f16(::mlusim::asm_address((a)), ::mlusim::asm_address((b)), (c), (n));",
        ),
    ],
)
def test_known_assembly(statement: str, call: str) -> None:
    assert in_function(statement) == call


def test_assembly_in_macros() -> None:
    """What a macro makes text of becomes a part of the name."""
    body = (
        "#define FUSE(type, op, d, s, n) \\\n"
        '  __asm__ volatile("fuse.nram." #type " [%0], %1, [%2], ." #op "(%3);" \\\n'
        '                   :: "r"(d), "r"(n), "r"(s), "r"(2))\n'
    )
    assert translated(body) == (
        "#define FUSE(type, op, d, s, n) \\\n  ::mlusim::asm_fuse_##type(::mlusim::asm_address((d)), (n), "
        "::mlusim::asm_address((s)), {::mlusim::fuse_register(::mlusim::FuseStep::fuse_##op, (2))})\\\n\n"
    )


# ---- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_ends_of_lines_stay(newline: str) -> None:
    source = newline.join(["// x", "#define A \\", '  __asm__("sync;") \\', "  ;", "__nram__ int x[2];", "int y;", ""])
    wanted = newline.join(
        [
            "// x",
            "#define A \\",
            "  ::mlusim::asm_sync() \\",
            "  ;",
            'MLUSIM_ARRAY(mlusim_nram, "", x, int[2]);',
            "int y;",
            "",
        ]
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
    assert translated(source) == source.replace("__nram__ int x[2]", 'MLUSIM_ARRAY(mlusim_nram, "", x, int[2])')
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


# ---- command line --------------------------------------------------------------------------------


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
    array = b'MLUSIM_ARRAY(mlusim_nram, "", x, int[2]);'
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
