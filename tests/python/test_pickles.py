"""Pickles and copies: what is a value goes by value into another process, and what is not says why."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from multiprocessing import get_context
from typing import Any

import cloudpickle
import numpy as np
import pytest

import pymluops
from pymluops import DeviceArray, Handle, SparseConvolutionDescriptor, enums, functions
from pymluops._core import SettingsDescriptor
from support.comparison import assert_same_bits
from support.example import MOVING
from support.processes import python_output


def through_pickle(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))


def through_cloudpickle(thing: Any) -> Any:
    return pickle.loads(cloudpickle.dumps(thing))


WAYS = (through_pickle, through_cloudpickle, copy.copy, copy.deepcopy)
way = pytest.mark.parametrize("again", WAYS)


@way
@pytest.mark.parametrize("backend", ["cpu", "sim"])
def test_a_handle_is_another_one_of_the_same_library(again: Callable[[Any], Any], backend: str) -> None:
    with Handle(backend) as handle, again(handle) as other:
        assert other.backend is handle.backend is pymluops.load(backend)
        assert int(other.backend.ffi.cast("uintptr_t", other.cdata)) != int(
            handle.backend.ffi.cast("uintptr_t", handle.cdata)
        )
        handle.close()
        ones = np.ones((1, 2, 1, 1), np.float32)
        moved = MOVING.run(ones, np.ones((1, 1), np.int32), handle=other)
    assert moved.ravel().tolist() == [0, 1]


@way
def test_closed_objects_are_refused(again: Callable[[Any], Any]) -> None:
    handle, carafe = Handle("cpu"), functions.CarafeDescriptor(5, 1, 2)
    array, geometry = DeviceArray((2,), "float32", "sim"), SparseConvolutionDescriptor(1, 8, 3, 8)
    for thing in (handle, carafe, array, geometry):
        thing.close()
        with pytest.raises(pymluops.NotInitializedError, match="is closed"):
            again(thing)


@way
def test_a_library_is_the_one_of_this_process(again: Callable[[Any], Any]) -> None:
    for name in ("cpu", "sim"):
        assert again(pymluops.load(name)) is pymluops.load(name)


@way
def test_the_geometry_of_a_sparse_convolution(again: Callable[[Any], Any]) -> None:
    geometry = SparseConvolutionDescriptor(2, (4, 8, 9), 3, (2, 4, 5), 2, 1, 1, backend="sim")
    other = again(geometry)
    assert repr(other) == repr(geometry)
    assert other.backend is geometry.backend
    geometry.close()
    assert other.num_act_out == 0


@way
@pytest.mark.parametrize("dtype", ["float32", "int8", "bfloat16", "complex64"])
@pytest.mark.parametrize("shape", [(2, 3), (), (0, 4)])
def test_a_device_array_has_its_contents(again: Callable[[Any], Any], dtype: str, shape: tuple[int, ...]) -> None:
    array = DeviceArray(shape, dtype, "sim")
    contents = np.arange(array.nbytes, dtype=np.uint8)
    if array.nbytes:
        array.backend.lib.cnrtMemcpy(
            array.backend.ffi.cast("void *", array.address),
            array.backend.ffi.from_buffer(contents),
            array.nbytes,
            array.backend.lib.cnrtMemcpyHostToDev,
        )
    other = again(array)
    assert (other.shape, other.backend) == (array.shape, array.backend)
    assert pymluops.TensorDescriptor.of(other) == pymluops.TensorDescriptor.of(array)
    assert other.address != array.address or not array.nbytes
    array.close()
    assert_same_bits(other.__reduce__()[1][-1], contents)


def test_the_bytes_of_a_device_array_travel_beside_the_pickle() -> None:
    buffers: list[pickle.PickleBuffer] = []
    array = DeviceArray.from_host(np.arange(6, dtype=np.float32).reshape(2, 3), "sim")
    text = pickle.dumps(array, protocol=5, buffer_callback=buffers.append)
    assert [buffer.raw().nbytes for buffer in buffers] == [24]
    assert pickle.loads(text, buffers=buffers).to_host().tolist() == [[0, 1, 2], [3, 4, 5]]


def test_a_device_array_that_a_queue_writes_is_waited_for() -> None:
    clip, shift = np.ones((1, 2, 1, 8), np.float32), np.ones((1, 1), np.int32)
    with pymluops.Queue("sim") as queue, Handle(queue=queue) as handle:
        arrays = DeviceArray.from_host(clip, "sim"), DeviceArray.from_host(shift, "sim")
        moved = through_pickle(MOVING.run(*arrays, handle=handle))
    assert moved.to_host()[0, :, 0, 0].tolist() == [0, 1]


def test_a_damaged_pickle_of_a_device_array_is_refused() -> None:
    restore, (backend, shape, dtype, contents) = DeviceArray((2, 3), "float32", "sim").__reduce__()
    with pytest.raises(pymluops.BadParamError, match=r"contents: expected 24 bytes for shape \[2, 3\].*got 23"):
        restore(backend, shape, dtype, contents[1:])


# ---- Descriptors with settings -------------------------------------------------------------------

SETTINGS: dict[str, tuple[Callable[[], Any], str]] = {
    "roi_align": (lambda: functions.RoiAlignForwardDescriptor(3, 4, 0, 0.5, 1, True), "mluOpSetRoiAlign"),
    "dcn": (lambda: functions.DCNDescriptor([1, 1, 2, 2], [1, 2], [1, 1], 1, 1, 32), "mluOpSetDCN"),
    "carafe": (lambda: functions.CarafeDescriptor(5, 1, 2), "mluOpSetCarafe"),
    "nms": (
        lambda: functions.NmsDescriptor(
            enums.NmsBoxPointMode(0), enums.NmsOutputMode(0), enums.NmsAlgo(0), enums.NmsMethodMode(0),
            0.5, 0.0, 7, 0.1, 0.0, 0, False,
        ),
        "mluOpSetNms",
    ),
    "adam": (lambda: functions.AdamWDescriptor(0.25, 2.0, True), "mluOpSetAdamW"),
}  # fmt: skip


@way
@pytest.mark.parametrize("kind", SETTINGS)
def test_settings_are_set_again(again: Callable[[Any], Any], kind: str) -> None:
    make, setter = SETTINGS[kind]
    first = make()
    other = again(first)
    assert type(other) is type(first)
    assert other.c_address != first.c_address
    remembered = other.__reduce__()[1][1]
    assert remembered == first.__reduce__()[1][1]
    assert all(name.startswith(setter) for name, _ in remembered)
    first.close()
    other.close()


@way
def test_lengths_of_sequences_are_read_back(again: Callable[[Any], Any]) -> None:
    sizes = [3, 4, 1, 2]
    first = functions.SeqDataDescriptor(
        enums.SeqDataLayout.NBTC, enums.DataType.FLOAT, sizes, np.array([2, 3, 4, 1]), 1.5
    )
    sizes[0] = 9  # the descriptor has copied them
    functions.mluOpSetSeqDataDescriptorPositionAndScale(first, 3, 0.5)
    other = again(first)
    first.close()
    found = functions.mluOpGetSeqDataDescriptor_v2(other)
    assert (tuple(found[3]), tuple(found[5])) == ((3, 4, 1, 2), (2, 3, 4, 1))
    assert ("mluOpSetSeqDataDescriptorPositionAndScale", (3, 0.5)) in other.__reduce__()[1][1]


@way
def test_the_last_settings_count(again: Callable[[Any], Any]) -> None:
    first = functions.AdamWDescriptor(0.25, 2.0, True)
    functions.mluOpSetAdamWDescAttr(first, enums.AdamWDescAttribute.GRAD_SCALE, 8.0)
    with pytest.raises(pymluops.BadParamError):
        functions.mluOpSetAdamWDescAttr(first, enums.AdamWDescAttribute.GRAD_SCALE, "eight")
    values = [arguments for _, arguments in again(first).__reduce__()[1][1]]
    assert values[-1] == (enums.AdamWDescAttribute.GRAD_SCALE, 8.0)
    assert len(values) == 4


class Adam(SettingsDescriptor):
    def __init__(self, decay: float) -> None:
        self.decay = decay
        self._create("Carafe", "cpu")
        self._set("mluOpSetCarafeDescriptor", 4, 5, 1, 2)


@way
def test_a_class_of_settings_with_attributes(again: Callable[[Any], Any]) -> None:
    first = Adam(0.5)
    other = again(first)
    assert (type(other), other.decay, other.kind) == (Adam, 0.5, "mluOpCarafeDescriptor_t")
    assert other.__reduce__()[1][3] == {"mluOpSetCarafeDescriptor": (4, 5, 1, 2)}
    first.close()
    assert not other.closed


# ---- What cannot be pickled ----------------------------------------------------------------------


def queue_handle() -> Handle:
    return Handle(queue=pymluops.Queue("sim"))


@way
@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: pymluops.Queue("sim"), "a Queue cannot be pickled or copied, it belongs to this process: make one"),
        (queue_handle, "the queue belongs to this process: pickle one without a queue"),
        (functions.NativeTensorDescriptor, "a NativeTensorDescriptor cannot be pickled or copied"),
        (lambda: functions.TensorSetDescriptor([2]), "a TensorSetDescriptor cannot be pickled or copied"),
    ],
    ids=["queue", "handle", "tensor", "set"],
)
def test_what_belongs_to_the_process_says_so(again: Callable[[Any], Any], make: Callable[[], Any], reason: str) -> None:
    thing = make()
    with pytest.raises(TypeError, match=reason):
        again(thing)


# ---- Another process -----------------------------------------------------------------------------

CHILD = f"""
import pickle, sys
import numpy as np
handle, geometry, array, settings = pickle.loads(bytes.fromhex(sys.argv[1]))
import pymluops
moved = pymluops.{MOVING.name}(np.ones((1, 2, 1, 1), np.float32), np.ones((1, 1), np.int32), handle=handle)
print(moved.ravel().tolist(), geometry.filter_space, array.to_host().tolist(), settings.closed, array.backend.name)
"""


def test_in_a_process_that_has_not_imported_the_package() -> None:
    array = DeviceArray.from_host(np.arange(3, dtype=np.float32), "sim")
    things = Handle("cpu"), SparseConvolutionDescriptor(1, 8, 3, 4), array, functions.CarafeDescriptor(5, 1, 2)
    found = python_output(CHILD, pickle.dumps(things).hex())
    assert found == "[0.0, 1.0] (3, 3, 3) [0.0, 1.0, 2.0] False sim"


def shifted(job: tuple[Handle, DeviceArray]) -> tuple[str, list[float]]:
    handle, array = job
    frames = array.to_host().reshape(1, 4, 1, 1)
    moved = MOVING.run(frames, np.array([[1]], np.int32), handle=handle)
    return handle.backend.name, moved.ravel().tolist()


def test_a_pool_of_forked_processes() -> None:
    array = DeviceArray.from_host(np.arange(4, dtype=np.float32), "sim")
    with Handle("cpu") as handle, get_context("fork").Pool(2) as pool:
        assert pool.map(shifted, [(handle, array)] * 3) == [("cpu", [0, 0, 1, 2])] * 3
