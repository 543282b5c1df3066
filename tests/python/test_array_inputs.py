"""What may stand for an array: NumPy, the buffer protocol, DLPack."""

from __future__ import annotations

import array
import ctypes
import gc
import mmap
import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import pymluops
from support.arrays import canary, is_canary
from support.comparison import assert_same_bits
from support.dlpack import CUDA, IS_COPIED, READ_ONLY, OldProducer, Producer
from support.example import MOVING

SHIFTS = np.array([[1, -1]], np.int32)


def source(dtype: str = "float32") -> np.ndarray:
    """A small input."""
    return np.arange(1, 25, dtype=dtype).reshape(1, 3, 4, 2)


def expected(dtype: str = "float32") -> np.ndarray:
    return MOVING.oracle.shift(source(dtype), SHIFTS)


def call(values: Any = None, shifts: Any = None, **keywords: Any) -> Any:
    """The example of :func:`source` unless something else is given."""
    given = source() if values is None else values, SHIFTS if shifts is None else shifts
    return MOVING.run(*given, **keywords)


# ---- buffer protocol -----------------------------------------------------------------------------


def test_memoryviews() -> None:
    out = canary((1, 3, 4, 2), "float32")
    view = memoryview(out)
    assert call(memoryview(source()), memoryview(SHIFTS), out=view) is view
    assert_same_bits(out, expected())
    half = call(memoryview(source("float16")))
    assert_same_bits(half, expected("float16"))


def test_array_array_through_a_cast() -> None:
    flat = array.array("f", range(1, 25))
    shifts = memoryview(array.array("i", [1, -1])).cast("B").cast("i", (1, 2))
    assert_same_bits(call(memoryview(flat).cast("B").cast("f", (1, 3, 4, 2)), shifts), expected())
    with pytest.raises(pymluops.BadParamError, match=r"input.*\[24\]"):
        call(flat)


def test_ctypes_arrays() -> None:
    values = (ctypes.c_float * 2 * 4 * 3 * 1).from_buffer_copy(source())
    shifts = (ctypes.c_int32 * 2 * 1).from_buffer_copy(SHIFTS)
    out = (ctypes.c_float * 2 * 4 * 3 * 1)()
    assert call(values, shifts, out=out) is out
    assert_same_bits(np.ctypeslib.as_array(out), expected())


def test_memory_maps_bytearrays_and_bytes() -> None:
    with mmap.mmap(-1, 96) as pages:
        pages.write(source().tobytes())
        view = memoryview(pages).cast("f", (1, 3, 4, 2))
        assert_same_bits(call(view), expected())
        view.release()  # the pages can be closed: nothing kept hold of them
    out = bytearray(96)
    call(memoryview(source().tobytes()).cast("f", (1, 3, 4, 2)), out=memoryview(out).cast("f", (1, 3, 4, 2)))
    assert bytes(out) == expected().tobytes()


def test_numpy_subclasses_and_scalars_of_another_name() -> None:
    assert_same_bits(call(source().view(np.matrix.__bases__[0])), expected())
    # intc and int32, long and int64: the same type under two names.
    assert_same_bits(call(shifts=SHIFTS.astype(np.intc)), expected())
    record = np.zeros(3, [("a", "f4")])
    with pytest.raises(pymluops.BadParamError, match="input"):
        call(record)


@pytest.mark.parametrize("typecode", ["q", "I", "h", "b", "f", "d"])
def test_shifts_of_other_formats_are_refused(typecode: str) -> None:
    raw = memoryview(array.array(typecode, [1, 1])).cast("B").cast(typecode, (1, 2))
    with pytest.raises(pymluops.BadParamError, match=r"shifts.*int32"):
        call(shifts=raw)


@pytest.mark.parametrize(
    "thing", [b"\0" * 96, bytearray(96), "text", 3, None.__class__, [[[[1.0]]]], range(3)], ids=type
)
def test_things_of_other_kinds_are_refused(thing: Any) -> None:
    out = canary((1, 3, 4, 2), "float32")
    with pytest.raises((pymluops.BadParamError, TypeError), match="input"):
        call(thing, out=out)
    assert is_canary(out)


def test_a_closed_buffer_is_refused() -> None:
    view = memoryview(source())
    view.release()
    with pytest.raises((pymluops.BadParamError, ValueError)):
        call(view)


@pytest.mark.parametrize(
    "values",
    [
        source().astype(">f4"), source().astype("datetime64[s]"), source().astype("U1"), source().astype(object),
        source().astype("complex128"), source().astype(np.longdouble), np.zeros((1, 3, 4, 2), "V4"),
    ],
    ids=lambda a: a.dtype.str,
)  # fmt: skip
def test_numpy_types_without_a_number_in_the_abi_are_refused(values: np.ndarray) -> None:
    with pytest.raises(pymluops.BadParamError, match="input"):
        call(values)


def test_zero_dimensional_arrays_are_refused() -> None:
    with pytest.raises(pymluops.BadParamError, match="input"):
        call(np.float32(1).reshape(()))


