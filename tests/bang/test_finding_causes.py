"""The order of findings: causes first, and what follows from them in one line."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops import bang, sim
from pymluops._causes import Traits, order_by_cause
from pymluops.bang.command.formats import as_json, as_sarif
from pymluops.bang.driver import main
from pymluops.bang.judging import Task, output

KERNELS = """\
#define N 64
__nram__ float tile[N + 1], more[N];
__nram__ int number[32];
__mlu_shared__ float common[N];
__mlu_entry__ void overrun(const float *x, float *out) {
  if (__is_mpu()) return;
  __memcpy(tile, x + taskId * N, N * sizeof(float), GDRAM2NRAM);
  __memcpy(out + taskId * N, tile, (N + 1) * sizeof(float), NRAM2GDRAM);
}
__mlu_entry__ void wild(const float *x, float *out) {
  out[number[3] + 100000] = x[0];
}
__mlu_entry__ void no_barrier(const float *x, float *out) {
  __memcpy(common, x, N * sizeof(float), GDRAM2SRAM);
  __memcpy(tile, common, N * sizeof(float), SRAM2NRAM);
  if (__is_ipu()) __memcpy(out + taskId * N, tile, N * sizeof(float), NRAM2GDRAM);
}
__mlu_entry__ void no_sync(const float *x, float *out) {
  if (__is_mpu()) return;
  __memcpy_async(tile, x, N * sizeof(float), GDRAM2NRAM);
  __bang_add(more, tile, tile, N);
  __memcpy(out + taskId * N, more, N * sizeof(float), NRAM2GDRAM);
}
__mlu_entry__ void two_mistakes(const float *x, float *out) {
  if (__is_mpu()) return;
  __memcpy(more, x + taskId * N + 1, N * sizeof(float), GDRAM2NRAM);
  __memcpy(out + taskId, more, sizeof(float), NRAM2GDRAM);
  out[taskDim + taskId] = tile[taskId];
}
"""
Rule = tuple[str, int]


@pytest.fixture(scope="module")
def module() -> Iterator[bang.Module]:
    with pymluops.use("sim"):
        yield bang.compile(KERNELS)


def checked(module: bang.Module, kernel: str) -> bang.CheckReport:
    x = np.ones(256, np.float32)
    with pymluops.use("sim"):
        return bang.check(module.kernel(kernel)[4, "union1"], x, np.zeros_like(x))


def causes(report: bang.CheckReport) -> list[Rule]:
    return [(found.rule, found.line) for found in report.findings if not found.cause]


def consequences(report: bang.CheckReport) -> dict[Rule, str]:
    return {(found.rule, found.line): found.cause for found in report.findings if found.cause}


def test_an_overrun_comes_before_the_races_and_undefined_bytes_that_follow(module: bang.Module) -> None:
    report = checked(module, "overrun")
    assert causes(report) == [("memory/out-of-bounds", 8)]
    cause = "memory/out-of-bounds at <source>:8"
    assert consequences(report) == {("race/between-cores", 8): cause, ("init/copy", 8): cause}
    lines = str(report).splitlines()
    at = lines.index("    and 2 findings that follow:")
    assert lines[1].startswith("  <source>:8: error: memory/out-of-bounds: ")
    assert sorted(lines[at + 1 : at + 3]) == ["      init/copy at <source>:8", "      race/between-cores at <source>:8"]


def test_the_report_of_a_launch_has_the_cause_first(module: bang.Module) -> None:
    x = np.ones(256, np.float32)
    with pymluops.use("sim"), sim.checking("all"), pytest.raises(pymluops.ExecutionFailedError) as caught:
        module.kernel("overrun")[4, "union1"](x, np.zeros_like(x))
    findings = caught.value.findings
    assert findings[0].rule == "out-of-bounds"
    assert [each.cause for each in findings] == ["", *["memory/out-of-bounds at <source>:8"] * (len(findings) - 1)]
    lines = str(caught.value).splitlines()
    assert lines[1].startswith("  memory/out-of-bounds: <source>:8: ")
    assert "    and 2 findings that follow:" in lines
    assert "      race/between-cores at <source>:8" in lines
    # Advice about the cause alone.
    assert [note for note in caught.value.__notes__ if "race" in note or "barrier" in note] == []


def test_an_undefined_number_is_the_cause_of_the_address_made_of_it(module: bang.Module) -> None:
    report = checked(module, "wild")
    assert causes(report)[0] == ("init/scalar-load", 11)
    assert consequences(report)[("memory/no-allocation", 11)] == "init/scalar-load at <source>:11"


def test_a_missing_barrier_comes_before_the_undefined_bytes_that_follow(module: bang.Module) -> None:
    report = checked(module, "no_barrier")
    assert report.findings[0].rule == "race/between-cores"
    assert report.findings[0].line in (14, 15)
    assert {rule for (rule, _), cause in consequences(report).items() if cause} >= {"race/between-cores"}


def test_a_missing_sync_comes_first(module: bang.Module) -> None:
    assert causes(checked(module, "no_sync"))[0] == ("race/copy-in-flight", 21)


def test_two_mistakes_are_two_causes(module: bang.Module) -> None:
    assert causes(checked(module, "two_mistakes")) == [("memory/out-of-bounds", 26), ("init/scalar-load", 28)]


def test_json_and_sarif_have_every_finding_with_its_cause(module: bang.Module) -> None:
    report = checked(module, "overrun")
    plain = as_json(report)["findings"]
    assert [each["cause"] for each in plain] == [found.cause for found in report.findings]
    assert (plain[0]["offset"], plain[0]["size"]) == (768, 260)
    results = as_sarif(report)["runs"][0]["results"][:3]
    follows = ["This follows from memory/out-of-bounds at <source>:8." in each["message"]["text"] for each in results]
    assert follows == [False, True, True]


@pytest.mark.thorough
def test_a_verdict_tells_the_cause() -> None:
    task = Task("overrun", {"x": np.ones(256, np.float32), "out": output(256)}, lambda x: x)
    verdict = bang.judge(KERNELS, task)
    assert (verdict.rule, verdict.line) == ("memory/out-of-bounds", 8)
    assert "    and 2 findings that follow:" in str(verdict).splitlines()
    assert "0x" not in str(verdict)


PROGRAM = """\
#include <cnrt.h>
__nram__ float tile[65];
__mlu_entry__ void overrun(float *out) {
  if (__is_mpu()) return;
  __bang_write_value(tile, 65, 1.f);
  __memcpy(out + taskId * 64, tile, 65 * sizeof(float), NRAM2GDRAM);
}
int main() {
  float *out = nullptr;
  cnrtQueue_t queue;
  cnrtMalloc((void **)&out, 1024);
  cnrtQueueCreate(&queue);
  cnrtDim3_t dim = {4, 1, 1};
  overrun<<<dim, cnrtFuncTypeUnion1, queue>>>(out);
  return cnrtQueueSync(queue) == cnrtSuccess;
}
"""


def test_a_program_tells_one_line_for_a_cause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "program.mlu").write_text(PROGRAM, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["program.mlu", "-o", "program"]) == 0
    env = {**os.environ, "PYMLUOPS_SIM_CHECK": "all", "PYMLUOPS_SIM_DEVICE": ""}
    done = subprocess.run([tmp_path / "program"], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    (line,) = done.stderr.splitlines()
    assert line.startswith(
        "program.mlu:6: memory/out-of-bounds: __memcpy writes 260 bytes of the argument out at element 192: the last "
        "4 bytes behind the end of the argument out of 1024 bytes (overrun, task 3)"
    )
    assert line.endswith(", and 1 finding that follows")


# ---- The order ----------------------------------------------------------------------------------

NAMES = st.sampled_from(["a", "b", "c", "d", "e"])
TRAITS = st.builds(
    Traits, NAMES, st.one_of(st.just(""), NAMES), st.sampled_from(["error", "remark"]), st.integers(0, 4)
)


def test_causes_stand_before_what_follows() -> None:
    found = [
        Traits("late", "early", "error", 2),
        Traits("remark", "", "remark", 0),
        Traits("early", "first", "error", 3),
        Traits("undefined", "", "error", 3),
        Traits("first", "", "error", 0),
    ]
    ordered = order_by_cause([each.name for each in found], found)
    assert ordered == [("first", ""), ("late", "first"), ("early", "first"), ("undefined", ""), ("remark", "")]


def test_a_ring_has_a_cause_too() -> None:
    ring = [Traits("a", "b", "error", 0), Traits("b", "a", "error", 0), Traits("c", "a", "error", 0)]
    assert order_by_cause(["a", "b", "c"], ring) == [("a", ""), ("b", "a"), ("c", "a")]


@given(st.lists(TRAITS, max_size=8, unique_by=lambda each: each.name))
def test_every_finding_stays_and_stands_behind_its_cause(traits: list[Traits]) -> None:
    ordered = order_by_cause(traits, traits)
    assert sorted(each for each, _ in ordered) == sorted(traits)
    roots = {each.name for each, cause in ordered if not cause}
    before: list[str] = []
    for each, cause in ordered:
        assert not cause or (cause in roots and cause in before)
        before.append(each.name)
