"""What becomes of findings: rules that are switched off or record only, from outside and in the source."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernels.host_functions import KERNEL_TRAP, SUCCESS, Device, Outcome
from pymluops.sim.toolchain import Toolchain

BOUNDS = """
#include "bang.h"
#include "host.h"
__nram__ float pool[64];
__nram__ float behind[64];
__mlu_entry__ void kernel(float *out) {
  __bang_write_value(pool, 80, 1.0f);
  __bang_write_value(behind, 64, 2.0f);
  __memcpy(out, behind, 256, NRAM2GDRAM);
}
extern "C" int kernel_run(float *result) {
  Buffer<float> out(64);
  kernel<<<kOneTask, cnrtFuncTypeBlock, nullptr>>>(out.data);
  const int code = finish();
  const std::vector<float> values = out.read();
  for (int i = 0; i < 64; ++i) result[i] = values[i];
  return code;
}
"""

UNDEFINED = """
#include "bang.h"
#include "host.h"
__nram__ int pool[8];
__mlu_entry__ void kernel(int *out) {
  %s
  out[0] = pool[0];%s
  out[1] = pool[1];  // a second line with the same mistake
}
extern "C" int kernel_run() {
  Buffer<int> out(2);
  kernel<<<kOneTask, cnrtFuncTypeBlock, nullptr>>>(out.data);
  return finish();
}
"""


def names(outcome: Outcome) -> list[str]:
    return [f"{finding.checker}/{finding.rule}" for finding in outcome.findings]


@pytest.mark.parametrize("rules", ["memory=record", "all=record,unused=off", "all=off, memory/out-of-bounds = record"])
def test_what_is_recorded_neither_ends_nor_fails_the_launch(
    rules: str, toolchain: Toolchain, device: Callable[[int], Device]
) -> None:
    result = np.zeros(64, np.float32)
    outcome = device(592).call(toolchain.compile(BOUNDS), "kernel_run", result, rules=rules)
    assert outcome.code == SUCCESS
    assert names(outcome) == ["memory/out-of-bounds"]
    assert (outcome.findings[0].severity, outcome.findings[0].launch_failed) == ("error", 0)
    assert (result == 2).all()


@pytest.mark.parametrize("rules", ["memory=off", "all=off", "memory/out-of-bounds=off"])
def test_what_is_off_is_not_found(rules: str, toolchain: Toolchain, device: Callable[[int], Device]) -> None:
    result = np.zeros(64, np.float32)
    outcome = device(592).call(toolchain.compile(BOUNDS), "kernel_run", result, rules=rules)
    assert (outcome.code, outcome.findings) == (SUCCESS, [])
    assert (result == 2).all()


@pytest.mark.parametrize("rules", ["", "memory=off,memory=fail", "init=off", "all=record,memory=fail"])
def test_what_fails_ends_the_launch(rules: str, toolchain: Toolchain, device: Callable[[int], Device]) -> None:
    outcome = device(592).call(toolchain.compile(BOUNDS), "kernel_run", np.zeros(64, np.float32), rules=rules)
    assert outcome.code == KERNEL_TRAP
    assert names(outcome) == ["memory/out-of-bounds"]
    assert outcome.findings[0].launch_failed == 1


def test_a_deadlock_ends_the_launch_whatever_is_set(toolchain: Toolchain, device: Callable[[int], Device]) -> None:
    source = """
#include "bang.h"
#include "host.h"
__mlu_entry__ void kernel() { if (coreId == 0) __sync_all_ipu(); }
extern "C" int kernel_run() {
  kernel<<<kCluster, cnrtFuncTypeUnion1, nullptr>>>();
  return finish();
}
"""
    outcome = device(592).call(toolchain.compile(source), "kernel_run", rules="all=off")
    assert outcome.code == KERNEL_TRAP
    assert names(outcome) == ["sync/deadlock"]


def test_a_store_to_the_host_ends_the_launch_although_it_is_recorded(
    toolchain: Toolchain, device: Callable[[int], Device]
) -> None:
    source = """
#include "bang.h"
#include "host.h"
__mlu_entry__ void kernel(int *address) { *address = 1; }
extern "C" int kernel_run(int *out) {
  kernel<<<kOneTask, cnrtFuncTypeBlock, nullptr>>>(out);
  return finish();
}
"""
    untouched = np.zeros(1, np.int32)
    outcome = device(592).call(toolchain.compile(source), "kernel_run", untouched, rules="all=record")
    assert outcome.code == KERNEL_TRAP
    assert names(outcome) == ["memory/host-pointer"]
    assert untouched[0] == 0


def lines_found(before: str, behind: str, toolchain: Toolchain, device: Callable[[int], Device]) -> list[int]:
    outcome = device(592).call(toolchain.compile(UNDEFINED % (before, behind)), "kernel_run")
    return [finding.line for finding in outcome.findings]


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("", "  // mlusim: allow(init/scalar-load)"),
        ("", "  // all right, see above. mlusim: allow(race, init)"),
        ("", "  /* mlusim: allow(all) */"),
        ("// mlusim: allow(init/scalar-load)", ""),
        ("// mlusim: allow(init)\n  // for a reason", ""),
    ],
)
def test_a_comment_allows_what_is_found_in_a_line(
    before: str, behind: str, toolchain: Toolchain, device: Callable[[int], Device]
) -> None:
    number = 8 + before.count("\n")
    assert lines_found(before, behind, toolchain, device) == [number]


@pytest.mark.parametrize("behind", ["  // mlusim: allow(race)", "  // mlusim: allow(init/copy)", "  // allow(init)"])
def test_a_comment_about_something_else_allows_nothing(
    behind: str, toolchain: Toolchain, device: Callable[[int], Device]
) -> None:
    assert lines_found("", behind, toolchain, device) == [7, 8]


def test_a_comment_goes_with_its_library(toolchain: Toolchain, device: Callable[[int], Device]) -> None:
    """The same source without it, under the same name, is found again."""
    assert lines_found("", "  // mlusim: allow(init)", toolchain, device) == [8]
    assert lines_found("", "  // not allowed", toolchain, device) == [7, 8]
