"""Variables `__mlu_device__` at file scope: they lie in the memory of the device, and have ends."""

from __future__ import annotations

import numpy as np
import pytest

import pymluops
from pymluops import bang, sim

SOURCE = """
__mlu_device__ float sums[64];
static __mlu_device__ int count, first = 40;
__mlu_device__ int next[4] = {1, 2, 3}, last[4];
namespace inner { __mlu_device__ short part = 7; }
__mlu_device__ const float fixed[4] = {1, 2, 3, 4};
float plain[4];
static int turns;
static float row[4] = {1, 2, 3, 4};
__mlu_const__ int table[3] = {5, 6, 7};
__nram__ float b[64];

__mlu_entry__ void moved(float *out, const float *in) {
  if (__is_mpu()) return;
  __memcpy(b, in, 256, GDRAM2NRAM);
  __memcpy(sums, b, 256, NRAM2GDRAM);
  __memcpy(b, sums, 256, GDRAM2NRAM);
  __memcpy(out, sums, 256, GDRAM2GDRAM);
  out[0] = sums[1] + first + next[2] + last[0] + inner::part + fixed[3];
}
__mlu_entry__ void ticket(int *out) {
  if (__is_mpu()) return;
  __nram__ int old[1];
  __bang_atomic_add(old, &count, 1);
  out[taskId] = old[0];
}
__mlu_entry__ void races(int *out) {
  if (__is_mpu()) return;
  count += 1;  // races
  out[taskId] = 1;
}
__mlu_entry__ void beyond(int *out, int n) {
  for (int i = 0; i < n; ++i) next[i] = 5;  // beyond
  out[0] = last[0];
}
__mlu_entry__ void before(int *out, int n) { out[0] = last[n]; }
__mlu_entry__ void beyond_copy(float *out) { __memcpy(sums, out, 512, GDRAM2GDRAM); }
__mlu_entry__ void undefined(float *out) { __memcpy(sums, b, 256, NRAM2GDRAM); out[0] = 1; }
__mlu_entry__ void stays(int *out) { out[0] = first++; }
__mlu_entry__ void constant(int *out) { ((int *)table)[1] = 3; out[0] = table[1]; }
__mlu_entry__ void turn(int *out) { out[taskId] = ++turns; }
__mlu_entry__ void rows(float *out, int n) {
  __memcpy(row, out, 8, GDRAM2GDRAM);
  __memcpy(out, row, 16, GDRAM2GDRAM);
  out[0] = row[n];
}
__mlu_entry__ void library(float *out) { __memcpy(plain, out, 16, GDRAM2GDRAM); }
"""


@pytest.fixture(scope="module")
def module() -> bang.Module:
    return bang.compile(SOURCE)


def found(launch: bang.Launch, *arguments: object) -> list[tuple[str, str]]:
    with pytest.raises(pymluops.ExecutionFailedError) as raised, sim.checking("all"):
        launch(*arguments)
    return [(f"{found.checker}/{found.rule}", found.message) for found in raised.value.findings]


@pytest.mark.parametrize("checks", ["none", "all"])
def test_copies_and_atomics_take_them_for_device_memory(module: bang.Module, checks: str) -> None:
    out, values = np.zeros(64, np.float32), np.arange(64, dtype=np.float32)
    tickets = np.zeros(8, np.int32)
    with sim.checking(checks):
        module.kernel("moved")[1](out, values)
        module.kernel("ticket")[8, "union2"](tickets)
    assert out[0] == 1 + 40 + 3 + 0 + 7 + 4
    assert out[1:].tolist() == list(range(1, 64))
    assert sorted(tickets - tickets.min()) == list(range(8))


def test_they_keep_their_values_until_the_device_changes(module: bang.Module) -> None:
    out = np.zeros(1, np.int32)
    kernel = bang.compile(SOURCE + "\n// another module has others").kernel("stays")
    for wanted in (40, 41):
        kernel[1](out)
        assert out[0] == wanted
    card = sim.device()
    sim.set_device("MLU270")
    sim.set_device(card)
    kernel[1](out)
    assert out[0] == 40
    sim.set_device(None)


