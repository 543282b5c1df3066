"""Functions of the host in kernels: what the compiler refuses, and what BANG C has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pymluops import bang
from pymluops.bang.driver import main

REFUSED = """\
#include <cstdlib>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>
namespace deep {
struct Files { __mlu_func__ static int count(int n) { return open("/dev/null", n); } };  // open
}
__attribute__((noinline)) static void leave(float *o) { if (o[0] > 3) exit(2); }  // exit
int by_name(int n) { return n > 5 ? system("true") : n; }  // system
template <typename T> __mlu_entry__ void of_type(T *o) { o[0] = static_cast<T>(rand()); }  // rand
extern "C" __mlu_entry__ void in_c(float *o) { o[0] = fork(); }  // fork
__mlu_entry__ void kernel(float *o) {
  leave(o);
  o[0] = by_name(o[1]) + deep::Files::count(2);
  void *memory = malloc(16);  // malloc
  cnrtMalloc(&memory, 16);  // cnrtMalloc
  kill(getpid(), 9);  // getpid kill
  if (o[2] > 1) abort();  // abort
}
void host(float *x) { of_type<float><<<{1, 1, 1}, cnrtFuncTypeBlock, nullptr>>>(x); }
"""

ALLOWED = """\
#include <cmath>
#include <cstdlib>
#include <unistd.h>
static void cleans_up() { exit(3); }
void host() { void *memory = malloc(3); free(memory); system("true"); cleans_up(); }
struct Pair { float a, b; char name[100]; };
__mlu_entry__ void kernel(float *o, int n) {
  Pair pair = {}, other = pair;
  other.a = std::pow(o[0], 2.f) + erff(o[1]) + sinf(o[2]) + std::max(o[3], 1.f) + std::lround(o[4]) + fmodf(o[5], 2);
  memcpy(&pair, &other, sizeof pair);
  printf("%f\\n", pair.a);
  printf("alone\\n");
  __bang_printf("%d\\n", n);
  assert(n > 0);
  if (n > 100) throw n;
  for (int i = 0; i < 1000; ++i) o[i] = 0;
}
"""


def test_functions_of_the_host_are_errors_with_their_lines() -> None:
    with pytest.raises(bang.CompileError) as caught:
        bang.compile(REFUSED)
    wanted = [
        f"<source>:{number}: error: a kernel calls {name}, a function of the host"
        for number, line in enumerate(REFUSED.splitlines(), 1)
        if "  // " in line
        for name in line.partition("  // ")[2].split()
    ]
    assert str(caught.value).splitlines() == wanted


def test_the_program_refuses_them_too(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "kernels.mlu"
    source.write_text("#include <bang.h>\n#include <cstdlib>\n__mlu_entry__ void k(float *o) { o[0] = rand(); }\n")
    words = ["-c", "--bang-mlu-arch=mtp_592", "-o", str(tmp_path / "k.o"), str(source)]
    assert main(words) != 0
    assert f"{source}:3: error: a kernel calls rand, a function of the host" in capfd.readouterr().err
    assert main(["-DMLUOPS_HOST_FUNCTIONS", *words]) == 0


HEADERS = "".join(
    f"#include <{name}>\n"
    for name in (
        "dlfcn.h",
        "pthread.h",
        "stdlib.h",
        "cstdio",
        "ctime",
        "fenv.h",
        "iostream",
        "string",
        "thread",
        "unistd.h",
    )
)
#: Text before a kernel and in it, and the function of the host that the message names.
WAYS = [
    ("", "atexit(0);", "atexit"),
    ("", "at_quick_exit(0);", "at_quick_exit"),
    ("", "int (*volatile p)(void (*)()) = atexit; p(0);", "atexit"),
    ("static int (*const table[])(void (*)()) = {atexit, at_quick_exit};", "table[n & 1](0);", "at_quick_exit"),
    ("", "static int (*table[])(void (*)()) = {atexit, at_quick_exit}; table[n & 1](0);", "at_quick_exit"),
    ("", "int (*table[])(void (*)()) = {atexit, at_quick_exit}; table[n & 1](0);", "at_quick_exit"),
    ("template <typename T> int go(T) { return atexit(0); }", "go(3);", "atexit"),
    ("template <int (*f)(void (*)())> int go() { return f(0); }", "go<atexit>();", "atexit"),
    ("", "const auto f = [] { return atexit(0); }; f();", "atexit"),
    ('int f(void (*)()) __asm__("atexit");', "f(0);", "atexit"),
    (
        'extern "C" int g(void (*f)()) { return atexit(f); } int f(void (*)()) __attribute__((alias("g")));',
        "f(0);",
        "atexit",
    ),
    ('static int f(void (*)()) __attribute__((weakref("atexit")));', "f(0);", "atexit"),
    (
        'extern "C" { static int (*choose())(void (*)()) { return atexit; }'
        ' int f(void (*)()) __attribute__((ifunc("choose"))); }',
        "f(0);",
        "atexit",
    ),
    ("#define JOINED(a, b) a##b", "JOINED(at, exit)(0);", "atexit"),
    (
        "struct A { virtual int go() = 0; }; struct B : A { int go() override { return atexit(0); } };"
        "__attribute__((noinline)) int f(A *a) { return a->go(); }",
        "B b; f(&b);",
        "atexit",
    ),
    ("", 'dlsym(0, "atexit");', "dlsym"),
    ('extern "C" int __cxa_atexit(void (*)(void *), void *, void *);', "__cxa_atexit(0, 0, 0);", "__cxa_atexit"),
    ("struct D { int a; ~D() { a = 1; } };", "static D d; o[1] = d.a;", "__cxa_atexit"),
    ("", "pthread_t thread; pthread_create(&thread, 0, 0, 0);", "pthread_create"),
    ("", "syscall(60, 1);", "syscall"),
    ("", "fesetround(FE_UPWARD);", "fesetround"),
    ("", "std::cout << n;", "std::"),
    ("", "std::string s((const char *)o, n); o[1] = s[3];", "std::"),
    ("", "std::thread thread([] {}); thread.join();", "std::thread::"),
    ('extern "C" int mlusimSetTimeLimit(double);', "mlusimSetTimeLimit(0);", "mlusimSetTimeLimit"),
]


def source_of(ways: list[tuple[str, str, str]], function: str) -> str:
    """Return a source with each way in a namespace of its own, of which the function takes a line."""
    parts = [
        f"namespace way{number} {{\n{head}\n{function}(float *o, int n) {{\n  {statement}\n}} }}"
        for number, (head, statement, _) in enumerate(ways)
    ]
    return f"{HEADERS}__mlu_entry__ void other(float *o) {{ o[0] = 1; }}\n" + "\n".join(parts)


@pytest.mark.parametrize("ways", [WAYS[:13], WAYS[13:]])
def test_every_way_to_a_function_of_the_host_is_an_error(ways: list[tuple[str, str, str]]) -> None:
    source = source_of(ways, "__mlu_entry__ void k")
    with pytest.raises(bang.CompileError) as caught:
        bang.compile(source)
    lines = source.splitlines()
    begins = [lines.index(f"namespace way{number} {{") + 1 for number in range(len(ways))]
    ends = [*begins[1:], len(lines) + 1]
    messages = [
        (int(found[1]), found[2])
        for found in re.finditer(
            r"<source>:(\d+): error: a kernel (?:calls|refers to) (.*), a function", str(caught.value)
        )
    ]
    for (_, statement, name), begin, end in zip(ways, begins, ends, strict=True):
        assert [said for at, said in messages if begin <= at < end and said.startswith(name)], (statement, messages)


def test_the_host_of_the_same_source_may_call_anything() -> None:
    assert bang.compile(source_of(WAYS, "void host")).kernel("other") is not None


def test_what_bang_c_has_and_what_the_host_calls_stays() -> None:
    assert bang.compile(ALLOWED).kernel("kernel") is not None


def test_an_option_lets_them_be() -> None:
    assert bang.compile(REFUSED, options=["-DMLUOPS_HOST_FUNCTIONS"]).kernel("kernel") is not None


@pytest.mark.parametrize(
    "source",
    [
        "__mlu_entry__ void k(int *x) { *x = 1; } int k(cnrtQueue_t queue, int *x) { k<<<>>> }",
        "namespace a { __mlu_entry__ void k(int *x) { *x = 1; } } int go(cnrtQueue_t queue, int *x) { a::k<<<>>> }",
        "namespace a { __mlu_entry__ void k(int *x) { *x = 1; } }"
        "namespace b { int k(cnrtQueue_t queue, int *x) { a::k<<<>>> } }",
        "namespace k { __mlu_entry__ void k(int *x) { *x = 1; } int go(cnrtQueue_t queue, int *x) { k<<<>>> } }",
        "namespace k { template <typename T> __mlu_entry__ void k(T *x) { *x = 1; }"
        " int go(cnrtQueue_t queue, int *x) { k<int><<<>>> } }",
        "__mlu_entry__ void k(int *x) { *x = 1; } struct K { struct k { int go(cnrtQueue_t queue, int *x); }; };"
        " int K::k::go(cnrtQueue_t queue, int *x) { ::k<<<>>> }",
    ],
)
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_functions_of_the_host_may_have_the_name_of_a_kernel(source: str, level: str) -> None:
    launch = "<<<d, cnrtFuncTypeBlock, queue>>>(x); return cnrtQueueSync(queue);"
    text = source.replace("<<<>>>", launch).replace("int *x) { ", "int *x) { const cnrtDim3_t d = {1, 1, 1}; ")
    assert "k" in str(bang.compile(text, options=[level]).kernels)


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_a_kernel_without_a_launch_is_looked_at(level: str) -> None:
    """A macro makes the name of one of them."""
    made = "#define NAME(n) made_##n\n__mlu_entry__ void NAME(k)(float *o) { o[0] = rand(); }"
    with pytest.raises(bang.CompileError, match="a kernel calls rand, a function of the host"):
        bang.compile(f"#include <cstdlib>\n{made}\n", options=[level])