def test_nine_dimensions_are_refused() -> None:
    with pytest.raises(pymluops.BadParamError, match="input"):
        call(np.zeros((1,) * 9, np.float32))
    with pytest.raises(pymluops.BadParamError, match="input"):
        call(np.zeros((1,) * 32, np.float32))


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "int4", "uint4"])
def test_types_of_ml_dtypes_are_refused_by_name(dtype: str) -> None:
    values = np.zeros((1, 3, 4, 2), getattr(ml_dtypes, dtype))
    with pytest.raises(pymluops.BadParamError, match=f"input.*{dtype}"):
        call(values)


@pytest.mark.parametrize("wrap", [np.asarray, memoryview, Producer])
def test_strides_that_do_not_matter(wrap: Any) -> None:
    # One element along an axis, or none at all: any stride will do.
    odd = np.lib.stride_tricks.as_strided(source(), (1, 3, 4, 2), (7776, *source().strides[1:]))
    assert_same_bits(call(wrap(odd)), expected())
    empty = np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), (1, 0, 4, 2), (12, 20, 28, 44))
    assert call(wrap(empty)).shape == (1, 0, 4, 2)


def test_arguments_are_not_kept_alive() -> None:
    values, shifts, out = source(), SHIFTS.copy(), canary((1, 3, 4, 2), "float32")
    before = [sys.getrefcount(a) for a in (values, shifts, out)]
    for _ in range(100):
        call(values, shifts, out=out)
        with pytest.raises(pymluops.BadParamError):
            call(values, out, out=out)
    gc.collect()
    assert [sys.getrefcount(a) for a in (values, shifts, out)] == before
    growing = bytearray(source().tobytes())
    call(memoryview(growing).cast("f", (1, 3, 4, 2)))
    growing.extend(b"more")  # impossible while somebody holds the buffer


# ---- DLPack --------------------------------------------------------------------------------------

PRODUCERS = {
    "versioned": {}, "unversioned": {"versioned": False}, "packed": {"packed": True}, "offset": {"offset": 64},
    "no deleter": {"no_deleter": True},
}  # fmt: skip


@pytest.mark.parametrize("options", PRODUCERS.values(), ids=PRODUCERS)
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_dlpack_inputs_and_outputs(options: dict[str, Any], dtype: str) -> None:
    memory = canary((1, 3, 4, 2), dtype)
    values, shifts, out = Producer(source(dtype), **options), Producer(SHIFTS, **options), Producer(memory, **options)
    assert call(values, shifts, out=out) is out
    assert_same_bits(memory, expected(dtype))
    if not options.get("no_deleter"):
        assert values.consumed
        assert shifts.consumed
        assert out.consumed


def test_producers_from_before_dlpack_1() -> None:
    values = OldProducer(source())
    assert_same_bits(call(values), expected())
    assert values.consumed


def test_version_1_is_asked_for() -> None:
    values = Producer(source())
    call(values)
    assert tuple(values.requested[0]["max_version"]) == (1, 0)


def test_read_only_dlpack_inputs_are_fine_and_outputs_refused() -> None:
    memory = canary((1, 3, 4, 2), "float32")
    frozen = Producer(memory, flags=READ_ONLY)
    with pytest.raises(pymluops.BadParamError, match="out"):
        call(out=frozen)
    assert is_canary(memory)
    assert frozen.consumed
    values = Producer(source(), flags=READ_ONLY)
    assert_same_bits(call(values), expected())


def test_an_output_that_came_as_a_copy_is_refused() -> None:
    memory = canary((1, 3, 4, 2), "float32")
    copied = Producer(memory, flags=IS_COPIED)
    with pytest.raises(pymluops.BadParamError, match="out"):
        call(out=copied)
    assert is_canary(memory)
    assert copied.consumed


REFUSED = {
    "device": {"device": CUDA}, "lanes": {"lanes": 2}, "code": {"code": 1}, "bfloat": {"code": 4, "bits": 16},
    "opaque": {"code": 3}, "float8": {"code": 10, "bits": 8}, "half a byte": {"bits": 4}, "no bits": {"bits": 0},
    "negative size": {"shape": (1, 3, 4, -2)}, "rank": {"shape": (1, 3, 8)}, "null": {"null": True},
    "version 2": {"major": 2}, "negative rank": {"ndim": -1}, "rank 9": {"ndim": 9, "shape": (1,) * 9, "packed": True},
    "rank 65": {"ndim": 65},
    "a million dims": {"ndim": 10**6}, "largest rank": {"ndim": 2**31 - 1},
    "no shape": {"no_shape": True},
    "huge strides": {"strides": (2**62, 2**62, 2**62, 2**62)}, "least strides": {"strides": (-(2**63),) * 4},
    "zero strides": {"strides": (0, 0, 0, 0)},
}  # fmt: skip


