"""Constructors of static variables that a kernel leaves in the middle, or in which it waits."""

from __future__ import annotations

import numpy as np
import pytest

import pymluops
from pymluops import bang, sim
from support.processes import run_python

SOURCE = r"""
#include <cstdlib>
#include <stdexcept>
static int action = 0;
static void act(int *x) {
  switch (action) {
    case 1: exit(3);
    case 2: throw std::runtime_error("in a constructor");
    case 3: __builtin_trap();
    case 4: abort();
    case 5: for (volatile int turn = 0; turn < 1000;) turn = turn + 1; break;  // others have their turns
    case 6: __sync_all(); break;
  }
  x[4] += 1;
}
struct Outer { int value; explicit Outer(int *x) { act(x); value = 40; } };
struct Inner { int value; explicit Inner(int *x) { static Outer outer(x); value = outer.value + 2; } };
__mlu_entry__ void kernel(int *x, int what) {
  if (__is_mpu()) return;
  action = what;
  static Inner inner(x);
  x[taskId] = inner.value;
}
static int again(int n);
struct Again { int value; explicit Again(int n) : value(again(n)) {} };
static int again(int n) { static Again variable(n); return n + variable.value; }
__mlu_entry__ void recursive(int *x) { x[taskId] = again(x[taskId]); }
"""

LEFT = {1: "exception", 2: "exception", 3: "illegal-instruction", 4: "exception"}


def rule_of(module: bang.Module, kernel: str, *values: int) -> str:
    with pytest.raises(pymluops.ExecutionFailedError) as raised:
        module.kernel(kernel)[4, "union1"](np.zeros(8, np.int32), *values)
    (finding,) = raised.value.findings
    return finding.rule


@pytest.mark.parametrize("checks", ["none", "all"])
def test_a_constructor_that_a_kernel_leaves_begins_anew(checks: str) -> None:
    """Other threads too could wait for it forever, without a way to stop them."""
    code = f"""
import numpy, pymluops
from pymluops import bang, sim
with pymluops.use("sim"), sim.checking({checks!r}):
    module = bang.compile({SOURCE!r}, options=["-DMLUOPS_HOST_FUNCTIONS"])
    x = numpy.zeros(8, numpy.int32)
    for what, rule in {LEFT!r}.items():
        try:
            module.kernel("kernel")[4, "union1"](x, what)
        except pymluops.ExecutionFailedError as error:
            print(what, [found.rule for found in error.findings] == [rule])
    x[:] = 0
    module.kernel("kernel")[4, "union1"](x, 0)
    print(*x[:5])
"""
    told = run_python(code).stdout.split()
    assert told == [
        *(word for what in LEFT for word in (str(what), "True")),
        "42",
        "42",
        "42",
        "42",
        "1",
    ]


def test_cores_wait_for_the_one_that_constructs() -> None:
    x = np.zeros(8, np.int32)
    bang.compile(SOURCE, options=["-DMLUOPS_HOST_FUNCTIONS"], defines={"OTHER": 1}).kernel("kernel")[4, "union1"](x, 5)
    assert x.tolist() == [42, 42, 42, 42, 1, 0, 0, 0]


def test_a_barrier_in_a_constructor_meets_the_time_limit() -> None:
    module = bang.compile(SOURCE, options=["-DMLUOPS_HOST_FUNCTIONS"], defines={"OTHER": 2})
    usual = sim.time_limit()
    sim.set_time_limit(0.2)
    try:
        assert rule_of(module, "kernel", 6) == "time-limit"
    finally:
        sim.set_time_limit(usual)
    x = np.zeros(8, np.int32)
    module.kernel("kernel")[4, "union1"](x, 0)
    assert x.tolist() == [42, 42, 42, 42, 1, 0, 0, 0]


def test_a_constructor_that_needs_its_own_variable() -> None:
    assert (
        rule_of(bang.compile(SOURCE, options=["-DMLUOPS_HOST_FUNCTIONS"], defines={"OTHER": 3}), "recursive")
        == "exception"
    )
