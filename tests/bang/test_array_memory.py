"""Arrays on chip that functions declare: those count whose function a launch runs."""

from __future__ import annotations

import numpy as np
import pytest

import pymluops
from pymluops import bang, sim
from pymluops.bang.judging import Kind, Task, changed

SOURCE = """
__nram__ float shared[1024];
template <typename T>
__mlu_entry__ void fill(T *x) {
  __nram__ T buffer[300000 / sizeof(T)];
  buffer[0] = 3;
  x[0] = buffer[0];
}
__mlu_entry__ void load(float *x) {
  __nram__ float buffer[75000];
  shared[0] = x[0];
  buffer[0] = shared[0];
  x[0] = buffer[0] + 1;
}
__mlu_func__ void more(float *x) {
  __nram__ float further[75000];
  further[0] = x[0];
}
__mlu_entry__ void both(float *x) {
  __nram__ float buffer[75000];
  buffer[0] = 1;
  more(x);
}
"""


@pytest.fixture(scope="module")
def module() -> bang.Module:
    return bang.compile(SOURCE, arch="MLU590")


def test_each_kernel_has_the_memory_for_itself(module: bang.Module) -> None:
    x, y = np.ones(1, np.float32), np.ones(1, np.float16)
    for name, array, expected in (("load", x, 2), ("fill<float>", x, 3), ("fill<half>", y, 3)):
        with sim.profiling() as profile:
            module.kernel(name)[1](array)
        assert array[0] == expected
        assert module.kernel(name).memory.fits("MLU590")
        (launch,) = profile.launches
        assert launch.memory.fits("MLU590")
        assert {array.bytes for array in launch.memory.needed} == {4096, 300000}


def test_an_array_counts_once_for_all_cores(module: bang.Module) -> None:
    x = np.zeros(1, np.float32)
    module.kernel("fill<float>")[8, "union2"](x)
    assert x[0] == 3


@pytest.mark.parametrize(
    ("qualifier", "space", "count"), [("__wram__", "WRAM", 100000), ("__mlu_shared__", "SRAM", 400000)]
)
def test_the_other_memories_are_counted_too(qualifier: str, space: str, count: int) -> None:
    array = f"{qualifier} float array[{count}]; x[0] = array != nullptr"
    text = f"""
    __mlu_func__ void more(float *x) {{ {array}; }}
    __mlu_entry__ void one(float *x) {{ {array}; }}
    __mlu_entry__ void both(float *x) {{ {array}; more(x); }}
    """
    module, x = bang.compile(text, arch="MLU590"), np.zeros(1, np.float32)
    module.kernel("one")[4, "union1"](x)
    assert x[0] == 1
    with pytest.raises(pymluops.ExecutionFailedError, match=f"the {space} arrays of .* take {8 * count} bytes"):
        module.kernel("both")[4, "union1"](x)


def test_a_launch_whose_arrays_do_not_fit_together_ends(module: bang.Module) -> None:
    x = np.zeros(1, np.float32)
    line = next(number for number, text in enumerate(SOURCE.splitlines(), 1) if "further[75000]" in text)
    for _ in range(2):  # another launch begins to count anew
        sim.clear_findings()
        with pytest.raises(pymluops.ExecutionFailedError, match="that the kernel uses take 604096 bytes"):
            module.kernel("both")[1](x)
        (found,) = sim.findings()
        assert (found.checker, found.rule, found.line) == ("machine", "array-memory", line)
        module.kernel("load")[1](x)


def test_arrays_of_a_kernel_that_is_alone_are_known_before_a_launch() -> None:
    alone = bang.compile(
        "__mlu_entry__ void f(float *x) { __nram__ float b[150000]; b[0] = 1; x[0] = b[0]; }", arch=592
    )
    assert alone.kernel("f").memory.missing["MLU590"] == "NRAM of 524288 bytes, 600000 are declared"


def test_a_judge_says_that_a_kernel_does_not_fit() -> None:
    tasks = [
        Task("load", {"x": changed(np.ones(1, np.float32))}, lambda x: x + 1, launch=(1, "block"), entry="load"),
        Task("both", {"x": changed(np.ones(1, np.float32))}, lambda x: x, launch=(1, "block"), entry="both"),
    ]
    right, refused = (bang.judge(SOURCE, task) for task in tasks)
    assert right.kind is Kind.RIGHT
    assert refused.kind is Kind.REFUSED
    assert refused.message.startswith("does not fit on the card: the NRAM arrays of ")
