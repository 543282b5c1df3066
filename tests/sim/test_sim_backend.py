"""The operators on the simulated device: values, places of the arrays, errors; and the module pymluops.sim."""

from __future__ import annotations

import dataclasses
import itertools
import json
import signal
from pathlib import Path
from random import Random
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

import pymluops
from pymluops import DeviceArray, Handle, sim
from support import described, workload
from support.arrays import canary, is_canary
from support.comparison import assert_close, assert_same_bits, assert_same_values
from support.described_calls import OPERATORS, Call, legal_call, on
from support.dlpack import CUDA, Producer
from support.example import CHOOSING, GATHERING, MOVING, PAIRING
from support.pairs import SMALL, assert_equal, unique_rows
from support.pairs import call as call_pairs
from support.processes import python_output, run_python
from support.queues import init_checker
from support.selection import examples

pytestmark = pytest.mark.usefixtures("nothing_leaks")

CHECKERS = ("memory", "init", "race", "sync", "align")
FRAMES = np.arange(24, dtype=np.float32).reshape(1, 3, 4, 2)
SHIFTS = np.array([[1, -1]], np.int32)


@pytest.fixture(scope="module")
def handle() -> Any:
    with Handle("sim") as handle:
        yield handle


def on_device(array: np.ndarray) -> DeviceArray:
    return DeviceArray.from_host(array, "sim")


def expected(call: Call) -> dict[str, np.ndarray]:
    """What the CPU library writes."""
    outputs = {name: canary(call.arrays[name].shape, call.arrays[name].dtype) for name in call.outputs}
    dataclasses.replace(call, arrays={**call.arrays, **outputs}).python()
    return outputs


def assert_agree(call: Call, found: dict[str, np.ndarray], wanted: dict[str, np.ndarray]) -> None:
    for name, value in wanted.items():
        if described.sums(call.operator) and value.size:
            assert_close(found[name], value)
        else:
            assert_same_values(found[name], value)


# ---- values --------------------------------------------------------------------------------------


def test_all_operators_agree_with_the_cpu(handle: Handle) -> None:
    names = workload.on("sim")
    wanted = workload.results(names=names)
    for name, found in workload.results(handle, names).items():
        if described.sums(name.split()[0]):
            assert_close(found, wanted[name])
        else:
            assert_same_bits(found, wanted[name])


@pytest.mark.parametrize("operator", on("sim"))
@hypothesis.given(seed=st.integers(0, 2**32 - 1))
@examples(60)
def test_random_calls_agree_with_the_cpu(operator: str, seed: int) -> None:
    call = OPERATORS[operator].legal(Random(seed))
    try:
        wanted = expected(call)
    except pymluops.BadParamError:
        hypothesis.reject()
    with Handle("sim") as handle, sim.checking("all"):
        call.python(handle=handle)
    assert_agree(call, call.arrays, wanted)


