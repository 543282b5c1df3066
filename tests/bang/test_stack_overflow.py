"""Frames that are larger than a core's stack: a finding, whatever lies below the stack."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pymluops
from pymluops import bang, sim
from pymluops.bang.driver import main
from support.processes import run_python

MIB = 1 << 20

SOURCE = """
#include <alloca.h>
__nram__ char mine[1024];
__mlu_func__ __attribute__((noinline)) void touch(volatile char *p, long n) {
  for (long i = 0; i < n; i += 4096) p[i] = 9;
  asm volatile("" :: "r"(p) : "memory");
}
template <long size>
__mlu_func__ __attribute__((noinline)) void fill() { char a[size]; touch(a, size); }
__mlu_func__ __attribute__((noinline)) long levels(long n) {
  volatile char a[300000];
  a[n % 7] = 1;
  return n == 0 ? 0 : a[n % 7] + levels(n - 1) + a[8];
}
__mlu_func__ __attribute__((noinline)) long small_levels(const long *x, long n) {
  return n == 0 ? 0 : x[0] + small_levels(x, n - 1) * 3;
}

// The last core does it, between barriers: cores whose stacks and NRAM lie below have something to lose.
#define KERNEL(name, ...)                                        \\
  __mlu_entry__ void name(long *x, long n) {                     \\
    volatile char keep[2000];                                    \\
    for (int i = 0; i < 2000; ++i) keep[i] = 1;                  \\
    for (int i = 0; i < 1024; ++i) mine[i] = 1;                  \\
    __sync_all();                                                \\
    if (taskId == taskDim - 1 && !__is_mpu()) { __VA_ARGS__; }   \\
    __sync_all();                                                \\
    long changed = 0;                                            \\
    for (int i = 0; i < 2000; ++i) changed += keep[i] != 1;      \\
    for (int i = 0; i < 1024; ++i) changed += mine[i] != 1;      \\
    if (!__is_mpu()) x[taskId] = changed;                        \\
  }
