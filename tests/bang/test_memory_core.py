"""Code that no `__is_mpu()` keeps the memory core of a cluster from, which runs it as core 0 does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pymluops import bang
from pymluops.bang.driver import main
from support.processes import run_python

SUMS = """
__nram__ float row[64];
__mlu_entry__ void sums(float *out, const float *x, int n) {
  for (int i = taskId; i < n; i += taskDim) {
    for (int j = 0; j < 64; ++j) row[j] = x[j];
    for (int k = 0; k < 64; ++k) {
      float sum = 0;
      for (int j = 0; j < 64; ++j) sum += row[j];
      out[i * 64 + k] = sum;
    }
  }
}
"""

COPIES = """
__mlu_entry__ void copy(char *to, const char *from, int bytes, int rows) {
  for (int i = taskId; i < rows; i += taskDim) __memcpy(to + i * bytes, from + i * bytes, bytes, GDRAM2GDRAM);
}
__mlu_entry__ void all(char *to, const char *from) {
  if (!__is_mpu()) __memcpy(to, from, 64, GDRAM2GDRAM);
}
__mlu_entry__ void other(char *to, const char *from) {
  if (taskId == 0) __memcpy(to, from + 64 * __is_mpu(), 64, GDRAM2GDRAM);
}
"""


def test_no_store_of_core_0_is_undone_with_one_of_the_memory_core() -> None:
    """A random schedule may let core 0 run between a store of the memory core and its end."""
    x, out = np.ones(64, np.float32), np.full(4096, 7, np.float32)
    result = bang.check(bang.compile(SUMS).kernel("sums")[4, "union1"], out, x, 64, random_runs=60)
    assert result.ok, str(result)
    assert np.all(result.outputs["out"] == 64)


@pytest.mark.parametrize(
    ("kernel", "numbers", "is_clean"), [("copy", (64, 16), True), ("all", (), False), ("other", (), False)]
)
def test_the_same_copy_of_core_0_and_of_its_memory_core(kernel: str, numbers: tuple[int, ...], is_clean: bool) -> None:
    data = np.arange(1024, dtype=np.int8)
    launch = bang.compile(COPIES).kernel(kernel)[4, "union1"]
    result = bang.check(launch, np.zeros(1024, np.int8), data, *numbers)
    rules = {finding.rule for finding in result.findings}
    assert rules == (set() if is_clean else {"race/between-cores"})
    told = "a memory core runs the code of core 0 too" in str(result)
    assert told == (kernel == "other")


def test_stderr_names_the_memory_core(tmp_path: Path) -> None:
    source, library = tmp_path / "other.mlu", tmp_path / "other.so"
    host = """
#include <cnrt.h>
extern "C" int run() {
  char *to, *from;
  cnrtMalloc((void **)&to, 64);
  cnrtMalloc((void **)&from, 128);
  cnrtMemset(from, 0, 64);
  cnrtMemset(from + 64, 1, 64);
  cnrtDim3_t dim = {4, 1, 1};
  other<<<dim, cnrtFuncTypeUnion1, nullptr>>>(to, from);
  return cnrtQueueSync(nullptr);
}
"""
    source.write_text(COPIES + host)
    assert main(["-shared", "-fPIC", "--bang-mlu-arch=mtp_592", "-o", str(library), str(source)]) == 0
    code = f"import ctypes; assert ctypes.CDLL({str(library)!r}).run() != 0"
    told = run_python(code, PYMLUOPS_SIM_CHECK="race").stderr
    assert "race/between-cores" in told
    assert "(other, task 0, memory core)" in told
