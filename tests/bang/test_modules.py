"""`pymluops.bang.compile`, launches with arguments of every kind, and calls of host functions."""

from __future__ import annotations

import ctypes
import os
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import pymluops
from pymluops import bang, sim
from support.selection import examples

SOURCE = """
#define WIDTH 64
struct Pair { int first; float second; };
namespace math { namespace {
__nram__ char memory[WIDTH * 4];

template <typename T>
__mlu_global__ void scale(const T *x, T *out, T by, int n) {
  if (__is_mpu()) return;
  T *buffer = (T *)memory;
  for (int i = taskId * WIDTH; i < n; i += taskDim * WIDTH) {
    int count = n - i < WIDTH ? n - i : WIDTH;
    __memcpy(buffer, x + i, count * sizeof(T), GDRAM2NRAM);
    for (int j = 0; j < count; ++j) buffer[j] = buffer[j] * by;
    __memcpy(out + i, buffer, count * sizeof(T), NRAM2GDRAM);
  }
}
} }
#define FILL(name, T) __mlu_entry__ void fill_##name(T *out, T value) { out[taskId] = value; }
FILL(bool, bool);
FILL(int8, int8_t);
FILL(uint8, uint8_t);
FILL(int16, int16_t);
FILL(uint16, uint16_t);
FILL(int32, int32_t);
FILL(uint32, uint32_t);
FILL(int64, int64_t);
FILL(uint64, uint64_t);
FILL(half, half);
FILL(float, float);
FILL(double, double);
FILL(bfloat16, bfloat16_t);
FILL(pair, Pair);

__mlu_entry__ void first_of(const float *x, float *out) { out[0] = x == nullptr ? -1.f : x[0]; }
__mlu_entry__ void dims(int *out) { out[taskId] = taskDimX * 100 + taskDimY * 10 + taskDimZ; }
__mlu_entry__ void beyond(float *out, int at) {
  out[at] = 1.f;
}
struct Shape { static __mlu_global__ void corners(int *out, int n) { out[0] = n; } };
__mlu_entry__ void nothing(const float *x, float *out, int n) {}

extern "C" int run(cnrtQueue_t queue, float *out, float value) {
  cnrtDim3_t dim = {4, 1, 1};
  cnrtGetLastError();
  fill_float<<<dim, cnrtFuncTypeUnion1, queue>>>(out, value);
  return cnrtGetLastError();
}
float total(const float *x, int n) { float sum = 0; for (int i = 0; i < n; ++i) sum += x[i]; return sum; }
int length(const char *text) { int n = 0; while (text[n] != 0) ++n; return n; }
Pair swapped(Pair pair) { return {(int)pair.second, (float)pair.first}; }
bool opposite(bool value) { return !value; }
void *same(void *address) { return address; }
void change(int &value) { value = 1; }
int twice(int value) { return value * 2; }
float twice(float value) { return value * 2; }
"""


@pytest.fixture(scope="module")
def module(request: pytest.FixtureRequest) -> bang.Module:
    assert request.config.cache is not None
    os.environ["PYMLUOPS_CACHE_DIR"] = str(request.config.cache.mkdir("bang"))
    try:
        return bang.compile(SOURCE)
    finally:
        del os.environ["PYMLUOPS_CACHE_DIR"]


# ---- What is in a module -------------------------------------------------------------------------


def test_kernels_have_names_and_parameters(module: bang.Module) -> None:
    assert module.kernels["beyond"].parameters == (("out", "float *"), ("at", "int"))
    assert str(module.kernels["math::scale"]) == ("template <typename T> math::scale(const T *x, T *out, T by, int n)")
    assert module.kernels["fill_half"].parameters[1].type == "half"
    assert set(module.functions) >= {"run", "total", "length", "swapped"}
    line = SOURCE.splitlines().index("__mlu_entry__ void beyond(float *out, int at) {") + 1
    assert (module.kernels["beyond"].file, module.kernels["beyond"].line) == ("<source>", line)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("missing", "kernel: name: expected one of math::scale, fill_bool"),
        ("math::scale", "is a template .* name an instance, such as math::scale<float>"),
        ("other<float>", "expected one of math::scale, got 'other'"),
    ],
)
def test_a_kernel_that_is_not_there_is_told(module: bang.Module, name: str, said: str) -> None:
    with pytest.raises(pymluops.BadParamError, match=said):
        module.kernel(name)


