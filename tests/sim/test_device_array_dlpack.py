"""A DeviceArray offers itself through DLPack, as memory of another device or as a copy in host memory."""

from __future__ import annotations

import ctypes
import gc
from typing import Any

import numpy as np
import pytest

import pymluops
from pymluops import DeviceArray, sim
from support.comparison import assert_same_bits
from support.dlpack import _is_valid, _Managed, _Versioned
from support.example import MOVING

EXTENSION = 12

_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype = ctypes.c_void_p
_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_rename = ctypes.pythonapi.PyCapsule_SetName
_rename.argtypes = [ctypes.py_object, ctypes.c_char_p]


@pytest.fixture(autouse=True)
def nothing_leaks() -> Any:
    pymluops.load("sim")
    gc.collect()
    before = sim.counters().live_allocations
    yield
    gc.collect()
    assert sim.counters().live_allocations == before


def device(shape: tuple[int, ...] = (2, 3), dtype: str = "float32") -> DeviceArray:
    return DeviceArray.from_host(np.arange(int(np.prod(shape))).astype(dtype).reshape(shape), "sim")


@pytest.mark.parametrize("shape", [(2, 3), (), (0, 5), (1, 2, 1, 2, 1, 2, 1, 2)], ids=str)
@pytest.mark.parametrize(("dtype", "code", "bits"), [("float16", 2, 16), ("float32", 2, 32), ("int32", 0, 32)])
@pytest.mark.parametrize("version", [None, (0, 8), (1, 0), (2, 0)], ids=str)
def test_what_a_capsule_says(shape: tuple[int, ...], dtype: str, code: int, bits: int, version: Any) -> None:
    array = device(shape, dtype)
    assert array.__dlpack_device__() == (EXTENSION, 0)
    capsule = array.__dlpack__(max_version=version)
    versioned = version is not None and version >= (1, 0)
    name, kind = (b"dltensor_versioned", _Versioned) if versioned else (b"dltensor", _Managed)
    assert _is_valid(capsule, name)
    managed = kind.from_address(_pointer(capsule, name))
    tensor = managed.tensor
    assert (tensor.data or 0) == array.address
    assert (tensor.device_type, tensor.device_id, tensor.byte_offset) == (EXTENSION, 0, 0)
    assert (tensor.code, tensor.bits, tensor.lanes) == (code, bits, 1)
    assert tuple(tensor.shape[: tensor.ndim]) == shape
    if array.size:
        packed = [stride // (bits // 8) for stride in np.empty(shape, dtype).strides]
        assert tensor.strides[: tensor.ndim] == packed
    if versioned:
        assert (managed.major, managed.flags) == (1, 0)


def test_memory_stays_until_the_consumer_is_done() -> None:
    array = device()
    capsules = [array.__dlpack__(max_version=(1, 0)), array.__dlpack__()]
    managed = _Versioned.from_address(_pointer(capsules[0], b"dltensor_versioned"))
    _rename(capsules[0], b"used_dltensor_versioned")  # as a consumer does
    before = sim.counters().live_allocations
    array.close()
    assert array.closed and sim.counters().live_allocations == before
    del capsules[:]
    assert sim.counters().live_allocations == before
    managed.deleter(ctypes.addressof(managed))
    assert sim.counters().live_allocations == before - 1


def test_the_array_may_be_dropped_before_its_capsule() -> None:
    before = sim.counters().live_allocations
    capsule = device().__dlpack__()
    gc.collect()
    assert sim.counters().live_allocations == before + 1
    del capsule
    assert sim.counters().live_allocations == before


def test_a_capsule_waits_for_what_writes_the_array() -> None:
    with pymluops.Queue("sim") as queue, pymluops.Handle(queue=queue) as handle:
        frames = np.ones((2, 3, 4, 500), np.float32)
        shifts = np.zeros((2, 2), np.int32)
        moved = MOVING.run(DeviceArray.from_host(frames, "sim"), DeviceArray.from_host(shifts, "sim"), handle=handle)
        moved.__dlpack__()
        assert queue.done
        moved.__dlpack__(stream=-1)


def test_numpy_gets_a_copy_in_host_memory() -> None:
    array = device()
    copy = np.from_dlpack(Host(array))
    assert_same_bits(copy, array.to_host())
    assert_same_bits(np.from_dlpack(Host(array, copy=True)), array.to_host())
    with pytest.raises((BufferError, RuntimeError), match=r"(?i)device"):
        np.from_dlpack(array)
    with pytest.raises(pymluops.BadParamError, match="DLPack device type 12"):
        MOVING.run(Elsewhere(device((1, 1, 1, 1))), np.zeros((1, 1), np.int32))


class Host:
    """What `numpy.from_dlpack` with ``device="cpu"`` asks for, which NumPy before 2.1 cannot."""

    def __init__(self, array: DeviceArray, copy: bool | None = None) -> None:
        self.array, self.copy = array, copy

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self, *, max_version: Any = None, **_: Any) -> Any:
        return self.array.__dlpack__(max_version=max_version, dl_device=(1, 0), copy=self.copy)


class Elsewhere:
    """An array of another package in device memory."""

    def __init__(self, array: DeviceArray) -> None:
        self.array = array

    def __dlpack__(self, **keywords: Any) -> Any:
        return self.array.__dlpack__(**keywords)


@pytest.mark.parametrize(
    "asked",
    [{"stream": 3}, {"stream": "0"}, {"copy": True}, {"dl_device": (1, 0), "copy": False}, {"dl_device": (2, 0)},
     {"dl_device": (12, 1)}],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_done_is_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(pymluops.ExportError, match=r"DeviceArray.__dlpack__: \w+: expected .*, got ") as caught:
        device().__dlpack__(**asked)
    assert isinstance(caught.value, BufferError) and isinstance(caught.value, pymluops.NotSupportedError)


def test_types_that_dlpack_lacks_and_closed_arrays_are_refused() -> None:
    with DeviceArray((2,), pymluops.DataType.INT31, "sim") as array, pytest.raises(BufferError, match="INT31"):
        array.__dlpack__()
    with pytest.raises(pymluops.NotInitializedError, match="closed"):
        array.__dlpack__()