def test_each_device_has_its_own(module: bang.Module) -> None:
    kernel = bang.compile(SOURCE + "\n// of two devices").kernel("stays")
    out = np.zeros(1, np.int32)
    kernel[1](out)
    backend = module.backend
    assert backend.lib.cnrtSetDevice(1) == 0
    try:
        with pymluops.Queue(backend="sim") as queue:
            kernel[1, "block", queue](out)
            queue.sync()
    finally:
        assert backend.lib.cnrtSetDevice(0) == 0
    assert out[0] == 40


def test_races_of_cores_are_found(module: bang.Module) -> None:
    rules = [rule for rule, _ in found(module.kernel("races")[8, "union2"], np.zeros(8, np.int32))]
    assert rules[0] in ("race/between-cores", "race/between-jobs")
    assert found(module.kernel("races")[4], np.zeros(4, np.int32))[0][0] == "race/between-jobs"


def test_they_have_ends(module: bang.Module) -> None:
    out = np.zeros(64, np.int32)
    (finding,) = found(module.kernel("beyond")[1], out, 5)
    assert finding[0] == "memory/out-of-bounds"
    assert finding[1].endswith("0 bytes behind the end of GDRAM array 'next' of 16 bytes")
    (finding,) = found(module.kernel("before")[1], out, -1)
    assert finding[1].endswith("4 bytes before the start of GDRAM array 'last' of 16 bytes")
    (finding,) = found(module.kernel("beyond_copy")[1], np.zeros(128, np.float32))
    assert "the last 256 bytes behind the end of GDRAM array 'sums' of 256 bytes" in finding[1]
    with sim.checking("all"):
        module.kernel("beyond")[1](out, 4)


def test_static_numbers_that_only_kernels_use_are_like_them(module: bang.Module) -> None:
    assert found(module.kernel("turn")[4], np.zeros(4, np.int32))[0][0] == "race/between-jobs"
    out = np.full(4, 7, np.float32)
    with sim.checking("all"):
        module.kernel("rows")[1](out, 3)
    assert out.tolist() == [4, 7, 3, 4]
    (finding,) = found(module.kernel("rows")[1], out, 4)
    assert finding[1].endswith("0 bytes behind the end of GDRAM array 'row' of 16 bytes")


def test_undefined_bytes_reach_device_memory(module: bang.Module) -> None:
    assert found(module.kernel("undefined")[1], np.zeros(1, np.float32))[0][0] == "init/copy"


def test_a_store_into_a_constant_is_found(module: bang.Module) -> None:
    (finding,) = found(module.kernel("constant")[1], np.zeros(1, np.int32))
    assert finding[0] == "memory/constant-store"
    assert "constant array 'table' of 12 bytes" in finding[1]


def test_variables_of_the_library_are_no_device_memory(module: bang.Module) -> None:
    (finding,) = found(module.kernel("library")[1], np.zeros(4, np.float32))
    assert "must lie in GDRAM, not in a variable of a library" in finding[1]
    assert "declare it __mlu_device__" in finding[1]


def test_the_host_sees_the_initial_values() -> None:
    module = bang.compile(
        "__mlu_device__ int count = 3, zero[2];\n"
        "__mlu_entry__ void f(int *x) { x[0] = ++count; }\n"
        "int of_host() { return count + zero[1]; }"
    )
    assert module.function("of_host")() == 3
    out = np.zeros(1, np.int32)
    module.kernel("f")[1](out)
    assert out[0] == 4
    sim.set_device("MLU270")  # the memory of the other device is gone
    sim.set_device(None)
    assert module.function("of_host")() == 3


def test_what_other_sources_have_stays_a_plain_variable() -> None:
    module = bang.compile(
        "extern __mlu_device__ int shared;\n__mlu_device__ int shared = 4;\n"
        "__mlu_entry__ void f(int *x) { x[0] = shared; }"
    )
    out = np.zeros(1, np.int32)
    module.kernel("f")[1](out)
    assert out[0] == 4
