"""DeviceArray: memory of the simulated device, and what lies in it."""

from __future__ import annotations

import gc
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import pymluops
from pymluops import DataType, DeviceArray, sim
from support.arrays import canary, is_canary
from support.comparison import assert_same_bits
from support.dlpack import CUDA, READ_ONLY, Producer
from support.example import MOVING

NUMPY_TYPES = (
    "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool",
    "complex64",
)  # fmt: skip
SHAPES = ((3,), (2, 3), (), (0,), (2, 0, 4), (1,) * 8, (5, 7, 11))


@pytest.fixture(autouse=True)
def nothing_leaks() -> Any:
    """Every test gives back what it took on the device."""
    pymluops.load("sim")
    gc.collect()
    before = sim.counters()
    yield
    gc.collect()
    after = sim.counters()
    assert (after.live_allocations, after.live_bytes) == (before.live_allocations, before.live_bytes)


def values(shape: Any, dtype: Any = "float32") -> np.ndarray:
    """An array whose elements differ."""
    count = int(np.prod(shape, dtype=np.int64))
    return (np.arange(count) % 251).astype(dtype).reshape(shape)


# ---- what it is ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", NUMPY_TYPES)
def test_every_type_goes_there_and_back(dtype: str) -> None:
    given = np.frombuffer(np.random.default_rng(3).bytes(15 * np.dtype(dtype).itemsize), dtype).reshape(3, 5)
    array = DeviceArray.from_host(given, "sim")
    assert array.dtype == given.dtype
    assert pymluops.TensorDescriptor.of(array) == pymluops.TensorDescriptor.of(given)
    assert_same_bits(array.to_host(), given)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_shape_goes_there_and_back(shape: tuple[int, ...]) -> None:
    given = values(shape)
    array = DeviceArray.from_host(given, "sim")
    assert (array.shape, array.ndim, array.size, array.nbytes) == (shape, given.ndim, given.size, given.nbytes)
    assert (array.address != 0) == (given.size != 0)
    assert_same_bits(array.to_host(), given)
    doubled = np.multiply(given, 2, dtype=given.dtype)  # with NumPy 1 the product of a 0-d array with 2 is a double
    array.copy_from(doubled)
    out = canary(shape, "float32")
    assert array.to_host(out) is out
    assert_same_bits(out, doubled)


def test_types_of_ml_dtypes() -> None:
    given = np.arange(6).astype(ml_dtypes.bfloat16).reshape(2, 3)
    array = DeviceArray.from_host(given, "sim")
    assert array.dtype == ml_dtypes.bfloat16
    assert_same_bits(array.to_host(), given)
    out = np.zeros((2, 3), ml_dtypes.bfloat16)
    array.to_host(out)
    assert_same_bits(out, given)
    with pytest.raises(pymluops.BadParamError, match=r"out.*bfloat16.*uint16"):
        array.to_host(np.zeros((2, 3), np.uint16))


def test_a_type_that_numpy_lacks_has_no_array() -> None:
    with DeviceArray((2,), DataType.INT31, "sim") as array:
        assert array.nbytes == 8
        with pytest.raises(pymluops.BadParamError, match="INT31"):
            array.to_host()
        with pytest.raises(pymluops.NotSupportedError, match="INT31"):
            _ = array.dtype
        assert pymluops.TensorDescriptor.of(array).dtype is DataType.INT31


def test_attributes_and_text() -> None:
    with DeviceArray((2, 3), np.float16, pymluops.load("sim")) as array:
        assert array.backend is pymluops.load("sim")
        assert array.dtype == np.float16
        assert array.address % 64 == 0
        assert not array.closed
        assert repr(array) == "<pymluops.DeviceArray [2, 3] float16 on sim>"
        described = pymluops.TensorDescriptor.of(array)
        assert (described.shape, described.dtype, described.strides) == ((2, 3), DataType.HALF, (3, 1))
    assert array.closed
    assert array.shape == (2, 3)
    assert repr(array) == "<pymluops.DeviceArray [2, 3] float16 on sim, closed>"


def test_an_integer_is_a_shape() -> None:
    assert DeviceArray(4, "int32", "sim").shape == (4,)
    assert DeviceArray(np.int64(4), "int32", "sim").shape == (4,)


def test_the_default_backend_is_taken() -> None:
    with pymluops.use("sim"):
        assert DeviceArray((1,), "int8").backend is pymluops.load("sim")
        assert DeviceArray.from_host(values((2,))).backend is pymluops.load("sim")