@hypothesis.given(seed=st.integers(0, 2**32 - 1), subm=st.booleans())
@examples(60)
def test_random_pairs_agree_with_the_cpu(seed: int, subm: bool) -> None:
    rng = np.random.default_rng(seed)
    space = tuple(int(n) for n in rng.integers(1, 7, 3))
    kernel = tuple(int(n) for n in rng.integers(1, 4, 3))
    stride = (1, 1, 1) if subm else tuple(int(n) for n in rng.integers(1, 3, 3))
    geometry = PAIRING.oracle.Geometry(2, space, kernel, stride, tuple(k // 2 for k in kernel), subm=subm)
    rows = unique_rows(rng, geometry, int(rng.integers(0, 2 * int(np.prod(space)) + 1)))
    wanted = call_pairs(rows, geometry)
    with Handle("sim") as handle, sim.checking("all"):
        assert_equal(call_pairs(rows, geometry, handle=handle), wanted)
        found = call_pairs(on_device(rows), geometry, handle=handle)
        assert all(isinstance(array, DeviceArray) for array in found)
        assert_equal([array.to_host() for array in found], wanted)


# ---- places --------------------------------------------------------------------------------------


@pytest.mark.parametrize("operator", on("sim"))
def test_results_are_where_the_first_input_is(operator: str, handle: Handle) -> None:
    call = legal_call(operator, 5)
    wanted = expected(call)
    inputs = [name for name in call.arrays if name not in call.outputs]
    nothing = dict.fromkeys(call.outputs)
    for places in itertools.product((False, True), repeat=len(inputs)):
        arrays: dict[str, Any] = dict(call.arrays)
        arrays.update({name: on_device(arrays[name]) for name, there in zip(inputs, places) if there})
        found = dataclasses.replace(call, arrays=_with_shapes(call, arrays)).python(handle=handle, **nothing)
        found = found if isinstance(found, tuple) else (found,)
        assert {type(array) for array in found} == {DeviceArray if places[0] else np.ndarray}
        assert_agree(call, dict(zip(call.outputs, map(_host, found))), wanted)


def _with_shapes(call: Call, arrays: dict[str, Any]) -> dict[str, Any]:
    """Outputs stay arrays: some calls read sizes from them."""
    return {**arrays, **{name: call.arrays[name] for name in call.outputs}}


def _host(array: Any) -> np.ndarray:
    return array.to_host() if isinstance(array, DeviceArray) else array


@pytest.mark.parametrize("operator", on("sim"))
@pytest.mark.parametrize("inputs_there", [False, True])
def test_outputs_on_the_device_are_filled(operator: str, inputs_there: bool, handle: Handle) -> None:
    call = legal_call(operator, 6)
    wanted = expected(call)
    arrays: dict[str, Any] = dict(call.arrays)
    for name in arrays:
        if inputs_there or name in call.outputs:
            arrays[name] = on_device(arrays[name])
    found = dataclasses.replace(call, arrays=arrays).python(handle=handle)
    assert found is arrays[call.outputs[0]] or found == tuple(arrays[name] for name in call.outputs)
    assert_agree(call, {name: arrays[name].to_host() for name in call.outputs}, wanted)


@pytest.mark.parametrize("operator", on("sim"))
def test_host_outputs_of_device_inputs_are_filled(operator: str, handle: Handle) -> None:
    call = legal_call(operator, 7)
    wanted = expected(call)
    arrays: dict[str, Any] = {
        name: value if name in call.outputs else on_device(value) for name, value in call.arrays.items()
    }
    dataclasses.replace(call, arrays=arrays).python(handle=handle)
    assert_agree(call, call.arrays, wanted)


def test_pairs_on_the_device(handle: Handle) -> None:
    rng = np.random.default_rng(8)
    for subm in (False, True):
        geometry = dataclasses.replace(SMALL, stride=(1, 1, 1), subm=True) if subm else SMALL
        for count in (0, 1, 57):
            rows = unique_rows(rng, geometry, count)
            wanted = call_pairs(rows, geometry)
            assert_equal(call_pairs(rows, geometry, handle=handle), wanted)
            found = call_pairs(on_device(rows), geometry, handle=handle)
            assert found.out_indices.shape == wanted.out_indices.shape
            assert_equal([array.to_host() for array in found], wanted)


# ---- what is refused -----------------------------------------------------------------------------


def test_arrays_of_another_place_are_refused(handle: Handle) -> None:
    frames, shifts = on_device(FRAMES), on_device(SHIFTS)
    with (
        Handle("cpu") as cpu,
        pytest.raises(pymluops.BadParamError, match=r"input.*backend is cpu.*DeviceArray on sim"),
    ):
        MOVING.run(frames, shifts, handle=cpu)
    with Handle("cpu") as cpu, pytest.raises(pymluops.BadParamError, match=r"out.*DeviceArray on sim"):
        MOVING.run(FRAMES, SHIFTS, out=on_device(FRAMES), handle=cpu)
    for device in (CUDA, 12):
        with pytest.raises(pymluops.BadParamError, match=rf"input.*or on sim.*device type {device}"):
            MOVING.run(Producer(FRAMES, device=device), shifts, handle=handle)


@pytest.mark.parametrize("there", [False, True])
def test_arrays_are_checked_like_those_of_the_cpu(handle: Handle, there: bool) -> None:
    place = on_device if there else np.asarray
    out = canary(FRAMES.shape, "float32")
    wrong = {
        "dtype float32 or float16, got float64": (FRAMES.astype("float64"), SHIFTS),
        "dtype int32, got int64": (FRAMES, SHIFTS.astype("int64")),
        r"shape \[B, T, C, HW\], got \[3, 4, 2\]": (FRAMES[0], SHIFTS),
        r"shape \[B=1, G\], got \[2, 1\]": (FRAMES, SHIFTS.reshape(2, 1)),
        r"G divides C=4, got \[1, 3\]": (FRAMES, np.zeros((1, 3), np.int32)),
    }
    before = sim.counters().launches
    for text, (frames, shifts) in wrong.items():
        with pytest.raises(pymluops.BadParamError, match=text):
            MOVING.run(place(frames), place(shifts), out=out, handle=handle)
    assert is_canary(out)
    assert sim.counters().launches == before


def test_overlap_is_refused_in_both_places(handle: Handle) -> None:
    frames, shifts = on_device(FRAMES), on_device(SHIFTS)
    with pytest.raises(pymluops.BadParamError, match=r"out.*overlaps input"):
        MOVING.run(frames, shifts, out=frames, handle=handle)
    with pytest.raises(pymluops.BadParamError, match=r"out.*overlaps input"):
        MOVING.run(FRAMES, shifts, out=FRAMES, handle=handle)
    assert_same_bits(frames.to_host(), FRAMES)


def test_contents_are_checked_on_the_host_only(handle: Handle) -> None:
    features, weights = np.ones((1, 2, 3), np.float32), np.ones((1, 1, 3), np.float32)
    indices = np.array([[[0, 3, 1]]], np.int32)
    with pytest.raises(pymluops.BadParamError, match=r"indices.*got 3 at batch 0, position 0, neighbour 1"):
        GATHERING.run(features, indices, weights, handle=handle)
    # Where the host does not look, the kernel lets such an index add nothing.
    found = GATHERING.run(features, on_device(indices), weights, handle=handle)
    assert found.tolist() == [[[2.0], [2.0]]]
    rows = np.array([[0, 0, 0, 9]], np.int32)
    with pytest.raises(pymluops.BadParamError, match="width"):
        call_pairs(rows, SMALL, handle=handle)


def test_no_room_on_the_device_is_told(handle: Handle) -> None:
    model = dataclasses.replace(sim.device(), name="small", memory_mib=1)
    before = sim.device()
    sim.set_device(model)
    try:
        frames, out = np.zeros((1, 8, 8, 2048), np.float32), canary((1, 8, 8, 2048), "float32")
        with pytest.raises(pymluops.AllocFailedError, match=rf"{MOVING.name}: no memory.*on sim"):
            MOVING.run(np.zeros((1, 8, 8, 8192), np.float32), SHIFTS, handle=handle)
        MOVING.run(frames[..., :64].copy(), SHIFTS, handle=handle)
        with on_device(frames) as there, on_device(SHIFTS) as shifts:
            with pytest.raises(MemoryError, match="out"):
                MOVING.run(there, shifts, handle=handle)
            with pytest.raises(MemoryError):
                MOVING.run(there, shifts, out=out, handle=handle)
        assert is_canary(out)
    finally:
        sim.set_device(before)


def test_nothing_is_written_when_the_kernel_fails(handle: Handle) -> None:
    out = canary(FRAMES.shape, "float32")
    with init_checker():
        unwritten = DeviceArray(FRAMES.shape, "float32", "sim")
        with pytest.raises(pymluops.ExecutionFailedError) as caught:
            MOVING.run(unwritten, SHIFTS, out=out, handle=handle)
    assert is_canary(out)
    assert caught.value.findings
    assert str(caught.value) == sim.report()


# ---- a library with the vendor's names alone -----------------------------------------------------


@pytest.fixture(scope="module")
def vendor(tmp_path_factory: pytest.TempPathFactory) -> pymluops.Backend:
    """The simulator without what the vendor's library has not: those names in its symbol tables are spoilt.

    Its machine has another name, so that it is not that of the package.
    """
    folder, real = tmp_path_factory.mktemp("vendor"), Path(pymluops.load("sim").path)
    functions = dir(pymluops.load("sim").lib)
    files = ((real, "libmluops.so", "mluopsExt"), (real.with_name("libmlusim.so"), "libmlusjm.so", "mlusim"))
    for source, target, prefix in files:
        content = source.read_bytes()
        spoilt = [f"\0{name}\0".encode() for name in functions if name.startswith(prefix)]
        assert spoilt
        for name in spoilt:
            assert content.count(name) >= 1, name
            content = content.replace(name, name[:-2] + b"_\0")
        assert content.count(b"\0libmlusim.so\0") == 1
        (folder / target).write_bytes(content.replace(b"\0libmlusim.so\0", b"\0libmlusjm.so\0"))
    return pymluops.load(folder / "libmluops.so")


def test_a_library_with_cnrt_is_for_a_device(vendor: pymluops.Backend) -> None:
    assert vendor.kind == "mlu"
    assert vendor.on_device
    assert not vendor.exports("mlusimGetReport")
    assert vendor.exports("cnrtMalloc")


def test_the_vendors_names_are_enough(vendor: pymluops.Backend) -> None:
    wanted = MOVING.run(FRAMES, SHIFTS)
    with pymluops.Queue(vendor) as queue, Handle(queue=queue) as handle:
        assert_same_bits(MOVING.run(FRAMES, SHIFTS, handle=handle), wanted)
        frames, shifts = DeviceArray.from_host(FRAMES, vendor), DeviceArray.from_host(SHIFTS, queue=queue)
        result = MOVING.run(frames, shifts, handle=handle)
        assert isinstance(result, DeviceArray)
        assert_same_bits(result.to_host(), wanted)
        with pytest.raises(pymluops.BadParamError, match="DeviceArray on sim"):
            MOVING.run(on_device(FRAMES), shifts, handle=handle)
        rows = unique_rows(np.random.default_rng(1), SMALL, 40)
        assert_equal(call_pairs(rows, SMALL, handle=handle), call_pairs(rows, SMALL))
    with pytest.raises(pymluops.AllocFailedError):
        DeviceArray((2**62,), "int8", vendor)


def test_without_the_simulator_the_runtime_tells_what_failed(vendor: pymluops.Backend) -> None:
    host = np.zeros(24, np.float32)
    with Handle(vendor) as handle:
        _raw_call(vendor, handle, host.ctypes.data)
        with pytest.raises(pymluops.ExecutionFailedError, match=r"cnrtQueueSync: .*100132") as caught:
            handle.sync()
    assert caught.value.findings == ()


def _raw_call(backend: pymluops.Backend, handle: Handle, address: int) -> None:
    """Call the C function with an input at any address."""
    bound = [pymluops.TensorDescriptor.of(array).bind(backend) for array in (FRAMES, SHIFTS)]
    shifts, out = DeviceArray.from_host(SHIFTS, backend), DeviceArray(FRAMES.shape, "float32", backend)
    pointers = [backend.ffi.cast("void *", number) for number in (address, shifts.address, out.address)]
    status = MOVING.of(backend.lib)(handle.cdata, bound[0], pointers[0], bound[1], pointers[1], bound[0], pointers[2])
    assert status == 0


# ---- choosing the backend ------------------------------------------------------------------------


def test_it_is_found_by_name() -> None:
    backend = pymluops.load("sim")
    assert (backend.name, backend.kind, backend.on_device) == ("sim", "sim", True)
    assert not pymluops.load("cpu").on_device
    info = pymluops.backends()["sim"]
    assert info.available
    assert info.path == backend.path
    with pymluops.use("sim"):
        assert_same_bits(MOVING.run(FRAMES, SHIFTS), MOVING.run(FRAMES, SHIFTS))


def test_the_environment_chooses_it() -> None:
    code = (
        "import pymluops, numpy as np; print(pymluops.Handle().backend.name);"
        f"print(pymluops.{CHOOSING.name}(np.ones((1, 1, 1, 1), 'f4'), 0, 1).item())"
    )
    assert python_output(code, PYMLUOPS_BACKEND="sim").split() == ["sim", "1.0"]


def test_the_raw_layer_knows_the_runtime() -> None:
    backend = pymluops.load("sim")
    ffi, lib = backend.ffi, backend.lib
    count = ffi.new("unsigned int *")
    assert lib.cnrtGetDeviceCount(count) == 0
    assert count[0] == 8
    properties = ffi.new("cnrtDeviceProp_t *")
    assert lib.cnrtGetDeviceProperties_V3(properties, 0) == 0
    assert ffi.string(properties.name).decode() == sim.device().name
    assert lib.cnrtMemcpyDevToHost == 2
    assert all(
        backend.exports(name)
        for name in dir(lib)
        if name.startswith(("cnrtM", "cnrtQ", "mlusimG")) and callable(getattr(lib, name))
    )


def test_structures_and_classes_have_the_same_fields() -> None:
    ffi = pymluops.load("sim").ffi
    for name, kind in (("mlusimDeviceModel", sim.DeviceModel), ("mlusimFinding", sim.Finding)):
        assert [field for field, _ in ffi.typeof(name).fields] == [field.name for field in dataclasses.fields(kind)]
    assert [field for field, _ in ffi.typeof("mlusimCounters").fields] == list(sim.Counters._fields)


PROGRAM = "import sys; from pymluops.cli import main; sys.exit(main(sys.argv[1:]))"


@pytest.mark.thorough
def test_the_demo_runs_on_it() -> None:
    done = run_python(PROGRAM, "demo", "--backend", "sim", "--json")
    found = json.loads(done.stdout)
    assert (found["backend"]["name"], found["backend"]["threads"]) == ("sim", None)
    assert [row["operator"] for row in found["rows"] if not row["check"]["ok"]] == []
    assert (done.returncode, found["ok"]) == (0, True)


def test_the_program_knows_it() -> None:
    found = json.loads(python_output(PROGRAM, "info", "--json", PYMLUOPS_BACKEND="sim"))
    assert found["default_backend"] == "sim"
    assert found["backends"]["sim"]["available"]
    assert found["backends"]["sim"]["threads"] is None


@pytest.mark.parametrize("act", ["os.kill(os.getpid(), signal.SIGSEGV)", "ctypes.string_at(0)"])
@pytest.mark.parametrize("order", ["fs", "sf", "sfs", "fsfs"])
def test_crashes_end_the_process_whoever_handles_them_first(order: str, act: str) -> None:
    """Handlers of the simulator and of Python's faulthandler, which hand on to each other."""
    steps = {"f": "faulthandler.disable(); faulthandler.enable()", "s": "call()"}
    code = (
        "import ctypes, faulthandler, os, signal; import numpy as np; import pymluops; pymluops.use('sim')\n"
        f"def call(): pymluops.{MOVING.name}(np.zeros((1, 4, 4, 9), np.float32), np.zeros((1, 2), np.int32))\n"
        + "\n".join(steps[step] for step in order)
        + f"\n{act}\n"
    )
    done = run_python(code)
    assert done.returncode == -signal.SIGSEGV
    assert done.stderr.count("Fatal Python error: Segmentation fault") == 1