KERNEL(two_mib, fill<2 << 20>())
KERNEL(three_mib, fill<3 << 20>())
KERNEL(four_mib, fill<4 << 20>())
KERNEL(hundred_mib, fill<100 << 20>())
KERNEL(two_gib, fill<2000L << 20>())
KERNEL(own_frame, char a[5 << 20]; touch(a, sizeof a))
KERNEL(allocated, char *a = (char *)alloca(n); touch(a, n))
KERNEL(variable, char a[n]; touch(a, n))
KERNEL(recursive, x[taskId] = levels(n))
KERNEL(deep, x[taskId] = small_levels(x, n))
KERNEL(half_of_it, fill<900000>(); x[taskId] = levels(2))
KERNEL(below_its_frame, char a[100]; touch(a, 5); *(volatile char *)(a - n) = 1)
"""

TOO_LARGE = {
    "two_mib": 0, "three_mib": 0, "four_mib": 0, "hundred_mib": 0, "two_gib": 0, "own_frame": 0,
    "allocated": 40 * MIB, "variable": 7 * MIB, "recursive": 1000, "deep": 10**9,
}  # fmt: skip


def overflow(module: bang.Module, kernel: str, argument: int) -> sim.Finding:
    """The finding of a launch of four cores, which must leave all other cores and the arrays alone."""
    x = np.full(4, -1, np.int64)
    with pytest.raises(pymluops.ExecutionFailedError) as raised:
        module.kernel(kernel)[4, "union1"](x, argument)
    (finding,) = raised.value.findings
    # The frame of the kernel itself is as large on each core.
    assert (finding.checker, finding.kernel, finding.task) == ("machine", kernel, 0 if kernel == "own_frame" else 3)
    assert (raised.value.outputs["x"] == -1).all()
    module.kernel("half_of_it")[4, "union1"](x, 0)
    assert (x == 0).all()
    return finding


@pytest.mark.parametrize("checks", ["none", "all"])
@pytest.mark.parametrize("kernel", TOO_LARGE)
def test_large_frames_are_found(kernel: str, checks: str) -> None:
    with sim.checking(checks):
        finding = overflow(bang.compile(SOURCE), kernel, TOO_LARGE[kernel])
    assert finding.rule == "stack-overflow"
    assert finding.message == f"the core ran out of its stack of {MIB} bytes"
    assert finding.line > 0


@pytest.mark.thorough
@pytest.mark.parametrize("compiler", ["", f"{sys.executable} -m ziglang c++"], ids=["usual", "zig"])
@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3", "-Os"])
def test_every_compiler_and_level(compiler: str, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if compiler:
        pytest.importorskip("ziglang")
        monkeypatch.setenv("PYMLUOPS_CXX", compiler)
    module = bang.compile(SOURCE, options=[level])
    for kernel, argument in TOO_LARGE.items():
        for checks in ("none", "all"):
            with sim.checking(checks):
                assert overflow(module, kernel, argument).rule == "stack-overflow"


@pytest.mark.parametrize("checks", ["none", "all"])
def test_frames_that_fit(checks: str) -> None:
    x = np.full(4, -1, np.int64)
    with sim.checking(checks):
        bang.compile(SOURCE).kernel("half_of_it")[4, "union1"](x, 0)
    assert (x == 0).all()


def test_an_index_below_a_frame_is_no_overflow() -> None:
    with sim.checking("none"):
        finding = overflow(bang.compile(SOURCE), "below_its_frame", 20 * MIB)
    assert finding.rule == "invalid-address"


UNCHECKED = """
#include <alloca.h>
__mlu_func__ __attribute__((noinline)) void use(volatile char *p) { p[0] = 9; __sync_compute(); }
__mlu_entry__ void kernel(long *x, long n) {
  __sync_all();
  if (taskId == 3) use((char *)alloca(n));
  x[taskId] = 1;
}
"""


@pytest.mark.parametrize("size", [2 * MIB, 300 * MIB, 1000 * MIB, (1 << 30) + MIB + 200000, 1 << 44, -(1 << 44)])
def test_code_whose_frames_touch_no_guard(size: int) -> None:
    """The guard is large; what reaches beyond it is noticed at the next function of the simulator."""
    module = bang.compile(UNCHECKED, options=["-fno-stack-clash-protection"])
    x = np.zeros(4, np.int64)
    with pytest.raises(pymluops.ExecutionFailedError) as raised:
        module.kernel("kernel")[4, "union1"](x, size)
    assert [f"{found.checker}/{found.rule}" for found in raised.value.findings] == ["machine/stack-overflow"]


LOCKED = """
#include <cstdio>
#include <cstdlib>
static FILE *const nowhere = std::fopen("/dev/null", "w");
__attribute__((noinline)) static long allocating(int *x, long n) {
  void *volatile own = malloc(n % 5000 * 4 + 4);
  return allocating(x, n + 1) + (own != nullptr);
}
__attribute__((noinline)) static long printing(int *x, long n) {
  if (n > 3000) std::fprintf(nowhere, "%.0d%.0f", x[0], 0.0 * x[0]);
  return printing(x, n + 1) + x[0];
}
__attribute__((noinline)) static long throwing(int *x, long n) {
  try { throw n; } catch (long) {}
  return throwing(x, n + 1) + x[0];
}
__mlu_entry__ void kernel(int *x, int what) {
  if (taskId == 3) x[0] = what == 0 ? allocating(x, 0) : what == 1 ? printing(x, 0) : throwing(x, 0);
  __sync_all();
}
void host() { std::fputs("", nowhere); for (int i = 1; i < 5000; ++i) free(malloc(i * 4)); }
"""


@pytest.mark.parametrize("checks", ["none", "all"])
@pytest.mark.parametrize("what", [0, 1, 2])
def test_a_stack_that_ends_in_a_function_with_a_lock(what: int, checks: str) -> None:
    """The function ends first: a lock that it kept would stop the next call of it, and the process with it."""
    code = f"""
import numpy, pymluops
from pymluops import bang, sim
with pymluops.use("sim"), sim.checking({checks!r}):
    module = bang.compile({LOCKED!r}, options=["-DMLUOPS_HOST_FUNCTIONS"])
    for _ in range(3):
        try:
            module.kernel("kernel")[4, "union1"](numpy.zeros(4, numpy.int32), {what})
        except pymluops.ExecutionFailedError as error:
            print(*(f"{{found.checker}}/{{found.rule}}" for found in error.findings if found.line > 0))
        module.function("host")()
"""
    done = run_python(code)
    assert (done.returncode, done.stdout.split()) == (0, ["machine/stack-overflow"] * 3), done.stderr


def test_functions_of_the_host_have_the_stack_of_their_thread() -> None:
    source = """
    __attribute__((noinline)) static void touch(volatile char *p, long n) { for (long i = 0; i < n; i += 64) p[i] = 9; }
    int large() { char a[3 << 20]; touch(a, sizeof a); return a[640]; }
    """
    assert bang.compile(source).function("large")() == 9


PROGRAM = """
#include <cstdio>
__mlu_func__ __attribute__((noinline)) void touch(volatile char *p, long n) {
  for (long i = 0; i < n; i += 64) p[i] = 9;
}
__mlu_entry__ void kernel() { char a[50 << 20]; touch(a, sizeof a); }
int main() {
  kernel<<<{1, 1, 1}, cnrtFuncTypeBlock, nullptr>>>();
  printf("%d\\n", cnrtQueueSync(nullptr));
}
"""


def test_programs(tmp_path: Path) -> None:
    (tmp_path / "program.mlu").write_text(PROGRAM)
    assert main([str(tmp_path / "program.mlu"), "-o", str(tmp_path / "program")]) == 0
    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (0, "100132\n")
    assert "program.mlu:6: machine/stack-overflow" in done.stderr
