"""What a failed launch tells on stderr where no Python error has it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import pymluops
from pymluops import bang, sim
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


ADDRESSES = """
__nram__ char low[1024];
__nram__ float high[64];
__mlu_entry__ void load(int *out, const int *in, long long distance) {
  out[0] = *(const volatile int *)((const char *)in + distance);
}
__mlu_entry__ void store(int *out, long long address) { *(volatile int *)address = 1; }
__mlu_entry__ void below(int *out, int n) { high[n] = 1; out[0] = 1; }
__mlu_entry__ void lowest(int *out, int n) { low[n] = 1; out[0] = 1; }
"""


def ended(launch: bang.Launch, *arguments: object) -> tuple[str, str]:
    with pytest.raises(pymluops.ExecutionFailedError) as raised:
        launch(np.zeros(1, np.int32), *arguments)
    (finding,) = raised.value.findings
    return finding.rule, finding.message


@pytest.mark.parametrize(
    ("address", "rule", "told"),
    [
        (0, "null-dereference", "an access to the address 0x0, a null pointer"),
        (64, "null-dereference", "an access to the address 0x40, 64 bytes behind a null pointer"),
        (0x123456789000, "invalid-address", "an access to an address where the process has no memory"),
        (1 << 47, "invalid-address", "by a pointer that can be no address: 0x800000000000"),
        (-(1 << 60), "invalid-address", "by a pointer that can be no address: 0xf000000000000000"),
    ],
)
def test_a_wrong_address_is_told_with_what_it_is(address: int, rule: str, told: str) -> None:
    with pymluops.use("sim"), sim.checking("none"):
        found, message = ended(bang.compile(ADDRESSES).kernel("store")[1], address)
    assert found == rule
    assert told in message


@pytest.mark.parametrize("address", [0x123456789000, -(1 << 60)])
def test_the_memory_checker_does_not_take_any_address_for_the_host(address: int) -> None:
    store = bang.compile(ADDRESSES).kernel("store")[1]
    host = np.zeros(1, np.int32)
    with pymluops.use("sim"), sim.checking("memory"):
        assert ended(store, address)[1].endswith(": there is no memory, on the device or on the host")
        assert "that is memory of the host" in ended(store, host.ctypes.data)[1]


def test_device_memory_that_is_not_allocated_is_told() -> None:
    with pymluops.use("sim"), sim.checking("none"):
        found, message = ended(bang.compile(ADDRESSES).kernel("load")[1], np.zeros(1, np.int32), 1 << 36)
    assert found == "invalid-address"
    assert message.endswith("an access to an address in device memory that is not allocated")


def test_the_nearest_array_is_named() -> None:
    with pymluops.use("sim"), sim.checking("all"):
        bang.compile("__nram__ float others[256];\n__mlu_entry__ void f(float *x) { others[0] = x[0]; }").kernel("f")
        module = bang.compile(ADDRESSES)
        for kernel, array in (("below", "high' of 256 bytes"), ("lowest", "low' of 1024 bytes")):
            _, message = ended(module.kernel(kernel)[1], -1)
            size = 4 if kernel == "below" else 1
            assert message.endswith(f"{size} byte{'s'[: size != 1]} before the start of NRAM array '{array}")
        _, message = ended(module.kernel("below")[1], 64)
        assert message.endswith("0 bytes behind the end of NRAM array 'high' of 256 bytes")


def told_by(source: str, checks: str, path: Path) -> list[str]:
    """The lines on stderr of a program that is compiled from `source`, and runs with these checkers."""
    path.write_text(source, encoding="utf-8")
    assert main([str(path), "-o", str(path.with_suffix(""))]) == 0
    env = {**os.environ, "PYMLUOPS_SIM_CHECK": checks, "PYMLUOPS_SIM_DEVICE": ""}
    done = subprocess.run([path.with_suffix("")], env=env, capture_output=True, text=True, check=False)
    return done.stderr.splitlines()


def test_a_finding_about_a_whole_launch_names_no_task(library: Path) -> None:
    source = """
__mlu_entry__ void fill(float *out) { out[0] = 1; }
int main() {
  float *out = nullptr;
  cnrtQueue_t a, b;
  cnrtMalloc((void **)&out, 64);
  cnrtQueueCreate(&a);
  cnrtQueueCreate(&b);
  cnrtDim3_t dim = {1, 1, 1};
  fill<<<dim, cnrtFuncTypeBlock, a>>>(out);
  fill<<<dim, cnrtFuncTypeBlock, b>>>(out);
  cnrtQueueSync(a);
  cnrtQueueSync(b);
}
"""
    (line,) = told_by(source, "race", library.with_name("queues.mlu"))
    assert "race/between-queues" in line
    assert line.endswith("(fill)")


def test_findings_about_calls_of_the_host_are_told_too(library: Path) -> None:
    """Such as a copy that waits for no other queue, whose code nobody looks at."""
    source = """
__mlu_entry__ void fill(float *out) { out[0] = 1; }
int main() {
  float *out = nullptr, host[16];
  cnrtQueue_t queue;
  cnrtMalloc((void **)&out, 64);
  cnrtQueueCreate(&queue);
  cnrtDim3_t dim = {1, 1, 1};
  fill<<<dim, cnrtFuncTypeBlock, queue>>>(out);
  cnrtMemcpy(host, out, 64, cnrtMemcpyDevToHost);
  cnrtFree(out);
  cnrtFree(out);
}
"""
    race, freed = told_by(source, "all", library.with_name("calls.mlu"))
    place = f"the allocation of 64 bytes made at {library.with_name('calls.mlu')}:6, byte 0"
    assert race.startswith(f"mlusim: race/between-queues: cnrtMemcpy reads {place}, which fill")
    again = place.removesuffix(", byte 0")
    assert freed == f"mlusim: memory/double-free: cnrtFree: pointer: {again} was freed before"
