"""The names of memory in findings: those of the source, and the same in every process."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import pymluops
from pymluops import bang, sim
from support.processes import python_output

KERNELS = """\
__nram__ float tile[32];
__nram__ char bytes[128];
__wram__ float weights[2048];
__mlu_shared__ int common[16];
__mlu_device__ int counter[4];
__mlu_const__ float table[3] = {1, 2, 3};

namespace inner {
template <typename T> __mlu_entry__ void scaled(const T *values, T *result, int at) { result[at] = values[0]; }
}

__mlu_entry__ void store(const float *x, float *out, int at) { out[at] = x[0]; }
__mlu_entry__ void load(const float *x, float *out, int at) { out[0] = x[at]; }
__mlu_entry__ void untyped(void *buffer, int at) { ((float *)buffer)[at] = 1.f; }
__mlu_entry__ void one(float *only, int at) { only[at] = 1.f; }
__mlu_entry__ void undefined(float *out, int at) { __memcpy(out, tile + at, 4, NRAM2GDRAM); }
__mlu_entry__ void tile_store(int at) { tile[at] = 1.f; }
__mlu_entry__ void byte_store(int at) { bytes[at] = 1; }
__mlu_entry__ void unaligned(float *out) {
  __bang_write_value((float *)(bytes + 2), 4, 1.f);
  __memcpy(out, bytes + 2, 16, NRAM2GDRAM);
}
__mlu_entry__ void common_store(int at) { common[at] = 1; }
__mlu_entry__ void count(int at) { counter[at] = 1; }
__mlu_entry__ void table_load(float *out, int at) { out[0] = table[at]; }
__mlu_entry__ void table_store(int at) { ((float *)table)[at] = 1.f; }
__mlu_entry__ void race(float *out) { out[5] = taskId; }
__mlu_entry__ void remember(float *values, unsigned long *lists) { lists[0] = (unsigned long)values; }
__mlu_entry__ void follow(unsigned long *lists, int at) { ((float *)lists[0])[at] = 1.f; }
"""


@pytest.fixture(scope="module")
def module() -> Iterator[bang.Module]:
    with pymluops.use("sim"):
        yield bang.compile(KERNELS)


def message(module: bang.Module, kernel: str, *arguments: object, kind: str = "block", dim: int = 1) -> str:
    """The first finding of a launch."""
    with pymluops.use("sim"), sim.checking("all"), pytest.raises(pymluops.ExecutionFailedError) as caught:
        launch_and_wait(module.kernel(kernel)[dim, kind], arguments)
    assert "0x" not in str(caught.value)
    return caught.value.findings[0].message


def launch_and_wait(launch: bang.Launch, arguments: tuple[object, ...]) -> None:
    with pymluops.Queue() as queue:
        launch.in_queue(queue)(*arguments)
        queue.sync()


def ones(count: int = 16) -> np.ndarray:
    return np.ones(count, np.float32)


def test_an_argument_has_the_name_of_its_parameter(module: bang.Module) -> None:
    behind = "scalar {} 4 bytes of the argument {} at element 16: 0 bytes behind the end of the argument {} of 64 bytes"
    assert message(module, "store", ones(), ones(), 16) == behind.format("store writes", "out", "out")
    assert message(module, "load", ones(), ones(), 16) == behind.format("load reads", "x", "x")
    assert "4 bytes of the argument out, 8 bytes before its start" in message(module, "store", ones(), ones(), -2)


def test_an_argument_of_a_template_has_a_name(module: bang.Module) -> None:
    assert "of the argument result at element 16" in message(module, "inner::scaled<float>", ones(), ones(), 16)


def test_an_argument_without_a_type_counts_bytes(module: bang.Module) -> None:
    assert "of the argument buffer at byte 64" in message(module, "untyped", ones(), 16)


def test_arguments_in_one_allocation(module: bang.Module) -> None:
    with pymluops.use("sim"):
        whole = pymluops.DeviceArray.from_host(ones(16))
        assert "of the arguments x and out at element 16: " in message(module, "store", whole, whole, 16)


def test_arrays_on_chip_have_the_names_of_the_source(module: bang.Module) -> None:
    assert message(module, "tile_store", 32).endswith(
        "of the array tile of the kernel at element 32: 0 bytes behind the end of NRAM array 'tile' of 128 bytes"
    )
    assert "of the array bytes of the kernel at byte 130" in message(module, "byte_store", 130)
    assert "of the array common of the kernel at element 16" in message(
        module, "common_store", 16, kind="union1", dim=4
    )


def test_undefined_bytes_are_of_a_named_array(module: bang.Module) -> None:
    told = message(module, "undefined", ones(), 3)
    assert told == "__memcpy copies to GDRAM undefined bytes: 4 bytes of the array tile of the kernel at element 3"


def test_variables_and_constants_have_names(module: bang.Module) -> None:
    assert "of the variable counter at element 4" in message(module, "count", 4)
    assert "of the constant array table at element 3" in message(module, "table_load", ones(), 3)
    assert "of the constant array table at element 1" in message(module, "table_store", 1)


def test_a_race_names_the_place(module: bang.Module) -> None:
    told = message(module, "race", ones(), kind="union1", dim=4)
    assert told.startswith("scalar store writes the argument out at element 5, which task ")


def test_other_findings_name_what_they_are_about() -> None:
    with pymluops.use("sim"):
        sim.set_device("MLU270")
        try:
            told = message(bang.compile(KERNELS, arch="MLU270"), "unaligned", ones())
        finally:
            sim.set_device(None)
    assert told.startswith("__bang_write_value: dst lies 2 bytes behind a multiple of 64; ")
    assert told.endswith(" (the array bytes of the kernel at byte 2)")


def test_memory_that_no_argument_points_to_has_its_size(module: bang.Module) -> None:
    with pymluops.use("sim"):
        inner = pymluops.DeviceArray.from_host(ones(16))
        lists = pymluops.DeviceArray((1,), "uint64")
        launch_and_wait(module.kernel("remember")[1], (inner, lists))
        told = message(module, "follow", lists, 16)
    assert re.search(r"writes 4 bytes of the allocation (\d+ )?of 64 bytes( made at [^ ]+)?, byte 64: ", told)


PROGRAM = """
import numpy as np, pymluops, sys
from pymluops import bang, sim
pymluops.use("sim")
_ = [bytearray(n * 4096) for n in range(int(sys.argv[1]))]
module = bang.compile(open(sys.argv[2]).read())
out = np.ones(16, np.float32)
for name, arguments in (("store", (out, out, 16)), ("undefined", (out, 3)), ("tile_store", (40,)), ("race", (out,))):
    print(bang.check(module.kernel(name)[4, "union1"], *arguments))
    with sim.checking("all", {"all": "record"}):
        sim.clear_findings()
        try:
            with pymluops.Queue() as queue:
                module.kernel(name)[4, "union1"].in_queue(queue)(*arguments)
                queue.sync()
        except pymluops.MluOpError as error:
            print(error)
        print(*sim.findings(), sep="\\n")
"""


def test_two_processes_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "kernels.mlu").write_text(KERNELS, encoding="utf-8")
    texts = [python_output(PROGRAM, str(count), str(tmp_path / "kernels.mlu")) for count in (1, 300)]
    assert texts[0] == texts[1]
    assert len(str(texts[0])) > 2000
