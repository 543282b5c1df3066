"""What a failed launch tells on stderr where no Python error has it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from pymluops.bang.driver import main
from support.processes import run_python

SOURCE = """
#include <cstdio>
#include "cnrt.h"
__mlu_entry__ void fill(float *out, int n) {
  for (int i = 0; i <= n; ++i) out[i] = 1.f;
}
extern "C" int run(int checked) {
  float *out = nullptr;
  cnrtQueue_t queue;
  cnrtMalloc((void **)&out, 64);
  cnrtQueueCreate(&queue);
  cnrtDim3_t dim = {1, 1, 1};
  fill<<<dim, cnrtFuncTypeBlock, queue>>>(out, 16);
  if (checked) CNRT_CHECK(cnrtQueueSync(queue));
  int code = cnrtQueueSync(queue) == cnrtSuccess ? 0 : 1;
  std::fprintf(stderr, "after\\n");
  return code;
}
"""
FOUND = "tell.mlu:5: memory/out-of-bounds: scalar store writes 4 bytes"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("told")
    (folder / "tell.mlu").write_text(SOURCE, encoding="utf-8")
    (folder / "main.mlu").write_text('extern "C" int run(int);\nint main(int n, char **) { return run(n - 1); }\n')
    before = Path.cwd()
    os.chdir(folder)
    try:
        assert main(["-shared", "-fPIC", "tell.mlu", "-o", "libtell.so"]) == 0
        assert main(["tell.mlu", "main.mlu", "-o", "program"]) == 0
    finally:
        os.chdir(before)
    return folder / "libtell.so"


def test_a_program_tells_a_failed_launch_at_once_and_once(library: Path) -> None:
    env = {**os.environ, "PYMLUOPS_SIM_CHECK": "memory", "PYMLUOPS_SIM_DEVICE": ""}
    done = subprocess.run([library.with_name("program")], env=env, capture_output=True, text=True, check=False)
    first, second = done.stderr.splitlines()
    assert first.startswith(FOUND)
    assert second == "after"


def test_a_loop_of_failing_launches_does_not_fill_stderr(library: Path) -> None:
    done = run_python(
        f"import ctypes; lib = ctypes.CDLL({str(library)!r}); [lib.run(0) for _ in range(520)]",
        PYMLUOPS_SIM_CHECK="memory", PYMLUOPS_BACKEND="", PYMLUOPS_SIM_DEVICE="",
    )  # fmt: skip
    lines = [line for line in done.stderr.splitlines() if line != "after"]
    assert len(lines) == 501
    assert lines[-1] == "mlusim: further findings are not told"


@pytest.mark.parametrize("package", ["", "import pymluops; pymluops.use('sim'); "], ids=["alone", "with the package"])
def test_cnrt_check_tells_the_findings(library: Path, package: str) -> None:
    done = run_python(
        f"{package}import ctypes; ctypes.CDLL({str(library)!r}).run(1)", PYMLUOPS_SIM_CHECK="memory",
        PYMLUOPS_BACKEND="", PYMLUOPS_SIM_DEVICE="",
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.count(FOUND) == 1, done.stderr
    assert "CNRT_CHECK" not in done.stderr
    assert "cnrtErrorKernelTrap" in done.stderr


def test_a_library_tells_a_failed_launch_where_no_package_does(library: Path) -> None:
    for package, told in (("", 1), ("import pymluops; pymluops.use('sim'); ", 0)):
        done = run_python(
            f"{package}import ctypes; print(ctypes.CDLL({str(library)!r}).run(0))", PYMLUOPS_SIM_CHECK="memory",
            PYMLUOPS_BACKEND="", PYMLUOPS_SIM_DEVICE="",
        )  # fmt: skip
        assert done.stdout == "1\n", done.stderr
        assert done.stderr.count(FOUND) == told, done.stderr
