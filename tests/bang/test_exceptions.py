"""C++ exceptions, and calls that end the process, in kernels and in functions of the host."""

from __future__ import annotations

import re
import signal
import sys

import numpy as np
import pytest

import pymluops
from pymluops import bang, sim
from support.processes import run_python

SOURCE = r"""
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <cassert>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>
static jmp_buf elsewhere;
namespace mine { struct Error { int code; }; }
struct Guard { int *x; ~Guard() { x[3] = 7; } };
struct Throwing { ~Throwing() noexcept(false) { throw std::runtime_error("second"); } };  // line of two_at_once
__attribute__((noinline)) void quiet(int n) noexcept { if (n) throw std::logic_error("escaped"); }  // line of escapes
static void act(int what, int *x) {
  switch (what) {
    case 0: throw std::runtime_error("boom");  // line of standard
    case 1: throw 42;  // line of number
    case 2: throw "some text";  // line of text
    case 3: throw mine::Error{3};  // line of own
    case 4: throw std::string("words");  // line of string
    case 5: { Guard guard{x}; throw std::runtime_error("guarded"); }  // line of guarded
    case 6: throw std::bad_alloc();  // line of memory
    case 7: std::vector<int>().at(5); break;
    case 8: throw std::runtime_error(std::string(5000, 'y'));  // line of long
    case 9: throw std::runtime_error("\xff bytes");  // line of bytes
    case 10: quiet(what); break;
    case 11: { Throwing one; throw std::runtime_error("first"); }
    case 12: std::terminate();
    case 13: throw;
    case 14: exit(3);  // line of exit
    case 15: _exit(3);  // line of _exit
    case 16: std::_Exit(3);  // line of _Exit
    case 17: std::quick_exit(3);  // line of quick_exit
    case 18: abort();  // line of abort
    case 19: pthread_exit(nullptr);  // line of pthread_exit
    case 20: longjmp(elsewhere, 1);  // line of longjmp
    case 21: raise(SIGABRT); break;
    case 22: raise(SIGSEGV); break;
    case 23: __builtin_trap();  // line of trap
    case 24: assert(what == 0); break;  // line of assert
    case 26: fork();  // line of fork
    case 27: vfork();  // line of vfork
    case 28: try { throw std::logic_error("inner"); } catch (...) { std::throw_with_nested(mine::Error{1}); } break;
    case 29: try { act(28, x); } catch (...) { std::throw_with_nested(std::runtime_error("outer")); } break;
    case 25: { char *volatile p = static_cast<char *>(malloc(16)); free(p); free(p); break; }
  }
}
__mlu_entry__ void kernel(int *x, int what) {
  if (taskId == taskDim - 1 && !__is_mpu()) act(what, x);
  __sync_all();
  if (!__is_mpu()) x[taskId] += 1;
}
int host(int *x, int what) { act(what, x); return x[0] + 5; }

static int work[2];
void queued(cnrtQueue_t queue, int what) {
  work[0] = what;
  cnrtInvokeHostFunc(queue, [](void *p) { act(*static_cast<int *>(p), work); }, work);
}

// What a kernel may do.
__mlu_entry__ void caught(int *x) {
  if (__is_mpu()) return;
  try {
    throw taskId;
  } catch (int first) {
    __sync_all_ipu();
    try {
      throw;
    } catch (int again) {
      __sync_all_ipu();
      x[taskId] = first * 10 + again + std::uncaught_exceptions() * 1000;
    }
  }
}
__mlu_entry__ void jumps(int *x) {
  jmp_buf here;
  volatile int round = 0;
  const int came = setjmp(here);
  if (came < 3) { ++round; longjmp(here, came + 1); }
  x[taskId] = came * 10 + round;
}
int host_jumps() { jmp_buf here; const int came = setjmp(here); if (came < 3) longjmp(here, came + 1); return came; }
"""

#: What these kernels call is refused otherwise.
HOST_FUNCTIONS = ["-DMLUOPS_HOST_FUNCTIONS"]

