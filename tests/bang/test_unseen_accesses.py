"""Accesses of kernels by other means than loads and stores: each is seen by the checkers, or no kernel has it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pymluops
from pymluops import bang, sim
from pymluops.bang.driver import main

HEADERS = "".join(
    f"#include <{name}>\n"
    for name in ("algorithm", "array", "cmath", "cstdarg", "cstdio", "cstring", "memory", "numeric", "utility")
)
TYPES = """
struct S { float f[64]; };
typedef float V __attribute__((vector_size(16)));
#define PASTE(a, b) a##b
"""
#: The pointers `bad` and `far` lie behind the ends of `out` and `x`, which have 64 elements each.
KERNEL = """
__mlu_entry__ void kernel{number}(const float *x, float *out) {{
  if (taskId != 0) return;
  float v[64] = {{}};
  float *const bad = out + 64;
  const float *const far = x + 64;
  (void)bad; (void)far;
  {statements}
  out[0] = v[(int)x[0] & 63];
}}
"""


def source_of(statements: str, head: str = "", number: int | str = "") -> str:
    return f"{head}\n{KERNEL.format(statements=statements, number=number)}"


def module_of(statements: str, head: str = "") -> bang.Module:
    return bang.compile(f"{HEADERS}{TYPES}{source_of(statements, head)}")


def findings_of(module: bang.Module, name: str = "kernel") -> set[tuple[str, str]]:
    """Return the checkers that find something in a launch, and whether they say that it reads."""
    x, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    sim.clear_findings()
    with pytest.raises(pymluops.ExecutionFailedError), sim.checking("all"):
        module.kernel(name)[1](x, out)
    found = {(each.checker, "reads" if " reads " in each.message else "writes") for each in sim.findings()}
    sim.clear_findings()
    return found


WRITES = [
    "__builtin_memcpy(bad, x, 256);",
    "__builtin_memcpy(bad, x, 4);",
    "__builtin_memcpy(bad, x, 256 + (x[0] > 5));",
    "__builtin_memcpy(__builtin_assume_aligned(bad, 4), x, 256);",
    "__builtin_memmove(bad, x, 256);",
    "__builtin_memset(bad, 0, 4);",
    "__builtin_memset(bad, 0, 256);",
    "__builtin_bzero(bad, 64);",
    "__builtin_bcopy(x, bad, 64);",
    "__builtin_mempcpy(bad, x, 64);",
    "__builtin___memcpy_chk(bad, x, 64, 64);",
    "__builtin___memmove_chk(bad, x, 64, 64);",
    "__builtin___memset_chk(bad, 0, 64, 64);",
    "__builtin___mempcpy_chk(bad, x, 64, 64);",
    "std::memcpy(bad, x, 256);",
    "memset(bad, 0, 256);",
    "std::copy(x, x + 64, bad);",
    "std::copy_n(x, 64, bad);",
    "std::copy_backward(x, x + 64, bad + 64);",
    "std::move(v, v + 64, bad);",
    "std::move_backward(v, v + 64, bad + 64);",
    "std::uninitialized_copy(x, x + 64, bad);",
    "std::uninitialized_fill_n((char *)bad, 64, 3);",
    "std::fill((char *)bad, (char *)bad + 64, 0);",
    "std::fill_n(bad, 64, 1.f);",
    "std::swap_ranges(bad, bad + 4, v);",
    "std::rotate_copy(x, x + 3, x + 64, bad);",
    "*(std::array<float, 64> *)bad = *(const std::array<float, 64> *)x;",
    "S s = *(const S *)x; *(S *)bad = s;",
    "*(S *)bad = S{};",
    "*(V *)bad = V{1, 2, 3, 4};",
    "*(volatile float *)bad = 1;",
    "__atomic_store_n((int *)bad, 1, 0);",
    "__sync_fetch_and_add((int *)bad, 1);",
    "__atomic_fetch_nand((int *)bad, 1, 0);",
    "int expected = 3; __atomic_compare_exchange_n((int *)bad, &expected, 5, false, 0, 0);",
    "__atomic_compare_exchange_n((int *)x, (int *)bad, 5, false, 0, 0);",
    "v[0] = std::frexp(x[1], (int *)bad);",
    "v[0] = std::modf(x[1], bad);",
    "v[0] = __builtin_modff(x[1], bad);",
    "v[0] = std::remquo(x[1], x[2], (int *)bad);",
    "sincosf(x[1], v, bad);",
    '__bang_printf("%n", (int *)bad);',
    'printf("%d%n", 5, (int *)bad);',
]
READS = [
    "__builtin_memcpy(v, far, 256);",
    "__builtin_memmove(v, far, 256);",
    "std::copy(far, far + 64, v);",
    "v[0] = __builtin_memcmp(far, x, 64);",
    "v[0] = memcmp(far, x, 64);",
    "v[0] = __builtin_strlen((const char *)far);",
    "v[0] = strlen((const char *)far);",
    "v[0] = std::strlen((const char *)far);",
    'v[0] = strcmp((const char *)far, "a");',
    'v[0] = strncmp((const char *)far, "a", 1);',
    "v[0] = __builtin_memchr(far, 1, 4) != nullptr;",
    "v[0] = std::equal((const int *)x, (const int *)x + 9, (const int *)far);",
    "v[0] = std::find((const char *)far, (const char *)far + 4, 'a') - (const char *)far;",
    "v[0] = std::accumulate(far, far + 4, 0.f);",
    "S s = *(const S *)far; v[0] = s.f[(int)x[0]];",
    "V s = *(const V *)far; v[0] = s[1];",
    "int old = __atomic_load_n((const int *)far, 0); v[0] = old;",
    'printf("%.3s", (const char *)far);',
    "puts((const char *)far);",
]


COPIES = ["__builtin_memcpy(out, tile, 256);", "std::copy(tile, tile + 64, out);", "*(S *)out = *(S *)tile;"]
IN_FLIGHT = [f"__memcpy_async(tile, x, 256, GDRAM2NRAM); {copy} __sync();" for copy in COPIES]
ALL = [*WRITES, *READS, *COPIES, *IN_FLIGHT]


@pytest.fixture(scope="module")
def module() -> bang.Module:
    """A kernel for each statement of `ALL`."""
    kernels = [source_of(statement, number=number) for number, statement in enumerate(ALL)]
    return bang.compile(f"{HEADERS}{TYPES}__nram__ float tile[64];\n{''.join(kernels)}")


@pytest.mark.parametrize("statement", WRITES)
def test_a_write_behind_the_end_is_found(module: bang.Module, statement: str) -> None:
    found = findings_of(module, f"kernel{ALL.index(statement)}")
    assert "memory" in {checker for checker, _ in found}


@pytest.mark.parametrize("statement", READS)
def test_a_read_behind_the_end_is_found(module: bang.Module, statement: str) -> None:
    assert any(checker == "memory" for checker, _ in findings_of(module, f"kernel{ALL.index(statement)}"))


@pytest.mark.parametrize("copy", COPIES)
def test_a_copy_of_undefined_bytes_is_found(module: bang.Module, copy: str) -> None:
    assert ("init", "reads") in findings_of(module, f"kernel{ALL.index(copy)}")


@pytest.mark.parametrize("copy", IN_FLIGHT)
def test_a_copy_of_bytes_in_flight_is_found(module: bang.Module, copy: str) -> None:
    assert any(checker == "race" for checker, _ in findings_of(module, f"kernel{ALL.index(copy)}"))


def test_a_race_of_copies_is_found() -> None:
    head = f"{HEADERS}__mlu_entry__ void kernel(const float *x, float *out) {{ float v[64];"
    module = bang.compile(f"{head} __builtin_memset(v, taskId, 256); std::copy(v, v + 64, out); }}")
    x, out = np.zeros(64, np.float32), np.zeros(64, np.float32)
    with pytest.raises(pymluops.ExecutionFailedError, match="race"), sim.checking("all"):
        module.kernel("kernel")[4, "union1"](x, out)
    sim.clear_findings()


def test_library_functions_compute_what_they_do_elsewhere() -> None:
    statements = """
    int e = 0, q = 0; float whole = 0, sine = 0, cosine = 0; char text[8] = "abc";
    out[1] = std::frexp(12.f + x[0], &e); out[2] = e; out[3] = std::modf(2.75f + x[0], &whole); out[4] = whole;
    out[5] = std::remquo(7.f + x[0], 2.f, &q); out[6] = q;
    sincosf(x[1], &sine, &cosine); out[7] = sine; out[8] = cosine;
    out[9] = strlen(text); out[10] = memcmp(text, "abd", 3) < 0;
    out[11] = strcmp(text, "abc"); out[12] = strncmp(text, "abz", 2);
    memmove(text + 1, text, 3); out[13] = text[3] == 'c';
    __builtin_memset(text, 'z', 2); out[14] = text[1] == 'z' && text[2] == 'b';
    out[15] = __builtin_memchr(text, 'b', 8) == text + 2; int expected = 5, value = 4;
    out[16] = __atomic_compare_exchange_n(&value, &expected, 9, false, 0, 0); out[17] = expected;
    """
    x, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    module_of(statements).kernel("kernel")[1](x, out)
    mantissa, exponent = np.frexp(np.float32(12))
    wanted = [
        mantissa,
        exponent,
        0.75,
        2,
        -1,
        4,
        np.sin(np.float32(1)),
        np.cos(np.float32(1)),
        3,
        1,
        0,
        0,
        1,
        1,
        1,
        0,
        4,
    ]
    assert out[1:18] == pytest.approx(np.array(wanted, np.float32), rel=1e-6)


REFUSED = [
    ("__builtin_ia32_movntps(bad, V{1, 2, 3, 4});", "", "uses __builtin_ia32_movntps"),
    ("__builtin_ia32_storeups(bad, V{1, 2, 3, 4});", "", "uses __builtin_ia32_storeups"),
    ("__builtin_ia32_clflush(bad);", "", "uses __builtin_ia32_clflush"),
    ("__builtin_prefetch(bad);", "", "uses __builtin_prefetch"),
    ("__builtin_va_copy(*(va_list *)bad, *(va_list *)x);", "", "uses __builtin_va_copy"),
    ("__builtin_stack_restore(bad);", "", "uses __builtin_stack_restore"),
    ("(memcpy)(bad, x, 256);", "", "uses memcpy"),
    ("__builtin_memcpy(bad, x, 256);", "#undef __builtin_memcpy", "uses memcpy"),
    ("__builtin_strcpy((char *)bad, (const char *)x);", "", "calls strcpy"),
    ("auto *volatile f = memcpy; f(bad, x, 256);", "", "takes the address of memcpy"),
    ("table[0](bad, x, 9);", "static void *(*volatile table[])(void *, const void *, size_t) = {memcpy};", "memcpy"),
    ("copy(bad, x, 256);", 'extern "C" void *copy(void *, const void *, unsigned long) __asm__("memcpy");', "memcpy"),
    ("__atomic_store_n((__int128 *)bad, (__int128)0, 0);", "", "uses an atomic operation on 16 bytes"),
    (
        "*(S *)bad = make(x[0]);",
        "__attribute__((noinline)) S make(float a) { S s{}; s.f[3] = a; return s; }",
        "returns",
    ),
    ("v[0] = lgammaf_r(x[1], (int *)bad);", "", "calls lgammaf_r"),
    ("v[0] = nan((const char *)far);", "", "calls nan"),
]
WITHOUT_CHECKS = [
    '__attribute__((noinline, no_sanitize("thread"))) void f(float *p) { p[0] = 1; }',
    '__attribute__((no_sanitize("thread", "address"))) void f(float *p) { p[0] = 1; }',
    '__attribute__((no_sanitize("all"))) void f(float *p) { p[0] = 1; }',
    "__attribute__((no_sanitize_thread)) void f(float *p) { p[0] = 1; }",
    "[[gnu::no_sanitize_thread]] void f(float *p) { p[0] = 1; }",
    'const auto f = [](float *p) __attribute__((noinline, no_sanitize("thread"))) { p[0] = 1; };',
    'template <typename T> __attribute__((no_sanitize("thread"))) void f(T *p) { p[0] = 1; }',
]
ASSEMBLY = [
    ('PASTE(__as, m__) volatile("movl $1, (%0)" : : "r"(bad) : "memory");', ""),
    ('PASTE(__as, m__) goto("movl $1, (%0)" : : "r"(bad) : "memory" : label); label:;', ""),
    ('register long r PASTE(__as, m__)("rbx"); v[0] = r;', ""),
    ('register long r asm("rbx"); v[0] = r;', ""),
    ("f(bad);", '__attribute__((naked)) void f(float *) { PASTE(__as, m__)("ret"); }'),
    ("f(bad);", 'asm(".globl f\\nf: ret"); extern "C" void f(float *);'),
    ("f(bad);", 'PASTE(__as, m__)(".text\\n.globl f\\n.type f,@function\\nf: ret"); extern "C" void f(float *);'),
    (
        "f(bad);",
        'PASTE(__as, m__)(".section .text._Z1fPf,\\"ax\\",@progbits\\n nop\\n.text");'
        "__attribute__((noinline)) void f(float *p) { p[-1] = 1; }",
    ),
]


def assert_refused(cases: list[tuple[str, str, str]]) -> None:
    """Each statement, behind its head, must be an error whose message has the text, within the lines of its kernel."""
    parts = [f"namespace case{i} {{\n{source_of(code, head, i)}}}\n" for i, (code, head, _) in enumerate(cases)]
    source = f"{HEADERS}{TYPES}{''.join(parts)}"
    with pytest.raises(bang.CompileError) as caught:
        bang.compile(source)
    lines = source.splitlines()
    begins = [
        next(at for at, line in enumerate(lines, 1) if f"namespace case{i} {{" in line) for i in range(len(cases))
    ]
    messages = [line for line in str(caught.value).splitlines() if ": error: a kernel " in line]
    for (code, _, text), begin, end in zip(cases, begins, [*begins[1:], len(lines) + 1], strict=True):
        places = [f"<source>:{number}: error: a kernel" for number in range(begin, end)]
        assert [each for each in messages if text in each and each.startswith(tuple(places))], (code, messages)


def test_what_no_checker_sees_is_an_error_with_its_name_and_line(gcc_on_x86: None) -> None:
    assert_refused(REFUSED)


def test_functions_without_checks_are_errors_in_kernels(gcc_on_x86: None) -> None:
    assert_refused([("f(bad);", head, "has a function without checks (no_sanitize)") for head in WITHOUT_CHECKS])


@pytest.mark.parametrize(("statement", "head"), ASSEMBLY[-3:])
def test_functions_in_assembly_are_errors_in_kernels(statement: str, head: str, gcc_on_x86: None) -> None:
    with pytest.raises(bang.CompileError, match=r"a kernel has code in assembly"):
        module_of(statement, head)


def test_assembly_of_the_host_is_an_error_in_kernels(gcc_on_x86: None) -> None:
    assert_refused([(statement, head, "of the host") for statement, head in ASSEMBLY[:-3]])


@pytest.mark.parametrize(
    "head",
    [
        '__attribute__((noinline, no_sanitize("address", "undefined"))) void f(float *p) { p[0] = 1; }',
        '__attribute__((optimize("O3"))) void f(float *p) { for (int i = 0; i < 64; ++i) p[i] = 0; }',
        '__attribute__((optimize("O0"))) void f(float *p) { for (int i = 0; i < 64; ++i) p[i] = 0; }',
        '#pragma GCC optimize ("O3")\nvoid f(float *p) { for (int i = 0; i < 64; ++i) p[i] = 1; }',
        '#pragma GCC optimize ("no-sanitize=thread")\n__attribute__((noinline)) void f(float *p) { p[0] = 1; }',
        "const auto f = [](float *p) { p[0] = 1; };",
    ],
)
def test_other_attributes_hide_no_access(head: str) -> None:
    assert ("memory", "writes") in findings_of(module_of("f(bad);", head))


LOCAL = """
__mlu_entry__ void kernel(const float *x, float *out, int n) {
  S s = {}, t = s;
  float v[64], w[n];
  for (int i = 0; i < 64; ++i) v[i] = 0;
  __builtin_memset(&t, 0, sizeof t);
  std::array<float, 64> a{}, b = a;
  for (int i = 0; i < n; ++i) w[i] = x[i];
  b[3] = w[1];
  out[0] = s.f[n] + t.f[n] + v[n] + b[n] + std::pow(x[1], 2.f);
}
"""


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3"])
@pytest.mark.parametrize("standard", ["-std=c++17", "-std=c++20"])
def test_automatic_variables_may_be_copied_and_filled(level: str, standard: str) -> None:
    x, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    bang.compile(HEADERS + TYPES + LOCAL, options=[level, standard]).kernel("kernel")[1](x, out, 3)
    assert out[0] == 2


HOST = """
#include <immintrin.h>
__attribute__((noinline, no_sanitize("thread"))) static void fast(float *p) { _mm_stream_ps(p, _mm_setzero_ps()); }
void host(float *p) { fast(p); (memcpy)(p, p + 64, 256); __builtin_prefetch(p); asm volatile("" : : "r"(p)); }
"""


def test_the_host_of_the_same_file_may_do_all_of_it(gcc_on_x86: None) -> None:
    assert module_of("v[0] = x[0];", HOST).kernel("kernel") is not None


def test_functions_of_other_sources_are_looked_at(tmp_path: Path, gcc_on_x86: None) -> None:
    other = '__attribute__((no_sanitize("thread"))) void f(float *p) { p[0] = 1; }\n'
    kernel = "void f(float *p);\n__mlu_entry__ void kernel(float *out) { f(out + 64); }\n"
    (tmp_path / "other.mlu").write_text(other)
    (tmp_path / "kernel.mlu").write_text(kernel)
    with pytest.raises(bang.CompileError, match=r"other\.mlu:1: error: a kernel has a function without checks"):
        bang.compile([str(tmp_path / "kernel.mlu"), str(tmp_path / "other.mlu")])
    (tmp_path / "other.mlu").write_text("#include <cstdlib>\nvoid f(float *p) { p[0] = rand(); }\n")
    with pytest.raises(bang.CompileError, match=r"other\.mlu:2: error: a kernel calls rand, a function of the host"):
        bang.compile([str(tmp_path / "kernel.mlu"), str(tmp_path / "other.mlu")])


def test_the_program_refuses_it_too(tmp_path: Path, capfd: pytest.CaptureFixture[str], gcc_on_x86: None) -> None:
    source = tmp_path / "k.mlu"
    source.write_text("#include <bang.h>\n__mlu_entry__ void k(float *o) {\n  __builtin_prefetch(o);\n}\n")
    assert main(["-c", "-o", str(tmp_path / "k.o"), str(source)]) != 0
    assert f"{source}:3: error: a kernel uses __builtin_prefetch" in capfd.readouterr().err