@pytest.mark.parametrize(
    ("name", "said"),
    [("nothing", "the kernel is .kernel('nothing')"), ("run", "the function is .function('run')"), ("no", "'no'")],
)
def test_a_kernel_taken_for_an_attribute_is_told(module: bang.Module, name: str, said: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(module, name)
    assert str(caught.value).endswith(said)


def test_the_module_has_its_card(module: bang.Module) -> None:
    assert (module.arch, sim.device().name) == (592, "MLU590")


# ---- Arrays --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("c_type", "dtype"), [("float", np.float32), ("half", np.float16), ("short", np.int16)])
def test_an_instance_of_a_template(module: bang.Module, c_type: str, dtype: Any) -> None:
    scale = module.kernel(f"math::scale<{c_type}>")
    x = np.arange(300).astype(dtype)
    out = np.zeros_like(x)
    scale[4, "union1"](x, out, 3, 300)
    np.testing.assert_array_equal(out, x * 3)
    assert scale is module.kernel(f"math::scale<{c_type}>")


def test_only_what_a_kernel_may_write_comes_back(module: bang.Module) -> None:
    x = np.arange(4, dtype=np.float32)
    x.flags.writeable = False
    out = np.zeros(1, np.float32)
    module.kernel("first_of")[1](x, out)
    assert out[0] == x[0]
    with pytest.raises(pymluops.BadParamError, match="first_of: out: expected a writable array"):
        module.kernel("first_of")[1](x, x)


def test_none_is_a_null_pointer(module: bang.Module) -> None:
    out = np.zeros(1, np.float32)
    module.kernel("first_of")[1](None, out)
    assert out[0] == -1


def test_arrays_on_the_device_do_not_wait(module: bang.Module) -> None:
    x = pymluops.DeviceArray.from_host(np.arange(256, dtype=np.float32))
    out = pymluops.DeviceArray((256,), "float32")
    with pymluops.Queue() as queue, pymluops.Queue() as other:
        module.kernel("math::scale<float>")[4, "union1", queue](x, out, 2.0, 256)
        module.kernel("math::scale<float>")[4, "union1", other](out, x, 2.0, 256)  # waits for the first queue
        np.testing.assert_array_equal(x.to_host(), np.arange(256) * 4)


def test_host_and_device_arrays_mix(module: bang.Module) -> None:
    x = pymluops.DeviceArray.from_host(np.arange(64, dtype=np.float32))
    out = np.zeros(64, np.float32)
    module.kernel("math::scale<float>")[1](x, out, 5, 64)
    np.testing.assert_array_equal(out, np.arange(64) * 5)


def test_tensors_of_torch(module: bang.Module) -> None:
    torch = pytest.importorskip("torch")
    x = torch.arange(64, dtype=torch.float32)
    out = torch.zeros(64)
    module.kernel("math::scale<float>")[1](x, out, 0.5, 64)
    assert torch.equal(out, x / 2)


@pytest.mark.parametrize(
    ("dim", "expected"), [(4, (4, 1, 1)), ((2,), (2, 1, 1)), ((2, 3), (2, 3, 1)), ([2, 1, 4], (2, 1, 4))]
)
def test_dims(module: bang.Module, dim: Any, expected: tuple[int, int, int]) -> None:
    x, y, z = expected
    out = np.zeros(x * y * z, np.int32)
    module.kernel("dims")[dim](out)
    np.testing.assert_array_equal(out, x * 100 + y * 10 + z)


def test_a_member_function_is_a_kernel_by_its_name(module: bang.Module) -> None:
    out = np.zeros(1, np.int32)
    module.kernel("Shape::corners")[1](out, 4)
    assert out[0] == 4


# ---- Values --------------------------------------------------------------------------------------


def bounds(name: str) -> tuple[int, int]:
    info = np.iinfo(name)
    return int(info.min), int(info.max)


@pytest.mark.parametrize("name", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_integers_are_held_to_their_range(module: bang.Module, name: str) -> None:
    kernel = module.kernel(f"fill_{name}")[1]
    out = np.zeros(1, name)
    for value in bounds(name):
        kernel(out, value)
        assert out[0] == value
        with pytest.raises(pymluops.BadParamError, match=rf"^fill_{name}: value: expected an integer from "):
            kernel(out, value - 1 if value <= 0 else value + 1)
        assert out[0] == value
    kernel(out, np.int16(7))
    assert out[0] == 7


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_floats_are_rounded_as_numpy_does(module: bang.Module, dtype: Any) -> None:
    name = {2: "half", 4: "float", 8: "double"}[np.dtype(dtype).itemsize]
    kernel = module.kernel(f"fill_{name}")[1]
    out = np.zeros(1, dtype)

    @given(st.floats(width=64))
    @examples(50)
    def run(value: float) -> None:
        with np.errstate(over="ignore"):
            expected = np.array(value).astype(dtype)
        if np.isinf(expected) and np.isfinite(value):
            with pytest.raises(pymluops.BadParamError, match="a number in the range of"):
                kernel(out, value)
            return
        kernel(out, value)
        np.testing.assert_array_equal(out[0], expected)

    run()


def test_bfloat16(module: bang.Module) -> None:
    kernel = module.kernel("fill_bfloat16")[1]
    out = pymluops.DeviceArray.from_host(np.zeros(1, "uint16"))
    with pytest.raises(pymluops.BadParamError, match="dtype bfloat16, got uint16"):
        kernel(out, 1)
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = np.zeros(1, ml_dtypes.bfloat16)
    for value in (1.0, 1 / 3, -1e30, float("inf"), 3.3895e38, 1 + 2**-8, 1 + 3 * 2**-8):
        kernel(array, value)
        assert array[0] == ml_dtypes.bfloat16(value)


def test_structures_and_bools(module: bang.Module) -> None:
    pair = np.dtype([("first", np.int32), ("second", np.float32)])
    out = np.zeros(8, np.uint8)
    module.kernel("fill_pair")[1](out, np.array((3, 1.5), pair))
    assert out.view(pair)[0].tolist() == (3, 1.5)
    with pytest.raises(pymluops.BadParamError, match="value: expected 8 bytes"):
        module.kernel("fill_pair")[1](out, b"12345")
    with pytest.raises(pymluops.BadParamError, match="out: expected a multiple of 8 bytes, got 7"):
        module.kernel("fill_pair")[1](np.zeros(7, np.uint8), bytes(8))
    flags = np.zeros(1, bool)
    module.kernel("fill_bool")[1](flags, np.True_)
    assert flags[0]
    with pytest.raises(pymluops.BadParamError, match="value: expected a bool, got 2"):
        module.kernel("fill_bool")[1](flags, 2)


FLOATS = np.zeros(4, np.float32)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((FLOATS,), r"arguments: expected 2 for beyond\(float \*out, int at\), got 1"),
        ((FLOATS.astype(np.float64), 1), "out: expected dtype float32, got float64 for `float \\*out`"),
        ((np.zeros(8, np.float32)[::2], 1), "out: expected a C-contiguous array"),
        (([1.0], 1), "out: expected an array"),
        ((1, 1), r"out: expected an array \(float \*\), got 1"),
        ((FLOATS, 1.0), "at: expected an integer"),
        ((FLOATS, "1"), "at: expected an integer"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(module: bang.Module, arguments: tuple[Any, ...], said: str) -> None:
    with pytest.raises(pymluops.BadParamError, match=f"^beyond: {said}"):
        module.kernel("beyond")[1](*arguments)


@pytest.mark.parametrize(
    ("launch", "said"),
    [
        (0, "dim: expected an integer or up to three, each from 1 to 4294967295, got 0"),
        (((1, 2, 3, 4),), "dim: expected"),
        ("4", "dim: expected"),
        ((4, "union3"), "kind: expected 'block', 'union1'"),
        ((4, 4.0), "kind: expected"),
        ((1, 2, 3, 4), "dim: expected an integer or up to three"),
        ((4, "block", 1), "queue: expected a Queue or None, got 1"),
        ((4, "block", None, "x"), r"launch: expected \[dim, kind, queue\], got 4 of them"),
    ],
)
def test_launches_that_cannot_be_are_refused(module: bang.Module, launch: Any, said: str) -> None:
    with pytest.raises(pymluops.BadParamError, match=f"^dims: {said}"):
        module.kernel("dims")[launch]


def test_a_launch_that_the_device_refuses_writes_nothing(module: bang.Module) -> None:
    out = np.zeros(4, np.int32)
    with pytest.raises(pymluops.BadParamError, match=r"launch of dims: expected dim\.x to be a multiple of 4"):
        module.kernel("dims")[3, "union1"](out)
    assert not out.any()


# ---- Findings ------------------------------------------------------------------------------------


def test_a_finding_names_the_line_of_the_source(module: bang.Module) -> None:
    line = SOURCE.splitlines().index("  out[at] = 1.f;") + 1
    with sim.checking("memory"), pytest.raises(pymluops.ExecutionFailedError) as caught:
        module.kernel("beyond")[1](np.zeros(4, np.float32), 4)
    finding = caught.value.findings[0]
    assert (finding.checker, finding.file, finding.line) == ("memory", "<source>", line)
    assert (finding.kernel, finding.rule) == ("beyond", "out-of-bounds")


def test_a_finding_of_an_asynchronous_launch_is_told_by_the_queue(module: bang.Module) -> None:
    out = pymluops.DeviceArray.from_host(np.zeros(4, np.float32))
    with sim.checking("memory"), pymluops.Queue() as queue:
        module.kernel("beyond")[1, "block", queue](out, 4)
        with pytest.raises(pymluops.ExecutionFailedError, match="beyond"):
            queue.sync()


# ---- Host functions ------------------------------------------------------------------------------


def test_host_functions_take_what_their_signatures_say(module: bang.Module) -> None:
    assert module.function("total")(np.arange(5, dtype=np.float32), 5) == 10
    assert module.function("length")("four") == 4
    assert module.function("opposite")(False) is True
    address = np.zeros(3, np.int16)
    assert module.function("same")(address) == address.ctypes.data
    assert module.function("same")(None) == 0

    class Pair(ctypes.Structure):
        _fields_ = (("first", ctypes.c_int), ("second", ctypes.c_float))

    swapped = Pair.from_buffer_copy(module.function("swapped")(Pair(3, 4.0)))
    assert (swapped.first, swapped.second) == (4, 3.0)


def test_a_host_function_launches_into_a_queue(module: bang.Module) -> None:
    out = pymluops.DeviceArray.from_host(np.zeros(4, np.float32))
    with pymluops.Queue() as queue:
        assert module.function("run")(queue, out, 2.5) == 0
        np.testing.assert_array_equal(out.to_host(), 2.5)  # waits for the queue


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("missing", "function: name: expected one of"),
        ("change", "has a parameter that Python has no value for"),
        ("twice", r"several are called so: twice\(int value\), twice\(float value\)"),
    ],
)
def test_a_function_that_cannot_be_called_is_told(module: bang.Module, name: str, said: str) -> None:
    with pytest.raises(pymluops.BadParamError, match=said):
        module.function(name)


def test_host_functions_refuse_what_does_not_fit(module: bang.Module) -> None:
    with pytest.raises(pymluops.BadParamError, match=r"total: arguments: expected 2 for total"):
        module.function("total")(1)
    with pytest.raises(pymluops.BadParamError, match="run: queue: expected a Queue or None, got 5"):
        module.function("run")(5, None, 1.0)


def test_an_instance_that_cannot_be_is_an_error(module: bang.Module) -> None:
    with pytest.raises(bang.CompileError, match=r'(?m)^kernel\("math::scale<nothing>"\):1:'):
        module.kernel("math::scale<nothing>")


# ---- Cards ---------------------------------------------------------------------------------------


def test_another_card_that_was_chosen_is_refused(module: bang.Module) -> None:
    sim.set_device("MLU270")
    with pytest.raises(pymluops.ArchMismatchError, match=r'592.*MLU270 was chosen.*set_device\("MLU590"\)'):
        module.kernel("dims")[1](np.zeros(1, np.int32))
    sim.set_device(None)
    module.kernel("dims")[1](np.zeros(1, np.int32))


def test_a_card_in_use_is_not_changed() -> None:
    sim.set_device(None)
    with pymluops.DeviceArray((3,), "float32", "sim"):
        older = bang.compile("__mlu_entry__ void k(int *x) { x[0] = __BANG_ARCH__; }", arch=372).kernel("k")
        with pytest.raises(pymluops.ArchMismatchError, match=r"372.*device memory is still allocated"):
            older[1](np.zeros(1, np.int32))
    found = np.zeros(1, np.int32)
    older[1](found)
    assert found[0] == 372


def test_a_card_that_another_thread_has_changed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    module = bang.compile("__mlu_entry__ void k(int *x) { x[0] = __BANG_ARCH__; }", arch=372)
    with monkeypatch.context() as patches:
        # The other thread comes when the device was asked for, and before the launch.
        patches.setattr("pymluops.bang._module.prefer_card", lambda *_: sim.set_device("MLU590"))
        with pytest.raises(pymluops.ArchMismatchError, match=r"architecture 372, .*is MLU590.*MLU370-X8"):
            module.kernel("k")[1](np.zeros(1, np.int32))
    sim.set_device(None)