@pytest.mark.parametrize("options", REFUSED.values(), ids=REFUSED)
def test_dlpack_tensors_that_are_refused(options: dict[str, Any]) -> None:
    out, values = canary((1, 3, 4, 2), "float32"), Producer(source(), **options)
    with pytest.raises(pymluops.BadParamError, match="input"):
        call(values, out=out)
    assert is_canary(out)
    assert values.consumed, "a refused capsule must be deleted once too"
    with pytest.raises(pymluops.BadParamError, match="array"):
        pymluops.TensorDescriptor.of(Producer(source(), **(options | {"ndim": -1})))


def test_strided_dlpack_tensors_are_refused() -> None:
    wide = np.zeros((1, 3, 4, 4), np.float32)
    with pytest.raises(pymluops.BadParamError, match="contiguous"):
        call(Producer(wide[..., ::2]))


def test_misaligned_dlpack_tensors_are_refused() -> None:
    room = np.zeros(97, np.uint8)
    with pytest.raises(pymluops.BadParamError, match="align"):
        call(Producer(room[1:].view(np.float32).reshape(1, 3, 4, 2)))


def test_a_byte_offset_counts_for_the_overlap_check() -> None:
    room = np.zeros(64, np.float32)
    values = room[:24].reshape(1, 3, 4, 2)
    with pytest.raises(pymluops.BadParamError, match="overlap"):
        call(values, out=Producer(room[20:44].reshape(1, 3, 4, 2), offset=80))
    beyond = room[24:48].reshape(1, 3, 4, 2)
    call(values, out=Producer(beyond, offset=96))


def test_tensors_too_large_to_count_are_refused() -> None:
    for shape in ((1, 1, 1, 2**31), (2**31, 2**31, 2**31, 2**31), (1, 2**40, 4, 2**40)):
        with pytest.raises(pymluops.MluOpError):
            call(Producer(source(), shape=shape, packed=True))


def test_capsules_that_are_none_are_refused() -> None:
    class Strange:
        def __init__(self, result: Any) -> None:
            self.result = result

        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

        def __dlpack__(self, **_: Any) -> Any:
            if isinstance(self.result, Exception):
                raise self.result
            return self.result

    used = Producer(source())
    capsule = used.__dlpack__(max_version=(1, 0))
    assert_same_bits(call(Strange(capsule)), expected())
    for result in (capsule, None, 3, "capsule", BufferError("not now"), ValueError("never")):
        with pytest.raises((pymluops.BadParamError, BufferError, ValueError, TypeError)):
            call(Strange(result))
    assert used.deleted == 1


class Raising:
    """An array whose export raises."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __dlpack__(self, **_: Any) -> Any:
        raise self.error


def test_memory_that_ends_in_an_export_is_no_bad_argument() -> None:
    with pytest.raises(pymluops.AllocFailedError, match=rf"{MOVING.name}: input: .*Raising"):
        call(Raising(MemoryError("no room")))
    pymluops.load("sim")
    with pytest.raises(pymluops.AllocFailedError, match=r"from_host: array: .*Raising"):
        pymluops.DeviceArray.from_host(Raising(MemoryError()), "sim")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3), GeneratorExit()], ids=repr)
def test_what_is_no_error_passes_through_an_export(error: BaseException) -> None:
    with pytest.raises(type(error)):
        call(Raising(error))


def test_texts_of_foreign_errors_are_short_lines_that_can_be_printed() -> None:
    class SilentError(Exception):
        def __str__(self) -> str:
            raise ValueError

    for error in (RuntimeError("long " * 1000), RuntimeError("two\nlines \ud800"), SilentError()):
        with pytest.raises(pymluops.BadParamError) as caught:
            call(Raising(error))
        text = str(caught.value)
        assert len(text) < 400
        assert "\n" not in text
        assert text.encode()


def test_a_dtype_that_cannot_be_read_does_not_hide_the_refusal() -> None:
    class Strange(Raising):
        @property
        def dtype(self) -> Any:
            raise RuntimeError

    with pytest.raises(pymluops.BadParamError, match=r"input: expected .*not today"):
        call(Strange(ValueError("not today")))


def test_numpy_reads_the_hand_made_producer_too() -> None:
    # The producer is what DLPack says, so that a refusal above is the package's and not a mistake
    # of the test.
    memory = source()
    for options in ({}, {"offset": 32, "versioned": False}):
        producer = Producer(memory, **options)  # it owns the deleter and must outlive the array
        array = np.from_dlpack(producer)
        assert_same_bits(array, memory)
        del array
        assert producer.consumed


@pytest.mark.parametrize("kind", [Producer, OldProducer])
def test_a_shape_that_changes_during_the_call_is_read_once(kind: type[Producer]) -> None:
    """The shape belongs to the exporter; what was checked is what the operator works on."""
    frames, moved = kind(np.ones((1, 1, 4, 1), np.float32)), kind(np.zeros((1, 1, 4, 1), np.float32))

    class Shifts(Producer):
        def __dlpack__(self, **options: Any) -> Any:
            frames._alive[-1][1][1] = 4000
            return super().__dlpack__(**options)

    MOVING.run(frames, Shifts(np.zeros((1, 4), np.int32)), out=moved)
    assert (moved.array == 1).all()
    assert frames.consumed
    assert moved.consumed