def test_what_may_stand_for_the_host_array() -> None:
    given = values((2, 3))
    for source in (memoryview(given), Producer(given), Producer(given, flags=READ_ONLY), given.view(np.recarray)):
        assert_same_bits(DeviceArray.from_host(source, "sim").to_host(), given)
    array, room = DeviceArray.from_host(given, "sim"), bytearray(24)
    array.to_host(memoryview(room).cast("f", (2, 3)))
    assert bytes(room) == given.tobytes()
    room.extend(b"more")  # impossible while somebody holds the buffer
    frozen = given.copy()
    frozen.flags.writeable = False
    array.copy_from(frozen)


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "dtype", "word"),
    [
        ((-1,), "int8", "shape"), ((1,) * 9, "int8", "shape"), ("12", "int8", "shape"), (1.5, "int8", "shape"),
        (None, "int8", "shape"), ((True,), "int8", "shape"), ((2**63,), "int8", "shape"), ((1,), "text", "dtype"),
        ((1,), None, "dtype"), ((1,), "V4", "dtype"), ((1,), DataType.INVALID, "dtype"),
    ],
    ids=str,
)  # fmt: skip
def test_shapes_and_types_that_are_refused(shape: Any, dtype: Any, word: str) -> None:
    with pytest.raises(pymluops.BadParamError, match=word):
        DeviceArray(shape, dtype, "sim")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (values((3, 2)), r"expected shape \[2, 3\], got \[3, 2\]"),
        (values((2, 3, 1)), r"expected shape \[2, 3\], got \[2, 3, 1\]"),
        (values((2, 3), "float64"), "expected dtype float32, got float64"),
        (values((2, 3), "int32"), "expected dtype float32, got int32"),
        (values((2, 3), ">f4"), "native byte order"),
        (values((3, 2)).T, "C-contiguous"),
        (values((2, 6))[:, ::2], "C-contiguous"),
        (Producer(values((2, 3)), device=CUDA), "host memory, got DLPack device type 2"),
        ([[1.0] * 3] * 2, "an array"),
        (None, "an array"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_sources_that_are_refused(source: Any, expected: str) -> None:
    array = DeviceArray.from_host(values((2, 3)), "sim")
    with pytest.raises(pymluops.BadParamError, match=f"DeviceArray.copy_from: source: .*{expected}"):
        array.copy_from(source)
    assert_same_bits(array.to_host(), values((2, 3)))


@pytest.mark.parametrize(
    "source", [values((4, 2)).T, values((2,), ">f4"), np.array(["text"]), np.array([object()]), 3, "text"], ids=type
)
def test_arrays_that_cannot_be_copied(source: Any) -> None:
    with pytest.raises(pymluops.BadParamError, match=r"DeviceArray.from_host: array: expected"):
        DeviceArray.from_host(source, "sim")


def test_outputs_that_are_refused() -> None:
    array = DeviceArray.from_host(values((2, 3)), "sim")
    frozen = canary((2, 3), "float32")
    frozen.flags.writeable = False
    strided = canary((2, 6), "float32")
    for out, text in ((frozen, "writable"), (strided[:, ::2], "C-contiguous"), (canary((2, 2), "float32"), "shape")):
        with pytest.raises(pymluops.BadParamError, match=f"DeviceArray.to_host: out: .*{text}"):
            array.to_host(out)
        assert is_canary(strided if out.base is strided else out)
    with pytest.raises(pymluops.BadParamError, match="a DeviceArray on sim"):
        array.to_host(DeviceArray((2, 3), "float32", "sim"))


def test_a_library_without_device_memory_is_refused() -> None:
    with pytest.raises(pymluops.NotSupportedError, match=r"DeviceArray.*cpu"):
        DeviceArray((1,), "int8", "cpu")
    with pytest.raises(NotImplementedError):
        DeviceArray.from_host(values((2,)), "cpu")


def test_more_than_there_is_room_for() -> None:
    room = sim.device().memory_mib << 20
    with pytest.raises(pymluops.AllocFailedError, match=rf"{2 * room}.*uint8.*cnrtMalloc") as caught:
        DeviceArray((2 * room,), "uint8", "sim")
    assert isinstance(caught.value, MemoryError)
    with pytest.raises(MemoryError):
        DeviceArray((2**62,), "float64", "sim")
    DeviceArray.from_host(values((4,)), "sim").close()


def test_it_does_not_turn_into_numpy_by_itself() -> None:
    array = DeviceArray.from_host(values((2, 3)), "sim")
    for function in (np.asarray, np.array, np.sum):
        with pytest.raises(TypeError, match="to_host"):
            function(array)


# ---- its life ------------------------------------------------------------------------------------


def test_memory_is_taken_and_given_back() -> None:
    before = sim.counters()
    array = DeviceArray((1000,), "float32", "sim")
    taken = sim.counters()
    assert taken.live_allocations == before.live_allocations + 1
    assert taken.live_bytes >= before.live_bytes + 4000
    array.close()
    array.close()
    assert sim.counters().live_allocations == before.live_allocations
    dropped = DeviceArray((1000,), "float32", "sim")
    del dropped
    assert sim.counters().live_allocations == before.live_allocations
    with pytest.raises(KeyError), DeviceArray((1000,), "float32", "sim"):
        raise KeyError
    assert sim.counters().live_allocations == before.live_allocations


def test_use_after_close_raises() -> None:
    array, other = DeviceArray.from_host(values((1, 2, 2, 1)), "sim"), canary((1, 2, 2, 1), "float32")
    array.close()
    with pymluops.Handle("sim") as handle:
        uses = [
            lambda: array.address,
            lambda: array.to_host(),
            lambda: array.to_host(other),
            lambda: array.copy_from(other),
            lambda: array.__enter__(),
            lambda: pymluops.TensorDescriptor.of(array),
            lambda: MOVING.run(array, np.zeros((1, 1), np.int32), out=other, handle=handle),
            lambda: MOVING.run(other, np.zeros((1, 1), np.int32), out=array, handle=handle),
        ]
        for use in uses:
            with pytest.raises(pymluops.NotInitializedError, match="closed"):
                use()
    assert is_canary(other)


def test_many_lives() -> None:
    given = values((257,))
    for _ in range(500):
        assert_same_bits(DeviceArray.from_host(given, "sim").to_host(), given)