THROWN = {
    "standard": (0, "std::runtime_error: boom"),
    "number": (1, "int"),
    "text": (2, "char const*: some text"),
    "own": (3, "mine::Error"),
    "string": (4, "std::string"),
    "guarded": (5, "std::runtime_error: guarded"),
    "memory": (6, "std::bad_alloc"),
    "library": (7, "std::out_of_range: vector"),
    "long": (8, "std::runtime_error: yyyyyyyyyyyy"),
    "bytes": (9, "std::runtime_error: \ufffd bytes"),
    "nested": (28, "mine::Error: nested: std::logic_error: inner"),
    "nested_twice": (29, "std::runtime_error: outer (nested: mine::Error: nested: std::logic_error: inner)"),
}
TERMINATED = {
    "escapes": (10, "std::terminate was called for an exception: std::logic_error: escaped"),
    "two_at_once": (11, "std::terminate was called for an exception: std::runtime_error: second"),
    "terminate": (12, "std::terminate was called"),
    "nothing_thrown": (13, "std::terminate was called"),
}
ENDING = {
    "exit": (14, "the kernel called exit(3), which would end the process"),
    "_exit": (15, "the kernel called _exit(3), which would end the process"),
    "_Exit": (16, "the kernel called _Exit(3), which would end the process"),
    "quick_exit": (17, "the kernel called quick_exit(3), which would end the process"),
    "abort": (18, "the kernel called abort, which would end the process"),
    "fork": (26, "the kernel called fork, which would copy the process"),
    "vfork": (27, "the kernel called fork, which would copy the process"),
    "pthread_exit": (19, "the kernel called pthread_exit, which would end the device's thread"),
    "longjmp": (20, "the kernel called longjmp to a function that has ended or is not its own"),
    "signal": (21, "the kernel called abort, or an exception ended it that it may not throw"),
}
OTHER = {"fault": (22, "crash"), "trap": (23, "illegal-instruction"), "assert": (24, "assert")}


def line_of(name: str) -> int:
    """The line that a finding is to name; 0: any."""
    lines = SOURCE.splitlines()
    return next((number for number, line in enumerate(lines, 1) if line.endswith(f"// line of {name}")), 0)


def finding_of(module: bang.Module, what: int, kind: str = "union1") -> sim.Finding:
    """The finding of a launch; the device must be usable afterwards."""
    with pytest.raises(pymluops.ExecutionFailedError) as raised:
        module.kernel("kernel")[4, kind](np.zeros(4, np.int32), what)
    (finding,) = raised.value.findings
    assert (finding.checker, finding.kernel) == ("machine", "kernel")
    assert (finding.task, finding.core) == ((3, 3) if kind == "union1" else (3, 0))
    assert finding.message in str(raised.value)
    assert_usable(module)
    return finding


def assert_usable(module: bang.Module) -> None:
    x = np.zeros(4, np.int32)
    module.kernel("kernel")[4, "union1"](x, -1)
    assert x.tolist() == [1, 1, 1, 1]
    module.kernel("caught")[4, "union1"](x)
    assert x.tolist() == [0, 11, 22, 33]


@pytest.mark.parametrize("name", THROWN)
def test_an_exception_that_leaves_a_kernel(name: str) -> None:
    what, text = THROWN[name]
    finding = finding_of(bang.compile(SOURCE, options=HOST_FUNCTIONS), what)
    assert finding.rule == "exception"
    assert finding.message.startswith(f"an exception leaves the kernel: {text}")
    assert finding.line == line_of(name) or name.startswith("nested")  # a function of the C++ library throws those


@pytest.mark.parametrize("name", TERMINATED)
def test_an_exception_that_may_not_go_on(name: str) -> None:
    what, text = TERMINATED[name]
    finding = finding_of(bang.compile(SOURCE, options=HOST_FUNCTIONS), what)
    assert (finding.rule, finding.message, finding.line) == ("exception", text, line_of(name))


@pytest.mark.parametrize("name", ENDING)
def test_a_kernel_that_ends_the_process(name: str) -> None:
    what, text = ENDING[name]
    finding = finding_of(bang.compile(SOURCE, options=HOST_FUNCTIONS), what)
    assert (finding.rule, finding.message) == ("exception", text)
    assert finding.line == line_of(name) or name == "signal"


@pytest.mark.parametrize("name", OTHER)
def test_other_ends(name: str) -> None:
    what, rule = OTHER[name]
    finding = finding_of(bang.compile(SOURCE, options=HOST_FUNCTIONS), what)
    assert finding.rule == rule
    assert finding.line == line_of(name) or name == "fault"


@pytest.mark.parametrize("checks", ["none", "all"])
def test_kinds_of_launches_and_checkers(checks: str) -> None:
    module = bang.compile(SOURCE, options=HOST_FUNCTIONS)
    with sim.checking(checks):
        for kind in ("block", "union1"):
            for what, _ in (*list(THROWN.values())[:7], TERMINATED["escapes"], ENDING["exit"]):
                assert finding_of(module, what, kind).rule == "exception"


def test_schedules() -> None:
    module = bang.compile(SOURCE, options=HOST_FUNCTIONS)
    report = bang.check(module.kernel("kernel")[4, "union1"], np.zeros(4, np.int32), 0)
    assert (report.ok, report.failed) == (False, report.runs)
    assert {found.rule for found in report.findings} == {"machine/exception"}
    assert bang.check(module.kernel("caught")[4, "union1"], np.zeros(4, np.int32)).ok


def test_locals_of_a_kernel_are_destroyed() -> None:
    with pytest.raises(pymluops.ExecutionFailedError) as raised:
        bang.compile(SOURCE, options=HOST_FUNCTIONS).kernel("kernel")[4, "union1"](
            np.zeros(4, np.int32), THROWN["guarded"][0]
        )
    assert raised.value.outputs["x"].tolist() == [0, 0, 0, 7]


def test_exceptions_and_jumps_within_a_kernel() -> None:
    """Each core has handlers of its own, although all run on one thread."""
    module = bang.compile(SOURCE, options=HOST_FUNCTIONS)
    x = np.zeros(4, np.int32)
    module.kernel("caught")[4, "union1"](x)
    assert x.tolist() == [0, 11, 22, 33]
    module.kernel("jumps")[4](x)
    assert x.tolist() == [33, 33, 33, 33]
    assert module.function("host_jumps")() == 3


@pytest.mark.parametrize("name", THROWN)
def test_an_exception_that_leaves_a_host_function(name: str) -> None:
    module = bang.compile(SOURCE, options=HOST_FUNCTIONS)
    what, text = THROWN[name]
    x = np.zeros(4, np.int32)
    with pytest.raises(pymluops.ExecutionFailedError, match=f"^host: an exception left it: {re.escape(text)}"):
        module.function("host")(x, what)
    assert x[3] == (7 if name == "guarded" else 0)
    assert module.function("host")(x, -1) == 5
    assert_usable(module)


@pytest.mark.parametrize("name", ["standard", "number", "own", "library"])
def test_an_exception_that_leaves_a_function_in_a_queue(name: str) -> None:
    module = bang.compile(SOURCE, options=HOST_FUNCTIONS)
    what, text = THROWN[name]
    queue = pymluops.Queue()
    module.function("queued")(queue, what)
    expected = f"^cnrtInvokeHostFunc: an exception left the function: {re.escape(text)}"
    with pytest.raises(pymluops.ExecutionFailedError, match=expected):
        queue.sync()
    module.function("queued")(queue, -1)
    queue.sync()
    assert_usable(module)


GLOBALS = r"""
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
struct Global {
  int value;
  explicit Global(int what) : value(what + 1) {
    if (what == 1) throw std::runtime_error("in a constructor");
    if (what == 2) throw 7;
    if (what == 3) exit(4);
    if (what == 4) abort();
  }
  ~Global() { if (WHAT == 0) std::puts("destroyed"); std::fflush(stdout); }
};
static Global first(0);
static Global second(WHAT);
__attribute__((constructor)) static void function() { if (WHAT == 5) throw std::logic_error("in a function"); }
int sum() { return first.value + second.value; }
__mlu_entry__ void kernel(int *x) { x[0] = second.value; }
"""


@pytest.mark.parametrize(
    ("what", "text"), [(1, "std::runtime_error: in a constructor"), (2, "int"), (5, "std::logic_error: in a function")]
)
def test_an_exception_that_leaves_a_constructor(what: int, text: str) -> None:
    for _ in range(2):
        with pytest.raises(pymluops.ExecutionFailedError, match=f"the constructor of a global object: {text}$"):
            bang.compile(GLOBALS, options=HOST_FUNCTIONS, defines={"WHAT": what})
    assert_usable(bang.compile(SOURCE, options=HOST_FUNCTIONS))


def test_global_objects() -> None:
    code = f"""
import numpy, pymluops
from pymluops import bang
module = bang.compile({GLOBALS!r}, options={HOST_FUNCTIONS}, defines={{"WHAT": 0}})
x = numpy.zeros(1, numpy.int32)
module.kernel("kernel")[1](x)
print(x[0], module.function("sum")())
"""
    done = run_python(code)
    assert (done.returncode, done.stdout.split()) == (0, ["1", "2", "destroyed", "destroyed"]), done.stderr


CALL = """
import sys, numpy, pymluops
from pymluops import bang
source, name, what = sys.argv[1], sys.argv[2], int(sys.argv[3])
HOST_FUNCTIONS = ["-DMLUOPS_HOST_FUNCTIONS"]
with pymluops.use("sim"):
    if name == "constructors":
        bang.compile(source, options=HOST_FUNCTIONS, defines={"WHAT": what})
    module = bang.compile(source, options=HOST_FUNCTIONS)
    if name == "queued":
        queue = pymluops.Queue()
        module.function("queued")(queue, what)
        queue.sync()
    elif name == "kernel":
        module.kernel("kernel")[4](numpy.zeros(4, numpy.int32), what)
    else:
        module.function(name)(numpy.zeros(4, numpy.int32), what)
print("alive")
"""
LONGJMP = "longjmp to a function that has ended or is not its own"
PTHREAD_EXIT = "pthread_exit on a thread that is not its own"
HOST_ENDS = [
    ("host", 14, 3, "the host function host called exit(3)"),
    ("host", 18, -signal.SIGABRT, "the host function host called abort"),
    ("host", 15, 3, "the host function host called _exit(3)"),
    ("host", 16, 3, "the host function host called _Exit(3)"),
    ("host", 17, 3, "the host function host called quick_exit(3)"),
    ("host", 10, -signal.SIGABRT, "the host function host called abort"),
    ("host", 12, -signal.SIGABRT, "the host function host called abort"),
    ("host", 19, -signal.SIGABRT, f"the host function host called {PTHREAD_EXIT}"),
    ("host", 20, -signal.SIGABRT, f"the host function host called {LONGJMP}"),
    ("host", 21, -signal.SIGABRT, "the host function host called abort"),
    ("host", 22, -signal.SIGSEGV, "the host function host received SIGSEGV"),
    ("host", 24, -signal.SIGABRT, "the host function host called abort"),
    ("queued", 18, -signal.SIGABRT, "the host function of a queue called abort"),
    ("queued", 19, -signal.SIGABRT, f"the host function of a queue called {PTHREAD_EXIT}"),
    ("kernel", 25, -signal.SIGABRT, "the kernel kernel called abort"),
    ("constructors", 3, 4, "the host function (constructors of global objects) called exit(4)"),
    ("constructors", 4, -signal.SIGABRT, "the host function (constructors of global objects) called abort"),
]


def check_end(name: str, what: int, code: int, text: str) -> None:
    done = run_python(CALL, GLOBALS if name == "constructors" else SOURCE, name, str(what))
    assert (done.returncode, "alive" in done.stdout) == (code, False), done.stderr
    assert f"mlusim: {text}: the process ends\n" in done.stderr


@pytest.mark.parametrize(("name", "what", "code", "text"), HOST_ENDS[:2])
def test_who_ends_the_process_is_told(name: str, what: int, code: int, text: str) -> None:
    check_end(name, what, code, text)


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "what", "code", "text"), HOST_ENDS[2:])
def test_who_else_ends_the_process_is_told(name: str, what: int, code: int, text: str) -> None:
    check_end(name, what, code, text)


@pytest.mark.thorough
def test_the_compiler_of_ziglang(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its C++ runtime is another one than that of the simulator. It does not tell where exceptions are thrown."""
    pytest.importorskip("ziglang")
    monkeypatch.setenv("PYMLUOPS_CXX", f"{sys.executable} -m ziglang c++")
    module = bang.compile(SOURCE, options=HOST_FUNCTIONS)
    x = np.zeros(4, np.int32)
    for name, (what, text) in THROWN.items():
        assert finding_of(module, what).message.startswith(f"an exception leaves the kernel: {text}"), name
        with pytest.raises(pymluops.ExecutionFailedError, match=f"^host: an exception left it: {re.escape(text)}"):
            module.function("host")(x, what)
        queue = pymluops.Queue()
        module.function("queued")(queue, what)
        with pytest.raises(pymluops.ExecutionFailedError, match=re.escape(text)):
            queue.sync()
    for what, text in (*TERMINATED.values(), *ENDING.values()):
        assert finding_of(module, what).message == text
    for what, text in ((1, "std::runtime_error: in a constructor"), (2, "int")):
        with pytest.raises(pymluops.ExecutionFailedError, match=f"{text}$"):
            bang.compile(GLOBALS, options=HOST_FUNCTIONS, defines={"WHAT": what})
    assert_usable(module)


@pytest.mark.parametrize(("address", "rule"), [(0, "null-dereference"), (0x1234567, "invalid-address")])
def test_a_call_through_a_bad_pointer_has_its_line(address: int, rule: str) -> None:
    text = "__mlu_entry__ void f(float *x, long at) {\n  void (*p)(float *) = (void (*)(float *))at;\n  p(x);\n}\n"
    with pytest.raises(pymluops.ExecutionFailedError, match="a call through a pointer to no function"):
        bang.compile(text).kernel("f")[1](np.zeros(1, np.float32), address)
    finding = sim.findings()[-1]
    assert (finding.rule, finding.line) == (rule, 3)
    sim.clear_findings()
